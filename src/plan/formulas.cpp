#include <bloomery/plan/formulas.hpp>

#include <algorithm>
#include <array>
#include <bloomery/plan/numeric.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "plan/block_rates.hpp"
#include "plan/occupancy.hpp"

namespace bloomery::formulas {
namespace {

constexpr double ln2 = std::numbers::ln2;
constexpr std::uint64_t exact_below_bits = 4096;

/// How d given places that are not set become r that are not, by some number of throws: the chance
/// at [d][r], a sum of positive terms. The matrix of s + t throws is the product of those of s and
/// t.
class throws_at_places {
 public:
  /// By one throw.
  throws_at_places(double places, unsigned k) : k_(k) {
    for (unsigned d = 0; d <= k; ++d) {
      const double hit = std::min(1.0, d / places);
      chance_[d][d] = 1 - hit;
      if (d != 0) chance_[d][d - 1] = hit;
    }
  }

  /// By twice as many.
  void square() {
    for (unsigned d = k_ + 1; d-- != 0;) {
      for (unsigned r = 0; r <= d; ++r) {
        double sum = 0;
        for (unsigned between = r; between <= d; ++between) {
          sum += chance_[d][between] * chance_[between][r];
        }
        squared_[r] = sum;
      }
      std::copy_n(squared_.begin(), d + 1, chance_[d].begin());
    }
  }

  /// P(d given places are all set), from what it was before these throws.
  by_places apply(const by_places& set) const {
    by_places after{};
    for (unsigned d = 0; d <= k_; ++d) {
      for (unsigned r = 0; r <= d; ++r) after[d] += chance_[d][r] * set[r];
    }
    return after;
  }

 private:
  unsigned k_;
  std::array<by_places, max_given_places + 1> chance_{};
  by_places squared_{};
};

// O(k^3 log(nk)).
double bloom_fpr_exact(double n, std::uint64_t m, unsigned k) {
  const auto places = static_cast<double>(m);
  by_places set{};
  set[0] = 1;
  throws_at_places by(places, k);
  for (auto throws = static_cast<std::uint64_t>(std::ceil(n * k)); throws != 0;) {
    if (throws % 2 == 1) set = by.apply(set);
    throws /= 2;
    if (throws != 0) by.square();
  }
  return all_set(distinct_places(places, k), set, k);
}

double as_rate(double x) {
  return std::clamp(x, 0.0, 1.0);
}

}  // namespace

double information_bound(double eps) {
  return -numeric::log2(eps);
}

double optimal_hashes(double n, double m) {
  return m / n * ln2;
}

double ideal_fpr(double bits_per_key) {
  return numeric::exp(-bits_per_key * ln2 * ln2);
}

double ideal_bits_per_key(double eps) {
  return -numeric::log(eps) / (ln2 * ln2);
}

double bloom_fpr_classic(double n, double m, unsigned k) {
  return numeric::power(-numeric::expm1(-static_cast<double>(k) * n / m), k);
}

double bloom_fpr(double n, std::uint64_t m, unsigned k) {
  if (n <= 0) return 0;
  if (m < exact_below_bits && k <= max_given_places) return bloom_fpr_exact(n, m, k);
  const auto places = static_cast<double>(m);
  const double throws = n * k;
  // The fill's mean is 1 - q, its variance q/m + (1 - 1/m) q2 - q^2, with q the chance that one
  // place stays empty and q2 that two do. q2 / q^2 = ((1 - 2/m) / (1 - 1/m)^2)^throws, where the
  // fraction is 1 - (1 / (m - 1))^2.
  const double log_empty = throws * numeric::log1p(-1 / places);
  const double one_of_others = 1 / (places - 1);
  const double correlation =
      numeric::expm1(throws * numeric::log1p(-one_of_others * one_of_others));
  const double q = numeric::exp(log_empty);
  const double mean = -numeric::expm1(log_empty);
  const double variance = q / places * mean + q * q * correlation * (1 - 1 / places);
  const double spread = static_cast<double>(k) * (k - 1) / 2 * variance / (mean * mean);
  return std::min(1.0, numeric::power(mean, k) * (1 + std::max(0.0, spread)));
}

double split_block_fpr(double n, std::uint64_t blocks, unsigned lanes, unsigned lane_bits) {
  return block_rates(split_block(lanes, lane_bits)).mean(n, blocks);
}

double free_block_fpr(double n, std::uint64_t blocks, unsigned block_bits, unsigned k) {
  return block_rates(free_block(block_bits, k)).mean(n, blocks);
}

double blocked_cardinality(double ones, double bits, std::uint64_t blocks, double stays) {
  if (ones >= bits) return std::numeric_limits<double>::infinity();
  return numeric::log1p(-ones / bits) / numeric::log1p(-(1 - stays) / static_cast<double>(blocks));
}

double bloom_cardinality(double ones, double m, unsigned k) {
  if (ones >= m) return std::numeric_limits<double>::infinity();
  return -m / k * numeric::log1p(-ones / m);
}

double counter_reaches(double n, double m, unsigned k, unsigned value) {
  if (value == 0) return 1;
  if (n < value) return 0;
  // In logarithms, since with 16-bit counters the power leaves the range of a double.
  const double log_bound = numeric::log(m) + value * (1 + numeric::log(n * k / (value * m)));
  return numeric::exp(std::min(0.0, log_bound));
}

std::uint64_t bloom_bits(double n, double eps, unsigned k) {
  // The classic formula, solved for m, is a lower bound; double from there and bisect.
  const double fill = numeric::pow(eps, 1.0 / k);
  const double start = std::max(1.0, -static_cast<double>(k) * n / numeric::log1p(-fill));
  auto low = static_cast<std::uint64_t>(std::min(start, 0x1p62));
  low = low > 1 ? low - 1 : 0;  // the rate is above eps at `low`, or low is 0
  std::uint64_t step = 1;
  std::uint64_t high = low + step;
  while (high < (std::uint64_t{1} << 62) && bloom_fpr(n, high, k) > eps) {
    low = high;
    step *= 2;
    high += step;
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (bloom_fpr(n, middle, k) > eps ? low : high) = middle;
  }
  return high;
}

double cuckoo_fpr(unsigned slots_per_bucket, unsigned fingerprint_bits, double load) {
  const double values = std::ldexp(1.0, static_cast<int>(fingerprint_bits)) - 1;
  return -numeric::expm1(-2.0 * slots_per_bucket * load / values);
}

double cuckoo_fpr_exact(double n, std::uint64_t buckets, unsigned fingerprint_bits) {
  const double values = std::ldexp(1.0, static_cast<int>(fingerprint_bits)) - 1;
  const auto pairs = static_cast<double>(buckets) * values;  // of bucket and fingerprint
  const auto hit = [&](double weight) {
    return as_rate(-numeric::expm1(n * numeric::log1p(-weight / pairs)));
  };
  if (buckets == 1) return hit(1);
  const double selfpaired = buckets % 2 == 1 ? 1 / static_cast<double>(buckets) : 0;
  return (1 - selfpaired) * hit(2) + selfpaired * hit(1);
}

double hash_collision_fpr(double n) {
  return n * 0x1p-64;
}

}  // namespace bloomery::formulas
