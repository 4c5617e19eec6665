#pragma once

// Parts that are common to filters with k of m places per key: the check that a probe rule can
// serve the parameters, the places of a key, and batches. Batches prefetch the places of many keys
// before they use one.

#include <array>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/plan/bloom_plan.hpp>
#include <bloomset/probe.hpp>
#include <bloomset/result.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

/// Whether the array was built with this rule, and the rule has enough functions and places.
template <probe_scheme Probe>
result<void> check_probe(const bloom_params& array, const Probe& probe) {
  return check_probe(array, Probe::id, probe.max_hashes(), Probe::max_places);
}

/// Prefetches the cache lines of a key's places. `address(place)` is the address of a place.
template <probe_scheme Probe, class Address>
void prefetch_places(const Probe& probe, const typename Probe::hash_type& h,
                     const bloom_params& array, Address&& address) noexcept {
  // A family that hashes the key for each probe would do all its work twice.
  if constexpr (std::same_as<typename Probe::hash_type, hash64>) {
    for (unsigned i = 0; i < array.hashes; ++i) {
      prefetch_line(address(probe.position(h, i, array.bits)));
    }
  }
}

/// trace() of a filter with k places (any_model.hpp). `range(place)` is the bytes of a place, and
/// `is_clear(place)` tells whether they show that the key is not a member. The first two places are
/// told alone: at a fill of 1/2, three of four non-members lack one of their bits.
template <probe_scheme Probe, class Has, class Range, class Clear>
bool trace_places(const Probe& probe, const typename Probe::hash_type& h, const bloom_params& array,
                  Has&& has, Range&& range, Clear&& is_clear) {
  bool all = true;
  for (unsigned i = 0; i < array.hashes; ++i) {
    const std::uint64_t place = probe.position(h, i, array.bits);
    const bool here = has(range(place));
    if (here && is_clear(place)) return true;
    all &= here;
    if (i == 1 && !all) return false;
  }
  return all;
}

/// The distinct places of a key, even if several of its probes have the same place. O(k^2)
/// comparisons.
class distinct_places {
 public:
  template <probe_scheme Probe>
  distinct_places(const Probe& probe, const typename Probe::hash_type& h,
                  const bloom_params& array) noexcept {
    for (unsigned i = 0; i < array.hashes; ++i) {
      const std::uint64_t place = probe.position(h, i, array.bits);
      const std::uint64_t* known = begin();
      while (known != end() && *known != place) ++known;
      if (known == end()) at_[size_++] = place;
    }
  }
  const std::uint64_t* begin() const noexcept { return at_.data(); }
  const std::uint64_t* end() const noexcept { return at_.data() + size_; }

 private:
  std::array<std::uint64_t, max_hash_functions> at_;  // not zeroed: 512 bytes per key take time
  std::size_t size_ = 0;
};

/// Calls `use(place)` for the places of a batch's keys in part `part` of `parts` of the array. The
/// parts share no byte. A place is used once per key if `Distinct`, else once per probe.
/// `address(place)` is its address.
template <bool Distinct, probe_scheme Probe, class Address, class Use>
void in_part_of_array(const Probe& probe, std::span<const typename Probe::hash_type> hs,
                      const bloom_params& array, unsigned part, unsigned parts, Address&& address,
                      Use&& use) noexcept {
  const std::uint64_t length = array.bits / parts & ~std::uint64_t{7};
  const std::uint64_t first = part * length;
  const std::uint64_t last = part + 1 == parts ? array.bits : first + length;
  // The places of the part are selected without a branch, which would be mispredicted.
  constexpr std::size_t many = 128;
  // Keys with different places have at most max_hash_functions of them.
  std::array<std::uint64_t, many + max_hash_functions> chosen;
  std::size_t n = 0;
  const auto finish = [&]() noexcept {
    for (std::size_t i = 0; i < n; ++i) prefetch_line(address(chosen[i]));
    for (std::size_t i = 0; i < n; ++i) use(chosen[i]);
    n = 0;
  };
  for (const auto& h : hs) {
    const std::size_t before = n;
    for (unsigned i = 0; i < array.hashes; ++i) {
      const std::uint64_t place = probe.position(h, i, array.bits);
      bool counts = place - first < last - first;
      for (std::size_t j = before; Distinct && j < n; ++j) counts &= chosen[j] != place;
      chosen[n] = place;
      n += counts;
      if (!Distinct && n == many) finish();
    }
    if (n >= many) finish();
  }
  finish();
}

}  // namespace bloomset::detail
