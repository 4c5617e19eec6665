#pragma once

/// The bumped ribbon filter, or BuRR (P. Dillinger, L. Huebschle-Schneider, P. Sanders, S. Walzer,
/// "Fast Succinct Retrieval and Approximate Membership Using Ribbon", 2022): built once from all
/// its keys, in hardly more memory than information theory asks for: 6.75 bits a key at 1%, where a
/// Bloom filter needs 9.6 and nothing can do with less than 6.64.
///
///     const std::vector<std::string> members = {"alice@example.com", "carol@example.com"};
///     auto f = bloomery::ribbon::build({.fpr = 0.01}, members);   // result
///     if (f->may_contain("bob@example.com")) ask_the_database();

#include <algorithm>
#include <bloomery/concepts.hpp>
#include <bloomery/detail/core/filter_memory.hpp>
#include <bloomery/detail/core/key_hashes.hpp>
#include <bloomery/detail/core/key_overloads.hpp>
#include <bloomery/detail/ribbon/kernels.hpp>
#include <bloomery/detail/ribbon/payload.hpp>
#include <bloomery/plan/formulas.hpp>
#include <bloomery/plan/ribbon_plan.hpp>
#include <bloomery/storage.hpp>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bloomery {
namespace detail {

/// The mechanics of basic_ribbon::build (src/kinds/ribbon/build.cpp).
result<built_ribbon> build_ribbon(const ribbon_spec& spec, const hash_source& source);

}  // namespace detail

/// A ribbon filter over any storage. Every key is an equation over 64 neighbouring slots of r bits:
/// the exclusive-or of about half of them is a function of the key. A stranger's equation holds
/// with probability 2^-r; some slots have r bits and the others r + 1, so that any rate is met.
/// Keys whose equation contradicts others are bumped to a next, twentieth as large level, and so
/// on; the last, of at most 1024 keys, bumps none. At 1% 6.75 bits a key from a million keys
/// on, 6.9 at ten thousand, 7.8 at a thousand.
///
/// Built from hashes in any order, with repetitions; the same set gives the same bytes. Hashes are
/// split by their upper bits into shards of about 34,000 keys. Memory while building, beyond the
/// filter: at most 64 MiB or 2.7 bytes a distinct key, whichever is more, half a byte a key for
/// those that are bumped, and 2 MB for each thread; at the end once more the filter's own size
/// instead. Hashes that are not uniform are built too, at the cost of more memory.
///
/// Building does not fail by chance: what finds no room is bumped, and a last level that has no
/// solution is tried with other seeds, and from the fifth time on with more room. What is refused
/// are hashes that were made for it.
///
/// Queries are O(1), two adjacent cache lines for 95% of the keys; a batch overlaps those of many
/// keys and picks SIMD kernels for the CPU; the answers are the same on every CPU. Threads: any
/// number may query at once.
template <storage Storage = owned_storage>
class basic_ribbon : public detail::key_shell<basic_ribbon<Storage>> {
  using shell = detail::key_shell<basic_ribbon>;

 public:
  static constexpr filter_kind kind = filter_kind::ribbon;
  static constexpr std::uint16_t kind_version = 1;
  using hash_type = hash64;
  using hasher_type = xxh3_hasher;
  using spec_type = ribbon_spec;
  using params_type = ribbon_params;
  using storage_type = Storage;
  /// The same filter over another storage.
  template <storage Other>
  using rebind_storage = basic_ribbon<Other>;

  basic_ribbon(const basic_ribbon&) = default;
  basic_ribbon(basic_ribbon&&) = default;
  basic_ribbon& operator=(const basic_ribbon& other)
    requires std::copy_constructible<Storage>
  {
    if (this != &other) *this = basic_ribbon(other);
    return *this;
  }
  basic_ribbon& operator=(basic_ribbon&&) = default;
  ~basic_ribbon() = default;

  /// The filter of these hashes, which were made with `spec.seed`. Needs a rate (or a capacity and
  /// a size to find it by); fails with what plan_ribbon says of them, with invalid_argument where
  /// the filter is larger than `spec.bits`, with out_of_memory, and with what the source fails
  /// with. The source is gone through two to five times.
  static result<basic_ribbon> build(const ribbon_spec& spec, const hash_source& source)
    requires std::same_as<Storage, owned_storage>
  {
    auto made = detail::build_ribbon(spec, source);
    if (!made) return fail(std::move(made.error()));
    return basic_ribbon(std::move(made->params), std::move(made->payload), std::move(made->views),
                        made->count);
  }
  static result<basic_ribbon> build(const ribbon_spec& spec, std::span<const hash64> hashes)
    requires std::same_as<Storage, owned_storage>
  {
    return build(spec, hash_source::of(hashes));
  }

  /// The filter of these keys: strings, bytes or integers. Takes 8 bytes a key for their hashes.
  template <detail::key_batch R>
  static result<basic_ribbon> build(const ribbon_spec& spec, const R& keys)
    requires std::same_as<Storage, owned_storage>
  {
    return detail::with_all_hashes(
        hasher_type(spec.seed), keys,
        [&](std::span<const hash64> hashes) { return build(spec, hashes); });
  }

  /// The filter whose levels are in `payload`, as image() gave them. A storage that does not fit
  /// the parameters is corrupt, and so are members without a level. O(levels): the slots are not
  /// read.
  static result<basic_ribbon> open(ribbon_params params, Storage payload, std::uint64_t count) {
    if (auto ok = detail::check_ribbon_payload(params, payload.bytes(), count); !ok) {
      return fail(std::move(ok.error()));
    }
    auto views = detail::ribbon_views(params);
    return basic_ribbon(std::move(params), std::move(payload), std::move(views), count);
  }

  using shell::may_contain;

  /// Whether the key of this hash may be a member: false is certain. Always false if there are no
  /// members.
  bool may_contain(hash64 h) const noexcept {
    return detail::ribbon_may_contain(bytes().data(), levels_, h);
  }

  /// The same for a batch. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash64> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    detail::ribbon_ops().may_contain({bytes().data(), levels_}, hs, answers.data());
  }

  const ribbon_params& params() const noexcept { return params_; }
  hasher_type hash_function() const noexcept { return hasher_type(params_.seed); }

  /// Distinct keys; as many as there are.
  std::uint64_t capacity() const noexcept { return count_; }
  std::uint64_t size() const noexcept { return count_; }
  double estimate_size() const noexcept { return static_cast<double>(count_); }
  double planned_fpr() const noexcept { return params_.fpr; }
  /// The rate by the columns of each start and the levels' bump codes, and n / 2^64 for equal
  /// hashes; 0 while there are no members. O(n / 512).
  double current_fpr() const noexcept {
    if (count_ == 0) return 0;
    return std::min(1.0, detail::ribbon_fpr(params_, bytes()) +
                             formulas::hash_collision_fpr(static_cast<double>(count_)));
  }
  std::uint64_t size_in_bytes() const noexcept { return bytes().size(); }
  /// Keys a slot.
  double fill() const noexcept {
    std::uint64_t slots = 0;
    for (const ribbon_level& level : params_.levels) slots += level.slots();
    return slots == 0 ? 0 : static_cast<double>(count_) / static_cast<double>(slots);
  }

  /// What save() writes. Refers to this filter's bytes.
  filter_image image() const {
    return {
        {kind, kind_version, hasher_type::id, params_.seed, count_}, params_.encode(), {bytes()}};
  }

 private:
  // None where there are no members.
  std::span<const std::byte> bytes() const noexcept {
    detail::expect_not_moved_from(count_ == 0 || !levels_.empty());
    return payload_.bytes();
  }

  basic_ribbon(ribbon_params params, Storage payload, std::vector<detail::ribbon_level_view> levels,
               std::uint64_t count)
      : params_(std::move(params)),
        payload_(std::move(payload)),
        levels_(std::move(levels)),
        count_(count) {}

  ribbon_params params_;
  Storage payload_;
  std::vector<detail::ribbon_level_view> levels_;
  std::uint64_t count_;
};

/// In its own memory.
using ribbon = basic_ribbon<>;
/// Over a mapped file.
using ribbon_view = basic_ribbon<mapped_storage>;

}  // namespace bloomery
