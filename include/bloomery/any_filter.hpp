#pragma once

/// Any kind of filter behind one type, and the registry of the kinds. Command line, module and
/// bindings see filters only through this header, plan/units.hpp and file.hpp.

#include <bloomery/concepts.hpp>
#include <bloomery/detail/core/filter_model.hpp>
#include <bloomery/file.hpp>
#include <bloomery/image.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bloomery {

/// What a kind of filter can do, beyond answering.
struct abilities {
  bool insert = false;
  bool erase = false;
  bool count = false;
  bool merge = false;
  bool intersect = false;
  bool grow = false;  ///< beyond its planned capacity, at the planned rate
};

/// A named figure that only some kinds have, for people and for JSON.
struct property {
  std::string name;  ///< snake_case, with its unit where it has one
  std::variant<std::uint64_t, double, std::string> value;
};

/// What is asked of any kind; zero or empty means "find it".
struct plan_request {
  std::uint64_t capacity = 0;
  double fpr = 0;
  std::uint64_t bits = 0;
  unsigned hashes = 0;
  std::uint64_t seed = 0;
  /// The share of filters whose own rate keeps within fpr, in [1/2, 1); 0: the mean of all does.
  double confidence = 0;
  /// The kind's own parameters by name, as `kind_info::options` lists them.
  std::vector<std::pair<std::string, std::string>> options = {};
};

/// What a kind makes of a request.
struct plan_report {
  std::uint64_t capacity = 0;
  std::uint64_t bits = 0;   ///< of the payload, or m where the kind has one
  std::uint64_t bytes = 0;  ///< of the payload
  std::optional<unsigned> hashes;
  double planned_fpr = 0;
  unsigned lines_per_query = 1;  ///< cache lines that a query of a member reads, at most
  /// How far one filter's rate is from planned_fpr, the mean of all (formulas::bloom_fpr_scatter).
  /// 0 for kinds that compare fingerprints, whose rates hardly differ.
  double scatter = 0;
  std::vector<property> extras;

  /// The rate that 95 of 100 such filters keep within.
  double fpr_95() const;

  double bits_per_key() const noexcept {
    if (capacity == 0) return 0;  // of a static kind without keys
    return static_cast<double>(bits) / static_cast<double>(capacity);
  }
};

/// A filter's own account of itself.
struct filter_info {
  filter_kind kind{};
  std::string_view kind_name;
  hash_id hash{};
  std::uint64_t seed = 0;
  plan_report plan;
  /// Kinds that hold copies: these. Static kinds: distinct keys. Others: keys that certainly were
  /// new, of which there are no more than distinct keys.
  std::uint64_t count = 0;
  /// Distinct keys, from the bits. Infinite if these do not tell: too full, or of several
  /// intersections.
  double estimated_size = 0;
  double current_fpr = 0;
  double fill = 0;  ///< of bits, counters or slots, in [0, 1]
  abilities can;
  std::vector<property> extras;
};

/// A filter of any kind, owning or over a mapped file. Movable; one that was moved from may only be
/// destroyed or assigned to, and any other call ends the program. Batches cost one indirect call.
///
/// What a filter cannot do, because of its kind or because it is mapped read-only, is a failure
/// with errc::unsupported. Threads: as for every filter, const calls may run at once.
class any_filter {
 public:
  class model;  // the interface that each kind implements (src/registry/any_model.hpp)

  explicit any_filter(std::unique_ptr<model> m) noexcept;
  any_filter(any_filter&&) noexcept;
  any_filter& operator=(any_filter&&) noexcept;
  any_filter(const any_filter&) = delete;
  any_filter& operator=(const any_filter&) = delete;
  ~any_filter();

  /// O(size): current_fpr and estimated_size read the bits.
  filter_info info() const;

  /// What this filter can do: its kind's abilities, less all that write if it is read-only.
  abilities can() const noexcept;
  std::uint64_t capacity() const noexcept;
  std::uint64_t size() const noexcept;
  /// Of the payload as it stands. O(1), or a step for each part of a filter that grows.
  std::uint64_t size_in_bytes() const noexcept;
  /// Bytes by which that may grow with the next insert: of a table of copies that is full. 0 for
  /// kinds that have none, also if they grow.
  std::uint64_t next_growth() const noexcept;
  double current_fpr() const noexcept;

  bool may_contain(std::string_view key) const noexcept;
  /// Precondition: answers.size() >= keys.size().
  void may_contain(std::span<const std::string_view> keys, std::span<bool> answers) const noexcept;
  /// The same for hashes that `hash` gave. Unsupported by filters that need the keys themselves.
  result<void> may_contain(std::span<const hash64> hashes, std::span<bool> answers) const;

  /// Inserts in order, up to the first key without room (summary.done < keys.size()).
  result<insert_summary> insert(std::span<const std::string_view> keys);
  /// The same for hashes that `hash` gave. Unsupported by filters that need the keys themselves.
  /// Kinds that can spread one batch over threads use up to `threads`, 0 for one a core; the result
  /// is the same.
  result<insert_summary> insert(std::span<const hash64> hashes, unsigned threads = 1);

  /// Inserts the keys that are not contained yet, in order, up to the first one without room, and
  /// says of each whether it was such: no key gets a second copy, in kinds that count them either,
  /// and a stranger that passes as a member is left out. `inserted` of the summary are the keys
  /// that were added. Precondition: added.size() >= keys.size().
  result<insert_summary> insert_absent(std::span<const std::string_view> keys,
                                       std::span<bool> added);

  /// Whether each key was erased: false for what certainly is no member.
  result<void> erase(std::span<const std::string_view> keys, std::span<bool> erased);
  result<void> count(std::span<const std::string_view> keys, std::span<std::uint64_t> counts) const;

  /// Another kind, or other parameters, are incompatible; then nothing has changed.
  result<void> merge(const any_filter& other);
  /// The same, but of an expandable filter only the keys that are not contained yet are added: the
  /// union of two sets. Bloom filters' unions are such in any case; other kinds add all copies.
  result<void> merge_absent(const any_filter& other);
  result<void> intersect(const any_filter& other);
  /// Removes every key; the plan stays.
  result<void> clear();

  filter_image image() const;

  /// An equal filter in memory of its own; of a mapped one, another over the same mapping. O(size).
  /// Fails with out_of_memory.
  result<any_filter> copy() const;

  /// Lets the host move the filter's memory, of kinds that a server holds (memory_source.hpp);
  /// others and mapped ones stay where they are.
  void relocate(const memory_mover& mover) noexcept;

 private:
  detail::filter_model<model> model_;
};

/// Saves a filter of any kind; atomic, see write_file.
result<void> save(const any_filter& filter, const std::filesystem::path& path,
                  if_exists policy = if_exists::replace);

/// Opens a filter file of any kind read-only: mapped, nothing copied.
result<any_filter> open(const std::filesystem::path& path,
                        verification how = verification::automatic);

/// Loads a filter file of any kind into memory of its own, to be changed; always verified.
result<any_filter> load(const std::filesystem::path& path);

/// The filter in stored bytes, read-only or copied into memory of its own.
enum class access : std::uint8_t { read_only, writable };
result<any_filter> open_any(const stored_filter& stored, access how, const std::string& name);

/// A parameter that only one kind has.
struct kind_option {
  std::string_view name;
  std::string_view values;  ///< for people: "4, 8 or 16 (default 4)"
  std::string_view meaning;
};

/// One row of the registry: all that is known of a kind from outside.
struct kind_info {
  filter_kind kind;
  std::string_view name;
  std::string_view summary;    ///< one line
  std::string_view strengths;  ///< why one would choose it, and what it costs
  abilities can;
  bool takes_hashes;  ///< with its default options, insert(hash64) works
  /// Whether further copies of a key take the room of other keys, as in most kinds that keep them.
  bool copies_take_room = true;
  /// So many copies of each key are best planned for; where further ones cost more than room does.
  std::uint64_t copies_to_plan_for = std::numeric_limits<std::uint64_t>::max();
  std::span<const kind_option> options;
  result<plan_report> (*plan)(const plan_request&);
  /// An empty filter to insert into; unsupported by static kinds (can.insert is false).
  result<any_filter> (*create)(const plan_request&);
  /// Static kinds: the filter of these hashes, which were made with `request.seed`. A capacity is
  /// not needed; a rate is. Null for kinds that insert.
  result<any_filter> (*build)(const plan_request&, const hash_source&);
  result<any_filter> (*open)(const stored_filter&, access);
};

/// All kinds, in the order in which they are shown.
std::span<const kind_info> kinds() noexcept;

/// The row of that name; an unknown name is invalid_argument, with the names that exist.
result<const kind_info*> find_kind(std::string_view name);
/// The row of that id, or null.
const kind_info* find_kind(filter_kind kind) noexcept;

}  // namespace bloomery
