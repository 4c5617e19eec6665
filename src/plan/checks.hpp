#pragma once

// Refusals that all planners have in common.

#include <bloomery/plan/limits.hpp>
#include <bloomery/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

/// A failure with errc::invalid_argument.
failure refuse(std::string why);

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

/// Too few of capacity, rate and memory were given. `kind` is such as "a Bloom filter".
failure size_is_open(std::string_view kind);

/// So many bits hold no key at that rate.
failure no_key_fits(std::uint64_t bits, double fpr);

/// All of capacity, rate and memory were given. The rate is then a promise to check: `planned` must
/// not exceed `wanted`, except in the last digits, so that a plan's own figures, rounded, plan the
/// same filter again.
result<void> check_promise(double wanted, double planned, std::uint64_t capacity,
                           std::uint64_t bits);

}  // namespace bloomery::detail

#pragma GCC visibility pop
