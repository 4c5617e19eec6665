#include <bloomset/detail/expandable/segment_kernels.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <bloomset/plan/formulas.hpp>

namespace bloomset::detail {

double segment_census::rate(unsigned cell_bits) const noexcept {
  double cells = 0;
  for (std::size_t r = uncovered.size(); r-- > 0;) {
    cells += std::ldexp(static_cast<double>(uncovered[r]), -static_cast<int>(r));
  }
  return std::min(1.0, std::ldexp(cells, -static_cast<int>(cell_bits)));
}

segment_census::key_estimate segment_census::keys(unsigned cell_bits) const noexcept {
  key_estimate all{};
  double free_cells = std::ldexp(1.0, static_cast<int>(cell_bits));
  for (std::size_t r = 0; r < uncovered.size(); ++r) {
    if (uncovered[r] == 0) continue;
    const auto entries = static_cast<double>(uncovered[r]);
    (r == 0 ? all.seen_in_whole_cells : all.seen_in_others) += entries;
    (r == 0 ? all.of_whole_cells : all.others) +=
        formulas::throws_behind(entries, std::ldexp(free_cells, static_cast<int>(r))) *
        std::ldexp(1.0, static_cast<int>(cell_bits)) / free_cells;
    free_cells = std::max(0.0, free_cells - std::ldexp(entries, -static_cast<int>(r)));
  }
  return all;
}

}  // namespace bloomset::detail
