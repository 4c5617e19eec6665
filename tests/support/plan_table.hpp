#pragma once

// Ten thousand plans, as the bytes that files contain: every kind, 36 numbers of keys from 1 to
// 10^12, 31 rates from 1/2 to 10^-12. They must be the same on every CPU, compiler and C library.

#include <array>
#include <bloomset/bloomset.hpp>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::test {

inline constexpr std::array<std::uint64_t, 36> table_keys = {1,
                                                             2,
                                                             3,
                                                             5,
                                                             8,
                                                             13,
                                                             21,
                                                             34,
                                                             55,
                                                             89,
                                                             144,
                                                             233,
                                                             377,
                                                             610,
                                                             987,
                                                             1597,
                                                             2584,
                                                             5000,
                                                             10'000,
                                                             20'000,
                                                             65'536,
                                                             100'000,
                                                             300'000,
                                                             1'000'000,
                                                             1'234'567,
                                                             5'000'000,
                                                             16'777'216,
                                                             33'333'333,
                                                             100'000'000,
                                                             314'159'265,
                                                             1'000'000'000,
                                                             4'294'967'296,
                                                             10'000'000'000,
                                                             68'719'476'736,
                                                             100'000'000'000,
                                                             1'000'000'000'000};

inline constexpr std::array<double, 31> table_rates = {
    0.5,  0.4,  0.3,  0.25, 0.2,  0.1,   0.0625, 0.05,  0.03, 0.02, 0.015,
    0.01, 5e-3, 4e-3, 3e-3, 2e-3, 1e-3,  5e-4,   4e-4,  1e-4, 3e-5, 1e-5,
    1e-6, 1e-7, 1e-8, 3e-9, 1e-9, 3e-10, 1e-10,  1e-11, 1e-12};

using plan_bytes = std::vector<std::byte>;

inline void append(plan_bytes& to, const plan_bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
}

template <class T>
void append_value(plan_bytes& to, const T& value) {
  std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// The plan's bytes, or the failure's code.
template <class Plan>
plan_bytes bytes_of_plan(const result<Plan>& plan) {
  plan_bytes bytes;
  if (!plan) {
    bytes.push_back(static_cast<std::byte>(plan.error().code));
  } else if constexpr (requires { plan->encode(); }) {
    bytes = plan->encode();
  } else {
    append_value(bytes, plan->fpr);
    append_value(bytes, plan->capacity);
    if constexpr (requires { plan->params.encode(); }) append(bytes, plan->params.encode());
  }
  return bytes;
}

/// A plan of the kind of that name. Kinds whose sizes change after their first plan, or whose plan
/// has more than the common values, add these.
inline plan_bytes plan_of(std::string_view kind, std::uint64_t n, double fpr) {
  if (kind == "scalable_bloom") {
    auto plan = plan_scalable_bloom({.capacity = n, .fpr = fpr});
    for (int member = 1; plan && member < 3; ++member) {
      if (const auto next = plan_next_member(*plan)) plan->members.push_back(*next);
    }
    return bytes_of_plan(plan);
  }
  if (kind == "expandable") {
    plan_bytes bytes;
    for (const double growth : {0.0, 1.0, 1000.0}) {
      const auto plan = plan_expandable({.capacity = n, .fpr = fpr, .growth = growth});
      append(bytes, bytes_of_plan(plan));
      const auto grown = plan ? grown_to(*plan, 8 * n) : std::nullopt;
      if (grown) append(bytes, grown->encode());
    }
    return bytes;
  }
  if (kind == "ribbon") {
    plan_bytes bytes = bytes_of_plan(plan_ribbon({.capacity = n, .fpr = fpr}));
    const ribbon_level level = detail::plan_ribbon_level(n, fpr);
    append_value(bytes, level.starts);
    append_value(bytes, level.cut);
    return bytes;
  }
  if (kind == "exact") {
    // The lower the rate, the larger the universe.
    const double universe = detail::min(static_cast<double>(n) / fpr, 1e18);
    const auto plan = plan_exact({.capacity = n, .universe = static_cast<std::uint64_t>(universe)});
    plan_bytes bytes = bytes_of_plan(plan);
    if (plan) append_value(bytes, plan->bytes);
    return bytes;
  }
#define KIND(name) \
  if (kind == #name) return bytes_of_plan(plan_##name({.capacity = n, .fpr = fpr}));
#include "src/registry/kinds.inc"
  throw std::invalid_argument("no kind " + std::string(kind));
}

/// XXH3-64 of all plans of a kind, one after the other.
inline std::uint64_t hash_of_plans(std::string_view kind) {
  plan_bytes all;
  for (const std::uint64_t n : table_keys) {
    for (const double fpr : table_rates) append(all, plan_of(kind, n, fpr));
  }
  return xxh3_hasher(0)(all).value;
}

struct pinned_plans {
  std::string_view kind;
  std::uint64_t hash;
};

/// A row for each kind. The test's failure has the hash of a kind whose row is wrong.
inline constexpr auto pinned = std::to_array<pinned_plans>({
    {"blocked_bloom", 0x81197ac2972e563d},
    {"bloom", 0xd0a295c5ef10485d},
    {"counting_bloom", 0x4333e3f4a1ffc55e},
    {"cuckoo", 0xcde6c62ffd4a9549},
    {"exact", 0x88e3f06b9d4ccb62},
    {"expandable", 0x19ba467028714813},
    {"fuse", 0x8550f5205aa7b650},
    {"ribbon", 0xef5adc6f91ab22ea},
    {"scalable_bloom", 0xc030104b65236450},
    {"vector_quotient", 0x7acf0fbfc1499d7c},
});

}  // namespace bloomset::test
