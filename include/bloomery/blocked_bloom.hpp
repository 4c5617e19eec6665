#pragma once

/// The blocked Bloom filter (F. Putze, P. Sanders, J. Singler, "Cache-, Hash- and Space-Efficient
/// Bloom Filters", 2007): all bits of a key lie in one cache line, so that an insert or a query
/// costs one memory access instead of k, for 0.5 bits a key more at 1%.
///
///     bloomery::blocked_bloom seen({.capacity = 1'000'000, .fpr = 0.01});
///     seen.insert("alice@example.com");
///     if (seen.may_contain("bob@example.com")) ask_the_database();

#include <algorithm>
#include <atomic>
#include <bloomery/concepts.hpp>
#include <bloomery/detail/blocked_bloom/kernels.hpp>
#include <bloomery/detail/blocked_bloom/native.hpp>
#include <bloomery/detail/core/bloom_tally.hpp>
#include <bloomery/detail/core/filter_memory.hpp>
#include <bloomery/detail/core/key_overloads.hpp>
#include <bloomery/detail/core/precondition.hpp>
#include <bloomery/detail/core/threads.hpp>
#include <bloomery/plan/blocked_bloom_plan.hpp>
#include <bloomery/plan/formulas.hpp>
#include <bloomery/plan/numeric.hpp>
#include <bloomery/storage.hpp>
#include <cassert>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace bloomery {

/// A view through which any number of threads insert into one blocked filter and query it at once.
/// Obtained by basic_blocked_bloom::concurrent(), copied freely. An insert that has returned is
/// seen by every query that begins after it (in the sense of happens-before). Inserts cost an
/// atomic operation a bit that is still clear; queries cost nothing more.
///
/// While views are in use the filter itself may be used only by its const members that do not read
/// bits; when all threads are done (joined), it is as if they had inserted one after the other, and
/// its bits do not depend on their order. size() may then be too high by keys that several threads
/// inserted at the same moment.
class concurrent_blocked_bloom : public detail::key_shell<concurrent_blocked_bloom> {
  using shell = detail::key_shell<concurrent_blocked_bloom>;

 public:
  using hash_type = hash64;
  using hasher_type = xxh3_hasher;

  using shell::insert;
  using shell::may_contain;

  bool may_contain(hash64 h) const noexcept {
    bool all = true;
    visit(h, [&](std::uint64_t& word, std::uint64_t bits) noexcept {
      all &= (std::atomic_ref(word).load(std::memory_order_acquire) & bits) == bits;
    });
    return all;
  }
  void may_contain(std::span<const hash64> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    fetching(hs, [&](std::size_t i) noexcept { answers[i] = may_contain(hs[i]); });
  }

  insert_outcome insert(hash64 h) noexcept {
    const bool fresh = set(h);
    if (fresh) std::atomic_ref(*count_).fetch_add(1, std::memory_order_relaxed);
    return fresh ? insert_outcome::inserted : insert_outcome::maybe_present;
  }
  insert_summary insert(std::span<const hash64> hs) noexcept {
    insert_summary summary{.done = hs.size()};
    fetching(hs, [&](std::size_t i) noexcept { summary.inserted += set(hs[i]); });
    summary.maybe_present = hs.size() - summary.inserted;
    std::atomic_ref(*count_).fetch_add(summary.inserted, std::memory_order_relaxed);
    return summary;
  }

  hasher_type hash_function() const noexcept { return hasher_type(seed_); }

 private:
  template <storage Storage>
  friend class basic_blocked_bloom;

  concurrent_blocked_bloom(detail::block_array array, std::uint64_t* count,
                           std::uint64_t seed) noexcept
      : array_(array), count_(count), seed_(seed) {}

  std::byte* block_of(hash64 h) const noexcept {
    return detail::with_layout(array_.layout, [&](auto layout) noexcept {
      return array_.data + layout.block_of(h, array_.blocks) * layout.block_bytes;
    });
  }

  template <class Use>
  void visit(hash64 h, Use&& use) const noexcept {
    auto* const words = reinterpret_cast<std::uint64_t*>(block_of(h));
    detail::with_layout(array_.layout, [&](auto layout) noexcept {
      layout.for_words(h, array_.hashes, [&](std::uint64_t word, std::uint64_t bits) noexcept {
        use(words[word], bits);
      });
    });
  }

  bool set(hash64 h) const noexcept {
    bool fresh = false;
    visit(h, [&](std::uint64_t& word, std::uint64_t bits) noexcept {
      const std::atomic_ref lane(word);
      // Most bits of a filter in use are set already, and reading is not exclusive.
      if ((lane.load(std::memory_order_acquire) & bits) == bits) return;
      fresh |= (lane.fetch_or(bits, std::memory_order_acq_rel) & bits) != bits;
    });
    return fresh;
  }

  template <class Use>
  void fetching(std::span<const hash64> hs, Use&& use) const noexcept {
    constexpr std::size_t group = 32;
    for (std::size_t first = 0; first < hs.size(); first += group) {
      const std::size_t last = std::min(hs.size(), first + group);
      for (std::size_t i = first; i < last; ++i) __builtin_prefetch(block_of(hs[i]));
      for (std::size_t i = first; i < last; ++i) use(i);
    }
  }

  detail::block_array array_;
  std::uint64_t* count_;
  std::uint64_t seed_;
};

/// A blocked Bloom filter over any storage. Queries and inserts are O(1), one cache line. 10.1 bits
/// a key at 1%, 15.8 at 0.1% (see plan_blocked_bloom), the rate exact for blocks of unequal load.
/// A batch overlaps the memory accesses of up to a hundred keys and picks SIMD kernels for the CPU;
/// the bits and answers are the same on every CPU.
///
/// Threads: any number may query at once. An insert needs the filter to itself; concurrent() gives
/// a view through which threads insert and query at once, and insert_parallel() and
/// may_contain_parallel() spread one batch over threads of their own.
template <storage Storage = owned_storage>
class basic_blocked_bloom : public detail::key_shell<basic_blocked_bloom<Storage>> {
  using shell = detail::key_shell<basic_blocked_bloom>;

 public:
  static constexpr filter_kind kind = filter_kind::blocked_bloom;
  static constexpr std::uint16_t kind_version = 1;
  using hash_type = hash64;
  using hasher_type = xxh3_hasher;
  using params_type = blocked_bloom_params;
  using spec_type = blocked_bloom_spec;
  using storage_type = Storage;
  /// The same filter over another storage.
  template <storage Other>
  using rebind_storage = basic_blocked_bloom<Other>;

  basic_blocked_bloom(const basic_blocked_bloom&) = default;
  basic_blocked_bloom(basic_blocked_bloom&&) = default;
  basic_blocked_bloom& operator=(const basic_blocked_bloom& other)
    requires std::copy_constructible<Storage>
  {
    if (this != &other) *this = basic_blocked_bloom(other);
    return *this;
  }
  basic_blocked_bloom& operator=(basic_blocked_bloom&&) = default;
  ~basic_blocked_bloom() = default;

  /// An empty filter for a spec known to be good. Throws nothing but std::bad_alloc; a spec that
  /// plan_blocked_bloom refuses is a broken precondition and ends the program with its sentence.
  /// What comes from outside goes through make().
  explicit basic_blocked_bloom(const blocked_bloom_spec& spec)
    requires std::same_as<Storage, owned_storage>
      : basic_blocked_bloom(detail::or_die(make(spec))) {}

  /// An empty filter, or why there is none.
  static result<basic_blocked_bloom> make(const blocked_bloom_spec& spec)
    requires std::same_as<Storage, owned_storage>
  {
    auto plan = plan_blocked_bloom(spec);
    if (!plan) return fail(std::move(plan.error()));
    auto memory = owned_storage::make(plan->bits() / 8);
    if (!memory) return fail(std::move(memory.error()));
    return open(*plan, std::move(*memory), 0);
  }

  /// The filter whose blocks are in `blocks`, as image() gave them. A storage that does not fit the
  /// parameters is corrupt. O(1): the bits are not read.
  static result<basic_blocked_bloom> open(const blocked_bloom_params& params, Storage blocks,
                                          std::uint64_t count) {
    if (!params.possible()) {
      return fail(errc::invalid_argument, "the blocked Bloom filter's parameters are out of range");
    }
    if (blocks.bytes().size() != params.bits() / 8) {
      return fail(errc::corrupt, "the blocked Bloom filter's blocks do not fit its parameters");
    }
    return basic_blocked_bloom(params, std::move(blocks), count);
  }

  using shell::insert;
  using shell::may_contain;

  /// Whether the key of this hash may be a member: false is certain. One cache line; no branch on
  /// the key or the CPU. A program that is built for AVX2 or AVX-512 gets it in these.
  [[gnu::always_inline]] bool may_contain(hash64 h) const noexcept {
    const std::byte* const data = blocks_.bytes().data();
    return detail::with_layout(params_.layout, [&](auto layout) __attribute__((always_inline)) {
      return detail::native::test(layout,
                                  data + layout.block_of(h, params_.blocks) * layout.block_bytes, h,
                                  params_.hashes);
    });
  }

  /// The same for a batch. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash64> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    detail::blocks_may_contain(array(), hs, answers.data(), 1);
  }

  /// The same by up to `threads` threads, 0 for one a core. Precondition: answers.size() >=
  /// hs.size().
  void may_contain_parallel(std::span<const hash64> hs, std::span<bool> answers,
                            unsigned threads = 0) const noexcept {
    assert(answers.size() >= hs.size());
    detail::blocks_may_contain(array(), hs, answers.data(), detail::threads_for(threads));
  }

  /// Inserts the key of this hash: `inserted` if a bit was clear, so that it certainly was new.
  [[gnu::always_inline]] insert_outcome insert(hash64 h) noexcept
    requires writable_storage<Storage>
  {
    std::byte* const data = blocks_.writable_bytes().data();
    const bool fresh =
        detail::with_layout(params_.layout, [&](auto layout) __attribute__((always_inline)) {
          return detail::native::set(layout,
                                     data + layout.block_of(h, params_.blocks) * layout.block_bytes,
                                     h, params_.hashes);
        });
    count_ += fresh;
    return fresh ? insert_outcome::inserted : insert_outcome::maybe_present;
  }

  /// Inserts a batch.
  insert_summary insert(std::span<const hash64> hs) noexcept
    requires writable_storage<Storage>
  {
    return insert_by(hs, 1);
  }

  /// Inserts a batch by up to `threads` threads, 0 for one a core. Bits and summary are those of
  /// insert(hs); no thread has a filter of its own.
  insert_summary insert_parallel(std::span<const hash64> hs, unsigned threads = 0) noexcept
    requires writable_storage<Storage>
  {
    return insert_by(hs, detail::threads_for(threads));
  }

  /// A view for many threads. Valid while this filter is not moved or destroyed. Precondition: its
  /// bits begin at a multiple of 8, as those of owned_storage do.
  concurrent_blocked_bloom concurrent() noexcept
    requires writable_storage<Storage>
  {
    assert(detail::is_aligned(blocks_.bytes(), sizeof(std::uint64_t)));
    return {array(), &count_, params_.seed};
  }

  /// Removes every key.
  void clear() noexcept
    requires writable_storage<Storage>
  {
    std::ranges::fill(blocks_.writable_bytes(), std::byte{0});
    count_ = 0;
    params_.chance_keys = 0;
  }

  /// Makes this the filter of the union: bit for bit the filter of both sets' keys. Filters that
  /// differ in blocks, layout, functions or seed are incompatible. O(m).
  template <storage Other>
  result<void> merge(const basic_blocked_bloom<Other>& other)
    requires writable_storage<Storage>
  {
    if (auto ok = same_shape(params_, other.params()); !ok) return ok;
    const bool with_ones = params_.chance_keys != 0 || other.params().chance_keys != 0;
    const detail::bloom_tally before = tally(with_ones);
    const detail::bloom_tally others = other.tally(with_ones);
    const auto theirs = other.bits();
    const auto ours = blocks_.writable_bytes();
    for (std::size_t i = 0; i < ours.size(); ++i) ours[i] |= theirs[i];
    settle(detail::union_of(before, others, ones(), keys_of()));
    return {};
  }

  /// Keeps the bits that both have. Every common key is still a member; the rate is at most that of
  /// either filter, though above that of a filter built from the common keys alone. O(m).
  template <storage Other>
  result<void> intersect(const basic_blocked_bloom<Other>& other)
    requires writable_storage<Storage>
  {
    if (auto ok = same_shape(params_, other.params()); !ok) return ok;
    const detail::bloom_tally before = tally(true);
    const detail::bloom_tally others = other.tally(true);
    const auto theirs = other.bits();
    const auto ours = blocks_.writable_bytes();
    for (std::size_t i = 0; i < ours.size(); ++i) ours[i] &= theirs[i];
    settle(detail::common_of(before, others, ones(), keys_of()));
    return {};
  }

  const blocked_bloom_params& params() const noexcept { return params_; }
  hasher_type hash_function() const noexcept { return hasher_type(params_.seed); }
  std::span<const std::byte> bits() const noexcept { return blocks_.bytes(); }

  std::uint64_t capacity() const noexcept { return params_.capacity; }
  /// Inserts that set a bit: no more than the distinct keys, and fewer by those that seemed to be
  /// there already. After merge or intersect, an estimate.
  std::uint64_t size() const noexcept { return count_; }
  double planned_fpr() const noexcept { return params_.fpr; }
  std::uint64_t size_in_bytes() const noexcept { return blocks_.bytes().size(); }

  /// The share of bits that are set. O(m).
  double fill() const noexcept {
    return static_cast<double>(census().ones) / static_cast<double>(params_.bits());
  }
  /// The rate of the bits as they stand: the mean over blocks of the product of their lanes' fills,
  /// or of their own fill to the power of k. O(m).
  double current_fpr() const noexcept {
    return census().pass / static_cast<double>(params_.blocks);
  }
  /// Distinct keys, estimated from the set bits; infinite when all are set. After intersect, by
  /// inclusion and exclusion over the union. Infinite also where that cannot be known: after an
  /// intersection's merge or intersection with bits that it has not. O(m).
  double estimate_size() const noexcept {
    return detail::less_chance(keys_of()(ones()), params_.chance_keys);
  }

  /// Lets the host move the memory (memory_source.hpp).
  void relocate(const memory_mover& mover) noexcept
    requires relocatable_storage<Storage>
  {
    blocks_.relocate(mover);
  }

  /// What save() writes. Refers to this filter's bits.
  filter_image image() const {
    return {{kind, kind_version, hasher_type::id, params_.seed, count_},
            params_.encode(),
            {blocks_.bytes()}};
  }

 private:
  template <storage>
  friend class basic_blocked_bloom;

  basic_blocked_bloom(const blocked_bloom_params& params, Storage blocks, std::uint64_t count)
      : params_(params), blocks_(std::move(blocks)), count_(count) {}

  // The kernels take one kind of array; those that only ask do not write to it.
  detail::block_array array() const noexcept {
    return {const_cast<std::byte*>(blocks_.bytes().data()), params_.blocks, params_.layout,
            params_.hashes};
  }

  detail::block_census census() const noexcept { return detail::take_census(array()); }

  insert_summary insert_by(std::span<const hash64> hs, unsigned threads) noexcept {
    const std::uint64_t fresh = detail::blocks_insert(array(), hs, threads);
    count_ += fresh;
    return {.inserted = fresh, .maybe_present = hs.size() - fresh, .done = hs.size()};
  }

  std::uint64_t ones() const noexcept { return census().ones; }
  /// The keys that so many set bits show.
  auto keys_of() const noexcept {
    return [this](std::uint64_t ones) noexcept {
      const double stays = params_.layout == block_layout::free_512
                               ? numeric::power(1 - 1.0 / 512, params_.hashes)
                               : 1 - 8.0 / static_cast<double>(block_bits(params_.layout));
      return formulas::blocked_cardinality(
          static_cast<double>(ones), static_cast<double>(params_.bits()), params_.blocks, stays);
    };
  }
  detail::bloom_tally tally(bool with_ones) const noexcept {
    return {with_ones ? ones() : 0, count_, params_.chance_keys};
  }
  void settle(const detail::bloom_tally& now) noexcept {
    count_ = now.count;
    params_.chance_keys = now.chance_keys;
  }

  blocked_bloom_params params_;
  detail::filter_memory<Storage> blocks_;
  std::uint64_t count_;
};

/// The default filter, in its own memory.
using blocked_bloom = basic_blocked_bloom<>;
/// One over a mapped file, read-only.
using blocked_bloom_view = basic_blocked_bloom<mapped_storage>;

}  // namespace bloomery
