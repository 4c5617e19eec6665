#pragma once

/// The vector quotient filter (Pandey, Conway, Durie, Bender, Farach-Colton, Johnson, "Vector
/// Quotient Filters: Overcoming the Time/Space Trade-Off in Filter Design", SIGMOD 2021), with one
/// step of relocation, exact counts and any number of blocks: keys can be erased and counted in
/// about the space of a Bloom filter.
///
///     bloomery::vector_quotient sessions({.capacity = 1'000'000, .fpr = 0.01});
///     if (!is_contained(sessions.insert("alice"))) ask_for_a_larger_one();
///     sessions.count("alice");
///     sessions.erase("alice");

#include <algorithm>
#include <array>
#include <bloomery/concepts.hpp>
#include <bloomery/detail/core/filter_memory.hpp>
#include <bloomery/detail/core/key_overloads.hpp>
#include <bloomery/detail/core/precondition.hpp>
#include <bloomery/detail/vector_quotient/kernels.hpp>
#include <bloomery/detail/vector_quotient/table.hpp>
#include <bloomery/plan/formulas.hpp>
#include <bloomery/plan/vector_quotient_plan.hpp>
#include <bloomery/storage.hpp>
#include <bloomery/vector_quotient_concurrent.hpp>
#include <cassert>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace bloomery {

/// A vector quotient filter over any storage. A key is a tag of some 13 bits in one of two cache
/// lines: two cache misses, which a batch overlaps, at every load. 9.95 bits a key at 1%, 11.1 at
/// 0.45%, 13.6 at 0.1%.
///
/// Copies: each insert of a key holds one copy more, of any number. A second and a third take a
/// slot each as long as no other key wants it; all others count in a side table, 16 to 64 bytes for
/// each such key, however many. Where most keys have two or three copies, plan for the copies: 1 M
/// keys twice each at 1% then take 20 bits a key, planned for 1 M they take 278. count()
/// is never too low, and too high for about eps / 2 of the keys, by the copies of another with
/// equal tag and blocks: these are one key to the filter. Counts are of 64 bits and cannot overflow
/// by inserts.
///
/// A full filter loses nothing. Up to the planned capacity an insert moves at most one key to its
/// other block and, unless neither a move among ten nor a copy makes room, reads a dozen lines at
/// the most; `capacity` distinct keys fit, whatever their copies (see plan_vector_quotient).
/// Beyond, as a rule up to 99% of the slots, an insert looks longer for room; then four tags are
/// stashed; then it is `full`, and the filter is byte for byte as before.
///
/// Erase only what was inserted: a stranger that passes as a member takes a member's copy.
///
/// Threads: any number may query at once. Insert and erase need the filter to themselves, or go
/// through concurrent().
template <storage Storage = owned_storage>
class basic_vector_quotient : public detail::key_shell<basic_vector_quotient<Storage>> {
  using shell = detail::key_shell<basic_vector_quotient>;
  using side_type =
      std::conditional_t<writable_storage<Storage>, detail::vq_side, detail::vq_side_view>;

 public:
  static constexpr filter_kind kind = filter_kind::vector_quotient;
  static constexpr std::uint16_t kind_version = 1;
  using hash_type = hash64;
  using hasher_type = xxh3_hasher;
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

  /// An empty filter for a spec known to be good. Throws nothing but std::bad_alloc; a spec that
  /// plan_vector_quotient refuses is a broken precondition and ends the program with its sentence.
  /// What comes from outside goes through make().
  explicit basic_vector_quotient(const vector_quotient_spec& spec)
    requires std::same_as<Storage, owned_storage>
      : basic_vector_quotient(detail::or_die(make(spec))) {}

  /// An empty filter, or why there is none.
  static result<basic_vector_quotient> make(const vector_quotient_spec& spec)
    requires std::same_as<Storage, owned_storage>
  {
    const auto plan = plan_vector_quotient(spec);
    if (!plan) return fail(plan.error());
    auto memory = owned_storage::make(plan->payload_bytes());
    if (!memory) return fail(std::move(memory.error()));
    return open(*plan, std::move(*memory), 0);
  }

  /// The filter whose blocks, stash and side table are in `bytes`, as image() gave them; `count`
  /// copies are in it. A storage that does not fit the parameters is corrupt; writable bytes that
  /// do not begin at a multiple of 64 are invalid_argument. O(1): the blocks are not read; but a
  /// writable filter copies the side table, so that it can grow.
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
                  "the vector quotient filter's blocks begin at an address that is no multiple of "
                  "64; give it memory that is aligned to 64 bytes");
    }
    const auto table = bytes.bytes().first(params.table_bytes());
    const auto entries = bytes.bytes().subspan(params.table_bytes());
    const auto stashed = detail::vq_check_stash(layout_of(params), table);
    if (!stashed || count < *stashed) {
      return fail(errc::corrupt,
                  "the vector quotient filter's stash is damaged, or contradicts its count");
    }
    if constexpr (writable_storage<Storage>) {
      auto side = detail::vq_side::copy_of(entries);
      if (!side) return fail(std::move(side.error()));
      return basic_vector_quotient(params, std::move(bytes), std::move(*side), count, *stashed);
    } else {
      const detail::vq_side_view side(entries.data(), params.side_entries);
      return basic_vector_quotient(params, std::move(bytes), side, count, *stashed);
    }
  }

  using shell::count;
  using shell::erase;
  using shell::insert;
  using shell::may_contain;

  /// Whether the key of this hash may be a member: false is certain.
  bool may_contain(const hash_type& h) const noexcept {
    return detail::vq_may_contain(reader(), layout_.place(h));
  }

  /// The same for a batch. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash_type> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    detail::vq_may_contain(reader(), hs, answers.data());
  }

  /// Inserts one copy: `inserted` if none was there, else `maybe_present`. What finds no room is
  /// `full`, and has changed nothing.
  insert_outcome insert(const hash_type& h) noexcept
    requires writable_storage<Storage>
  {
    const insert_outcome outcome = detail::vq_insert(writer(), layout_.place(h));
    params_.side_entries = side_.slots();
    return outcome;
  }

  /// Inserts a batch, in order, up to the first key without room.
  insert_summary insert(std::span<const hash_type> hs) noexcept
    requires writable_storage<Storage>
  {
    const insert_summary summary = detail::vq_insert(writer(), hs);
    params_.side_entries = side_.slots();
    return summary;
  }

  /// Takes back one copy; false, and nothing changes, if there is none.
  bool erase(const hash_type& h) noexcept
    requires writable_storage<Storage>
  {
    const bool erased = detail::vq_erase(writer(), layout_.place(h));
    params_.side_entries = side_.slots();
    return erased;
  }

  /// Erases a batch, in order; erased[i] says whether hs[i] was. Precondition: erased.size() >=
  /// hs.size().
  void erase(std::span<const hash_type> hs, std::span<bool> erased) noexcept
    requires writable_storage<Storage>
  {
    assert(erased.size() >= hs.size());
    detail::vq_erase(writer(), hs, erased.data());
    params_.side_entries = side_.slots();
  }

  /// Copies of the key: never too low, and too high by those of keys with equal tag and blocks.
  std::uint64_t count(const hash_type& h) const noexcept {
    return detail::vq_copies(reader(), layout_.place(h));
  }
  /// The same for a batch. Precondition: counts.size() >= hs.size().
  void count(std::span<const hash_type> hs, std::span<std::uint64_t> counts) const noexcept {
    assert(counts.size() >= hs.size());
    detail::vq_count(reader(), hs, counts.data());
  }

  /// Calls `use(place, copies)` once for every fingerprint in the filter: its tag, its two blocks,
  /// and how often it was inserted, which is all that the filter knows of its keys. In no order
  /// that means anything. O(slots).
  template <std::invocable<const vector_quotient_place&, std::uint64_t> Use>
  void for_each_fingerprint(Use&& use) const {
    detail::vq_for_each(reader(), std::forward<Use>(use));
  }

  /// A door for threads that insert, erase and ask at once; the filter itself must not be used, nor
  /// moved, while it is open. Throws std::bad_alloc. See concurrent_vector_quotient.
  concurrent_vector_quotient concurrent()
    requires writable_storage<Storage>
  {
    return {writer(), &params_.side_entries, params_.seed};
  }

  /// Removes every key.
  void clear() noexcept
    requires writable_storage<Storage>
  {
    std::ranges::fill(table(), std::byte{0});
    side_.clear();
    params_.side_entries = 0;
    count_ = 0;
    stashed_ = 0;
  }

  /// Adds every copy that the other filter holds; the keys are not needed. Filters that differ in
  /// blocks, slots, buckets, remainder bits or seed are incompatible. If not all fit, it fails with
  /// `full` and nothing has changed. O(slots); takes as much memory again as this filter while it
  /// runs (without it: out_of_memory, and nothing has changed).
  template <storage Other>
  result<void> merge(const basic_vector_quotient<Other>& other)
    requires writable_storage<Storage>
  {
    if (auto ok = same_shape(params_, other.params()); !ok) return ok;
    auto blocks_before = owned_storage::copy_of(table());
    if (!blocks_before) return fail(std::move(blocks_before.error()));
    auto side_before = detail::vq_side::copy_of(side_.bytes());
    if (!side_before) return fail(std::move(side_before.error()));
    const std::uint64_t count_before = count_;
    const unsigned stashed_before = stashed_;
    detail::vq_reader theirs = other.reader();
    if (theirs.blocks == bytes_.bytes().data()) {  // merged with itself: it reads from the copies
      theirs.blocks = std::as_const(*blocks_before).bytes().data();
      theirs.side = side_before->view();
    }
    const bool all = detail::vq_insert_all(writer(), theirs);
    if (!all) {
      std::memcpy(table().data(), blocks_before->bytes().data(), table().size());
      side_ = std::move(*side_before);
      count_ = count_before;
      stashed_ = stashed_before;
    }
    params_.side_entries = side_.slots();
    if (all) return {};
    return fail(
        errc::full,
        "the other filter's keys do not all fit; merge into a filter planned for both sets");
  }

  const vector_quotient_params& params() const noexcept { return params_; }
  hasher_type hash_function() const noexcept { return hasher_type(params_.seed); }

  std::uint64_t capacity() const noexcept { return params_.capacity; }
  /// Copies held.
  std::uint64_t size() const noexcept { return count_; }
  double planned_fpr() const noexcept { return params_.fpr; }
  /// Blocks, stash and side table.
  std::uint64_t size_in_bytes() const noexcept { return params_.payload_bytes(); }
  /// Bytes by which that grows if the next insert has to count a copy in the side table; 0 as long
  /// as it has room. Each insert counts one tag at the most.
  std::uint64_t next_growth() const noexcept
    requires writable_storage<Storage>
  {
    return side_.next_growth();
  }

  /// The share of slots that are taken. O(slots).
  double fill() const noexcept {
    return static_cast<double>(detail::vq_slots_taken(reader())) /
           (static_cast<double>(params_.blocks) * params_.slots);
  }
  /// The rate of the blocks as they stand, exact up to equal hashes: of all pairs of first block
  /// and tag that a stranger may have, each as likely as the other, the share that passes.
  /// O(slots).
  double current_fpr() const noexcept {
    const detail::vq_census census = detail::vq_take_census(reader());
    const double all = static_cast<double>(params_.blocks) * static_cast<double>(layout_.tags());
    return std::min(1.0, static_cast<double>(census.passing) / all +
                             formulas::hash_collision_fpr(static_cast<double>(census.tags)));
  }
  /// Distinct keys: different tags, and those that are estimated to be equal to another by chance.
  /// size(), if copies are no more than chance explains. O(slots).
  double estimate_size() const noexcept {
    const auto tags = static_cast<double>(detail::vq_take_census(reader()).tags);
    return formulas::distinct_among(
        static_cast<double>(count_), tags,
        formulas::fingerprint_cardinality(tags, static_cast<double>(params_.blocks),
                                          static_cast<double>(layout_.tags())));
  }

  /// The table, for pictures of it: where a key may be, how many slots of a block are taken, and
  /// how many tags wait in the stash.
  vector_quotient_place place(const hash_type& h) const noexcept { return layout_.place(h); }
  unsigned slots_taken(std::uint64_t block) const noexcept {
    return layout_.taken(layout_.block(bytes_.bytes().data(), block));
  }
  unsigned stashed() const noexcept { return stashed_; }

  /// Lets the host move the memory (memory_source.hpp).
  void relocate(const memory_mover& mover) noexcept
    requires relocatable_storage<Storage>
  {
    bytes_.relocate(mover);
    side_.relocate(mover);
  }

  /// What save() writes. Refers to this filter's bytes.
  filter_image image() const {
    filter_image image{{kind, kind_version, hasher_type::id, params_.seed, count_},
                       params_.encode(),
                       {bytes_.bytes().first(params_.table_bytes())}};
    if (side_.slots() != 0) image.payload.push_back(side_bytes());
    return image;
  }

 private:
  template <storage>
  friend class basic_vector_quotient;

  basic_vector_quotient(const vector_quotient_params& params, Storage bytes, side_type side,
                        std::uint64_t count, unsigned stashed)
      : params_(params),
        layout_(layout_of(params)),
        bytes_(std::move(bytes)),
        side_(std::move(side)),
        count_(count),
        stashed_(stashed) {}

  static constexpr detail::vq_layout layout_of(const vector_quotient_params& params) noexcept {
    return {params.blocks, params.slots, params.buckets, params.remainder_bits};
  }

  std::span<std::byte> table() noexcept {
    return bytes_.writable_bytes().first(params_.table_bytes());
  }
  std::span<const std::byte> side_bytes() const noexcept {
    if constexpr (writable_storage<Storage>) {
      return side_.bytes();
    } else {
      return bytes_.bytes().subspan(params_.table_bytes());
    }
  }
  detail::vq_reader reader() const noexcept {
    if constexpr (writable_storage<Storage>) {
      return {&layout_, bytes_.bytes().data(), side_.view(), stashed_};
    } else {
      return {&layout_, bytes_.bytes().data(), side_, stashed_};
    }
  }
  detail::vq_writer writer() noexcept {
    return {&layout_, bytes_.writable_bytes().data(), &side_, &stashed_, &count_};
  }

  vector_quotient_params params_;  // side_entries follows side_
  detail::vq_layout layout_;
  detail::filter_memory<Storage>
      bytes_;       // blocks and stash; what follows them was the side table when it was opened
  side_type side_;  // in memory of its own where it may grow
  std::uint64_t count_;
  unsigned stashed_;
};

/// The vector quotient filter in its own memory.
using vector_quotient = basic_vector_quotient<>;
/// One over a mapped file, read-only.
using vector_quotient_view = basic_vector_quotient<mapped_storage>;

}  // namespace bloomery
