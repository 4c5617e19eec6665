#pragma once

/// The Bloom filter (B. H. Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors",
/// Communications of the ACM 13(7), 1970). It has m bits and k functions. Inserting a key sets k
/// bits; a key may be a member if its k bits are set.
///
///     bloomset::bloom seen({.capacity = 1'000'000, .fpr = 0.01});
///     seen.insert("alice@example.com");
///     if (seen.may_contain("bob@example.com")) ask_the_database();

#include <bloomset/concepts.hpp>
#include <bloomset/detail/bloom/probing.hpp>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/bloom_sets.hpp>
#include <bloomset/detail/core/figures.hpp>
#include <bloomset/detail/core/filter_memory.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/core/precondition.hpp>
#include <bloomset/plan/bloom_plan.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/numeric.hpp>
#include <bloomset/probe.hpp>
#include <bloomset/storage.hpp>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace bloomset {

/// A Bloom filter over any probe rule and any storage.
///
/// Space       9.59 bits per key at 1%, 14.4 at 0.1%.
/// Query       O(k), up to k cache misses. A batch overlaps the misses of many keys.
/// Insert      O(k), up to k cache misses, never full.
/// Growth      None. The rate rises beyond the capacity.
/// Duplicates  Inserting a member again changes nothing.
/// Threads     Concurrent queries are safe. An insert needs exclusive access.
template <probe_scheme Probe = double_hashing, storage Storage = owned_storage>
class basic_bloom : public detail::key_overloads<basic_bloom<Probe, Storage>>,
                    public detail::bloom_sets<basic_bloom<Probe, Storage>, basic_bloom<Probe>> {
  using overloads = detail::key_overloads<basic_bloom>;

 public:
  static constexpr filter_kind kind = filter_kind::bloom;
  static constexpr std::uint16_t kind_version = 1;
  using probe_type = Probe;
  using hash_type = typename Probe::hash_type;
  using hasher_type = typename Probe::hasher_type;
  using params_type = bloom_params;
  using spec_type = bloom_spec;
  using storage_type = Storage;
  /// The same filter over another storage.
  template <storage Other>
  using rebind_storage = basic_bloom<Probe, Other>;

  /// An empty filter. Precondition: plan_bloom accepts the spec; otherwise the program prints the
  /// planner's error and ends. Use make() for values from outside the program. Throws only
  /// std::bad_alloc.
  explicit basic_bloom(const bloom_spec& spec, Probe probe = Probe())
    requires std::same_as<Storage, owned_storage>
      : basic_bloom(detail::or_die(make(spec, std::move(probe)))) {}

  /// An empty filter, or the reason why there is none.
  static result<basic_bloom> make(const bloom_spec& spec, Probe probe = Probe())
    requires std::same_as<Storage, owned_storage>
  {
    if (auto ok = detail::check_hasher<hasher_type>(spec.seed); !ok) return fail(ok.error());
    auto plan = plan_bloom(spec);
    if (!plan) return fail(std::move(plan.error()));
    plan->probe = Probe::id;
    auto memory = owned_storage::make(detail::bytes_for_bits(plan->bits));
    if (!memory) return fail(std::move(memory.error()));
    return open(*plan, std::move(*memory), 0, std::move(probe));
  }

  /// A filter over `bits`, the payload of image(). Fails with corrupt if the storage does not fit
  /// the parameters. O(1): the bits are not read.
  static result<basic_bloom> open(const bloom_params& params, Storage bits, std::uint64_t count,
                                  Probe probe) {
    if (auto ok = detail::check_probe(params, probe); !ok) return fail(std::move(ok.error()));
    if (bits.bytes().size() != detail::bytes_for_bits(params.bits) ||
        !detail::padding_is_zero(bits.bytes(), params.bits)) {
      return fail(errc::corrupt, "the Bloom filter's bits do not fit its parameters");
    }
    return basic_bloom(params, std::move(bits), count, std::move(probe));
  }
  /// The same, for a probe rule without state.
  static result<basic_bloom> open(const bloom_params& params, Storage bits, std::uint64_t count)
    requires std::default_initializable<Probe>
  {
    return open(params, std::move(bits), count, Probe());
  }

  using overloads::insert;
  using overloads::may_contain;

  /// Whether the key of this hash may be a member. False is certain.
  bool may_contain(const hash_type& h) const noexcept {
    const std::byte* bits = bits_.bytes().data();
    for (unsigned i = 0; i < params_.hashes; ++i) {
      if (!detail::test_bit(bits, probe_.position(h, i, params_.bits))) return false;
    }
    return true;
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
    const std::byte* const bits = bits_.bytes().data();
    return detail::trace_places(
        probe_, h, params_, has,
        [](std::uint64_t place) { return byte_interval{place >> 3, (place >> 3) + 1}; },
        [bits](std::uint64_t place) { return !detail::test_bit(bits, place); });
  }
  /// The bytes that open() reads: none.
  template <class Use>
  static void trace_open(const bloom_params&, Use&&) {}

  /// Inserts the key of this hash. Returns `inserted` if at least one of its bits was clear: the
  /// key was certainly new.
  insert_outcome insert(const hash_type& h) noexcept
    requires writable_storage<Storage>
  {
    std::byte* bits = bits_.writable_bytes().data();
    bool newly_inserted = false;
    for (unsigned i = 0; i < params_.hashes; ++i) {
      newly_inserted |= detail::set_bit(bits, probe_.position(h, i, params_.bits));
    }
    count_ += newly_inserted;
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

  /// Sets the bits of a batch in part `part` of `parts` of the array: one pass over the keys for
  /// each part fills a filter that is larger than memory. size() is then set by settle_count().
  void insert_part(std::span<const hash_type> hs, unsigned part, unsigned parts) noexcept
    requires writable_storage<Storage>
  {
    std::byte* bits = bits_.writable_bytes().data();
    detail::in_part_of_array<false>(
        probe_, hs, params_, part, parts, [=](std::uint64_t at) { return bits + (at >> 3); },
        [=](std::uint64_t at) { detail::set_bit(bits, at); });
  }

  const bloom_params& params() const noexcept { return params_; }
  const Probe& probe() const noexcept { return probe_; }
  hasher_type hash_function() const noexcept {
    return detail::make_hasher<hasher_type>(params_.seed);
  }

  /// The number of set bits. O(m).
  std::uint64_t ones() const noexcept { return detail::count_ones(bits_.bytes()); }
  /// The rate of the bits as they are: fill^k, the chance that all k bits of a non-member are set.
  /// O(m).
  double current_fpr() const noexcept { return figures().current_fpr; }
  /// The results of fill(), current_fpr() and estimate_size(), for which the bits are read once.
  /// O(m).
  detail::filter_figures figures() const noexcept {
    const std::uint64_t found = ones();
    const double fill = static_cast<double>(found) / static_cast<double>(params_.bits);
    return {fill, numeric::power(fill, params_.hashes),
            detail::less_chance(keys_of(found), params_.chance_keys)};
  }

 private:
  friend class detail::bloom_sets<basic_bloom, basic_bloom<Probe>>;

  basic_bloom(const bloom_params& params, Storage bits, std::uint64_t count, Probe probe)
      : bits_(std::move(bits)), params_(params), count_(count), probe_(std::move(probe)) {}

  std::uint64_t fold_size() const noexcept { return params_.bits; }
  result<basic_bloom<Probe>> fold_as(const bloom_params& params, std::uint64_t factor) const {
    auto memory = owned_storage::make(detail::bytes_for_bits(params.bits));
    if (!memory) return fail(std::move(memory.error()));
    detail::fold_bits(bits_.bytes(), memory->writable_bytes(), params_.bits, factor,
                      Probe::reduced_by);
    return basic_bloom<Probe>::open(params, std::move(*memory), count_, probe_);
  }

  void prefetch(const hash_type& h) const noexcept {
    const std::byte* bits = bits_.bytes().data();
    detail::prefetch_places(probe_, h, params_,
                            [bits](std::uint64_t place) noexcept { return bits + (place >> 3); });
  }

  template <class Use>
  void in_groups(std::span<const hash_type> hs, Use&& use) const noexcept {
    detail::in_groups(
        hs.size(), detail::is_far_for_many_lines(bits_.bytes().size()),
        [&](std::size_t i) noexcept { prefetch(hs[i]); }, use);
  }

  double keys_of(std::uint64_t ones) const noexcept {
    return formulas::throws_behind(static_cast<double>(ones), static_cast<double>(params_.bits)) /
           params_.hashes;
  }
  // First, so that an assignment whose copy throws changes nothing.
  detail::filter_memory<Storage> bits_;
  bloom_params params_;
  std::uint64_t count_;
  [[no_unique_address]] Probe probe_;
};

/// A Bloom filter with double hashing, in its own memory.
using bloom = basic_bloom<>;
/// A read-only Bloom filter over a mapped file.
using bloom_view = basic_bloom<double_hashing, mapped_storage>;

}  // namespace bloomset
