#pragma once

// A small exact filter of one guided section and the last one: equations over slots of one bit, and
// the choice of the free slots.

#include <bloomset/result.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace bloomset::teach {

/// Members and other keys of a universe, solved by elimination.
struct exact_system {
  /// The exclusive-or of the slots in `slots`, a bit each, is `value`.
  struct equation {
    std::uint64_t slots = 0;
    bool value = false;

    bool holds(std::uint64_t solution) const noexcept;
  };
  /// A choice of the free slots: all slots that follow, and how many others pass.
  struct choice {
    std::uint64_t solution = 0;
    unsigned passing = 0;
  };

  unsigned slots = 0;
  unsigned seed = 0;  ///< of the hash; it rises until the members' equations are independent
  std::vector<std::string> members = {};
  std::vector<std::string> others = {};
  std::vector<unsigned> free_slots = {};
  /// Of all values of the free slots. Bit i of a choice's number is the value of free_slots[i].
  std::vector<choice> choices = {};
  std::size_t chosen = 0;  ///< the first choice that lets the fewest others pass

  /// The equation of a word: three different slots and a bit, from XXH3 with the seed.
  equation equation_of(const std::string& word) const noexcept;
  std::uint64_t solution() const noexcept { return choices[chosen].solution; }
  bool passes(const std::string& word) const noexcept {
    return equation_of(word).holds(solution());
  }
};

/// Solves the equations of these members. Fails if the number of slots is out of its range, 4 to
/// 24, if more than 8 slots would be free, if there are no members or a member is among the others,
/// or if no seed below 256 makes their equations independent, as with more members than slots.
result<exact_system> solve_exact(unsigned slots, std::vector<std::string> members,
                                 std::vector<std::string> others);

}  // namespace bloomset::teach
