#include "kinds/retrieval/guided.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {
namespace guided {

// A lane is a partial choice. Words have a bit for each of 64 lanes, so that one XOR computes a
// slot of all of them.
constexpr std::size_t lane_words = 4;
constexpr std::size_t max_lanes = 64 * lane_words;
constexpr std::size_t window = 64;
constexpr std::size_t max_values = std::size_t{1} << max_guided_columns;

using lanes = std::array<std::uint64_t, lane_words>;

/// The equation of another key, reduced by those of the members. Slot s is bit s mod 64 of the row.
struct reduced_equation {
  std::uint64_t row;
  std::uint32_t slot;   // the first one that the row has, which is free
  std::uint32_t value;  // with which the key passes
};

/// A free slot whose value was chosen, and the choices of the beam in `choices`: the lane before,
/// and the value.
struct step {
  std::uint32_t slot;
  std::uint32_t first;
};

/// Transposes 64 words of 64 bits.
static void transpose(std::span<std::uint64_t, 64> words) noexcept {
  std::uint64_t mask = 0x00000000ffffffff;
  for (unsigned width = 32; width != 0; width /= 2, mask ^= mask << width) {
    for (unsigned i = 0; i < 64; i = ((i | width) + 1) & ~width) {
      const std::uint64_t moved = ((words[i] >> width) ^ words[i | width]) & mask;
      words[i] ^= moved << width;
      words[i | width] ^= moved;
    }
  }
}

/// Counters of all lanes, a bit of each per plane.
class lane_counters {
 public:
  /// Counts one more in the lanes whose bit is set.
  void add(lanes one) noexcept {
    for (lanes& plane : planes_) {
      lanes carry;
      std::uint64_t any = 0;
      for (std::size_t w = 0; w < lane_words; ++w) {
        carry[w] = plane[w] & one[w];
        plane[w] ^= one[w];
        any |= carry[w];
      }
      if (any == 0) return;
      one = carry;
    }
  }
  /// Adds the counters to `sums` and sets them to 0. Precondition: at most max_adds since then.
  void flush(std::span<std::uint32_t, max_lanes> sums) noexcept {
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      for (std::size_t w = 0; w < lane_words; ++w) {
        const std::uint64_t plane = planes_[p][w];
        if (plane == 0) continue;
        for (unsigned i = 0; i < 64; ++i) {
          sums[64 * w + i] += static_cast<std::uint32_t>((plane >> i) & 1) << p;
        }
      }
      planes_[p] = {};
    }
  }
  static constexpr std::size_t max_adds = 255;

 private:
  std::array<lanes, 8> planes_{};
};

}  // namespace guided

using namespace guided;

struct guided_search::memory {
  std::vector<reduced_equation> reduced;
  std::vector<reduced_equation> sorted;
  std::vector<std::uint32_t> ends;  // of the equations of each slot, in `sorted`
  std::vector<step> steps;
  std::vector<std::uint16_t> choices;
  // The last 64 slots of all lanes, by column; slot s is at s mod 64.
  std::array<std::array<lanes, window>, max_guided_columns> slots{};
  std::array<std::uint32_t, max_lanes> costs{};  // keys that pass, beyond the least
  std::size_t size = 1;                          // of the beam

  std::uint64_t reduce(const retrieval_job& job, const other_keys& others);
  void sort_by_slot(std::size_t slots_in_all);
  lanes sum(std::uint64_t row, std::uint32_t column) const noexcept;
  std::uint64_t branch(std::uint32_t slot, std::uint32_t columns,
                       std::span<const reduced_equation> equations);
  void select(std::span<const std::uint16_t> chosen, std::uint32_t slot, std::uint32_t columns);
};

/// Reduces the equations of all other keys. Returns the number of keys that pass with any choice.
std::uint64_t guided_search::memory::reduce(const retrieval_job& job, const other_keys& others) {
  std::uint64_t always = 0;
  reduced.clear();
  for (std::uint64_t start = 0; start < job.starts; ++start) {
    if (others.begins[start] == others.begins[start + 1]) continue;
    if (job.bumps) {
      constexpr std::uint64_t bucket_starts = window_64::bucket_starts;
      const std::uint64_t bucket = job.first_bucket + start / bucket_starts;
      const unsigned code =
          (std::to_integer<unsigned>(job.codes[bucket / 4]) >> (2 * (bucket % 4))) & 3;
      if (start % bucket_starts < window_64::bumped_starts(code)) continue;
    }
    for (std::uint32_t i = others.begins[start]; i < others.begins[start + 1]; ++i) {
      std::uint64_t row = std::rotl(retrieval_row(others.keys[i]), static_cast<int>(start % 8 * 8));
      std::uint32_t value = others.values[i];
      std::uint64_t group = start;
      while (row != 0) {
        const unsigned bits = (row >> (group % 8 * 8)) & 0xff;
        if (bits == 0) {
          ++group;
          continue;
        }
        const std::uint64_t slot = 8 * group + static_cast<unsigned>(std::countr_zero(bits));
        if (job.rows[slot] == 0) {
          reduced.push_back({row, static_cast<std::uint32_t>(slot), value});
          break;
        }
        row ^= job.rows[slot];
        value ^= job.results[slot];
      }
      always += row == 0 && value == 0;
    }
  }
  return always;
}

void guided_search::memory::sort_by_slot(std::size_t slots_in_all) {
  // Counted at index slot + 1, so that the second pass leaves the end of each slot in ends[slot].
  ends.assign(slots_in_all + 1, 0);
  for (const reduced_equation& one : reduced) ++ends[one.slot + 1];
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
  sorted.resize(reduced.size());
  for (const reduced_equation& one : reduced) sorted[ends[one.slot]++] = one;
}

/// The XOR of the slots of a row in all lanes.
lanes guided_search::memory::sum(std::uint64_t row, std::uint32_t column) const noexcept {
  lanes all{};
  for (; row != 0; row &= row - 1) {
    const lanes& one = slots[column][static_cast<std::size_t>(std::countr_zero(row))];
    for (std::size_t w = 0; w < lane_words; ++w) all[w] ^= one[w];
  }
  return all;
}

/// Chooses the value of a free slot: the best of the beam with each value. Returns the number of
/// keys that the least choice passes more than before.
std::uint64_t guided_search::memory::branch(std::uint32_t slot, std::uint32_t columns,
                                            std::span<const reduced_equation> equations) {
  const std::size_t values = std::size_t{1} << columns;
  const std::uint64_t own = std::uint64_t{1} << (slot % window);
  // The number of keys that each value passes, for each lane.
  std::array<std::array<std::uint32_t, max_lanes>, max_values> passing{};
  std::array<lane_counters, max_values> counters;
  std::size_t added = 0;
  for (const reduced_equation& one : equations) {
    // The value of the slot with which the key passes.
    std::array<lanes, max_guided_columns> needed;
    for (std::uint32_t column = 0; column < columns; ++column) {
      const std::uint64_t flip = -static_cast<std::uint64_t>((one.value >> column) & 1);
      needed[column] = sum(one.row ^ own, column);
      for (std::uint64_t& word : needed[column]) word ^= flip;
    }
    for (std::size_t value = 1; value < values; ++value) {
      lanes match;
      for (std::size_t w = 0; w < lane_words; ++w) {
        match[w] = ~std::uint64_t{0};
        for (std::uint32_t column = 0; column < columns; ++column) {
          match[w] &= ((value >> column) & 1) != 0 ? needed[column][w] : ~needed[column][w];
        }
      }
      counters[value].add(match);
    }
    if (++added == lane_counters::max_adds) {
      for (std::size_t value = 1; value < values; ++value) counters[value].flush(passing[value]);
      added = 0;
    }
  }
  for (std::size_t value = 1; value < values; ++value) counters[value].flush(passing[value]);

  const auto all = static_cast<std::uint32_t>(equations.size());
  std::uint32_t least = ~std::uint32_t{0};
  for (std::size_t lane = 0; lane < size; ++lane) {
    std::uint32_t others = 0;
    for (std::size_t value = 1; value < values; ++value) others += passing[value][lane];
    passing[0][lane] = all - others;
    for (std::size_t value = 0; value < values; ++value) {
      passing[value][lane] += costs[lane];
      least = std::min(least, passing[value][lane]);
    }
  }
  // The highest cost of a candidate that is kept, and how many of that cost are. In order of cost,
  // then of the lane, then of the value, so that the choice is the same everywhere.
  std::array<std::uint32_t, 256> candidates{};
  const auto excess = [&](std::size_t lane, std::size_t value) {
    return std::min<std::uint32_t>(passing[value][lane] - least, candidates.size() - 1);
  };
  for (std::size_t lane = 0; lane < size; ++lane) {
    for (std::size_t value = 0; value < values; ++value) ++candidates[excess(lane, value)];
  }
  std::size_t room = max_lanes;
  std::size_t highest = 0;
  while (highest + 1 < candidates.size() && candidates[highest] <= room) {
    room -= candidates[highest++];
  }
  std::array<std::uint16_t, max_lanes> chosen;
  std::array<std::uint32_t, max_lanes> chosen_costs;
  std::size_t kept = 0;
  for (std::size_t lane = 0; lane < size; ++lane) {
    for (std::size_t value = 0; value < values; ++value) {
      const std::uint32_t cost = excess(lane, value);
      if (cost > highest || (cost == highest && room == 0)) continue;
      room -= cost == highest;
      chosen[kept] = static_cast<std::uint16_t>(lane << columns | value);
      chosen_costs[kept++] = passing[value][lane] - least;
    }
  }
  std::copy_n(chosen_costs.begin(), kept, costs.begin());
  select(std::span(chosen).first(kept), slot, columns);
  return least;
}

/// Replaces the lanes by those that were chosen.
void guided_search::memory::select(std::span<const std::uint16_t> chosen, std::uint32_t slot,
                                   std::uint32_t columns) {
  steps.push_back({slot, static_cast<std::uint32_t>(choices.size())});
  choices.insert(choices.end(), chosen.begin(), chosen.end());
  size = chosen.size();
  for (std::uint32_t column = 0; column < columns; ++column) {
    std::array<std::array<std::uint64_t, 64>, lane_words> before;
    std::array<std::array<std::uint64_t, 64>, lane_words> after{};
    for (std::size_t w = 0; w < lane_words; ++w) {
      for (std::size_t i = 0; i < window; ++i) before[w][i] = slots[column][i][w];
      transpose(before[w]);
    }
    const std::uint64_t own = std::uint64_t{1} << (slot % window);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t lane = chosen[i] >> columns;
      const std::uint64_t bit = (chosen[i] >> column) & 1;
      after[i / 64][i % 64] = (before[lane / 64][lane % 64] & ~own) | (-bit & own);
    }
    for (std::size_t w = 0; w < lane_words; ++w) {
      transpose(after[w]);
      for (std::size_t i = 0; i < window; ++i) slots[column][i][w] = after[w][i];
    }
  }
}

guided_search::guided_search() : memory_(std::make_unique<memory>()) {}
guided_search::guided_search(guided_search&&) noexcept = default;
guided_search& guided_search::operator=(guided_search&&) noexcept = default;
guided_search::~guided_search() = default;

std::uint64_t guided_search::choose(const retrieval_job& job, const other_keys& others) {
  memory& m = *memory_;
  std::uint64_t passing = m.reduce(job, others);
  m.sort_by_slot(8 * job.groups);
  m.steps.clear();
  m.choices.clear();
  m.slots = {};
  m.costs = {};
  m.size = 1;
  for (std::uint64_t slot = 8 * job.groups; slot-- > 0;) {
    const std::uint64_t row = job.rows[slot];
    const std::size_t place = slot % window;
    const std::uint32_t begin = slot == 0 ? 0 : m.ends[slot - 1];
    const std::uint32_t end = m.ends[slot];
    if (row == 0 && begin != end) {
      passing += m.branch(static_cast<std::uint32_t>(slot), job.columns,
                          std::span(m.sorted).subspan(begin, end - begin));
      continue;
    }
    for (std::uint32_t column = 0; column < job.columns; ++column) {
      lanes value{};
      if (row != 0) {
        value = m.sum(row ^ std::uint64_t{1} << place, column);
        const std::uint64_t flip = -static_cast<std::uint64_t>((job.results[slot] >> column) & 1);
        for (std::uint64_t& word : value) word ^= flip;
      }
      m.slots[column][place] = value;
    }
  }
  // The best choice, from its last step to its first.
  auto lane = static_cast<std::size_t>(
      std::min_element(m.costs.begin(), m.costs.begin() + static_cast<std::ptrdiff_t>(m.size)) -
      m.costs.begin());
  for (std::size_t i = m.steps.size(); i-- > 0;) {
    const std::uint32_t choice = m.choices[m.steps[i].first + lane];
    job.results[m.steps[i].slot] = choice & column_mask(job.columns);
    lane = choice >> job.columns;
  }
  return passing;
}

}  // namespace bloomset::detail

#pragma GCC visibility pop
