#pragma once

#include <bloomset/storage.hpp>
#include <variant>

#include "redisbloom/redisbloom_shape.hpp"
#include "values/dump_header.hpp"

namespace bloomset::server {

/// A dump that arrives piece by piece: by LOADCHUNK, from an RDB file, or from a filter that is
/// copied. Input is not trusted.
///
///     native        the filter files of one or two parts: header and parameters of each, then the
///                   payload of each
///     windowed      a native dump for each generation: the headers, then the payloads
///     compatible    RedisBloom's header, then the bits of each link or the slots of each
///                   sub-filter
class received_dump {
 public:
  received_dump() = default;

  /// Starts a dump with its header, once. A dump whose header has an error is of no use. Memory for
  /// the payload is allocated as it arrives.
  wire_error begin(std::string_view header);

  /// Appends bytes of the payload; `offset` must be the number of bytes so far. An error leaves the
  /// dump unchanged.
  wire_error append(std::uint64_t offset, std::string_view bytes);
  void remove_last(std::size_t size) noexcept;

  bool is_complete() const noexcept { return received_ == expected_; }
  std::uint64_t expected_bytes() const noexcept { return expected_; }
  const dump_prefix& prefix() const noexcept { return prefix_; }
  std::uint64_t bytes() const noexcept;
  /// Those of them that wait for pieces.
  std::uint64_t spare_bytes() const noexcept;

  std::vector<std::byte> header() const;
  byte_pieces payload() const;

  struct generation;
  /// In order of their slices.
  const std::vector<generation>& generations() const noexcept { return generations_; }

  std::size_t parts() const noexcept { return parts_.size(); }
  /// The filter file of a part, as far as it has arrived.
  std::span<const std::byte> file(std::size_t i) const noexcept;
  /// Moves all parts out of a complete dump, which is empty then. Throws std::bad_alloc without a
  /// change.
  std::vector<owned_storage> release();

  using any_shape = std::variant<std::monostate, chain_shape, cuckoo_shape>;
  /// The shape of a compatible filter; no value for a native one.
  const any_shape& shape() const noexcept { return shape_; }

 private:
  struct part {
    owned_storage file;  // at least `filled` bytes
    std::size_t filled = 0;
    std::size_t header = 0;
    std::uint64_t expected = 0;  // bytes of the payload

    bool append(std::string_view bytes);
    std::uint64_t missing() const noexcept { return header + expected - filled; }
  };

  wire_error begin_compatible(std::string_view header);
  wire_error add_file(std::string_view header);
  wire_error add_generation(const dump_section& section);
  /// Starts the next part of a compatible dump. Parts are not made in advance, since a short header
  /// may announce many. False without memory.
  bool add_compatible_part() noexcept;
  wire_error append_to_parts(std::string_view bytes);
  wire_error append_to_generations(std::string_view bytes);

  std::vector<part> parts_;
  std::vector<generation> generations_;
  dump_prefix prefix_ = {};
  any_shape shape_;
  std::uint64_t received_ = 0;
  std::uint64_t expected_ = 0;
};

struct received_dump::generation {
  std::uint64_t slice;
  received_dump dump;
};

}  // namespace bloomset::server
