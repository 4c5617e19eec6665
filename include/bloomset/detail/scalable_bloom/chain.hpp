#pragma once

// A batch of queries to a chain of Bloom filters. The memory accesses of all keys and members
// overlap, and few lines are fetched that are not needed. Few branches depend on bits: in a chain
// whose members are half set, one branch per probe would be mispredicted twice per member.

#include <array>
#include <bit>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/probe.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

/// The number of keys that are processed together.
inline constexpr std::size_t chain_group = 16;

// Probes that are fetched before it is known whether they are needed. The bits of a full member are
// half set, so a non-member needs two probes of each member on average, for any k.
inline constexpr unsigned chain_first_probes = 2;

// Members up to this size stay in a core's own cache, where prefetching only costs time.
inline constexpr std::size_t chain_cached_bytes = std::size_t{256} << 10;

// Prefetches the probes of a key after the chain_first_probes. Member is a Bloom filter with double
// hashing over any storage.
template <class Member>
void prefetch_remaining(const Member& member, hash64 h) noexcept {
  const auto bits = member.bits();
  if (bits.size() <= chain_cached_bytes) return;
  for (unsigned i = chain_first_probes; i < member.params().hashes; ++i) {
    prefetch_line(bits.data() + (double_hashing::position(h, i, member.params().bits) >> 3));
  }
}

/// At most chain_group hashes, and one bit per key in each mask of results.
template <class Member>
class chain_query {
 public:
  /// Precondition: hs.size() <= chain_group. Refers to `hs`.
  explicit chain_query(std::span<const hash64> hs) noexcept
      : hashes_(hs), open_((std::uint32_t{1} << hs.size()) - 1) {
    for (std::size_t key = 0; key < hs.size(); ++key) {
      first_[key] = double_hashing::word(hs[key], 0);
      second_[key] = double_hashing::word(hs[key], 1);
    }
  }

  /// Queries all members, newest first. A key that one member may contain is not looked up in older
  /// ones. Returns the keys that none contains.
  std::uint32_t absent_from(std::span<const Member> members) noexcept {
    for (std::size_t i = members.size(); i-- > 0;) prefetch_first(members[i]);
    for (std::size_t i = members.size(); i-- > 0 && open_ != 0;) {
      test_remaining(members[i], pass_first(members[i]) & open_);
    }
    return open_;
  }

 private:
  // In a member with one function the second probe is the first.
  const std::array<std::uint64_t, chain_group>& second_of(const Member& m) const noexcept {
    return m.params().hashes >= chain_first_probes ? second_ : first_;
  }

  void prefetch_first(const Member& m) const noexcept {
    const auto bits = m.bits();
    if (bits.size() <= chain_cached_bytes) return;
    const auto& second = second_of(m);
    for (std::size_t key = 0; key < hashes_.size(); ++key) {
      prefetch_line(bits.data() + (mulhi64(first_[key], m.params().bits) >> 3));
      prefetch_line(bits.data() + (mulhi64(second[key], m.params().bits) >> 3));
    }
  }

  std::uint32_t pass_first(const Member& m) const noexcept {
    const std::byte* bits = m.bits().data();
    const std::uint64_t places = m.params().bits;
    const auto& second = second_of(m);
    std::uint32_t passed = 0;
    for (std::size_t key = 0; key < hashes_.size(); ++key) {
      const bool a = test_bit(bits, mulhi64(first_[key], places));
      const bool b = test_bit(bits, mulhi64(second[key], places));
      passed |= static_cast<std::uint32_t>(a & b) << key;
    }
    return passed;
  }

  void test_remaining(const Member& m, std::uint32_t candidates) noexcept {
    const std::byte* bits = m.bits().data();
    for (std::uint32_t left = candidates; left != 0; left &= left - 1) {
      const auto key = static_cast<unsigned>(std::countr_zero(left));
      bool passes = true;
      for (unsigned i = chain_first_probes; passes && i < m.params().hashes; ++i) {
        passes = test_bit(bits, double_hashing::position(hashes_[key], i, m.params().bits));
      }
      open_ &= ~(std::uint32_t{passes} << key);
    }
  }

  std::span<const hash64> hashes_;
  std::array<std::uint64_t, chain_group> first_;
  std::array<std::uint64_t, chain_group> second_;
  std::uint32_t open_;  // keys that no member queried so far contains
};

}  // namespace bloomset::detail
