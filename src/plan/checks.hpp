#pragma once

// Checks and refusals that all planners have in common.

#include <bloomset/detail/core/record.hpp>
#include <bloomset/image.hpp>
#include <bloomset/plan/limits.hpp>
#include <bloomset/result.hpp>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/format.hpp"

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// A failure with errc::invalid_argument.
template <class... Values>
failure refuse(std::string_view pattern, const Values&... values) {
  return format_failure(errc::invalid_argument, pattern, values...);
}

/// Refuses what no kind plans: more than max_capacity keys, a rate outside [0, 1), more than 2^62
/// bits, or a confidence other than 0 outside [1/2, 1).
result<void> check_request(std::uint64_t capacity, std::uint64_t max_capacity, double fpr,
                           std::uint64_t bits, double confidence);

/// The same for a kind's spec.
template <class Spec>
result<void> check_common(const Spec& spec, std::uint64_t max_capacity = max_keys) {
  double confidence = 0;  // NOLINT(misc-const-correctness): written where the spec has one
  if constexpr (requires { spec.confidence; }) confidence = spec.confidence;
  return check_request(spec.capacity, max_capacity, spec.fpr, spec.bits, confidence);
}

/// Refuses a rate below twice the chance that some of n keys' 64-bit hashes equal a non-member's.
result<void> check_hash_collisions(double fpr, std::uint64_t n);

/// The failure if too few of capacity, rate and memory were given. `kind` is such as "a Bloom
/// filter".
failure size_is_open(std::string_view kind);

/// The failure if this number of bits holds no key at the rate.
failure no_key_fits(std::uint64_t bits, double fpr);

/// The failure if this number of bits does not hold the keys. `kind` is such as "fuse filter".
/// `condition` is such as at_rate(), or empty if a higher rate does not help.
failure too_few_bits(std::uint64_t bits, std::uint64_t keys, std::string_view kind,
                     std::string_view condition);

/// " at a rate of 1%", or nothing without a rate.
std::string at_rate(double fpr);

/// All of capacity, rate and memory were given. The rate is then a promise to check: `planned` must
/// not exceed `wanted`, except in the last digits, so that a plan's own figures, rounded, plan the
/// same filter again.
result<void> check_promise(double wanted, double planned, std::uint64_t capacity,
                           std::uint64_t bits);

/// The failure if no seed of a build lays out the hashes.
failure hashes_were_chosen();

/// A value of two filters that are to be combined.
struct compared_value {
  using value = std::variant<std::uint64_t, std::string_view, hash_seed>;

  std::string_view name;
  value a;
  value b;
};

/// Fails with incompatible at the first value that differs, and names it. `needed` names the values
/// that have to be equal.
result<void> check_equal(std::initializer_list<compared_value> values, std::string_view needed);

// Parameter blocks. `filter` is such as "Bloom filter". `fields(block, params)` names the fields of
// the block, in order, to a record_writer or a record_reader.

inline bool is_capacity(std::uint64_t keys) noexcept {
  return keys != 0 && keys <= max_keys;
}
/// Also false for NaN.
inline bool in_range(double x, double low, double high) noexcept {
  return x >= low && x <= high;
}

/// Fails with unsupported if the layout version is not `known`.
result<void> check_version(const filter_header& header, std::string_view filter,
                           std::uint16_t known = 1);

/// A failure with errc::corrupt.
failure out_of_range(std::string_view filter);

template <class Params, class Fields>
std::vector<std::byte> encode_block(const Params& params, const Fields& fields) {
  record_writer writer;
  fields(writer, params);
  return writer.finish();
}

/// Fails with unsupported, or with corrupt unless `is_possible(params)`.
template <class Params, class Fields, class IsPossible>
result<Params> decode_block(const filter_header& header, std::span<const std::byte> block,
                            std::string_view filter, const Fields& fields, IsPossible&& is_possible,
                            std::uint16_t known = 1) {
  if (auto ok = check_version(header, filter, known); !ok) return fail(std::move(ok.error()));
  record_reader reader(block);
  Params params;
  params.seed = header.seed;
  fields(reader, params);
  if (!reader.complete() || !is_possible(params)) return out_of_range(filter);
  return params;
}

}  // namespace bloomset::detail

#pragma GCC visibility pop
