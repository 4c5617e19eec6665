#pragma once

// Makes a registry row from the parts that differ from kind to kind. A kind K derives from
// one_type<F>, or has its members, and has
//   name, summary, strengths        texts of the row (kind_info)
//   options                         its kind_option list
//   spec_type                       its spec
//   set_options(request, spec)      reads its own options: result<void>
//   plan(spec)                      the planner: a result<Plan>
//   report(plan)                    its plan_report
//   describe(filter, info)          adds the kind's own figures to a filter_info
// and, where they differ from kind_info's defaults, any_order, in_hash_order, copies_take_room and
// copies_to_plan_for. A static kind has no any_order: it gives the same bytes for any order. A kind
// whose filters can have 128-bit hashes has
//   equal_in_halves                 bytes at the begin of its parameters that both halves have
// A kind that is built from members and other keys has of_two_sets. If its keys can have
// partitions, `partitioned` is the type of such filters.

#include <bloomset/any_filter.hpp>
#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/format.hpp"
#include "registry/halves.hpp"
#include "registry/options.hpp"
#include "registry/rows.hpp"
#include "registry/typed_model.hpp"

namespace bloomset::detail {

/// A kind whose filters are all of one type, except for their storage.
template <class F>
struct one_type {
  using filter = F;
  using spec_type = typename F::spec_type;

  /// Calls use(std::type_identity<F>) with the type for a plan_request or a stored_filter.
  template <class From, class Use>
  static result<any_filter> with_type(const From&, Use&& use) {
    return use(std::type_identity<F>());
  }
};

template <class K>
class kind_row {
 public:
  static kind_info info() {
    using filter = typename K::filter;
    kind_info row{.kind = filter::kind,
                  .name = K::name,
                  .summary = K::summary,
                  .strengths = K::strengths,
                  .can = abilities_of<filter>(),
                  .any_order = any_order,
                  .takes_128_bits = takes_128_bits,
                  .options = K::options,
                  .plan = plan,
                  .create = create,
                  .build = nullptr,
                  .open = open};
    if constexpr (of_two_sets) {
      row.build_of_two_sets = build_of_two_sets;
      if constexpr (requires { typename K::partitioned; }) {
        row.build_of_partitions = build_of_partitions;
      }
    } else if constexpr (is_static) {
      row.build = build;
    }
    if constexpr (is_traced) row.trace_open = trace_open;
    if constexpr (requires { K::in_hash_order; }) row.in_hash_order = K::in_hash_order;
    if constexpr (requires { K::copies_take_room; }) row.copies_take_room = K::copies_take_room;
    if constexpr (requires { K::copies_to_plan_for; }) {
      row.copies_to_plan_for = K::copies_to_plan_for;
    }
    return row;
  }

 private:
  using spec_type = typename K::spec_type;
  static constexpr bool is_static = !insertable<typename K::filter>;
  static constexpr bool of_two_sets = requires { K::of_two_sets; };
  static constexpr bool takes_128_bits = requires { K::equal_in_halves; };
  static constexpr bool any_order = is_static || requires { K::any_order; };
  using params_type = typename K::filter::params_type;
  static constexpr bool is_traced =
      requires(const params_type& params, void (*use)(byte_interval)) {
        K::filter::trace_open(params, use);
      };

  static result<spec_type> spec_of(const plan_request& request) {
    if (auto ok = check_options(request, K::name, K::options); !ok) return fail(ok.error());
    if (request.hash_bits != 0 && request.hash_bits != 64) {
      return other_hash_bits(K::name, request.hash_bits);
    }
    spec_type spec;
    spec.capacity = request.capacity;
    spec.fpr = request.fpr;
    spec.bits = request.bits;
    spec.seed = request.seed;
    if constexpr (requires { spec.hashes; }) {
      spec.hashes = request.hashes;
    } else if (request.hashes != 0) {
      return format_failure(
          errc::invalid_argument,
          "the number of hash functions does not apply to a filter of kind {}; leave it out",
          K::name);
    }
    if constexpr (requires { spec.confidence; }) spec.confidence = request.confidence;
    if constexpr (requires { spec.threads; }) spec.threads = 0;
    if constexpr (requires { spec.foldable; }) {
      if (auto ok = read_foldable(request, spec.foldable); !ok) return fail(std::move(ok.error()));
    }
    if (auto ok = K::set_options(request, spec); !ok) return fail(std::move(ok.error()));
    return spec;
  }

  static bool needs_halves(const plan_request& request) {
    return takes_128_bits && hash_bits_for(info(), request) == 128;
  }

  static result<plan_report> plan(const plan_request& request) {
    return needs_halves(request) ? plan_halves(request, plan_one) : plan_one(request);
  }
  static result<plan_report> plan_one(const plan_request& request) {
    const auto spec = spec_of(request);
    if (!spec) return fail(spec.error());
    const auto made = K::plan(*spec);
    if (!made) return fail(made.error());
    return K::report(*made);
  }

  static result<any_filter> create(const plan_request& request) {
    if (!needs_halves(request)) return create_one(request);
    // Its refusals have the figures of the whole filter.
    if (auto whole = plan_halves(request, plan_one); !whole) return fail(std::move(whole.error()));
    return make_halves(request,
                       [](const plan_request& half, unsigned) { return create_one(half); });
  }
  static result<any_filter> create_one(const plan_request& request) {
    if constexpr (of_two_sets) {
      return format_failure(errc::unsupported,
                            "an {} filter is built once from its members and all other keys of a "
                            "universe; use build with a universe",
                            K::name);
    } else if constexpr (is_static) {
      return format_failure(
          errc::unsupported,
          "a {} filter is built once from all its keys and cannot begin empty; use build", K::name);
    } else {
      const auto spec = spec_of(request);
      if (!spec) return fail(spec.error());
      return K::with_type(request, [&](auto type) {
        return as_any<typename decltype(type)::type>(decltype(type)::type::make(*spec));
      });
    }
  }

  static result<any_filter> build(const plan_request& request, const hash_source& source)
    requires(is_static && !of_two_sets)
  {
    const auto spec = spec_of(request);
    if (!spec) return fail(spec.error());
    return as_any<typename K::filter>(K::filter::build(*spec, source));
  }

  static result<any_filter> build_of_two_sets(const plan_request& request,
                                              const hash_source& members, const hash_source& others)
    requires of_two_sets
  {
    const auto spec = spec_of(request);
    if (!spec) return fail(spec.error());
    return as_any<typename K::filter>(K::filter::build(*spec, members, others));
  }

  static result<any_filter> build_of_partitions(const plan_request& request,
                                                const partitioned_hash_source& members,
                                                const partitioned_hash_source& others)
    requires of_two_sets
  {
    const auto spec = spec_of(request);
    if (!spec) return fail(spec.error());
    using filter = typename K::partitioned;
    return as_any<filter>(filter::build(*spec, members, others));
  }

  static result<any_filter> open(const stored_filter& stored, access how) {
    if constexpr (takes_128_bits) {
      if (has_halves(stored.header.hash)) {
        return open_halves(stored, how, open_one, K::equal_in_halves);
      }
    }
    return open_one(stored, how);
  }
  static result<any_filter> open_one(const stored_filter& stored, access how) {
    return K::with_type(stored, [&](auto type) {
      using owned = typename decltype(type)::type;
      using mapped = typename owned::template rebind_storage<mapped_storage>;
      if (how == access::writable) return as_any<owned>(open_stored<owned>(stored));
      return as_any<mapped>(open_stored<mapped>(stored));
    });
  }

  static result<std::vector<byte_interval>> trace_open(const stored_filter& stored)
    requires is_traced
  {
    if constexpr (requires { typename K::partitioned; }) {
      if (partition_hasher::is_one(stored.header.hash)) {
        return format_failure(errc::unsupported,
                              "a filter with partitions cannot be queried from parts of its file; "
                              "download the file");
      }
    }
    if constexpr (takes_128_bits) {
      if (has_halves(stored.header.hash)) {
        return trace_open_halves(stored, trace_open_one, K::equal_in_halves);
      }
    }
    return trace_open_one(stored);
  }
  static result<std::vector<byte_interval>> trace_open_one(const stored_filter& stored) {
    const auto params = params_type::decode(stored.header, stored.parameters);
    if (!params) return fail(params.error());
    std::vector<byte_interval> all;
    K::filter::trace_open(*params, [&all](byte_interval bytes) { all.push_back(bytes); });
    return all;
  }

  /// Converts a typed filter, or the failure to make one, to an any_filter.
  template <class F>
  static result<any_filter> as_any(result<F> filter) {
    if (!filter) return fail(std::move(filter.error()));
    return any_filter(std::make_unique<typed_model<F, K>>(std::move(*filter)));
  }
};

}  // namespace bloomset::detail
