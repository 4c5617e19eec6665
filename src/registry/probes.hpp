#pragma once

// The named probe rules as types, for the kinds with k of m places per key.

#include <bloomery/any_filter.hpp>
#include <bloomery/probe.hpp>
#include <bloomery/result.hpp>
#include <type_traits>

#include "core/format.hpp"
#include "registry/options.hpp"

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
    return format_failure(errc::unsupported,
                          "the filter's probe rule {} is not known here; use a newer bloomery",
                          static_cast<unsigned>(wanted));
  } else {
    return format_failure(errc::invalid_argument,
                          "'{}' is no probe rule; give double, salted, md5 or fnv-murmur", wanted);
  }
}

/// The probe rule in a file's parameters.
template <class Params>
probe_id probe_of(const Params& params) noexcept {
  if constexpr (requires { params.probe; }) {
    return params.probe;
  } else {
    return params.array.probe;
  }
}

/// A kind with a filter type per probe rule.
template <template <class Probe> class Filter, class Params>
struct one_type_per_probe {
  using filter = Filter<double_hashing>;
  using spec_type = typename filter::spec_type;

  template <class Use>
  static result<any_filter> with_type(const plan_request& request, Use&& use) {
    return with_probe(option_text(request, "probe", double_hashing::name), [&](auto probe) {
      return use(std::type_identity<Filter<decltype(probe)>>());
    });
  }
  template <class Use>
  static result<any_filter> with_type(const stored_filter& stored, Use&& use) {
    const auto params = Params::decode(stored.header, stored.parameters);
    if (!params) return fail(params.error());
    return with_probe(probe_of(*params), [&](auto probe) {
      return use(std::type_identity<Filter<decltype(probe)>>());
    });
  }
};

}  // namespace bloomery::detail
