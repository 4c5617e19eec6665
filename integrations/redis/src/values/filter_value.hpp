#pragma once

// The interface of an engine: a filter as the commands BF.* and CF.* see it.

#include <bloomset/memory_source.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/limits.hpp"
#include "values/dump_pieces.hpp"

namespace bloomset::server {

using item_span = std::span<const std::string_view>;

/// Figures for BF.INFO and CF.INFO.
struct filter_facts {
  filter_spec spec;            ///< as created
  std::uint64_t capacity = 0;  ///< at the present size
  std::uint64_t bytes = 0;
  std::uint64_t filters = 0;  ///< parts of the filter
  std::uint64_t items = 0;
  std::uint64_t deleted = 0;
  std::uint64_t buckets = 0;  ///< of a compatible CF.* filter
};

/// Figures computed from a filter's bits.
struct filter_state {
  double error_rate;  ///< share of the non-members that match
  double items;       ///< estimated number of different items
};

/// The treatment of items that match already.
enum class insert_mode : std::uint8_t {
  if_absent,  ///< skipped
  copies,     ///< inserted as a copy and reported as new
  counted,    ///< inserted as a copy and reported as not new
};

struct insert_result {
  std::size_t done = 0;  ///< items from the front of the batch that are in the filter now
  stop_reason stopped_by = stop_reason::none;
  bool changed = true;  ///< false: the filter is as before, although items are done
};

class filter_value {
 public:
  // An object counts as filters' memory, as all that it holds does.
  static void* operator new(std::size_t size);
  static void operator delete(void* memory, std::size_t size) noexcept;

  filter_value() = default;
  filter_value(const filter_value&) = delete;
  filter_value& operator=(const filter_value&) = delete;
  virtual ~filter_value() = default;

  /// answers[i]: whether items[i] may be in the filter.
  virtual void contains(item_span items, std::span<bool> answers) const noexcept = 0;

  /// Inserts items in order up to the first that finds no room, and tells of each whether it was
  /// new. Throws nothing, since replicas must receive all items that are in the filter.
  virtual insert_result insert(item_span items, std::span<bool> newly_inserted, insert_mode mode,
                               const growth_limit& limit) noexcept = 0;

  /// Windowed filters: sets the time of the items that are inserted next, in milliseconds since
  /// 1970, and forgets what is older than the window at that time. True if the filter has changed.
  virtual bool advance(std::uint64_t) { return false; }
  /// Windowed filters: the start of the newest slice that advance() was given.
  virtual std::uint64_t latest_time() const noexcept { return 0; }

  /// Removes one copy. False without a change if there is none, or if the filter cannot delete.
  virtual bool erase(std::string_view) { return false; }
  /// Copies of an item, never too few. 0 if the filter cannot delete.
  virtual std::uint64_t count(std::string_view) const { return 0; }
  /// Frees the space of deleted items. False if the filter has no such operation.
  virtual bool compact() { return false; }

  virtual filter_facts facts() const noexcept = 0;
  /// O(size).
  virtual filter_state state() const = 0;
  /// Lines for BF.DEBUG and CF.DEBUG; only compatible filters have any.
  virtual std::vector<std::string> debug_lines() const { return {}; }
  /// All memory that the filter holds. O(1).
  virtual std::uint64_t bytes() const noexcept = 0;

  /// The two sections of a dump, which received_dump reads.
  virtual std::vector<std::byte> dump_header() const = 0;
  virtual byte_pieces dump_payload() const = 0;

  /// An equal filter. Null without memory, or if only a dump can copy the filter. O(size).
  virtual std::unique_ptr<filter_value> copy() const { return nullptr; }

  /// Lets the server move the filter's memory.
  virtual void relocate(const memory_mover&) noexcept {}

  /// Whether other filters like this one can be merged into it entry by entry, whatever their rate
  /// and capacity. The union may need the memory of both.
  virtual bool grows_in_steps() const noexcept { return false; }
  /// Inserts all that another filter holds. On failure returns the reason, which completes the
  /// sentence "... cannot be merged: "; the filter may hold a part then. O(size).
  virtual std::optional<std::string> merge(const filter_value& other);
};

/// Frees a filter, a large one in a thread of its own: returning much memory to the kernel takes
/// milliseconds.
void free_later(std::unique_ptr<filter_value> filter) noexcept;

}  // namespace bloomset::server
