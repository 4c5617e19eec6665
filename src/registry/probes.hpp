#pragma once

// The named probe rules as types, for the kinds with k of m places per key.

#include <bloomset/any_filter.hpp>
#include <bloomset/probe.hpp>
#include <bloomset/result.hpp>
#include <type_traits>

#include "core/format.hpp"
#include "registry/options.hpp"

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

inline constexpr kind_option probe_option = {
    "probe", "double, salted, md5 or fnv-murmur (default double)",
    "how k places come from a key; fnv-murmur is for teaching and misses the planned rate"};

/// The id of the probe rule of that name.
inline result<probe_id> probe_named(std::string_view name) {
  if (name == double_hashing::name) return double_hashing::id;
  if (name == salted_hashing::name) return salted_hashing::id;
  if (name == md5_hashing::name) return md5_hashing::id;
  if (name == fnv_murmur_hashing::name) return fnv_murmur_hashing::id;
  return format_failure(errc::invalid_argument,
                        "'{}' is no probe rule; give double, salted, md5 or fnv-murmur", name);
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
    const auto probe = probe_named(option_text(request, "probe", double_hashing::name));
    if (!probe) return fail(probe.error());
    return with_probe(*probe, use);
  }
  template <class Use>
  static result<any_filter> with_type(const stored_filter& stored, Use&& use) {
    const auto params = Params::decode(stored.header, stored.parameters);
    if (!params) return fail(params.error());
    return with_probe(probe_of(*params), use);
  }

 private:
  template <class Use>
  static result<any_filter> with_probe(probe_id probe, Use&& use) {
    using std::type_identity;
    if (probe == double_hashing::id) return use(type_identity<Filter<double_hashing>>());
    if (probe == salted_hashing::id) return use(type_identity<Filter<salted_hashing>>());
    if (probe == md5_hashing::id) return use(type_identity<Filter<md5_hashing>>());
    if (probe == fnv_murmur_hashing::id) return use(type_identity<Filter<fnv_murmur_hashing>>());
    return format_failure(errc::unsupported,
                          "the filter's probe rule {} is not known here; use a newer bloomset",
                          static_cast<unsigned>(probe));
  }
};

}  // namespace bloomset::detail

#pragma GCC visibility pop
