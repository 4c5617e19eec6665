#pragma once

// A batch of hashes asked of a chain of Bloom filters: the memory accesses of all keys and members
// overlap, and few lines are fetched that are not needed.

#include <algorithm>
#include <array>
#include <bloomery/detail/bit_array.hpp>
#include <cstddef>
#include <span>

namespace bloomery::detail {

/// Keys that are asked together.
inline constexpr std::size_t chain_group = 16;

// Probes that are fetched before it is known whether they are needed. A full member's bits are half
// set, so a stranger needs two probes of each member on average, whatever k.
inline constexpr unsigned chain_first_probes = 2;

template <class Member>
const std::byte* probe_byte(const Member& m, const typename Member::hash_type& h,
                            unsigned i) noexcept {
  return m.bits().data() + (m.probe().position(h, i, m.params().bits) >> 3);
}

template <class Member>
void prefetch_probes(const Member& m, const typename Member::hash_type& h, unsigned from,
                     unsigned to) noexcept {
  for (unsigned i = from; i < std::min(to, m.params().hashes); ++i) {
    __builtin_prefetch(probe_byte(m, h, i));
  }
}

template <class Member>
bool passes_first_probes(const Member& m, const typename Member::hash_type& h) noexcept {
  for (unsigned i = 0; i < std::min(chain_first_probes, m.params().hashes); ++i) {
    if (!test_bit(m.bits().data(), m.probe().position(h, i, m.params().bits))) return false;
  }
  return true;
}

/// answers[i] = whether some member may contain hs[i]. Fetches the first probes of all keys in all
/// members, newest first; then the further ones where the first were set (a quarter of the pairs
/// for strangers); then answers. Precondition: at most chain_group hashes, and as many answers.
template <class Member>
void ask_chain(std::span<const Member> members, std::span<const typename Member::hash_type> hs,
               std::span<bool> answers) noexcept {
  struct candidate {
    const Member* member;
    std::size_t key;
  };
  std::array<candidate, 16 * chain_group> candidates;
  std::size_t found = 0;
  for (std::size_t i = members.size(); i-- > 0;) {
    for (const auto& h : hs) prefetch_probes(members[i], h, 0, chain_first_probes);
  }
  std::fill_n(answers.begin(), hs.size(), false);
  for (std::size_t i = members.size(); i-- > 0;) {
    const Member& member = members[i];
    for (std::size_t key = 0; key < hs.size(); ++key) {
      if (answers[key] || !passes_first_probes(member, hs[key])) continue;
      if (found < candidates.size()) {
        prefetch_probes(member, hs[key], chain_first_probes, member.params().hashes);
        candidates[found++] = {&member, key};
      } else {
        answers[key] = member.may_contain(hs[key]);
      }
    }
  }
  for (const auto& [member, key] : std::span(candidates).first(found)) {
    answers[key] = answers[key] || member->may_contain(hs[key]);
  }
}

}  // namespace bloomery::detail
