#pragma once

// The named probe rules as types, for the kinds with k of m places per key.

#include <fmt/format.h>

#include <bloomery/any_filter.hpp>
#include <bloomery/probe.hpp>
#include <bloomery/result.hpp>
#include <type_traits>

namespace bloomery::detail {

inline constexpr kind_option probe_option = {
    "probe", "double, salted, md5 or fnv-murmur (default double)",
    "how k places come from a key; fnv-murmur is for teaching and misses the planned rate"};

/// Calls `use` with the type of the probe rule of that name or id.
template <class Key, class Use>
result<any_filter> with_probe(Key wanted, Use&& use) {
  const auto matches = [&](auto probe) {
    if constexpr (std::is_same_v<Key, probe_id>) {
      return decltype(probe)::id == wanted;
    } else {
      return decltype(probe)::name == wanted;
    }
  };
  if (matches(double_hashing())) return use(double_hashing());
  if (matches(salted_hashing())) return use(salted_hashing());
  if (matches(md5_hashing())) return use(md5_hashing());
  if (matches(fnv_murmur_hashing())) return use(fnv_murmur_hashing());
  if constexpr (std::is_same_v<Key, probe_id>) {
    return fail(errc::unsupported,
                fmt::format("the filter's probe rule {} is not known here; use a newer "
                            "bloomery",
                            static_cast<unsigned>(wanted)));
  } else {
    return fail(
        errc::invalid_argument,
        fmt::format("'{}' is no probe rule; give double, salted, md5 or fnv-murmur", wanted));
  }
}

}  // namespace bloomery::detail
