#pragma once

// A dump of a filter while it comes in: by LOADCHUNK, from an RDB, or from a filter that is copied.
// A header tells whose it is. Layout of native ones: docs/server/internals.md, "Dumps". They have
// one part or two, each a filter file:
//
//     header:   prefix of 64 bytes | header and parameters of each part's file
//     payload:  each part's payload
//
// Of compatible ones a part is the bits of a link or the slots of a sub-filter, and nothing else.

#include <bloomery/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "arguments.hpp"
#include "redisbloom_shape.hpp"

namespace bloomery::server {

inline constexpr wire_error bad_data = "ERR received bad data";
inline constexpr wire_error newer_data =
    "ERR the dump has a newer version than this module reads; load it with a newer module";
inline constexpr wire_error no_memory = "ERR Insufficient memory to create filter";

/// What a dump says of a filter beside its parts.
struct dump_prefix {
  filter_spec spec;
  std::uint64_t deleted = 0;
  std::uint64_t newest = 0;  ///< of a window: its newest slice
};

class received_dump {
 public:
  received_dump() = default;

  /// Begins one with its header. Nothing is allocated for what has not come yet.
  wire_error begin(std::string_view header);

  /// The next bytes of the payload, which have to be those at `offset`. Without memory for them
  /// nothing has changed.
  wire_error take(std::uint64_t offset, std::string_view bytes);
  /// Forgets the last bytes again.
  void give_back(std::size_t size) noexcept;

  bool is_complete() const noexcept { return filled_ == expected_; }
  std::uint64_t expected_bytes() const noexcept { return expected_; }
  const dump_prefix& prefix() const noexcept { return prefix_; }
  std::uint64_t bytes() const noexcept;

  std::vector<std::byte> header() const;
  std::vector<std::span<const std::byte>> payload() const;

  /// Of a filter with a window: the generations, with their slices of time in ascending order, each
  /// of which is a dump; there are no parts then.
  struct generation;
  std::span<const generation> generations() const noexcept;

  std::size_t parts() const noexcept { return parts_.size(); }
  /// The filter file of a part, as far as it is there.
  std::span<const std::byte> file(std::size_t i) const noexcept;
  /// Gives away all parts of a complete dump. The dump is empty then. If it throws std::bad_alloc
  /// nothing has changed.
  std::vector<owned_storage> release();

  /// What a compatible filter is; without a value a native one.
  const std::variant<std::monostate, chain_shape, cuckoo_shape>& shape() const noexcept {
    return shape_;
  }

 private:
  wire_error begin_compatible(std::string_view header);
  /// Makes the part that comes next in a compatible dump. Not all at once: a short header may
  /// promise many. False without memory.
  bool add_part() noexcept;

  struct part {
    owned_storage file;  // with room at its end
    std::size_t filled = 0;
    std::size_t header = 0;
    std::uint64_t expected = 0;  // of the payload

    bool append(std::string_view bytes);
    std::uint64_t missing() const noexcept { return header + expected - filled; }
  };

  wire_error begin_window(std::string_view header);
  wire_error take_parts(std::string_view bytes);
  wire_error take_generations(std::string_view bytes);

  std::vector<part> parts_;
  std::vector<generation> generations_;
  dump_prefix prefix_ = {};
  std::variant<std::monostate, chain_shape, cuckoo_shape> shape_;
  std::uint64_t filled_ = 0;
  std::uint64_t expected_ = 0;
};

struct received_dump::generation {
  std::uint64_t slice;
  received_dump dump;
};
inline std::span<const received_dump::generation> received_dump::generations() const noexcept {
  return generations_;
}

/// The header of a dump with a window, of the headers of its generations' dumps.
struct generation_header {
  std::uint64_t slice;
  std::vector<std::byte> header;
};
std::vector<std::byte> window_header_of(const dump_prefix& prefix,
                                        std::span<const generation_header> generations);

/// The header of a dump, of what serialize_header() gave for each part.
std::vector<std::byte> dump_header_of(const dump_prefix& prefix,
                                      std::span<const std::vector<std::byte>> parts);

}  // namespace bloomery::server
