#pragma once

// What a key of BF.* or CF.* holds: a filter of one of the engines, or a dump of one that is
// arriving.

#include <bloomery/memory_source.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "received_dump.hpp"

namespace bloomery::server {

/// What BF.INFO and CF.INFO tell.
struct filter_facts {
  filter_spec spec;        ///< as it was made
  std::uint64_t capacity;  ///< now
  std::uint64_t bytes;
  std::uint64_t filters;
  std::uint64_t items;
  std::uint64_t deleted;
  std::uint64_t buckets = 0;  ///< of a filter of CF.* that has them
};

/// What a filter's bits tell of it.
struct filter_state {
  double error_rate;  ///< now: of all items that are not in it, the share that passes
  double items;       ///< different ones, as estimated
};

/// Whether an item that is there already is left out, or gets a further copy.
enum class adding : std::uint8_t {
  absent,
  copies,   ///< of each of which it is said that it was added
  counted,  ///< of which it is said that it was added if the item was not there
};

/// Why a batch was not added to its end.
enum class stop : std::uint8_t {
  none,
  full,       ///< the filter may not grow
  limit,      ///< it has reached bf.max-filter-size or bf.max-memory
  maxmemory,  ///< the server has no room for as much as it would grow by
  memory,     ///< there is none
};

/// How far a filter may grow while items are added.
struct growth_limit {
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
  bool is_of_all = false;    ///< whether that is what bf.max-memory leaves
  context* asked = nullptr;  ///< its server must have room for large steps, too; null: not asked

  /// Why a filter that holds so many bytes may not take `more`; stop::none if it may.
  stop refusal(std::uint64_t held, std::uint64_t more) const noexcept;
};

/// What became of a batch: `done` items are in the filter; with fewer than all, why.
struct added_items {
  std::size_t done = 0;
  stop stopped_by = stop::none;
};

/// A filter as clients of BF.* and CF.* see it. An engine is a class of this kind.
class filter_value {
 public:
  // In the server's memory, as all that it holds.
  static void* operator new(std::size_t size);
  static void operator delete(void* at, std::size_t size) noexcept;

  filter_value() = default;
  filter_value(const filter_value&) = delete;
  filter_value& operator=(const filter_value&) = delete;
  virtual ~filter_value() = default;

  /// answers[i]: whether items[i] may be in it.
  virtual void contains(std::span<const std::string_view> items,
                        std::span<bool> answers) const noexcept = 0;

  /// Adds items in order up to the first that finds no room, and says of each whether it was
  /// added. It throws nothing: replicas have to be told of all items that are in the filter.
  virtual added_items add(std::span<const std::string_view> items, std::span<bool> fresh,
                          adding how, const growth_limit& limit) noexcept = 0;

  /// Of a filter that forgets: what is added next came at this time, in milliseconds since 1970,
  /// and what is too old then is forgotten. True if that has changed the filter.
  virtual bool advance(std::uint64_t) { return false; }
  /// The beginning of the newest time that it was told, to its precision.
  virtual std::uint64_t latest() const noexcept { return 0; }

  /// Takes back one copy; false, and nothing changes, if there is none. Only of filters that
  /// delete.
  virtual bool erase(std::string_view item) = 0;
  /// Copies of an item: never too low. Only of filters that delete.
  virtual std::uint64_t count(std::string_view item) const = 0;

  /// Gives back room that deletes have freed; whether there is anything of the kind to do.
  virtual bool compact() { return false; }

  virtual filter_facts facts() const noexcept = 0;
  /// O(size).
  virtual filter_state state() const = 0;
  /// What BF.DEBUG and CF.DEBUG tell of a compatible filter; empty of others.
  virtual std::vector<std::string> debug_lines() const { return {}; }
  /// All memory that it holds. O(1).
  virtual std::uint64_t bytes() const noexcept = 0;

  /// The filter as bytes: what SCANDUMP gives first, and what follows it, which refers to the
  /// filter. received_dump puts them together again.
  virtual std::vector<std::byte> dump_header() const = 0;
  virtual std::vector<std::span<const std::byte>> dump_payload() const = 0;

  /// An equal filter; null where only the dump can be copied, or without memory. O(size).
  virtual std::unique_ptr<filter_value> copy() const { return nullptr; }

  /// Lets the server move the filter's memory.
  virtual void relocate(const memory_mover&) noexcept {}

  /// Whether it takes any number of items entry by entry, and so those of any other such, of
  /// whatever rate and capacity, for as much memory as that has.
  virtual bool grows_in_steps() const noexcept { return false; }
  /// Adds what another filter holds. If it cannot, it says why, behind the two filters' names
  /// ("... and it is full"), and may be left with a part: merge into a copy. O(size).
  virtual std::optional<std::string> merge(const filter_value& other);
};

/// Why two filters are not merged that were reserved with something that differs.
std::string reserved_otherwise(std::string_view what, std::string_view its,
                               std::string_view wanted);

/// The value behind a key: either of the two.
struct filter_object {
  // In the server's memory, so that active defragmentation may move it.
  static void* operator new(std::size_t size);
  static void operator delete(void* at) noexcept;
  explicit filter_object(std::unique_ptr<filter_value> made) noexcept;
  explicit filter_object(received_dump dump);
  filter_object(const filter_object&) = delete;
  filter_object& operator=(const filter_object&) = delete;
  ~filter_object();

  std::unique_ptr<filter_value> filter;     ///< null while a dump is arriving
  std::unique_ptr<received_dump> arriving;  ///< null once the filter is there

  filter_family family() const noexcept;
  filter_engine engine() const noexcept;
  std::uint64_t bytes() const noexcept;
  std::vector<std::byte> dump_header() const;
  std::vector<std::span<const std::byte>> dump_payload() const;
  /// Takes what follows the header. Once all is there it becomes the filter. A refused piece has
  /// changed nothing.
  wire_error take(std::uint64_t offset, std::string_view bytes);
  /// A dump whose header is all there is becomes the filter. False if it is damaged.
  bool open_if_complete();
};

/// Frees a filter, a large one in a thread of its own: giving back much memory takes the kernel
/// milliseconds.
void free_later(std::unique_ptr<filter_value> filter) noexcept;

/// The number of such values on this server.
std::uint64_t number_of_filters() noexcept;

/// Up to `most` bytes of the pieces from `offset` on, seen as one string: a view of one piece, or
/// of `scratch`.
std::string_view bytes_at(std::span<const std::span<const std::byte>> pieces, std::uint64_t offset,
                          std::size_t most, std::vector<std::byte>& scratch);
/// The same of a dump of that engine: those of compatible filters end where a piece does.
std::string_view dump_bytes_at(filter_engine engine,
                               std::span<const std::span<const std::byte>> pieces,
                               std::uint64_t offset, std::size_t most,
                               std::vector<std::byte>& scratch);
std::uint64_t size_of(std::span<const std::span<const std::byte>> pieces) noexcept;

inline std::string_view as_chars(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace bloomery::server
