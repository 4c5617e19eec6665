#pragma once

/// The counting Bloom filter (L. Fan, P. Cao, J. Almeida, A. Z. Broder, "Summary Cache: A Scalable
/// Wide-Area Web Cache Sharing Protocol", IEEE/ACM Transactions on Networking 8(3), 2000). It has a
/// counter for each bit of a Bloom filter, so keys can be erased and counted.
///
///     bloomset::counting_bloom online({.capacity = 1'000'000, .fpr = 0.01});
///     online.insert("alice");
///     online.insert("alice");
///     online.count("alice");   // 2, or more: never less
///     online.erase("alice");
///     online.may_contain("alice");   // true: one copy is left

#include <bloomset/concepts.hpp>
#include <bloomset/detail/bloom/probing.hpp>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/bloom_sets.hpp>
#include <bloomset/detail/core/figures.hpp>
#include <bloomset/detail/core/filter_memory.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/core/precondition.hpp>
#include <bloomset/detail/counting_bloom/counter_array.hpp>
#include <bloomset/plan/counting_bloom_plan.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/numeric.hpp>
#include <bloomset/probe.hpp>
#include <bloomset/storage.hpp>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace bloomset {

/// A counting Bloom filter over any probe rule and any storage: m counters of 4, 8 or 16 bits.
///
/// Space       38.4 bits per key at 1% with counters of 4 bits: four times a Bloom filter.
/// Query       O(k), up to k cache misses. A batch overlaps the misses of many keys.
/// Insert      O(k) with up to k cache misses, and O(k^2) comparisons of places in registers and
///             cache. Never full.
/// Erase       As insert. Only keys that were inserted: erasing a non-member that matches lowers
///             the counters of members, which may then be missed.
/// Growth      None. The rate rises beyond the capacity.
/// Duplicates  Each insert adds a copy. count() is right up to ceiling().
/// Overflow    A counter that reaches its maximum sticks: nothing decrements it again.
/// Threads     Concurrent queries are safe. Insert and erase need exclusive access.
/// Places      A key has up to k places. If several of its probes give one place, the place counts
///             once. An insert adds 1 to the counter of each place, and an erase subtracts 1. The
///             key may be a member while all of them are positive. Inserts and erases therefore
///             cancel exactly. If a shared place counted twice, erasing a non-member with two
///             probes on a counter of 1 would lower that counter below zero.
/// Stuck       A counter sticks because its true value is unknown once it has reached the maximum.
///             Overflow therefore never loses a member. The places of stuck counters stay occupied
///             until clear(). stuck_counters() returns their number. With distinct keys and the
///             planned load, counters of 4 bits practically never stick
///             (formulas::counter_reaches). If keys are inserted more than a dozen times each, use
///             8 or 16 bits.
/// Intersect   None. Keeping the smaller of two counters would keep every common key. It would also
///             leave counters positive without a key. No erase could lower those, so a filter
///             whose keys were all erased would not be empty.
template <probe_scheme Probe = double_hashing, storage Storage = owned_storage>
class basic_counting_bloom : public detail::key_overloads<basic_counting_bloom<Probe, Storage>> {
  using overloads = detail::key_overloads<basic_counting_bloom>;

 public:
  static constexpr filter_kind kind = filter_kind::counting_bloom;
  static constexpr std::uint16_t kind_version = 1;
  using probe_type = Probe;
  using hash_type = typename Probe::hash_type;
  using hasher_type = typename Probe::hasher_type;
  using params_type = counting_bloom_params;
  using spec_type = counting_bloom_spec;
  using storage_type = Storage;
  /// The same filter over another storage.
  template <storage Other>
  using rebind_storage = basic_counting_bloom<Probe, Other>;

  /// An empty filter. Precondition: plan_counting_bloom accepts the spec; otherwise the program
  /// prints the planner's error and ends. Use make() for values from outside the program. Throws
  /// only std::bad_alloc.
  explicit basic_counting_bloom(const counting_bloom_spec& spec, Probe probe = Probe())
    requires std::same_as<Storage, owned_storage>
      : basic_counting_bloom(detail::or_die(make(spec, std::move(probe)))) {}

  /// An empty filter, or the reason why there is none.
  static result<basic_counting_bloom> make(const counting_bloom_spec& spec, Probe probe = Probe())
    requires std::same_as<Storage, owned_storage>
  {
    if (auto ok = detail::check_hasher<hasher_type>(spec.seed); !ok) return fail(ok.error());
    auto plan = plan_counting_bloom(spec);
    if (!plan) return fail(std::move(plan.error()));
    plan->array.probe = Probe::id;
    auto memory = owned_storage::make(detail::bytes_for_bits(plan->bits()));
    if (!memory) return fail(std::move(memory.error()));
    return open(*plan, std::move(*memory), 0, std::move(probe));
  }

  /// A filter over `counters`, the payload of image(). Fails with corrupt if the storage does not
  /// fit the parameters. O(1): the counters are not read.
  static result<basic_counting_bloom> open(const counting_bloom_params& params, Storage counters,
                                           std::uint64_t count, Probe probe) {
    if (auto ok = check_layout(params); !ok) return fail(std::move(ok.error()));
    if (auto ok = detail::check_probe(params.array, probe); !ok) return fail(ok.error());
    if (counters.bytes().size() != detail::bytes_for_bits(params.bits()) ||
        !detail::padding_is_zero(counters.bytes(), params.bits())) {
      return fail(errc::corrupt, "the counting Bloom filter's counters do not fit its parameters");
    }
    return basic_counting_bloom(params, std::move(counters), count, std::move(probe));
  }
  /// The same, for a probe rule without state.
  static result<basic_counting_bloom> open(const counting_bloom_params& params, Storage counters,
                                           std::uint64_t count)
    requires std::default_initializable<Probe>
  {
    return open(params, std::move(counters), count, Probe());
  }

  using overloads::count;
  using overloads::erase;
  using overloads::insert;
  using overloads::may_contain;

  /// Whether the key of this hash may be a member. False is certain.
  bool may_contain(const hash_type& h) const noexcept {
    return with_counters([&](auto counters) noexcept { return smallest(counters, h, 1) != 0; });
  }

  /// Answers a batch of queries. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash_type> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    in_groups(hs, [&](std::size_t i) noexcept { answers[i] = may_contain(hs[i]); });
  }

  /// For filters of which only some bytes are in memory (partial.hpp): whether those are that
  /// decide may_contain(h). Calls `has` with byte ranges that it reads.
  template <class Has>
  bool trace(const hash_type& h, Has&& has) const {
    return with_counters([&](auto counters) {
      return detail::trace_places(
          probe_, h, params_.array, has,
          [&](std::uint64_t place) {
            const std::uint64_t at = counters.offset(place);
            return byte_interval{at, at + (counters.width + 7) / 8};
          },
          [&](std::uint64_t place) { return counters.get(counters_.bytes().data(), place) == 0; });
    });
  }
  /// The bytes that open() reads: none.
  template <class Use>
  static void trace_open(const counting_bloom_params&, Use&&) {}

  /// The number of copies of this hash's key, or more. A result of ceiling() is not a bound: there
  /// may be more copies.
  std::uint64_t count(const hash_type& h) const noexcept {
    return with_counters(
        [&](auto counters) noexcept { return smallest(counters, h, counters.maximum); });
  }

  /// Counts a batch. Precondition: counts.size() >= hs.size().
  void count(std::span<const hash_type> hs, std::span<std::uint64_t> counts) const noexcept {
    assert(counts.size() >= hs.size());
    in_groups(hs, [&](std::size_t i) noexcept { counts[i] = count(hs[i]); });
  }

  /// The largest count that the counters can hold: 15, 255 or 65,535.
  std::uint64_t ceiling() const noexcept { return params_.maximum(); }

  /// Adds a copy of the key of this hash. Returns `inserted` if one of its counters was zero: the
  /// key was certainly new. Otherwise returns `maybe_present`, and the key has one copy more.
  insert_outcome insert(const hash_type& h) noexcept
    requires writable_storage<Storage>
  {
    const detail::distinct_places at(probe_, h, params_.array);
    std::byte* bytes = counters_.writable_bytes().data();
    const bool newly_inserted = with_counters([&](auto counters) noexcept {
      bool any_zero = false;
      for (const std::uint64_t place : at) any_zero |= counters.increment(bytes, place) == 0;
      return any_zero;
    });
    ++count_;
    return newly_inserted ? insert_outcome::inserted : insert_outcome::maybe_present;
  }

  /// Inserts a batch.
  insert_summary insert(std::span<const hash_type> hs) noexcept
    requires writable_storage<Storage>
  {
    insert_summary summary;
    in_groups(hs, [&](std::size_t i) noexcept { summary.add(insert(hs[i])); });
    return summary;
  }

  /// Inserts a batch into part `part` of `parts` of the counters: one pass over the keys for each
  /// part fills a filter that is larger than memory. The first part counts the copies.
  void insert_part(std::span<const hash_type> hs, unsigned part, unsigned parts) noexcept
    requires writable_storage<Storage>
  {
    std::byte* bytes = counters_.writable_bytes().data();
    with_counters([&](auto counters) noexcept {
      detail::in_part_of_array<true>(
          probe_, hs, params_.array, part, parts,
          [&](std::uint64_t at) { return bytes + counters.offset(at); },
          [&](std::uint64_t at) { counters.increment(bytes, at); });
    });
    if (part == 0) count_ += hs.size();
  }

  /// Removes one copy of the key of this hash. Returns false and changes nothing if one of its
  /// counters is zero: the key is certainly not a member. Erase only keys that were inserted: a
  /// non-member that passes as a member lowers the counters of members, which may then be missed.
  bool erase(const hash_type& h) noexcept
    requires writable_storage<Storage>
  {
    const detail::distinct_places at(probe_, h, params_.array);
    std::byte* bytes = counters_.writable_bytes().data();
    const bool erased = with_counters([&](auto counters) noexcept {
      for (const std::uint64_t place : at) {
        if (counters.get(bytes, place) == 0) return false;
      }
      for (const std::uint64_t place : at) counters.decrement(bytes, place);
      return true;
    });
    // A key whose counters are all stuck can be erased more often than it was inserted.
    count_ -= erased && count_ != 0;
    return erased;
  }

  /// Erases a batch, in order. erased[i] tells whether hs[i] was erased. Precondition:
  /// erased.size() >= hs.size().
  void erase(std::span<const hash_type> hs, std::span<bool> erased) noexcept
    requires writable_storage<Storage>
  {
    assert(erased.size() >= hs.size());
    in_groups(hs, [&](std::size_t i) noexcept { erased[i] = erase(hs[i]); });
  }

  /// Removes every key, and frees the stuck counters.
  void clear() noexcept
    requires writable_storage<Storage>
  {
    detail::fill_zero(counters_.writable_bytes());
    count_ = 0;
  }

  /// Adds the other filter's copies. The counters become those of a filter into which the keys of
  /// both were inserted. A sum beyond the maximum sticks there, and a stuck counter stays stuck.
  /// Fails with incompatible, and changes nothing, if the filters differ in counters, width,
  /// functions, seed or probe rule. Merging a filter with itself doubles every count. O(m).
  template <storage Other>
  result<void> merge(const basic_counting_bloom<Probe, Other>& other)
    requires writable_storage<Storage>
  {
    if (auto ok = same_shape(params_, other.params()); !ok) return ok;
    with_counters(
        [&](auto counters) noexcept { counters.add(counters_.writable_bytes(), other.bytes()); });
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - count_;
    count_ += detail::min(room, other.size());
    detail::take_looser_plan(params_.array, other.params().array);
    return {};
  }

  const counting_bloom_params& params() const noexcept { return params_; }
  const Probe& probe() const noexcept { return probe_; }
  hasher_type hash_function() const noexcept {
    return detail::make_hasher<hasher_type>(params_.array.seed);
  }
  /// The counters, as in the payload of a file.
  std::span<const std::byte> bytes() const noexcept { return counters_.bytes(); }
  /// The counter of a place. Precondition: place < params().counters().
  unsigned counter(std::uint64_t place) const noexcept {
    return with_counters(
        [&](auto counters) noexcept { return counters.get(counters_.bytes().data(), place); });
  }

  std::uint64_t capacity() const noexcept { return params_.array.capacity; }
  /// The number of inserts minus the number of erases: copies, not distinct keys.
  std::uint64_t size() const noexcept { return count_; }
  double planned_fpr() const noexcept { return params_.array.fpr; }
  std::uint64_t size_in_bytes() const noexcept { return counters_.bytes().size(); }

  /// The number of counters that are not zero. O(m).
  std::uint64_t non_zero_counters() const noexcept {
    return with_counters(
        [&](auto counters) noexcept { return counters.count_non_zero(counters_.bytes()); });
  }
  /// The number of counters at their maximum, which no erase can free. O(m).
  std::uint64_t stuck_counters() const noexcept {
    return with_counters(
        [&](auto counters) noexcept { return counters.count_stuck(counters_.bytes()); });
  }
  /// The share of counters that are not zero. O(m).
  double fill() const noexcept {
    return static_cast<double>(non_zero_counters()) / static_cast<double>(params_.counters());
  }
  /// The rate of the counters as they are: fill^k, the chance that no counter of a non-member is
  /// zero. O(m).
  double current_fpr() const noexcept { return figures().current_fpr; }
  /// The number of distinct keys, estimated from the counters that are not zero. Infinite if no
  /// counter is zero. Erased keys with stuck counters still contribute. O(m).
  double estimate_size() const noexcept { return figures().estimated_size; }
  /// The results of fill(), current_fpr() and estimate_size(), for which the counters are read
  /// once. O(m).
  detail::filter_figures figures() const noexcept {
    const auto counters = static_cast<double>(params_.counters());
    const auto found = static_cast<double>(non_zero_counters());
    return {found / counters, numeric::power(found / counters, params_.array.hashes),
            formulas::throws_behind(found, counters) / params_.array.hashes};
  }

  /// The image that save() writes. It refers to the counters of this filter.
  filter_image image() const {
    return detail::image_of(*this, params_.array.seed, {counters_.bytes()});
  }

 private:
  basic_counting_bloom(const counting_bloom_params& params, Storage counters, std::uint64_t count,
                       Probe probe)
      : counters_(std::move(counters)), params_(params), count_(count), probe_(std::move(probe)) {}

  template <class Use>
  decltype(auto) with_counters(Use&& use) const noexcept {
    return detail::with_counters(params_.counter_bits, std::forward<Use>(use));
  }

  /// The smallest of the key's counters, or `maximum` if that is less.
  template <class Counters>
  std::uint64_t smallest(Counters counters, const hash_type& h, unsigned maximum) const noexcept {
    const std::byte* bytes = counters_.bytes().data();
    unsigned minimum = maximum;
    for (unsigned i = 0; i < params_.array.hashes && minimum != 0; ++i) {
      const std::uint64_t place = probe_.position(h, i, params_.array.bits);
      minimum = detail::min(minimum, counters.get(bytes, place));
    }
    return minimum;
  }

  void prefetch(const hash_type& h) const noexcept {
    with_counters([&](auto counters) noexcept {
      const std::byte* bytes = counters_.bytes().data();
      detail::prefetch_places(probe_, h, params_.array, [&](std::uint64_t place) noexcept {
        return bytes + counters.offset(place);
      });
    });
  }

  template <class Use>
  void in_groups(std::span<const hash_type> hs, Use&& use) const noexcept {
    detail::in_groups(
        hs.size(), detail::is_far_for_many_lines(counters_.bytes().size()),
        [&](std::size_t i) noexcept { prefetch(hs[i]); }, use);
  }

  // First, so that an assignment whose copy throws changes nothing.
  detail::filter_memory<Storage> counters_;
  counting_bloom_params params_;
  std::uint64_t count_;
  [[no_unique_address]] Probe probe_;
};

/// A counting Bloom filter in its own memory.
using counting_bloom = basic_counting_bloom<>;
/// A read-only counting Bloom filter over a mapped file.
using counting_bloom_view = basic_counting_bloom<double_hashing, mapped_storage>;

}  // namespace bloomset
