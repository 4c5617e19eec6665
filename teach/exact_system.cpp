#include "teach/exact_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <bloomset/hash.hpp>
#include <optional>
#include <span>
#include <utility>

namespace bloomset::teach {
namespace {

constexpr unsigned min_slots = 4;
constexpr unsigned max_slots = 24;
constexpr unsigned max_free = 8;
constexpr unsigned max_seeds = 256;

failure refuse(std::string why) {
  return fail(errc::invalid_argument, std::move(why));
}

constexpr std::uint64_t bit(unsigned slot) noexcept {
  return std::uint64_t{1} << slot;
}

/// The equations, reduced so that each determines the slot `pivot`, which no other has.
struct reduced {
  std::vector<exact_system::equation> equations;
  std::vector<unsigned> pivots;
};

/// Gaussian elimination. None if an equation contradicts others, or follows from them.
std::optional<reduced> eliminate(std::span<const exact_system::equation> equations) {
  reduced done;
  for (exact_system::equation next : equations) {
    for (std::size_t i = 0; i < done.pivots.size(); ++i) {
      if ((next.slots & bit(done.pivots[i])) == 0) continue;
      next.slots ^= done.equations[i].slots;
      next.value ^= done.equations[i].value;
    }
    if (next.slots == 0) return std::nullopt;
    const auto pivot = static_cast<unsigned>(std::countr_zero(next.slots));
    for (exact_system::equation& each : done.equations) {
      if ((each.slots & bit(pivot)) == 0) continue;
      each.slots ^= next.slots;
      each.value ^= next.value;
    }
    done.equations.push_back(next);
    done.pivots.push_back(pivot);
  }
  return done;
}

/// The slots if the free ones have the values of `free_values`.
std::uint64_t complete(const reduced& system, std::uint64_t free_values) noexcept {
  std::uint64_t solution = free_values;
  for (std::size_t i = 0; i < system.pivots.size(); ++i) {
    const auto& [slots, value] = system.equations[i];
    const bool others = std::popcount(slots & free_values) % 2 != 0;
    if (value != others) solution |= bit(system.pivots[i]);
  }
  return solution;
}

}  // namespace

bool exact_system::equation::holds(std::uint64_t solution) const noexcept {
  return (std::popcount(slots & solution) % 2 != 0) == value;
}

exact_system::equation exact_system::equation_of(const std::string& word) const noexcept {
  std::uint64_t hash = xxh3_hasher(seed)(std::as_bytes(std::span(word))).value;
  equation made{.slots = 0, .value = (hash & 1) != 0};
  hash >>= 1;
  // The next of the slots that are left. The hash has bits for three.
  for (unsigned left = slots; left > slots - 3; --left) {
    auto skipped = static_cast<unsigned>(hash % left);
    hash /= left;
    unsigned slot = 0;
    while ((made.slots & bit(slot)) != 0 || skipped-- != 0) ++slot;
    made.slots |= bit(slot);
  }
  return made;
}

result<exact_system> solve_exact(unsigned slots, std::vector<std::string> members,
                                 std::vector<std::string> others) {
  if (slots < min_slots || slots > max_slots) {
    return refuse(
        fmt::format("{} slots cannot be shown; give {} to {}", slots, min_slots, max_slots));
  }
  if (members.empty()) return refuse("there are no members; insert at least one word");
  for (const std::string& member : members) {
    if (std::ranges::find(others, member) != others.end()) {
      return refuse(fmt::format("{} is a member and one of the others; give it once", member));
    }
  }
  exact_system made{.slots = slots, .members = std::move(members), .others = std::move(others)};
  for (; made.seed < max_seeds; ++made.seed) {
    std::vector<exact_system::equation> equations;
    equations.reserve(made.members.size());
    for (const std::string& member : made.members) equations.push_back(made.equation_of(member));
    const auto system = eliminate(equations);
    if (!system) continue;
    made.free_slots.clear();
    for (unsigned slot = 0; slot < slots; ++slot) {
      if (std::ranges::find(system->pivots, slot) == system->pivots.end()) {
        made.free_slots.push_back(slot);
      }
    }
    if (made.free_slots.size() > max_free) {
      return refuse(fmt::format("{} slots leave more than {} free for {} members; give fewer",
                                slots, max_free, made.members.size()));
    }
    for (std::uint64_t number = 0; number < std::uint64_t{1} << made.free_slots.size(); ++number) {
      std::uint64_t values = 0;
      for (std::size_t i = 0; i < made.free_slots.size(); ++i) {
        if ((number >> i & 1) != 0) values |= bit(made.free_slots[i]);
      }
      exact_system::choice choice{.solution = complete(*system, values)};
      for (const std::string& other : made.others) {
        choice.passing += made.equation_of(other).holds(choice.solution) ? 1 : 0;
      }
      made.choices.push_back(choice);
    }
    const auto best = std::ranges::min_element(made.choices, {}, &exact_system::choice::passing);
    made.chosen = static_cast<std::size_t>(best - made.choices.begin());
    return made;
  }
  return refuse(
      fmt::format("the equations of {} members over {} slots contradict each other; give more "
                  "slots",
                  made.members.size(), slots));
}

}  // namespace bloomset::teach
