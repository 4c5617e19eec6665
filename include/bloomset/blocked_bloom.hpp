#pragma once

/// The blocked Bloom filter (F. Putze, P. Sanders, J. Singler, "Cache-, Hash- and Space-Efficient
/// Bloom Filters", 2007). All bits of a key are in one cache line, so an insert or a query costs
/// one memory access instead of k. It needs 0.5 bits per key more than a Bloom filter at 1%.
///
///     bloomset::blocked_bloom seen({.capacity = 1'000'000, .fpr = 0.01});
///     seen.insert("alice@example.com");
///     if (seen.may_contain("bob@example.com")) ask_the_database();

#include <bloomset/concepts.hpp>
#include <bloomset/detail/blocked_bloom/kernels.hpp>
#include <bloomset/detail/blocked_bloom/native.hpp>
#include <bloomset/detail/core/bloom_sets.hpp>
#include <bloomset/detail/core/figures.hpp>
#include <bloomset/detail/core/filter_memory.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/core/precondition.hpp>
#include <bloomset/plan/blocked_bloom_plan.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/numeric.hpp>
#include <bloomset/storage.hpp>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace bloomset {

/// A handle through which any number of threads insert into one blocked filter and query it at the
/// same time. basic_blocked_bloom::concurrent() makes it; copies refer to the same filter.
///
/// Query       As fast as in the filter itself.
/// Insert      One atomic operation for each word in which a bit of the key is still clear.
/// Ordering    A query that begins after an insert returned finds the key (happens-before).
/// Filter      While handles are in use, call no member of the filter but params(), capacity(),
///             planned_fpr() and size_in_bytes(): the others read the bits or the count.
/// Result      Once all threads have joined, the bits are the same as after inserts by one thread,
///             in any order. size() may be too high: it counts a key twice if two threads inserted
///             it at the same moment.
class concurrent_blocked_bloom : public detail::key_overloads<concurrent_blocked_bloom> {
  using overloads = detail::key_overloads<concurrent_blocked_bloom>;

 public:
  using hash_type = hash64;
  using hasher_type = filter_hasher;

  using overloads::insert;
  using overloads::may_contain;

  /// Whether the key of this hash may be a member. False is certain.
  bool may_contain(hash64 h) const noexcept {
    bool all = true;
    visit(h, [&](std::uint64_t& word, std::uint64_t bits) noexcept {
      all &= (__atomic_load_n(&word, __ATOMIC_ACQUIRE) & bits) == bits;
    });
    return all;
  }
  /// The same for a batch. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash64> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    prefetch_and_use(hs, [&](std::size_t i) noexcept { answers[i] = may_contain(hs[i]); });
  }

  /// Inserts the key of this hash.
  insert_outcome insert(hash64 h) noexcept {
    const bool newly_inserted = set(h);
    if (newly_inserted) __atomic_fetch_add(count_, 1, __ATOMIC_RELAXED);
    return newly_inserted ? insert_outcome::inserted : insert_outcome::maybe_present;
  }
  /// Inserts a batch.
  insert_summary insert(std::span<const hash64> hs) noexcept {
    insert_summary summary{.done = hs.size()};
    prefetch_and_use(hs, [&](std::size_t i) noexcept { summary.inserted += set(hs[i]); });
    summary.maybe_present = hs.size() - summary.inserted;
    __atomic_fetch_add(count_, summary.inserted, __ATOMIC_RELAXED);
    return summary;
  }

  hasher_type hash_function() const noexcept { return hasher_type(seed_); }

 private:
  template <storage Storage>
  friend class basic_blocked_bloom;

  concurrent_blocked_bloom(detail::block_array array, std::uint64_t* count,
                           const hash_seed& seed) noexcept
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
    bool newly_inserted = false;
    visit(h, [&](std::uint64_t& word, std::uint64_t bits) noexcept {
      // In a filter in use most bits are already set. A read does not make the cache line
      // exclusive.
      if ((__atomic_load_n(&word, __ATOMIC_ACQUIRE) & bits) == bits) return;
      newly_inserted |= (__atomic_fetch_or(&word, bits, __ATOMIC_ACQ_REL) & bits) != bits;
    });
    return newly_inserted;
  }

  template <class Use>
  void prefetch_and_use(std::span<const hash64> hs, Use&& use) const noexcept {
    detail::in_groups(
        hs.size(), array_.size() > detail::second_level_cache,
        [&](std::size_t i) noexcept { detail::prefetch_line(block_of(hs[i])); }, use);
  }

  detail::block_array array_;
  std::uint64_t* count_;
  hash_seed seed_;
};

/// A blocked Bloom filter over any storage.
///
/// Space       10.1 bits per key at 1%, 15.73 at 0.1% (plan_blocked_bloom). The planned rate
///             accounts for the unequal load of blocks.
/// Query       O(1), one cache line. A batch overlaps the cache misses of up to a hundred keys.
/// Insert      O(1), one cache line, never full.
/// Growth      None. The rate rises beyond the capacity.
/// Duplicates  Inserting a member again changes nothing.
/// SIMD        A batch uses the kernels for the CPU, chosen at run time. Bits and answers are the
///             same on every CPU.
/// Threads     Concurrent queries are safe. An insert needs exclusive access. concurrent() gives a
///             handle through which threads insert and query at the same time. insert_parallel()
///             and may_contain_parallel() start threads and divide one batch among them.
template <storage Storage = owned_storage>
class basic_blocked_bloom
    : public detail::key_overloads<basic_blocked_bloom<Storage>>,
      public detail::bloom_sets<basic_blocked_bloom<Storage>, basic_blocked_bloom<>> {
  using overloads = detail::key_overloads<basic_blocked_bloom>;

 public:
  static constexpr filter_kind kind = filter_kind::blocked_bloom;
  static constexpr std::uint16_t kind_version = 1;
  using hash_type = hash64;
  using hasher_type = filter_hasher;
  using params_type = blocked_bloom_params;
  using spec_type = blocked_bloom_spec;
  using storage_type = Storage;
  /// The same filter over another storage.
  template <storage Other>
  using rebind_storage = basic_blocked_bloom<Other>;

  /// An empty filter. Precondition: plan_blocked_bloom accepts the spec; otherwise the program
  /// prints the planner's error and ends. Use make() for values from outside the program. Throws
  /// only std::bad_alloc.
  explicit basic_blocked_bloom(const blocked_bloom_spec& spec)
    requires std::same_as<Storage, owned_storage>
      : basic_blocked_bloom(detail::or_die(make(spec))) {}

  /// An empty filter, or the reason why there is none.
  static result<basic_blocked_bloom> make(const blocked_bloom_spec& spec)
    requires std::same_as<Storage, owned_storage>
  {
    auto plan = plan_blocked_bloom(spec);
    if (!plan) return fail(std::move(plan.error()));
    auto memory = owned_storage::make(plan->bits() / 8);
    if (!memory) return fail(std::move(memory.error()));
    return open(*plan, std::move(*memory), 0);
  }

  /// A filter over `blocks`, the payload of image(). Fails with corrupt if the storage does not fit
  /// the parameters. O(1): the bits are not read.
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

  using overloads::insert;
  using overloads::may_contain;

  /// Whether the key of this hash may be a member. False is certain. Reads one cache line, without
  /// a branch on the key or the CPU. Uses the SIMD instructions that the program is compiled for,
  /// or else calls those of this CPU (detail/blocked_bloom/native.hpp).
  [[gnu::always_inline]] bool may_contain(hash64 h) const noexcept {
    return detail::block_has(bits_.bytes().data(), params_.blocks, params_.layout, params_.hashes,
                             h);
  }

  /// Answers a batch of queries. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash64> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    detail::blocks_may_contain(array(), hs, answers.data());
  }

  /// For filters of which only some bytes are in memory (partial.hpp): whether those are that
  /// decide may_contain(h). Calls `has` with byte ranges that it reads.
  template <class Has>
  bool trace(hash64 h, Has&& has) const {
    return detail::with_layout(params_.layout, [&](auto layout) {
      const std::uint64_t at = layout.block_of(h, params_.blocks) * layout.block_bytes;
      return has(byte_interval{at, at + layout.block_bytes});
    });
  }
  /// The bytes that open() reads: none.
  template <class Use>
  static void trace_open(const blocked_bloom_params&, Use&&) {}

  /// Answers a batch with up to `threads` threads; 0 uses one thread per core. Precondition:
  /// answers.size() >= hs.size().
  void may_contain_parallel(std::span<const hash64> hs, std::span<bool> answers,
                            unsigned threads = 0) const noexcept {
    assert(answers.size() >= hs.size());
    detail::blocks_may_contain(array(), hs, answers.data(), threads);
  }

  /// Inserts the key of this hash. Returns `inserted` if at least one of its bits was clear: the
  /// key was certainly new.
  [[gnu::always_inline]] insert_outcome insert(hash64 h) noexcept
    requires writable_storage<Storage>
  {
    const bool newly_inserted = detail::block_set(bits_.writable_bytes().data(), params_.blocks,
                                                  params_.layout, params_.hashes, h);
    count_ += newly_inserted;
    return newly_inserted ? insert_outcome::inserted : insert_outcome::maybe_present;
  }

  /// Inserts a batch.
  insert_summary insert(std::span<const hash64> hs) noexcept
    requires writable_storage<Storage>
  {
    return inserted_of(hs, detail::blocks_insert(array(), hs));
  }

  /// Inserts a batch with up to `threads` threads; 0 uses one thread per core. Bits and summary are
  /// those of insert(hs). The threads share the filter: none needs a copy of it.
  insert_summary insert_parallel(std::span<const hash64> hs, unsigned threads = 0) noexcept
    requires writable_storage<Storage>
  {
    return inserted_of(hs, detail::blocks_insert(array(), hs, threads));
  }

  /// Inserts a batch of keys that differ from each other and from those inserted before, as the
  /// keys of a table do. The bits are those of insert(). size() counts all keys, because the call
  /// does not find out which are new: it takes 0.8 of the time of insert() if the filter is in a
  /// cache.
  void insert_distinct(std::span<const hash64> hs) noexcept
    requires writable_storage<Storage>
  {
    detail::blocks_insert_distinct(array(), hs);
    count_ += hs.size();
  }
  /// The same for keys, which are hashed.
  template <detail::key_batch R>
  void insert_distinct(const R& keys) noexcept
    requires writable_storage<Storage>
  {
    detail::for_hashes(hash_function(), keys, [&](auto hashes, std::size_t) noexcept {
      insert_distinct(hashes);
      return true;
    });
  }

  /// A handle for many threads, valid until this filter is moved or destroyed. Precondition: the
  /// bits begin at a multiple of 8, which owned_storage guarantees.
  concurrent_blocked_bloom concurrent() noexcept
    requires writable_storage<Storage>
  {
    assert(detail::is_aligned(bits_.bytes(), sizeof(std::uint64_t)));
    return {array(), &count_, params_.seed};
  }

  const blocked_bloom_params& params() const noexcept { return params_; }
  hasher_type hash_function() const noexcept { return hasher_type(params_.seed); }

  /// The rate of the bits as they are: the mean over all blocks of the chance that a non-member
  /// passes. The fill is the share of ones. In a block of lanes the chance is the product of the
  /// lanes' fills, and in the free layout the block's fill to the power of k. O(m).
  double current_fpr() const noexcept { return figures().current_fpr; }
  /// The results of fill(), current_fpr() and estimate_size(), for which the bits are read once.
  /// O(m).
  detail::filter_figures figures() const noexcept {
    const detail::block_census found = detail::take_census(array());
    return {static_cast<double>(found.ones) / static_cast<double>(params_.bits()),
            found.pass / static_cast<double>(params_.blocks),
            detail::less_chance(keys_of(found.ones), params_.chance_keys)};
  }

 private:
  friend class detail::bloom_sets<basic_blocked_bloom, basic_blocked_bloom<>>;

  basic_blocked_bloom(const blocked_bloom_params& params, Storage blocks, std::uint64_t count)
      : bits_(std::move(blocks)), params_(params), count_(count) {}

  // The kernels have one type of array. Kernels that query do not write to it.
  detail::block_array array() const noexcept {
    return {const_cast<std::byte*>(bits_.bytes().data()), params_.blocks, params_.layout,
            params_.hashes};
  }

  std::uint64_t fold_size() const noexcept { return params_.blocks; }
  result<basic_blocked_bloom<>> fold_as(const blocked_bloom_params& params,
                                        std::uint64_t factor) const {
    auto memory = owned_storage::make(params.bits() / 8);
    if (!memory) return fail(std::move(memory.error()));
    detail::fold_blocks(bits_.bytes(), memory->writable_bytes(), block_bits(params.layout) / 8,
                        factor);
    return basic_blocked_bloom<>::open(params, std::move(*memory), count_);
  }

  insert_summary inserted_of(std::span<const hash64> hs, std::uint64_t newly_inserted) noexcept {
    count_ += newly_inserted;
    return {
        .inserted = newly_inserted, .maybe_present = hs.size() - newly_inserted, .done = hs.size()};
  }

  std::uint64_t ones() const noexcept { return detail::take_census(array()).ones; }
  double keys_of(std::uint64_t ones) const noexcept {
    const double stays = params_.layout == block_layout::free_512
                             ? numeric::power(1 - 1.0 / 512, params_.hashes)
                             : 1 - 8.0 / static_cast<double>(block_bits(params_.layout));
    return formulas::blocked_cardinality(
        static_cast<double>(ones), static_cast<double>(params_.bits()), params_.blocks, stays);
  }
  // First, so that an assignment whose copy throws changes nothing.
  detail::filter_memory<Storage> bits_;
  blocked_bloom_params params_;
  std::uint64_t count_;
};

/// A blocked Bloom filter in its own memory. This is the default kind.
using blocked_bloom = basic_blocked_bloom<>;
/// A read-only blocked Bloom filter over a mapped file.
using blocked_bloom_view = basic_blocked_bloom<mapped_storage>;

}  // namespace bloomset
