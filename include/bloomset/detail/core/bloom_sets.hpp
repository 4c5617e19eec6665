#pragma once

/// The operations that Bloom filters of plain bits share: unions and intersections, folds, the
/// number of keys, and the bits as they are stored.

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/image.hpp>
#include <bloomset/probe.hpp>
#include <bloomset/result.hpp>
#include <bloomset/storage.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomset::detail {

/// The least number of chance_keys above zero. In files the number is 0, at least this, or
/// infinite.
inline constexpr double min_chance_keys = 0x1p-20;
/// Whether a file may have this number.
constexpr bool is_chance_keys(double keys) noexcept {
  return keys == 0 || keys >= min_chance_keys;
}

/// The known numbers of a Bloom filter.
struct bloom_tally {
  std::uint64_t ones;   ///< set bits
  std::uint64_t count;  ///< keys as the filter counted them
  double chance_keys;   ///< keys that the bits show beyond those in the filter; infinite: unknown
};

/// Gives `ours` the plan with the higher rate, so that a union does not depend on the order of its
/// filters.
template <class Params>
void take_looser_plan(Params& ours, const Params& theirs) noexcept {
  if (theirs.fpr < ours.fpr) return;
  if (theirs.fpr == ours.fpr && theirs.capacity <= ours.capacity) return;
  ours.fpr = theirs.fpr;
  ours.capacity = theirs.capacity;
}

/// std::isfinite, without the time that its header takes to compile.
constexpr bool is_finite(double x) noexcept {
  return x - x == 0;
}

/// The estimated number of keys without those that the bits show by chance. Infinite if unknown.
constexpr double less_chance(double keys, double chance_keys) noexcept {
  if (!is_finite(keys) || !is_finite(chance_keys)) return std::numeric_limits<double>::infinity();
  return detail::max(0.0, keys - chance_keys);
}

/// The nearest whole number, within bounds.
inline std::uint64_t whole_between(std::uint64_t low, double keys, std::uint64_t high) noexcept {
  if (keys <= static_cast<double>(low)) return low;
  if (keys >= static_cast<double>(high)) return high;
  return static_cast<std::uint64_t>(__builtin_llround(keys));
}

// Folding: the bits of a filter of 1/factor of the size, from the bits of the filter. A position
// that is the upper half of a product, floor(h m / 2^64), becomes floor(position / factor) for m /
// factor positions. One that is a remainder, h mod m, becomes position mod (m / factor).

/// Block j of `to` is the union of blocks factor j to factor j + factor - 1 of `from`.
/// Preconditions: blocks of a multiple of 8 bytes; `to` has 1/factor of the size.
void fold_blocks(std::span<const std::byte> from, std::span<std::byte> to, std::size_t block_bytes,
                 std::uint64_t factor) noexcept;

/// Sets the bits of `to`, which are clear and at least bits / factor. Precondition: factor divides
/// `bits`.
void fold_bits(std::span<const std::byte> from, std::span<std::byte> to, std::uint64_t bits,
               std::uint64_t factor, reduction how) noexcept;

/// Factors from here on are not tried, so that every size takes 30 ms at most.
inline constexpr std::uint64_t max_tried_factor = std::uint64_t{1} << 21;

/// The numbers that divide n, in ascending order. A factor of n without a divisor below
/// max_tried_factor counts as a prime, which it always is for n < 2^42. Precondition: n >= 1.
std::vector<std::uint64_t> divisors_of(std::uint64_t n);

/// The number from n to 0.5% more with the most divisors, or for a large n nearly the most. Below
/// 3200: from n to 16 more, but at most an eighth more. At most 305 numbers are tried.
std::uint64_t foldable_size(std::uint64_t n) noexcept;

/// Fails with invalid_argument unless factor divides the number of `units`, such as "blocks".
result<void> check_factor(std::uint64_t factor, std::uint64_t size, std::string_view units);

/// A filter of the same kind and probe rule as F, over any storage.
template <class Other, class F>
concept same_filter =
    std::same_as<Other, typename F::template rebind_storage<typename Other::storage_type>>;

/// A filter whose positions in a smaller array follow from those in its own. The rule of a Bloom
/// filter's positions may lack this.
template <class F>
concept foldable = !requires { typename F::probe_type; } || requires { F::probe_type::reduced_by; };

/// Union, intersection, folds, estimates and stored bits. Folded is the same filter in its own
/// memory.
///
/// Derived has `bits_`, `count_`, `params_`, ones() and figures(). keys_of(ones) estimates the
/// number of keys from the number of set bits, and fold_as(params, factor) folds by a factor of
/// fold_size(). The parameters have same_shape() and fold_params().
template <class Derived, class Folded>
class bloom_sets {
 public:
  /// Removes every key.
  void clear() noexcept
    requires writable_storage<typename Derived::storage_type>
  {
    fill_zero(self().bits_.writable_bytes());
    settle({0, 0, 0});
  }

  /// Makes this the filter of the union of both sets. The bits are those of a filter into which
  /// all keys of both were inserted. Of both plans it has the one with the higher rate. Fails with
  /// incompatible if the filters differ in size, layout, functions, seed or probe rule. O(m).
  template <same_filter<Derived> Other>
  result<void> merge(const Other& other)
    requires writable_storage<typename Derived::storage_type>
  {
    const bool with_ones = self().params_.chance_keys != 0 || other.params().chance_keys != 0;
    return combine(
        other, with_ones, [](std::byte a, std::byte b) { return a | b; },
        [this](const auto&... tallies) { return union_of(tallies...); });
  }

  /// Keeps the bits that both filters have. Every common key stays a member. The rate is at most
  /// that of either filter, but higher than in a filter built from the common keys alone. Fails as
  /// merge() does. O(m).
  template <same_filter<Derived> Other>
  result<void> intersect(const Other& other)
    requires writable_storage<typename Derived::storage_type>
  {
    return combine(
        other, true, [](std::byte a, std::byte b) { return a & b; },
        [this](const auto&... tallies) { return common_of(tallies...); });
  }

  /// The filter of the same keys with 1/factor of the bits. Its bits are those of a filter that was
  /// made with that size and into which the same keys were inserted. The capacity is 1/factor, too.
  /// Fails with invalid_argument if factor does not divide the bits, or the blocks of a blocked
  /// filter, or with out_of_memory. O(m).
  result<Folded> fold(std::uint64_t factor) const
    requires foldable<Derived>
  {
    auto params = fold_params(self().params_, factor);
    if (!params) return fail(std::move(params.error()));
    return folded(*params, factor);
  }

  /// The smallest fold whose current_fpr() is at most fpr; its capacity is the number of keys that
  /// it holds at that rate. For a filter that was made for more keys than arrived (`foldable` in
  /// the spec). Fails with full if the rate is above fpr already. O(m).
  result<Folded> fold_to(double fpr) const
    requires foldable<Derived>
  {
    const double keys = self().keys_of(self().ones());
    const std::vector<std::uint64_t> factors = divisors_of(self().fold_size());
    // The capacity falls as the factor rises, and the estimate of the keys is nearly exact.
    std::size_t low = 0;
    for (std::size_t high = factors.size(); low < high;) {
      const std::size_t middle = low + (high - low) / 2;
      const auto planned = fold_params(self().params_, factors[middle], fpr);
      if (planned && static_cast<double>(planned->capacity) >= 0.99 * keys) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    for (std::size_t i = low; i > 0; --i) {
      const auto planned = fold_params(self().params_, factors[i - 1], fpr);
      if (!planned) return fail(planned.error());
      auto small = folded(*planned, factors[i - 1]);
      if (!small || small->current_fpr() <= fpr) return small;
    }
    return fail(errc::full,
                "the filter's rate is already above the requested one, and folding raises it; give "
                "a higher rate");
  }

  std::span<const std::byte> bits() const noexcept { return self().bits_.bytes(); }
  std::uint64_t size_in_bytes() const noexcept { return bits().size(); }
  std::uint64_t capacity() const noexcept { return self().params_.capacity; }
  double planned_fpr() const noexcept { return self().params_.fpr; }

  /// The number of inserts that set a bit. It is a lower bound of the number of distinct keys: a
  /// new key whose bits were all set is not counted. After merge or intersect it is an estimate.
  std::uint64_t size() const noexcept { return self().count_; }
  /// The share of bits that are set. O(m).
  double fill() const noexcept { return self().figures().fill; }
  /// The number of distinct keys, estimated from the set bits. Infinite if all bits are set. After
  /// intersect the estimate uses both filters and their union (inclusion and exclusion). If an
  /// intersection is merged or intersected with a filter that has other bits, the estimate is
  /// unknown and infinite. O(m).
  double estimate_size() const noexcept { return self().figures().estimated_size; }

  /// Sets size() to the number of keys that the bits show, so that filters with equal bits have
  /// equal files. size() otherwise depends on the order of the inserts. The number is
  /// estimate_size(), rounded; for a full filter, the estimate with one bit clear; unchanged if the
  /// estimate is unknown after intersections. O(m).
  void settle_count() noexcept
    requires writable_storage<typename Derived::storage_type>
  {
    const std::uint64_t ones = self().ones();
    double keys = self().keys_of(ones);
    if (!is_finite(keys)) keys = self().keys_of(ones - 1);
    const double left = less_chance(keys, self().params_.chance_keys);
    if (is_finite(left)) self().count_ = whole_between(0, left, std::uint64_t{1} << 62);
  }

  /// Lets the host move the memory (memory_source.hpp).
  void relocate(const memory_mover& mover) noexcept
    requires relocatable_storage<typename Derived::storage_type>
  {
    self().bits_.relocate(mover);
  }

  /// The image that save() writes. It refers to the bits of this filter.
  filter_image image() const { return image_of(self(), self().params_.seed, {bits()}); }

 private:
  friend Derived;
  template <class, class>
  friend class bloom_sets;
  bloom_sets() = default;

  template <class Other, class Combine, class TallyOf>
  result<void> combine(const Other& other, bool with_ones, Combine&& with, TallyOf&& tally_of) {
    if (auto ok = same_shape(self().params_, other.params()); !ok) return ok;
    const bloom_tally before = tally(with_ones);
    const bloom_tally others = other.tally(with_ones);
    const auto theirs = other.bits();
    const auto ours = self().bits_.writable_bytes();
    for (std::size_t i = 0; i < ours.size(); ++i) ours[i] = with(ours[i], theirs[i]);
    take_looser_plan(self().params_, other.params());
    settle(tally_of(before, others, self().ones()));
    return {};
  }

  // A fold has the keys of this filter, so that its chance_keys are the others that its bits show.
  result<Folded> folded(const auto& params, std::uint64_t factor) const {
    auto small = self().fold_as(params, factor);
    if (small && factor != 1 && self().params_.chance_keys != 0) {
      small->expect_keys(estimate_size());
    }
    return small;
  }
  void expect_keys(double keys) noexcept {
    const double shown = self().keys_of(self().ones());
    double chance_keys = std::numeric_limits<double>::infinity();
    if (is_finite(shown) && is_finite(keys)) chance_keys = detail::max(0.0, shown - keys);
    settle({0, self().count_, chance_keys < min_chance_keys ? 0 : chance_keys});
  }

  // The tally of a union, whose bits are those of either filter. a.ones and b.ones are read only if
  // one of the filters has chance_keys.
  bloom_tally union_of(const bloom_tally& a, const bloom_tally& b,
                       std::uint64_t ones) const noexcept {
    bloom_tally both{ones, 0, 0};
    // Bits that chance left in one filter may belong to keys of the other. If one filter has all
    // bits of the union, it has all keys of the union.
    if (a.chance_keys != 0 || b.chance_keys != 0) {
      both.chance_keys = ones == a.ones   ? a.chance_keys
                         : ones == b.ones ? b.chance_keys
                                          : std::numeric_limits<double>::infinity();
    }
    both.count =
        whole_between(detail::max(a.count, b.count),
                      less_chance(self().keys_of(ones), both.chance_keys), a.count + b.count);
    return both;
  }

  // The tally of an intersection, whose bits are those that both filters have.
  //
  // Common keys leave their bits there, and so do different keys whose bits meet by chance. The
  // common keys are therefore estimated by inclusion and exclusion, |a| + |b| - |a or b|. The union
  // has as many set bits as a and b together, less the common ones. This holds for filters without
  // chance_keys: bits that chance left may be in the other filter because of the same keys.
  bloom_tally common_of(const bloom_tally& a, const bloom_tally& b,
                        std::uint64_t ones) const noexcept {
    const double keys_of_a = self().keys_of(a.ones);
    const double keys_of_b = self().keys_of(b.ones);
    const double common = keys_of_a + keys_of_b - self().keys_of(a.ones + b.ones - ones);
    const bool neither_is_full = is_finite(keys_of_a) && is_finite(keys_of_b);
    if (neither_is_full && ones == a.ones) return a;
    if (neither_is_full && ones == b.ones) return b;
    const bool is_known = a.chance_keys == 0 && b.chance_keys == 0 && is_finite(common);
    const double keys = self().keys_of(ones);
    double chance_keys = std::numeric_limits<double>::infinity();
    if (is_known) chance_keys = keys - detail::max(0.0, common);
    if (chance_keys < min_chance_keys) chance_keys = 0;
    return {ones, whole_between(0, less_chance(keys, chance_keys), detail::min(a.count, b.count)),
            chance_keys};
  }

  bloom_tally tally(bool with_ones) const noexcept {
    return {with_ones ? self().ones() : 0, self().count_, self().params_.chance_keys};
  }
  void settle(const bloom_tally& now) noexcept {
    self().count_ = now.count;
    self().params_.chance_keys = now.chance_keys;
  }

  Derived& self() noexcept { return static_cast<Derived&>(*this); }
  const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }
};

}  // namespace bloomset::detail
