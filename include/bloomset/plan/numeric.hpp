#pragma once

/// Elementary functions that give the same bits on every machine.
///
/// A C library's exp, log and pow differ in their last bits from one library, version or CPU to
/// another. Numbers that decide a filter's shape or are written into a file are computed with these
/// instead. They use only additions, multiplications and divisions of doubles, which IEEE 754
/// rounds correctly everywhere.
///
/// Error       exp, exp2, log, log1p: below 1 unit in the last place. expm1, log2, log10: below 2;
///             log2 of a power of two is exact. pow(x, y): below 1 + |y ln x|.
/// Range       As std:: has them: log(0) is -infinity, log of a negative number is NaN.
/// Cost        10 to 30 ns each.
/// Threads     Pure functions.

namespace bloomset::numeric {

/// e to the power of x.
double exp(double x) noexcept;
/// 2 to the power of x.
double exp2(double x) noexcept;
/// exp(x) - 1, accurate even for x near 0.
double expm1(double x) noexcept;
/// The natural logarithm.
double log(double x) noexcept;
/// The logarithm to base 2.
double log2(double x) noexcept;
/// The logarithm to base 10.
double log10(double x) noexcept;
/// log(1 + x), accurate even for x near 0.
double log1p(double x) noexcept;
/// x to the power of y, for x >= 0; NaN for negative x.
double pow(double x, double y) noexcept;
/// x to the power of k by squaring. The error is below k units in the last place; the result is
/// exact if all powers are.
double power(double x, unsigned k) noexcept;

}  // namespace bloomset::numeric
