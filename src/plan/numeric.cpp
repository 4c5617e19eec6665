#include <array>
#include <bloomset/plan/numeric.hpp>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

// The build passes -ffp-contract=off -fno-fast-math after the user's options: a fused
// multiplication and addition, or another order of sums, gives other last bits
// (docs/maintain/decisions/base/same-numbers.md).
#ifdef __FAST_MATH__
#error "-ffast-math changes the numbers that files are planned by; compile this without it"
#endif
static_assert(FLT_EVAL_METHOD == 0, "doubles have to be computed as doubles, not by the x87");

namespace bloomset::numeric {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// ln 2 as a number of 42 bits, whose product with an exponent is exact, and the remainder.
constexpr double ln2_high = 0x1.62e42fefa38p-1;  // NOLINT(modernize-use-std-numbers): a part of it
constexpr double ln2_low = 0x1.ef35793c76730p-45;

// 1/2!, 1/3!, ... For |r| <= ln 2 / 2 the first missing term, r^14 / 14!, is 2^-58 times r.
constexpr auto inverse_factorials = [] {
  std::array<double, 12> all{};
  double factorial = 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    factorial *= static_cast<double>(i + 2);
    all[i] = 1 / factorial;
  }
  return all;
}();
// 2/3, 2/5, ... For |s| <= 3 - 2^(3/2) = 0.1716 the first missing term, 2 s^23 / 23, is 2^-59 times
// 2 s.
constexpr auto twice_inverse_odd = [] {
  std::array<double, 10> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = 2 / static_cast<double>(2 * i + 3);
  return all;
}();

template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double sum = coefficients.back();
  for (std::size_t i = N - 1; i-- != 0;) sum = sum * x + coefficients[i];
  return sum;
}

/// The fraction and the power of e^x = (1 + fraction) 2^power, with |fraction| below 0.42.
std::pair<double, int> split_exp(double x) {
  const double power = std::floor(x * std::numbers::log2e + 0.5);
  const double near = x - power * ln2_high;  // exact
  const double r = near - power * ln2_low;
  const double lost = (near - r) - power * ln2_low;
  return {r + (lost + r * r * polynomial(inverse_factorials, r)), static_cast<int>(power)};
}

/// log(1 + x) + extra for x in [2^-1/2 - 1, 2^1/2 - 1]: 2 artanh(s), s = x / (2 + x). `extra` is
/// far smaller than the logarithm, or 0.
double log_near_one(double x, double extra) {
  const double s = x / (2 + x);
  const double square = s * s;
  // 2 s = x - s x, so that its own rounding is left out of the sum.
  return x - (s * (x - square * polynomial(twice_inverse_odd, square)) - extra);
}

/// x > 0 as a fraction in [2^-1/2, 2^1/2) and a power of two.
std::pair<double, int> split_power(double x) {
  int power = 0;
  const double fraction = std::frexp(x, &power);
  if (fraction < 0x1.6a09e667f3bcdp-1) return {fraction * 2, power - 1};
  return {fraction, power};
}

/// log(x + tail) for normal x > 0, with `tail` below the last place of x.
double log_of_sum(double x, double tail) {
  const auto [fraction, power] = split_power(x);
  const double rest = tail / x;
  if (power == 0) return log_near_one(fraction - 1, rest);
  const double exponent = power;
  return exponent * ln2_high + log_near_one(fraction - 1, rest + exponent * ln2_low);
}

}  // namespace

double exp(double x) noexcept {
  if (std::isnan(x)) return x;
  if (x > 710) return infinity;
  if (x < -746) return 0;
  const auto [fraction, power] = split_exp(x);
  return std::ldexp(1 + fraction, power);
}

double exp2(double x) noexcept {
  if (std::isnan(x)) return x;
  if (x > 1024) return infinity;
  if (x < -1076) return 0;
  const double whole = std::floor(x + 0.5);
  return std::ldexp(1 + expm1((x - whole) * (ln2_high + ln2_low)), static_cast<int>(whole));
}

double expm1(double x) noexcept {
  if (std::isnan(x) || x == 0) return x;
  if (x > 710) return infinity;
  if (x < -50) return -1;
  const auto [fraction, power] = split_exp(x);
  if (power == 0) return fraction;
  const double whole = std::ldexp(1.0, power);
  return (whole - 1) + whole * fraction;
}

double log(double x) noexcept {
  if (x == 0) return -infinity;
  if (!(x > 0)) return not_a_number;
  return x == infinity ? x : log_of_sum(x, 0);
}

double log2(double x) noexcept {
  if (!(x > 0) || x == infinity) return log(x);
  const auto [fraction, power] = split_power(x);
  return power + log_near_one(fraction - 1, 0) * std::numbers::log2e;
}

double log10(double x) noexcept {
  return log(x) * std::numbers::log10e;
}

double log1p(double x) noexcept {
  if (x > -0.25 && x < 0.4) return x == 0 ? x : log_near_one(x, 0);
  if (!(x > -1) || x == infinity) return log(1 + x);
  const double sum = 1 + x;
  return log_of_sum(sum, x < 1 ? x - (sum - 1) : 1 - (sum - x));
}

double pow(double x, double y) noexcept {
  if (y == 0 || x == 1) return 1;
  return exp(y * log(x));
}

double power(double x, unsigned k) noexcept {
  double product = 1;
  for (; k != 0; k >>= 1) {
    if (k % 2 == 1) product *= x;
    x *= x;
  }
  return product;
}

}  // namespace bloomset::numeric
