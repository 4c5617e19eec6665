#pragma once

/// Numbers as people write them: reading and formatting. Reading fails with one error sentence if
/// the text is malformed.

#include <bloomset/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace bloomset {

/// A count in [1, 2^63): `1000`, `10M`, `1e9`, `2.5k`, `1_000_000`. The suffixes k, M, G (also B)
/// and T are powers of 1000. The number must be whole once the suffix is applied. Fails with
/// invalid_argument.
result<std::uint64_t> parse_count(std::string_view text);

/// A size in bytes in [1, 2^63): `120MB` (powers of 1000), `1GiB` (powers of 1024), `4096`, `64k`.
/// A trailing B may be left out.
result<std::uint64_t> parse_bytes(std::string_view text);

/// A rate strictly between 0 and 1: `1%`, `0.01`, `1/1000`, `1e-6`.
result<double> parse_rate(std::string_view text);

/// `1234567` as `1,234,567`.
std::string format_count(std::uint64_t n);

/// The same with a noun, which is given in the singular: `1 key`, `1,234,567 keys`.
std::string format_count(std::uint64_t n, std::string_view noun);

/// A size with three significant digits in powers of 1000: `120 MB`, `958 B`, `1.2 GB`.
std::string format_bytes(std::uint64_t n);

/// A rate with three significant digits: as a percentage, `1.00%` or `0.0459%`, or from one in a
/// million down as a number, `9.73e-07`.
std::string format_rate(double rate);

}  // namespace bloomset
