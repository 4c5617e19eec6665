#pragma once

/// The vector quotient filter (Pandey, Conway, Durie, Bender, Farach-Colton, Johnson, "Vector
/// Quotient Filters: Overcoming the Time/Space Trade-Off in Filter Design", SIGMOD 2021). Beyond
/// the paper it has one step of relocation, exact counts and any number of blocks. Keys can be
/// erased and counted. It needs about the space of a Bloom filter.
///
///     bloomset::vector_quotient sessions({.capacity = 1'000'000, .fpr = 0.01});
///     if (!is_contained(sessions.insert("alice"))) ask_for_a_larger_one();
///     sessions.count("alice");
///     sessions.erase("alice");

#include <bloomset/concepts.hpp>
#include <bloomset/detail/core/figures.hpp>
#include <bloomset/detail/core/filter_memory.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/core/precondition.hpp>
#include <bloomset/detail/vector_quotient/concurrent.hpp>
#include <bloomset/detail/vector_quotient/kernels.hpp>
#include <bloomset/detail/vector_quotient/table.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/vector_quotient_plan.hpp>
#include <bloomset/storage.hpp>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace bloomset {

/// A vector quotient filter over any storage. A key is a tag of about 13 bits in one of two blocks
/// of 64 bytes.
///
/// Space       In bits per key, at the planned capacity:
///                 rate     1%      0.45%   0.1%
///                 bits     9.95    11.1    13.6
///             Copies without a slot are counted in an overflow table, with 16 to 64 bytes per key
///             that has such copies.
/// Query       O(1): two cache lines at every load. A batch prefetches them.
/// Insert      O(1). Up to the planned capacity an insert moves at most one tag to its other block,
///             and usually reads at most twelve cache lines.
/// Full        `capacity` distinct keys fit, with any number of copies (see plan_vector_quotient).
///             Beyond the capacity, usually up to 99% of the slots, an insert searches longer. When
///             it finds no slot, the tag goes to a stash of four. When the stash is full too, the
///             outcome is `full` and the filter is unchanged.
/// Duplicates  Each insert adds a copy, without limit. The second and the third copy use a slot
///             each until another key needs it. Further copies are counted in the overflow table.
///             If most keys have two or three copies, plan a capacity for all copies. Bits per key
///             of 1 M keys that are inserted twice each, at 1%:
///                 planned for     2 M keys   1 M keys
///                 bits            20         278
/// Count       Never too low. Keys with the same tag and blocks share a count, so it is too high
///             for about eps / 2 of the keys. Counts have 64 bits.
/// Erase       Only keys that were inserted: erasing a non-member that matches removes a copy of a
///             member.
/// Threads     Concurrent queries are safe. Insert and erase need exclusive access, or a handle
///             from concurrent().
template <storage Storage = owned_storage>
class basic_vector_quotient : public detail::key_overloads<basic_vector_quotient<Storage>> {
  using overloads = detail::key_overloads<basic_vector_quotient>;
  using overflow_type = std::conditional_t<writable_storage<Storage>, detail::vq_overflow_table,
                                           detail::vq_overflow_view>;

 public:
  static constexpr filter_kind kind = filter_kind::vector_quotient;
  static constexpr std::uint16_t kind_version = 1;
  using hash_type = hash64;
  using hasher_type = filter_hasher;
  using params_type = vector_quotient_params;
  using spec_type = vector_quotient_spec;
  using storage_type = Storage;
  /// The same filter over another storage.
  template <storage Other>
  using rebind_storage = basic_vector_quotient<Other>;

  basic_vector_quotient(const basic_vector_quotient&) = default;
  basic_vector_quotient(basic_vector_quotient&&) = default;
  basic_vector_quotient& operator=(const basic_vector_quotient& other)
    requires std::copy_constructible<Storage>
  {
    if (this != &other) *this = basic_vector_quotient(other);
    return *this;
  }
  basic_vector_quotient& operator=(basic_vector_quotient&&) = default;
  ~basic_vector_quotient() = default;

  /// An empty filter. Precondition: plan_vector_quotient accepts the spec; otherwise the program
  /// prints the planner's error and ends. Use make() for values from outside the program. Throws
  /// only std::bad_alloc.
  explicit basic_vector_quotient(const vector_quotient_spec& spec)
    requires std::same_as<Storage, owned_storage>
      : basic_vector_quotient(detail::or_die(make(spec))) {}

  /// An empty filter, or the failure of plan_vector_quotient, or out_of_memory.
  static result<basic_vector_quotient> make(const vector_quotient_spec& spec)
    requires std::same_as<Storage, owned_storage>
  {
    const auto plan = plan_vector_quotient(spec);
    if (!plan) return fail(plan.error());
    auto memory = owned_storage::make(plan->payload_bytes());
    if (!memory) return fail(std::move(memory.error()));
    return open(*plan, std::move(*memory), 0);
  }

  /// A filter of `count` copies over the payload of image(). Fails with corrupt if the payload does
  /// not fit the parameters, and with invalid_argument if writable bytes are not aligned to 64.
  /// O(1): the blocks are not read. A writable filter copies the overflow table, so that it can
  /// grow.
  static result<basic_vector_quotient> open(const vector_quotient_params& params, Storage bytes,
                                            std::uint64_t count) {
    if (!params.possible()) {
      return fail(errc::invalid_argument,
                  "the vector quotient filter's parameters are out of range");
    }
    if (bytes.bytes().size() != params.payload_bytes()) {
      return fail(errc::corrupt, "the vector quotient filter's blocks do not fit its parameters");
    }
    if (writable_storage<Storage> && !detail::is_aligned(bytes.bytes(), detail::vq_block_bytes)) {
      return fail(errc::invalid_argument,
                  "the vector quotient filter's blocks begin at an address that is not a multiple "
                  "of 64; give it memory that is aligned to 64 bytes");
    }
    const auto table = bytes.bytes().first(params.table_bytes());
    const auto stashed = detail::vq_check_stash(layout_of(params), table);
    if (!stashed || count < *stashed) {
      return fail(errc::corrupt,
                  "the vector quotient filter's stash is damaged, or contradicts its count");
    }
    auto overflow = overflow_type::open(bytes.bytes().subspan(params.table_bytes()));
    if (!overflow) return fail(std::move(overflow.error()));
    return basic_vector_quotient(params, std::move(bytes), std::move(*overflow), count, *stashed);
  }

  using overloads::count;
  using overloads::erase;
  using overloads::insert;
  using overloads::may_contain;

  /// Whether the key of this hash may be a member; false is certain.
  bool may_contain(const hash_type& h) const noexcept {
    const std::byte* const blocks = bytes_.bytes().data();
    // Whether a key is a member cannot be predicted, so it is no branch while the stash is empty.
    if (stashed_ == 0) [[likely]]
      return detail::vq_ops(layout_).contains(layout_, blocks, h);
    return detail::vq_ops(layout_).contains(layout_, blocks, h) ||
           detail::vq_stashed_copies(reader(), layout_.place(h)) != 0;
  }

  /// The same for a batch. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash_type> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    detail::vq_ops(layout_).may_contain(reader(), hs, answers.data());
  }

  /// For filters of which only some bytes are in memory (partial.hpp): whether those are that
  /// decide may_contain(h). Calls `has` with byte ranges that it reads.
  template <class Has>
  bool trace(const hash_type& h, Has&& has) const {
    const auto bytes_of = [](std::uint64_t block) {
      return byte_interval{block * detail::vq_block_bytes, (block + 1) * detail::vq_block_bytes};
    };
    const vector_quotient_place at = layout_.place(h);
    const bool has_first = has(bytes_of(at.first));
    return has(bytes_of(at.second)) && has_first;
  }
  /// The bytes that open() reads: the stash.
  template <class Use>
  static void trace_open(const vector_quotient_params& params, Use&& use) {
    use(byte_interval{params.table_bytes() - detail::vq_stash_bytes, params.table_bytes()});
  }

  /// Inserts one copy. Returns `inserted` if there was none, `maybe_present` if there was one, or
  /// `full`, which changes nothing.
  insert_outcome insert(const hash_type& h) noexcept
    requires writable_storage<Storage>
  {
    return detail::vq_ops(layout_).insert_one(writer(), h);
  }

  /// Inserts a batch, in order, up to the first key without room.
  insert_summary insert(std::span<const hash_type> hs) noexcept
    requires writable_storage<Storage>
  {
    return detail::vq_ops(layout_).insert(writer(), hs);
  }

  /// Erases one copy. Returns false, and changes nothing, if there is none.
  bool erase(const hash_type& h) noexcept
    requires writable_storage<Storage>
  {
    return detail::vq_ops(layout_).erase_one(writer(), h);
  }

  /// Erases a batch, in order; erased[i] is the result for hs[i]. Precondition: erased.size() >=
  /// hs.size().
  void erase(std::span<const hash_type> hs, std::span<bool> erased) noexcept
    requires writable_storage<Storage>
  {
    assert(erased.size() >= hs.size());
    detail::vq_ops(layout_).erase(writer(), hs, erased.data());
  }

  /// Copies of the key, and of other keys with the same tag and blocks.
  std::uint64_t count(const hash_type& h) const noexcept {
    std::uint64_t copies = 0;
    detail::vq_ops(layout_).count(reader(), {&h, 1}, &copies);
    return copies;
  }
  /// The same for a batch. Precondition: counts.size() >= hs.size().
  void count(std::span<const hash_type> hs, std::span<std::uint64_t> counts) const noexcept {
    assert(counts.size() >= hs.size());
    detail::vq_ops(layout_).count(reader(), hs, counts.data());
  }

  /// A handle for threads that insert, erase and query at once. Do not use or move the filter while
  /// the handle exists. Throws std::bad_alloc. See concurrent_vector_quotient.
  concurrent_vector_quotient concurrent()
    requires writable_storage<Storage>
  {
    return {writer(), params_.seed};
  }

  /// Removes every key.
  void clear() noexcept
    requires writable_storage<Storage>
  {
    detail::fill_zero(table());
    overflow_.clear();
    count_ = 0;
    stashed_ = 0;
  }

  /// Inserts every copy of the other filter. The keys themselves are not needed. Fails with
  /// incompatible if the filters differ in blocks, slots, buckets, remainder bits or seed. Fails
  /// with `full` if not all copies fit, and with out_of_memory. A failure changes nothing.
  /// O(slots). Temporarily needs as much memory again as this filter has.
  template <storage Other>
  result<void> merge(const basic_vector_quotient<Other>& other)
    requires writable_storage<Storage>
  {
    if (auto ok = same_shape(params_, other.params()); !ok) return ok;
    auto blocks_before = owned_storage::copy_of(table());
    if (!blocks_before) return fail(std::move(blocks_before.error()));
    auto overflow_before = detail::vq_overflow_table::open(overflow_.bytes());
    if (!overflow_before) return fail(std::move(overflow_before.error()));
    const std::uint64_t count_before = count_;
    const unsigned stashed_before = stashed_;
    detail::vq_reader source = other.reader();
    if (source.blocks == bytes_.bytes().data()) {  // a merge with itself reads the copies
      source.blocks = std::as_const(*blocks_before).bytes().data();
      source.overflow = overflow_before->view();
    }
    if (detail::vq_insert_all(writer(), source)) return {};
    std::memcpy(table().data(), blocks_before->bytes().data(), table().size());
    overflow_ = std::move(*overflow_before);
    count_ = count_before;
    stashed_ = stashed_before;
    return fail(
        errc::full,
        "the other filter's keys do not all fit; merge into a filter planned for both sets");
  }

  vector_quotient_params params() const noexcept {
    vector_quotient_params now = params_;
    now.overflow_entries = overflow_.entries();
    return now;
  }
  hasher_type hash_function() const noexcept { return hasher_type(params_.seed); }

  std::uint64_t capacity() const noexcept { return params_.capacity; }
  /// Copies of all keys.
  std::uint64_t size() const noexcept { return count_; }
  double planned_fpr() const noexcept { return params_.fpr; }
  /// Bytes of blocks, stash and overflow table.
  std::uint64_t size_in_bytes() const noexcept { return params().payload_bytes(); }
  /// The growth of size_in_bytes() if the next insert adds a tag to the overflow table. 0 while the
  /// table has room. An insert adds at most one tag.
  std::uint64_t next_growth() const noexcept
    requires writable_storage<Storage>
  {
    return overflow_.next_growth();
  }

  /// The load: slots in use / slots. O(blocks).
  double fill() const noexcept {
    std::uint64_t taken = 0;
    for (std::uint64_t i = 0; i < params_.blocks; ++i) {
      taken += detail::min(slots_taken(i), params_.slots);  // more only in a damaged block
    }
    return static_cast<double>(taken) / (static_cast<double>(params_.blocks) * params_.slots);
  }
  /// The rate of the stored tags: passing / (N B 2^r) + n / 2^64, for N blocks of B buckets, and
  /// remainders of r bits. `passing` is the number of pairs (first block, tag) that pass as a
  /// member; all N B 2^r pairs are equally likely. O(slots).
  double current_fpr() const noexcept { return rate_of(detail::vq_take_census(reader())); }
  /// Estimates the distinct keys: different tags, plus the number of keys that are expected to
  /// share a tag by chance. Equals size() if chance explains all copies. O(slots).
  double estimate_size() const noexcept { return keys_of(detail::vq_take_census(reader())); }
  /// The results of fill(), current_fpr() and estimate_size(), for which the tags are counted once.
  /// O(slots).
  detail::filter_figures figures() const noexcept {
    const detail::vq_census census = detail::vq_take_census(reader());
    return {fill(), rate_of(census), keys_of(census)};
  }

  /// For visualisation: the places of a key.
  vector_quotient_place place(const hash_type& h) const noexcept { return layout_.place(h); }
  /// The number of slots of a block that are in use.
  unsigned slots_taken(std::uint64_t block) const noexcept {
    return layout_.taken(layout_.block(bytes_.bytes().data(), block));
  }
  /// The number of tags in the stash.
  unsigned stashed() const noexcept { return stashed_; }

  /// Lets the host move the memory (memory_source.hpp).
  void relocate(const memory_mover& mover) noexcept
    requires relocatable_storage<Storage>
  {
    bytes_.relocate(mover);
    overflow_.relocate(mover);
  }

  /// The fields and bytes that save() writes. Refers to this filter's bytes.
  filter_image image() const {
    filter_image image =
        detail::image_of(*this, params_.seed, {bytes_.bytes().first(params_.table_bytes())});
    if (overflow_.entries() != 0) image.payload.push_back(overflow_.bytes());
    return image;
  }

 private:
  double rate_of(const detail::vq_census& census) const noexcept {
    const double all = static_cast<double>(params_.blocks) * static_cast<double>(layout_.tags());
    return detail::min(1.0, static_cast<double>(census.passing) / all +
                                formulas::hash_collision_fpr(static_cast<double>(census.tags)));
  }
  double keys_of(const detail::vq_census& census) const noexcept {
    const auto tags = static_cast<double>(census.tags);
    return formulas::distinct_among(
        static_cast<double>(count_), tags,
        formulas::fingerprint_cardinality(tags, static_cast<double>(params_.blocks),
                                          static_cast<double>(layout_.tags())));
  }
  template <storage>
  friend class basic_vector_quotient;

  basic_vector_quotient(const vector_quotient_params& params, Storage bytes, overflow_type overflow,
                        std::uint64_t count, unsigned stashed)
      : params_(params),
        layout_(layout_of(params)),
        bytes_(std::move(bytes)),
        overflow_(std::move(overflow)),
        count_(count),
        stashed_(stashed) {}

  static constexpr detail::vq_layout layout_of(const vector_quotient_params& params) noexcept {
    return {params.blocks, params.slots, params.buckets, params.remainder_bits};
  }

  std::span<std::byte> table() noexcept {
    return bytes_.writable_bytes().first(params_.table_bytes());
  }
  detail::vq_reader reader() const noexcept {
    return {&layout_, bytes_.bytes().data(), overflow_.view(), stashed_};
  }
  detail::vq_writer writer() noexcept {
    return {&layout_, bytes_.writable_bytes().data(), &overflow_, &stashed_, &count_};
  }

  vector_quotient_params params_;  // but for overflow_entries, which is overflow_.entries()
  detail::vq_layout layout_;
  detail::filter_memory<Storage> bytes_;  // a writable filter uses only blocks and stash
  overflow_type overflow_;
  std::uint64_t count_;
  unsigned stashed_;
};

/// The vector quotient filter in its own memory.
using vector_quotient = basic_vector_quotient<>;
/// A read-only vector quotient filter over a mapped file.
using vector_quotient_view = basic_vector_quotient<mapped_storage>;

}  // namespace bloomset
