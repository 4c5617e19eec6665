#include <bloomery/detail/core/cardinality.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace bloomery::detail {
namespace {

// Ertl's sigma(x) = x + sum over k >= 1 of x^(2^k) 2^(k-1): the term of the registers that are
// still zero.
double sigma(double x) noexcept {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double sum = x;
  double weight = 1;
  double before = -1;
  while (sum != before) {
    before = sum;
    x *= x;
    sum += x * weight;
    weight *= 2;
  }
  return sum;
}

// Ertl's tau(x) = (1 - x - sum over k >= 1 of (1 - x^(2^-k))^2 2^-k) / 3: the term of the full
// registers.
double tau(double x) noexcept {
  if (x == 0 || x == 1) return 0;
  double sum = 1 - x;
  double weight = 1;
  double before = -1;
  while (sum != before) {
    before = sum;
    x = std::sqrt(x);
    weight /= 2;
    sum -= (1 - x) * (1 - x) * weight;
  }
  return sum / 3;
}

}  // namespace

double cardinality_estimator::estimate() const noexcept {
  std::array<std::uint32_t, rank_bits + 2> of_rank{};
  for (const std::uint8_t rank : registers_) ++of_rank[rank];
  const auto m = static_cast<double>(registers_.size());
  double z = m * tau(1 - of_rank[rank_bits + 1] / m);
  for (unsigned rank = rank_bits; rank >= 1; --rank) z = (z + of_rank[rank]) / 2;
  z += m * sigma(of_rank[0] / m);
  return m * m / (2 * std::numbers::ln2 * z);
}

std::uint64_t cardinality_estimator::upper_bound(std::uint64_t added) const noexcept {
  const double raised = std::ceil(estimate() * (1 + 4 * standard_error));
  const bool is_less = raised < static_cast<double>(added);
  return std::max<std::uint64_t>(1, is_less ? static_cast<std::uint64_t>(raised) : added);
}

}  // namespace bloomery::detail
