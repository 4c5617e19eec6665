#include <bloomery/plan/formulas.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace bloomery::formulas {
namespace {

constexpr double ln2 = std::numbers::ln2;
constexpr std::uint64_t exact_below_bits = 4096;
constexpr unsigned exact_up_to_hashes = 28;

using real = long double;
using by_places = std::array<real, exact_up_to_hashes + 1>;  // for d = 0 to k given places

// P(d given places are all set after so many throws), by inclusion and exclusion over those left
// empty. The terms alternate; a sum below `lost` of their magnitude keeps less than five digits and
// is given as -1. At half fill and d = 28 it is 4e-14 of that.
constexpr real lost = 1e-14L;

by_places all_set(const by_places& empty, unsigned k) {
  by_places set{};
  for (unsigned d = 0; d <= k; ++d) {
    real binomial = 1;
    real magnitude = 0;
    for (unsigned j = 0; j <= d; ++j) {
      const real term = binomial * empty.at(j);
      set.at(d) += j % 2 == 0 ? term : -term;
      magnitude += term;
      binomial = binomial * (d - j) / (j + 1);
    }
    if (set.at(d) < lost * magnitude) set.at(d) = -1;
  }
  return set;
}

// The same throw by throw, which loses nothing: one of the d places is hit with d/m, and then d - 1
// are left to be set. O(throws * k); needed at low fill alone, where the throws are fewer than
// places.
by_places all_set_by_throws(std::uint64_t throws, real places, unsigned k) {
  by_places set{};
  set[0] = 1;
  for (std::uint64_t t = 0; t < throws; ++t) {
    for (unsigned d = k; d > 0; --d) {
      const real hit = std::min<real>(1, d / places);
      set.at(d) += hit * (set.at(d - 1) - set.at(d));
    }
  }
  return set;
}

// P(k throws at so many places hit d distinct ones).
by_places distinct_places(real places, unsigned k) {
  by_places distinct{};
  distinct[0] = 1;
  for (unsigned probe = 0; probe < k; ++probe) {
    for (unsigned d = k; d > 0; --d) {
      const real fresh = std::max<real>(0, (places - (d - 1)) / places);
      distinct.at(d) = distinct.at(d) * d / places + distinct.at(d - 1) * fresh;
    }
    distinct[0] = 0;
  }
  return distinct;
}

// E[r^i] for i ~ Binomial(n, 1/blocks), r in [0, 1].
real mean_power(real r, double n, std::uint64_t blocks) {
  const real off = (1 - r) / static_cast<real>(blocks);
  if (off >= 1) return n == 0 ? 1 : 0;
  return std::exp(static_cast<real>(n) * std::log1p(-off));
}

// P(all k probes of a stranger hit set bits) = sum over d of P(the probes are d distinct places)
// times P(those d places are all set).
double bloom_fpr_exact(double n, std::uint64_t m, unsigned k) {
  const auto places = static_cast<real>(m);
  const real throws = static_cast<real>(n) * k;
  const by_places distinct = distinct_places(places, k);
  by_places empty{};  // P(j given places are empty)
  for (unsigned j = 0; j <= k; ++j) {
    empty.at(j) = j < m ? std::exp(throws * std::log1p(-static_cast<real>(j) / places))
                        : (throws == 0 ? 1 : 0);
  }
  by_places set = all_set(empty, k);
  if (std::any_of(set.begin(), set.end(), [](real p) { return p < 0; })) {
    set = all_set_by_throws(static_cast<std::uint64_t>(std::ceil(throws)), places, k);
  }
  real rate = 0;
  for (unsigned d = 1; d <= k; ++d) rate += distinct.at(d) * set.at(d);
  return static_cast<double>(std::clamp<real>(rate, 0, 1));
}

}  // namespace

double information_bound(double eps) {
  return -std::log2(eps);
}

double optimal_hashes(double n, double m) {
  return m / n * ln2;
}

double ideal_fpr(double bits_per_key) {
  return std::exp(-bits_per_key * ln2 * ln2);
}

double ideal_bits_per_key(double eps) {
  return -std::log(eps) / (ln2 * ln2);
}

double bloom_fpr_classic(double n, double m, unsigned k) {
  return std::pow(-std::expm1(-static_cast<double>(k) * n / m), k);
}

double bloom_fpr(double n, std::uint64_t m, unsigned k) {
  if (n <= 0) return 0;
  if (m < exact_below_bits && k <= exact_up_to_hashes) return bloom_fpr_exact(n, m, k);
  const auto places = static_cast<double>(m);
  const double throws = n * k;
  // The fill's mean is 1 - q, its variance q/m + (1 - 1/m) q2 - q^2, with q the chance that one
  // place stays empty and q2 that two do. q2 - q^2 is a difference of near numbers: q^2 expm1(...).
  const double q = std::exp(throws * std::log1p(-1 / places));
  const double q2_over_qq = throws * (std::log1p(-2 / places) - 2 * std::log1p(-1 / places));
  const double variance =
      q / places + q * q * std::expm1(q2_over_qq) - q * q * std::exp(q2_over_qq) / places;
  const double mean = 1 - q;
  const double spread = static_cast<double>(k) * (k - 1) / 2 * variance / (mean * mean);
  return std::min(1.0, std::pow(mean, k) * (1 + std::max(0.0, spread)));
}

double split_block_fpr(double n, std::uint64_t blocks, unsigned lanes, unsigned lane_bits) {
  // (1 - q^i)^L = sum over j of C(L, j) (-1)^j (q^j)^i, and E[r^i] = (1 - (1 - r)/B)^n.
  const real stays = 1 - 1 / static_cast<real>(lane_bits);
  real power = 1;
  real binomial = 1;
  real rate = 0;
  for (unsigned j = 0; j <= lanes; ++j) {
    const real term = binomial * mean_power(power, n, blocks);
    rate += j % 2 == 0 ? term : -term;
    power *= stays;
    binomial = binomial * (lanes - j) / (j + 1);
  }
  return static_cast<double>(std::clamp<real>(rate, 0, 1));
}

double free_block_fpr(double n, std::uint64_t blocks, unsigned block_bits, unsigned k) {
  // E[(X/b)^k] after i k throws = sum over d of P(k probes are d distinct bits) times the sum over
  // j of C(d, j) (-1)^j ((1 - j/b)^k)^i.
  const auto places = static_cast<real>(block_bits);
  const by_places distinct = distinct_places(places, k);
  by_places left{};  // E[P(j given bits are empty)]
  for (unsigned j = 0; j <= k; ++j) {
    left.at(j) =
        mean_power(std::pow(1 - static_cast<real>(j) / places, static_cast<real>(k)), n, blocks);
  }
  real rate = 0;
  for (unsigned d = 1; d <= k; ++d) {
    real binomial = 1;
    real set = 0;
    for (unsigned j = 0; j <= d; ++j) {
      set += j % 2 == 0 ? binomial * left.at(j) : -binomial * left.at(j);
      binomial = binomial * (d - j) / (j + 1);
    }
    rate += distinct.at(d) * set;
  }
  return static_cast<double>(std::clamp<real>(rate, 0, 1));
}

double blocked_cardinality(double ones, double bits, std::uint64_t blocks, double stays) {
  if (ones >= bits) return std::numeric_limits<double>::infinity();
  return std::log1p(-ones / bits) / std::log1p(-(1 - stays) / static_cast<double>(blocks));
}

double bloom_cardinality(double ones, double m, unsigned k) {
  if (ones >= m) return std::numeric_limits<double>::infinity();
  return -m / k * std::log1p(-ones / m);
}

double counter_reaches(double n, double m, unsigned k, unsigned value) {
  if (value == 0) return 1;
  if (n < value) return 0;
  // In logarithms, since with 16-bit counters the power leaves the range of a double.
  const double log_bound = std::log(m) + value * (1 + std::log(n * k / (value * m)));
  return std::exp(std::min(0.0, log_bound));
}

std::uint64_t bloom_bits(double n, double eps, unsigned k) {
  // The classic formula, solved for m, is a lower bound; double from there and bisect.
  const double fill = std::pow(eps, 1.0 / k);
  const double start = std::max(1.0, -static_cast<double>(k) * n / std::log1p(-fill));
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
  return -std::expm1(-2.0 * slots_per_bucket * load / values);
}

double cuckoo_fpr_exact(double n, std::uint64_t buckets, unsigned fingerprint_bits) {
  const double values = std::ldexp(1.0, static_cast<int>(fingerprint_bits)) - 1;
  const auto pairs = static_cast<double>(buckets) * values;  // of bucket and fingerprint
  const auto hit = [&](double weight) { return -std::expm1(n * std::log1p(-weight / pairs)); };
  if (buckets == 1) return hit(1);
  const double selfpaired = buckets % 2 == 1 ? 1 / static_cast<double>(buckets) : 0;
  return (1 - selfpaired) * hit(2) + selfpaired * hit(1);
}

double hash_collision_fpr(double n) {
  return n * 0x1p-64;
}

}  // namespace bloomery::formulas
