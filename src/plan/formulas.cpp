#include <bloomset/plan/formulas.hpp>

#include <algorithm>
#include <array>
#include <bloomset/plan/numeric.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "plan/block_rates.hpp"
#include "plan/search.hpp"

namespace bloomset::formulas {
namespace {

constexpr double ln2 = std::numbers::ln2;
// Arrays below this size have an exact rate. With more than 28 functions its cost, k^3, is no
// longer small.
constexpr std::uint64_t exact_below_bits = 4096;
constexpr unsigned exact_up_to_hashes = 28;

/// Element [d][r] is the chance that r of d places that are not set yet remain so after a number of
/// throws, as a sum of positive terms. The matrix of s + t throws is the product of those of s and
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

  /// By twice as many throws.
  void square() {
    row squared{};
    for (unsigned d = k_ + 1; d-- != 0;) {
      // g++ 14 does not see that d is in range.
      for (unsigned r = 0; r != squared.size() && r <= d; ++r) {
        double sum = 0;
        for (unsigned between = r; between <= d; ++between) {
          sum += chance_[d][between] * chance_[between][r];
        }
        squared[r] = sum;
      }
      std::copy_n(squared.begin(), d + 1, chance_[d].begin());
    }
  }

  /// P(d given places are all set), from its value before these throws.
  by_places apply(const by_places& set) const {
    by_places after{};
    for (unsigned d = 0; d <= k_; ++d) {
      for (unsigned r = 0; r <= d; ++r) after[d] += chance_[d][r] * set[r];
    }
    return after;
  }

 private:
  using row = std::array<double, exact_up_to_hashes + 1>;

  unsigned k_;
  std::array<row, exact_up_to_hashes + 1> chance_{};
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

/// Of the share of bits that are set, in (0, 1].
struct fill_moments {
  double mean;
  double variance;
};

fill_moments moments_of_fill(double throws, double places) {
  // The mean is 1 - q, the variance q/m + (1 - 1/m) q2 - q^2. q is the chance that one place stays
  // empty, q2 that two do. q2 / q^2 = ((1 - 2/m) / (1 - 1/m)^2)^throws, and the fraction is 1 - (1
  // / (m - 1))^2.
  if (places <= 1) return {1, 0};
  const double log_empty = throws * numeric::log1p(-1 / places);
  const double one_of_others = 1 / (places - 1);
  const double correlation =
      numeric::expm1(throws * numeric::log1p(-one_of_others * one_of_others));
  const double q = numeric::exp(log_empty);
  const double mean = -numeric::expm1(log_empty);
  return {mean, std::max(0.0, q / places * mean + q * q * correlation * (1 - 1 / places))};
}

/// The standard deviation of the logarithm of a lognormal variable, from its variance over its
/// squared mean.
double log_deviation(double relative_variance) {
  return std::sqrt(numeric::log1p(std::max(0.0, relative_variance)));
}

/// Phi(z) = 1/2 + phi(z) (z + z^3/3 + z^5/(3 5) + ...) (Marsaglia, "Evaluating the normal
/// distribution", 2004).
double normal_distribution(double z) {
  double term = z;
  double sum = z;
  for (double odd = 3; term > 1e-17 * sum; odd += 2) {
    term *= z * z / odd;
    sum += term;
  }
  constexpr double inverse_sqrt_2_pi = 0.39894228040143267794;
  return 0.5 + sum * inverse_sqrt_2_pi * numeric::exp(-z * z / 2);
}

/// The scatter of blocked filters. The mean over blocks of E[pass^2] gives the variance of one
/// block's rate. The keys of all blocks add up to n, which removes the part of the variance that
/// follows a block's number of keys: Cov(f, i)^2 / Var(i) = n (B - 1) (mean(n) - mean(n - 1))^2.
template <class Block>
double scatter_over_blocks(Block once, Block twice, double n, std::uint64_t blocks) {
  if (n < 1) return 0;
  block_rates rates(once);
  const double mean = rates.mean(n, blocks);
  if (mean == 0 || mean >= 1) return 0;
  const double rise = mean - rates.mean(n - 1, blocks);
  const auto all = static_cast<double>(blocks);
  const double variance =
      (block_rates(twice).mean(n, blocks) - mean * mean - n * (all - 1) * rise * rise) / all;
  return log_deviation(variance / (mean * mean));
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

double bloom_fpr_classic(double n, double m, unsigned k) {
  return numeric::power(-numeric::expm1(-static_cast<double>(k) * n / m), k);
}

double bloom_fpr(double n, std::uint64_t m, unsigned k) {
  if (n <= 0) return 0;
  if (m < exact_below_bits && k <= exact_up_to_hashes) return bloom_fpr_exact(n, m, k);
  const auto [mean, variance] = moments_of_fill(n * k, static_cast<double>(m));
  const double spread = static_cast<double>(k) * (k - 1) / 2 * variance / (mean * mean);
  return std::min(1.0, numeric::power(mean, k) * (1 + spread));
}

double bloom_fpr_scatter(double n, std::uint64_t m, unsigned k) {
  if (n <= 0) return 0;
  const auto [mean, variance] = moments_of_fill(n * k, static_cast<double>(m));
  return log_deviation(static_cast<double>(k) * k * variance / (mean * mean));
}

double split_block_fpr_scatter(double n, std::uint64_t blocks, unsigned lanes, unsigned lane_bits) {
  return scatter_over_blocks(split_block(lanes, lane_bits), split_block(lanes, lane_bits, 2), n,
                             blocks);
}

double free_block_fpr_scatter(double n, std::uint64_t blocks, unsigned block_bits, unsigned k) {
  return scatter_over_blocks(free_block(block_bits, k), free_block(block_bits, k, 2), n, blocks);
}

double fpr_at(double mean, double scatter, double deviations) {
  return std::min(1.0, mean * numeric::exp(scatter * (deviations - scatter / 2)));
}

double normal_quantile(double p) {
  return detail::first_good_real(0, 8, 60, [p](double z) { return normal_distribution(z) >= p; });
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

double throws_behind(double hit, double places) {
  if (hit >= places) return std::numeric_limits<double>::infinity();
  // H_x = ln x + gamma + 1/(2x) - 1/(12x^2) + 1/(120x^4) - ..., exact to 1e-11 from 16 on. Below,
  // H_x = H_(x+1) - 1/(x+1).
  const auto behind_log = [](double x) {
    const double square = 1 / (x * x);
    return 1 / (2 * x) - square * (1.0 / 12 - square * (1.0 / 120 - square / 252));
  };
  double a = places;
  double b = places - hit;
  double difference = 0;  // H_places - H_(places - hit)
  for (; b < 16; ++a, ++b) difference += 1 / (b + 1) - 1 / (a + 1);
  difference += behind_log(a) - behind_log(b) - numeric::log1p(-hit / a);
  return places * difference;
}

double fingerprint_cardinality(double fingerprints, double buckets, double values) {
  return throws_behind(fingerprints, buckets * values / (2 - 1 / buckets));
}

double distinct_among(double count, double seen, double estimate) {
  // The mean of a Poisson variable, and its variance.
  const double by_chance = std::max(0.0, estimate - seen);
  return std::fabs(count - seen - by_chance) <= 3 * std::sqrt(by_chance) ? count : estimate;
}

double counter_reaches(double n, double m, unsigned k, unsigned value) {
  if (value == 0) return 1;
  if (n < value) return 0;
  // Computed in logarithms, because with 16-bit counters the power exceeds the range of a double.
  const double log_bound = numeric::log(m) + value * (1 + numeric::log(n * k / (value * m)));
  return numeric::exp(std::min(0.0, log_bound));
}

std::uint64_t bloom_bits(double n, double eps, unsigned k, double deviations) {
  const auto is_enough = [&](std::uint64_t m) {
    const double mean = bloom_fpr(n, m, k);
    return (deviations == 0 ? mean : fpr_at(mean, bloom_fpr_scatter(n, m, k), deviations)) <= eps;
  };
  // The classic formula, solved for m, is a lower bound. The search doubles from there and bisects.
  const double fill = numeric::pow(eps, 1.0 / k);
  const double start = std::max(1.0, -static_cast<double>(k) * n / numeric::log1p(-fill));
  auto low = static_cast<std::uint64_t>(std::min(start, 0x1p62));
  low = low > 1 ? low - 1 : 0;  // the rate is above eps at `low`, or low is 0
  return detail::first_good_from(low, (std::uint64_t{1} << 62) - 1, is_enough);
}

double cuckoo_fpr(unsigned slots_per_bucket, unsigned fingerprint_bits, double load) {
  const double values = std::ldexp(1.0, static_cast<int>(fingerprint_bits)) - 1;
  return -numeric::expm1(-2.0 * slots_per_bucket * load / values);
}

double cuckoo_fpr_exact(double n, std::uint64_t buckets, unsigned fingerprint_bits) {
  const double values = std::ldexp(1.0, static_cast<int>(fingerprint_bits)) - 1;
  const auto pairs = static_cast<double>(buckets) * values;  // of bucket and fingerprint
  const auto hit = [&](double weight) {
    return std::clamp(-numeric::expm1(n * numeric::log1p(-weight / pairs)), 0.0, 1.0);
  };
  if (buckets == 1) return hit(1);
  const double selfpaired = buckets % 2 == 1 ? 1 / static_cast<double>(buckets) : 0;
  return (1 - selfpaired) * hit(2) + selfpaired * hit(1);
}

double hash_collision_fpr(double n) {
  return n * 0x1p-64;
}

}  // namespace bloomset::formulas
