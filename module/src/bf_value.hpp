#pragma once

// What a key of BF.* holds: a filter of one of the engines, or a dump of one that is arriving.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "received_dump.hpp"

namespace bloomery::server {

/// What BF.INFO tells.
struct bf_facts {
  std::uint64_t capacity;
  std::uint64_t bytes;
  std::uint64_t filters;
  std::uint64_t items;
  std::uint32_t expansion;  ///< 0: the filter does not grow
};

/// What became of a batch: `done` items are in the filter; with fewer than all, why.
struct bf_added {
  std::size_t done;
  wire_error error;
};

/// A filter as clients of BF.* see it. An engine is a class of this kind.
class bf_value {
 public:
  bf_value() = default;
  bf_value(const bf_value&) = delete;
  bf_value& operator=(const bf_value&) = delete;
  virtual ~bf_value() = default;

  /// answers[i]: whether items[i] may be in it.
  virtual void contains(std::span<const std::string_view> items,
                        std::span<bool> answers) const noexcept = 0;

  /// Adds items in order, and says of each whether it was new. A filter that would grow beyond
  /// `most_bytes` stops before it does.
  virtual bf_added add(std::span<const std::string_view> items, std::span<bool> fresh,
                       std::uint64_t most_bytes) = 0;

  virtual bf_facts facts() const noexcept = 0;
  /// All memory that it holds. O(1).
  virtual std::uint64_t bytes() const noexcept = 0;

  /// The filter as bytes: what BF.SCANDUMP gives first, and what follows it, which refers to the
  /// filter. received_dump puts them together again.
  virtual std::vector<std::byte> dump_header() const = 0;
  virtual std::vector<std::span<const std::byte>> dump_payload() const = 0;
};

/// The value behind a key: either of the two.
struct bf_object {
  explicit bf_object(std::unique_ptr<bf_value> made) noexcept;
  explicit bf_object(received_dump dump) noexcept;
  bf_object(const bf_object&) = delete;
  bf_object& operator=(const bf_object&) = delete;
  ~bf_object();

  std::unique_ptr<bf_value> filter;  ///< null while a dump is arriving
  received_dump arriving;

  std::uint64_t bytes() const noexcept;
  std::vector<std::byte> dump_header() const;
  std::vector<std::span<const std::byte>> dump_payload() const;
  /// Takes what follows the header. Once all is there it becomes the filter. A refused piece has
  /// changed nothing.
  wire_error take(std::uint64_t offset, std::string_view bytes);
};

/// The number of such values on this server.
std::uint64_t number_of_filters() noexcept;

/// Up to `most` bytes of the pieces from `offset` on, seen as one string: a view of one piece, or
/// of `scratch`.
std::string_view bytes_at(std::span<const std::span<const std::byte>> pieces, std::uint64_t offset,
                          std::size_t most, std::vector<std::byte>& scratch);
std::uint64_t size_of(std::span<const std::span<const std::byte>> pieces) noexcept;

}  // namespace bloomery::server
