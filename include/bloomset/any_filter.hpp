#pragma once

/// Any kind of filter behind one type, and the registry of the kinds. The command line and the
/// integrations see filters of the kinds only through this type.

#include <bloomset/concepts.hpp>
#include <bloomset/detail/core/any_model.hpp>
#include <bloomset/exceptions.hpp>
#include <bloomset/file.hpp>
#include <bloomset/hash_source.hpp>
#include <bloomset/image.hpp>
#include <bloomset/partitioned_hash.hpp>
#include <bloomset/property.hpp>
#include <bloomset/result.hpp>
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
#include <vector>

namespace bloomset {

/// The operations of a kind besides queries.
struct abilities {
  bool insert = false;
  bool erase = false;
  bool count = false;
  bool merge = false;
  bool intersect = false;
  bool grow = false;  ///< beyond its planned capacity, at the planned rate
  bool fold = false;  ///< into a smaller filter of the same keys
};

/// A request to a planner of any kind. The planner finds the values that are zero or empty.
struct plan_request {
  std::uint64_t capacity = 0;
  double fpr = 0;
  std::uint64_t bits = 0;
  unsigned hashes = 0;
  hash_seed seed = {};
  /// The share of filters with this plan whose own rate is at most fpr, in [1/2, 1). 0: only the
  /// mean rate over all such filters is at most fpr.
  double confidence = 0;
  /// 64, or 128 for two hashes of 64 bits. 0: hash_bits_for() chooses.
  unsigned hash_bits = 0;
  /// The kind's own parameters by name, as `kind_info::options` lists them.
  std::vector<std::pair<std::string, std::string>> options = {};
};

/// The plan of one kind for a request.
struct plan_report {
  std::uint64_t capacity = 0;
  std::uint64_t bits = 0;               ///< m in kinds with bits or counters, else of the payload
  std::uint64_t bytes = 0;              ///< of the payload
  std::optional<unsigned> hashes = {};  ///< empty if a filter has none, or several numbers
  double planned_fpr = 0;
  unsigned lines_per_query = 1;  ///< cache lines that a query of a member reads, at most
  /// The standard deviation of the logarithm of the rate, over all filters with this plan
  /// (formulas::bloom_fpr_scatter). 0 for kinds that compare fingerprints, whose rates hardly
  /// differ.
  double scatter = 0;
  /// The least bits per key of any filter, if they are not log2(1/planned_fpr), or 0.
  double min_bits_per_key = 0;
  unsigned hash_bits = 64;       ///< or 128: the filter has two halves (any_filter::halves())
  std::vector<property> extras;  ///< figures that only some kinds have

  /// The rate that 95 of 100 such filters do not exceed.
  double fpr_95() const;

  double bits_per_key() const noexcept {
    if (capacity == 0) return 0;  // a static kind without keys
    return static_cast<double>(bits) / static_cast<double>(capacity);
  }
};

/// The state of a filter. figures_of() lists all of it by name (figures.hpp).
struct filter_info {
  filter_kind kind{};
  std::string_view kind_name;
  hash_id hash{};
  std::uint64_t seed = default_seed;  ///< or the identifier of the secret key
  plan_report plan;
  /// Kinds that hold copies: the number of copies. Static kinds: the number of distinct keys. Other
  /// kinds: the number of keys that were certainly new, a lower bound on the distinct keys.
  std::uint64_t count = 0;
  /// The number of distinct keys, estimated from the bits. Infinite if the bits are too full, or
  /// come from several intersections.
  double estimated_size = 0;
  double current_fpr = 0;
  double fill = 0;  ///< share of bits, counters or slots in use, in [0, 1]
  /// Whether the current rate exceeds the planned one by more than chance explains, because the
  /// filter has more keys than it was planned for.
  bool overfilled = false;
  abilities can;                 ///< of the kind; a read-only filter has fewer (any_filter::can())
  label_list labels = {};        ///< any_filter::labels()
  std::uint64_t exceptions = 0;  ///< their number (any_filter::exceptions())
  std::uint64_t layers = 0;      ///< their number (any_filter::layers())
  std::uint64_t layer_keys = 0;  ///< the keys of the layers, which `count` includes
  std::vector<property> extras;
};

/// How stored bytes are opened: read-only in place, or copied into the filter's own memory.
enum class access : std::uint8_t { read_only, writable };

/// A filter of any kind, in its own memory or over a mapped file. Batches cost one indirect call.
///
/// Abilities   An operation fails with errc::unsupported if the kind lacks it, or if the filter is
///             mapped read-only.
/// Threads     Concurrent const calls are safe, as for every filter. All others need exclusive
///             access.
/// Moves       A filter that was moved from may only be destroyed or assigned to. Any other call
///             ends the program.
class any_filter {
 public:
  explicit any_filter(std::unique_ptr<detail::any_model> model) noexcept
      : model_(std::move(model)) {}

  /// O(size): current_fpr and estimated_size read the bits.
  filter_info info() const;

  /// The operations of this filter: those of its kind, except that a read-only filter cannot write.
  /// One with layers cannot write either.
  abilities can() const noexcept { return layers_ == nullptr ? model().can() : abilities{}; }
  std::uint64_t capacity() const noexcept { return model().capacity(); }
  std::uint64_t size() const noexcept { return model().size() + layers().keys(); }
  /// The current size of the payload. O(1); O(number of parts) in kinds that grow.
  std::uint64_t size_in_bytes() const noexcept { return model().size_in_bytes(); }
  /// Bytes that the next insert may add to size_in_bytes(), because a table of copies is full. 0
  /// for kinds without such a table, even if they grow.
  std::uint64_t next_growth() const noexcept { return model().next_growth(); }
  double current_fpr() const noexcept;

  /// Whether the key may be a member. False is certain.
  bool may_contain(std::string_view key) const noexcept {
    return (model().may_contain(key) || (layers_ != nullptr && is_in_layer(key))) &&
           (exceptions_.empty() || !excepts(key));
  }
  /// Answers a batch of queries. Precondition: answers.size() >= keys.size().
  void may_contain(std::span<const std::string_view> keys, std::span<bool> answers) const noexcept {
    if (layers_ != nullptr) [[unlikely]] {
      ask_layers(keys, answers);
      return;
    }
    model().may_contain(keys, answers);
    if (!exceptions_.empty()) [[unlikely]]
      deny_exceptions(keys, answers);
  }
  /// Answers a batch of hashes, made with the filter's hash function. Fails with unsupported if the
  /// filter needs the keys themselves, or has halves().
  result<void> may_contain(std::span<const hash64> hashes, std::span<bool> answers) const {
    auto done = model().may_contain(hashes, answers);
    if (layers_ != nullptr) [[unlikely]]
      admit_layers(hashes, answers);
    if (!exceptions_.empty()) [[unlikely]]
      deny_exceptions(hashes, answers);
    return done;
  }

  /// Whether the filter has an answer for every key. A filter with partitions has none for the keys
  /// of other partitions.
  bool covers_all_keys() const noexcept { return model().covers_all_keys(); }
  /// covered[i] tells whether the filter has an answer for keys[i]. Without one, may_contain() is
  /// false and means nothing. Precondition: covered.size() >= keys.size().
  void covers(std::span<const std::string_view> keys, std::span<bool> covered) const noexcept {
    model().covers(keys, covered);
  }

  /// For partial.hpp: whether the bytes of the payload are in memory that decide the answer for
  /// this key. Calls `has` with the ranges of bytes that the query reads.
  bool trace(std::string_view key, const detail::has_interval& has) const {
    return model().trace(key, has);
  }

  /// Inserts in order, up to the first key without room (summary.done < keys.size()).
  result<insert_summary> insert(std::span<const std::string_view> keys) {
    if (layers_ != nullptr) return stays();
    return readmitting(keys, model().insert(keys));
  }
  /// Inserts hashes, made with the filter's hash function. Fails with unsupported if the filter
  /// needs the keys themselves, or has halves(). Kinds that can spread one batch over threads use
  /// up to `threads`; 0 uses one per core. The result does not depend on the number of threads.
  result<insert_summary> insert(std::span<const hash64> hashes, unsigned threads = 1) {
    if (layers_ != nullptr) return stays();
    return readmitting(hashes, model().insert(hashes, threads));
  }

  /// Inserts hashes into part `part` of `parts` of the filter's memory. After a pass over the same
  /// hashes for each part, and settle_count(), the filter is the one that insert() makes. Fails
  /// with unsupported for all kinds but bloom and counting_bloom. Precondition: part < parts.
  result<void> insert_part(std::span<const hash64> hashes, unsigned part, unsigned parts) {
    if (layers_ != nullptr) return stays();
    auto inserted = model().insert_part(hashes, part, parts);
    if (inserted) readmit(hashes);
    return inserted;
  }

  /// Inserts the keys that are not contained yet, in order, up to the first without room. added[i]
  /// tells whether keys[i] was inserted; behind that key it is false.
  ///
  /// No key gets a second copy, even in kinds that count copies. A new key that passes as a member
  /// is not inserted. `inserted` of the summary is the number of keys that were added.
  /// Precondition: added.size() >= keys.size().
  result<insert_summary> insert_absent(std::span<const std::string_view> keys,
                                       std::span<bool> added) {
    if (layers_ != nullptr) return stays();
    if (!exceptions_.empty()) [[unlikely]]
      return insert_exceptions(keys, added);
    return model().insert_absent(keys, added);
  }
  /// The same for hashes, made with the filter's hash function. Fails with unsupported if the
  /// filter needs the keys themselves, or has halves().
  result<insert_summary> insert_absent(std::span<const hash64> hashes, std::span<bool> added) {
    if (layers_ != nullptr) return stays();
    if (!exceptions_.empty()) [[unlikely]]
      return insert_exceptions(hashes, added);
    return model().insert_absent(hashes, added);
  }

  /// erased[i] tells whether keys[i] was erased. It is false if keys[i] is certainly not a member.
  result<void> erase(std::span<const std::string_view> keys, std::span<bool> erased) {
    if (layers_ != nullptr) return stays();
    if (!exceptions_.empty()) [[unlikely]]
      return erase_others(keys, erased);
    return model().erase(keys, erased);
  }
  /// counts[i] is the number of inserts of keys[i] minus the number of its erases. It is too high
  /// if another key of the filter matches keys[i].
  result<void> count(std::span<const std::string_view> keys, std::span<std::uint64_t> counts) const;

  /// Fails with incompatible, and changes nothing, for another kind or other parameters.
  /// The union has the labels that both have with the same value. A filter without keys does not
  /// count: the union with it has the labels of the other.
  result<void> merge(const any_filter& other) { return unite(other, combining::merge); }
  /// Merges two sets. An expandable filter adds only those keys of the other that it does not
  /// contain yet, so nothing may be erased from it afterwards (expandable::merge_absent). Other
  /// kinds merge as merge() does: Bloom filters have one copy per key anyway, and counting kinds
  /// add all copies.
  result<void> merge_absent(const any_filter& other) {
    return unite(other, combining::merge_absent);
  }
  /// Keeps the keys that both filters may contain. Fails as merge() does.
  result<void> intersect(const any_filter& other) { return unite(other, combining::intersect); }
  /// The filter of the same keys with 1/factor of the size, even of a mapped filter. Fails with
  /// invalid_argument if the factor does not divide the size, or with out_of_memory.
  result<any_filter> fold(std::uint64_t factor) const {
    if (layers_ != nullptr) return stays();
    return completed(model().fold(factor));
  }
  /// The smallest fold whose current rate is at most fpr. Fails with full if the rate is above fpr
  /// already.
  result<any_filter> fold_to(double fpr) const {
    if (layers_ != nullptr) return stays();
    return completed(model().fold_to(fpr));
  }
  /// Removes every key. The plan stays.
  result<void> clear();
  /// Fails with unsupported if the filter has layers, as all calls that change it then do.
  result<void> check_changeable() const {
    if (layers_ != nullptr) return stays();
    return {};
  }
  /// blocked_bloom and bloom: sets size() to estimated_size, rounded, so that filters with equal
  /// bits have equal files. An insert counts a key if it sets a bit, which depends on the order.
  /// Other kinds and filters with layers do not change. O(size).
  void settle_count() noexcept {
    if (layers_ == nullptr) model().settle_count();
  }

  /// The two halves of a filter with 128-bit hashes; empty for others. A key may be a member if
  /// both halves may contain it. Each half is a filter with 64-bit hashes, of the same kind and
  /// with its own seed (hash_seed::half()). A key that is inserted into one must be inserted into
  /// both.
  std::span<any_filter> halves() noexcept { return model().halves(); }

  /// Facts that its file carries, such as the source of its keys. They change no answer. Those of a
  /// filter with layers must stay (check_changeable()), since its layers belong to a file with
  /// them.
  const label_list& labels() const noexcept { return labels_; }
  label_list& labels() noexcept { return labels_; }

  /// Makes the answer "no" for non-members that pass the filter. `inserted` of the summary is the
  /// number of new exceptions; the other keys got "no" before.
  ///
  /// A member among these keys is denied from then on, so give only keys that are certainly not
  /// members. Inserting a key ends its exception. A union or intersection keeps the exceptions that
  /// are members of neither filter, as far as the filters know.
  /// Fails with full beyond exception_list::max_size exceptions, and with unsupported for a filter
  /// with halves() or one that needs the keys themselves. Then nothing changes.
  result<insert_summary> add_exceptions(std::span<const std::string_view> keys);
  /// Ends the exceptions of these keys. Returns their number.
  result<std::uint64_t> remove_exceptions(std::span<const std::string_view> keys);
  const exception_list& exceptions() const noexcept { return exceptions_; }

  /// Keys that were added after the filter was published (layers.hpp). Queries answer for them too,
  /// except for exceptions().
  /// A filter with layers does not change: all calls that would change, combine, count or fold it
  /// fail with unsupported.
  const layer_list& layers() const noexcept;

  filter_image image() const;

  /// An equal filter. It has its own memory, except that the copy of a mapped filter shares the
  /// mapping. Fails with out_of_memory. O(size).
  result<any_filter> copy() const { return completed(model().copy()); }

  /// Lets the host move the filter's memory (memory_source.hpp). Supported by the kinds that the
  /// server module uses. Other kinds and mapped filters are not moved.
  void relocate(const memory_mover& mover) noexcept { model().relocate(mover); }

 private:
  enum class combining : std::uint8_t { merge, merge_absent, intersect };
  result<void> unite(const any_filter& other, combining how);
  /// The filter with the labels and exceptions of this one.
  result<any_filter> completed(result<any_filter> made) const;

  friend result<any_filter> open_any(const stored_filter& stored, access how,
                                     const std::string& name);

  // Layers (src/registry/layers.cpp).
  struct layered_keys {
    layer_list list;
    filter_hasher hasher;  // the filter's own
  };
  bool is_in_layer(std::string_view key) const noexcept;
  void admit_layers(std::span<const hash64> hashes, std::span<bool> answers) const noexcept {
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      answers[i] = answers[i] || layers_->list.contains(hashes[i]);
    }
  }
  void ask_layers(std::span<const std::string_view> keys, std::span<bool> answers) const noexcept;
  /// The failure of all calls that would change a filter with layers.
  static failure stays();

  // Exceptions by keys and by hashes (src/registry/exceptions.cpp).
  bool excepts(std::string_view key) const noexcept;
  bool excepts(hash64 h) const noexcept { return exceptions_.contains(h); }
  bool readmit_one(std::string_view key) noexcept;
  bool readmit_one(hash64 h) noexcept { return exceptions_.remove(h); }
  template <class Key>
  void readmit(std::span<const Key> keys) noexcept {
    if (exceptions_.empty()) [[likely]]
      return;
    for (const Key& key : keys) readmit_one(key);
  }
  template <class Key>
  result<insert_summary> readmitting(std::span<const Key> keys,
                                     result<insert_summary> done) noexcept {
    if (done) readmit(keys.first(static_cast<std::size_t>(done->done)));
    return done;
  }
  template <class Key>
  void deny_exceptions(std::span<const Key> keys, std::span<bool> answers) const noexcept {
    for (std::size_t i = 0; i < keys.size(); ++i) answers[i] = answers[i] && !excepts(keys[i]);
  }
  template <class Key>
  result<insert_summary> insert_exceptions(std::span<const Key> keys, std::span<bool> added);
  result<exception_list> exceptions_of_union(const any_filter& other) const;
  result<exception_list> exceptions_of_either(const any_filter& other) const;
  result<void> erase_others(std::span<const std::string_view> keys, std::span<bool> erased);

  detail::any_model& model() const noexcept {
    if (model_ == nullptr) [[unlikely]]
      detail::stop_at_moved_from();
    return *model_;
  }

  std::unique_ptr<detail::any_model> model_;
  label_list labels_;
  exception_list exceptions_;
  std::shared_ptr<const layered_keys> layers_;  // null without layers, as most filters are
};

/// Merges as any_filter::merge does, and also filters that fold and differ only in their sizes:
/// both are folded to the largest size that divides both. An empty filter adds nothing, so the
/// other keeps its size; of two empty ones the larger does. If the size is below 1/16 of the
/// smaller one, there is hardly room for further keys, and a union needs a `max_fpr`. Fails with
/// incompatible, changes nothing and names the sizes in that case, and if the rate of the union
/// would be above `max_fpr`; by default, above the higher planned rate of both. O(size of both).
result<void> merge_folded(any_filter& into, const any_filter& other, double max_fpr = 0);

/// Saves a filter of any kind in one step; see write_file.
result<void> save(const any_filter& filter, const std::filesystem::path& path,
                  if_exists policy = if_exists::replace);

/// Opens a filter file of any kind, or the folder of a published one (map_file), read-only: mapped,
/// without a copy. `key` is for filters that were made with a secret key; see unlock().
result<any_filter> open(const std::filesystem::path& path,
                        verification how = verification::automatic,
                        const std::optional<hash_key>& key = {});

/// Loads a filter file of any kind into its own memory, where it can be changed. Always verified.
result<any_filter> load(const std::filesystem::path& path, const std::optional<hash_key>& key = {});

/// Opens the filter in stored bytes. Error messages call it `name`.
result<any_filter> open_any(const stored_filter& stored, access how, const std::string& name);
/// The same stored filter with the exceptions and labels that a filter which was opened from it has
/// now: to open a copy that can be changed.
stored_filter with_changes(stored_filter stored, const any_filter& filter);
/// The info() of the filter in stored bytes. It needs no secret key. Fails as open_any does.
result<filter_info> info_of(stored_filter stored, const std::string& name);

/// A parameter that only one kind has.
struct kind_option {
  std::string_view name;
  std::string_view values;  ///< for people: "4, 8 or 16 (default 4)"
  std::string_view meaning;
};

/// One row of the registry: a kind as seen from outside.
struct kind_info {
  filter_kind kind;
  std::string_view name;
  std::string_view summary;    ///< one line
  std::string_view strengths;  ///< reasons to choose it, and its costs
  abilities can;
  /// Whether the same keys in any order give the same bytes (in filters of bits, once
  /// settle_count() was called).
  bool any_order = false;
  bool takes_128_bits = false;  ///< whether its filters can have 128-bit hashes
  /// Whether further copies of a key use slots that other keys need, as in most kinds that keep
  /// copies.
  bool copies_take_room = true;
  /// A plan should have a slot for each copy of a key, up to this number of copies. A copy without
  /// a slot needs more memory than a slot.
  std::uint64_t copies_to_plan_for = std::numeric_limits<std::uint64_t>::max();
  /// Whether ascending hashes go through the filter's memory from begin to end. Then a filter on
  /// disk is read or written once for any number of keys. In ribbon filters this holds for the
  /// first level, which has most keys.
  bool in_hash_order = false;
  std::span<const kind_option> options;
  result<plan_report> (*plan)(const plan_request&);
  /// An empty filter to insert into. Unsupported by static kinds (can.insert is false).
  result<any_filter> (*create)(const plan_request&);
  /// Static kinds: the filter of these hashes, which were made with `request.seed`. The request
  /// needs a rate, but no capacity. Null for other kinds. See also build_filter().
  result<any_filter> (*build)(const plan_request&, const hash_source&);
  /// Kinds of two sets: the filter of these members that answers these other keys exactly. Both
  /// were hashed with `request.seed`. Null for other kinds.
  result<any_filter> (*build_of_two_sets)(const plan_request&, const hash_source& members,
                                          const hash_source& others) = nullptr;
  result<any_filter> (*open)(const stored_filter&, access);
  /// The same as build_of_two_sets for keys with partitions, such as "ISSUER\tSERIAL". Null for
  /// kinds that cannot have partitions.
  result<any_filter> (*build_of_partitions)(const plan_request&,
                                            const partitioned_hash_source& members,
                                            const partitioned_hash_source& others) = nullptr;
  /// The bytes of the payload that open() reads. Null for kinds whose queries cannot be traced, and
  /// which therefore cannot be opened in part (partial.hpp).
  result<std::vector<byte_interval>> (*trace_open)(const stored_filter&) = nullptr;
};

/// The bits of the hashes of a filter of this request: 64, or 128 for two hashes of 64 bits.
///
/// If `request.hash_bits` is 0, the result is 128 only if the rate is below max(1e-9, 2 n / 2^64)
/// and a filter with 64-bit hashes either cannot reach it, or would lose half of it or more to
/// equal hashes. Otherwise it is 64. An unknown n counts as 2^32.
unsigned hash_bits_for(const kind_info& kind, const plan_request& request);

/// The filter of a kind that is built once, from the hashes of its keys. One source makes a filter
/// with 64-bit hashes, two make one with 128-bit hashes. sources[i] has the hashes made with
/// request.seed.half(i). Fails as kind_info::build does.
result<any_filter> build_filter(const kind_info& kind, const plan_request& request,
                                std::span<const hash_source> sources);

/// Sets request.hash_bits from the name of a hash function: "xxh3" and "siphash" do not change it,
/// "xxh3-2x64" and "siphash-2x64" set 128. Fails with invalid_argument for another name, for
/// siphash without a secret key in `request.seed`, and for xxh3 with one.
result<void> choose_hash(plan_request& request, std::string_view name);

/// All kinds, in the order in which they are shown.
std::span<const kind_info> kinds() noexcept;

/// The names of the kinds with a property, for messages: "cuckoo, expandable", or with `last`
/// between the last two, "cuckoo or expandable". "none" if no kind has it.
///
///     kinds_that(&kind_info::any_order)
std::string kinds_that(const std::function<bool(const kind_info&)>& property,
                       std::string_view last = ", ");
/// The same for an ability: kinds_that(&abilities::erase).
std::string kinds_that(bool abilities::* can, std::string_view last = ", ");

/// The row of that name. An unknown name is invalid_argument; the message lists the names that
/// exist.
result<const kind_info*> find_kind(std::string_view name);
/// The same for callers that have one set of keys. A kind of two sets is unsupported.
result<const kind_info*> find_kind_of_one_set(std::string_view name);
/// The row of that kind, or null.
const kind_info* find_kind(filter_kind kind) noexcept;

}  // namespace bloomset
