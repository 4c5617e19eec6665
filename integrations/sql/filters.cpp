#include "filters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/detail/core/capacity_retries.hpp>
#include <bloomset/detail/core/cardinality.hpp>
#include <bloomset/figures.hpp>
#include <bloomset/plan/units.hpp>
#include <cstring>
#include <memory>

namespace bloomset::sql {
namespace {

constexpr const char* the_value = "the filter";

/// So few that a query is cancelled soon, and so many that a batch costs no more per key.
constexpr std::size_t keys_between_checks = std::size_t{1} << 18;

result<void> go_on(const limits& limits) {
  if (!limits.is_cancelled()) return {};
  return fail(errc::io, "the statement was cancelled");
}

/// Passes all hashes to `use`, in batches, until it fails or the statement is cancelled.
template <class Use>
result<void> for_batches(std::span<const hash64> hashes, const limits& limits, Use&& use) {
  while (!hashes.empty()) {
    if (auto ok = go_on(limits); !ok) return ok;
    const auto batch = hashes.first(std::min(hashes.size(), keys_between_checks));
    if (auto ok = use(batch); !ok) return ok;
    hashes = hashes.subspan(batch.size());
  }
  return {};
}

/// The number of distinct keys for which the command line plans (key_spool::distinct_keys()).
result<std::uint64_t> distinct_of(std::span<const hash64> hashes, const limits& limits) {
  const auto counter = std::make_unique<detail::distinct_counter>();
  auto counted = for_batches(hashes, limits, [&](std::span<const hash64> batch) -> result<void> {
    counter->add(batch);
    return {};
  });
  if (!counted) return fail(std::move(counted.error()));
  return counter->distinct();
}

/// The filter of a kind that is built once.
result<any_filter> build_once(const kind_info& kind, double fpr, std::span<const hash64> hashes,
                              const limits& limits) {
  // Repetitions may be the reason.
  if (!hashes.empty() && !check_plan(kind, fpr, hashes.size(), limits.max_bytes)) {
    const auto distinct = distinct_of(hashes, limits);
    if (!distinct) return fail(distinct.error());
    if (auto ok = check_plan(kind, fpr, *distinct, limits.max_bytes); !ok) {
      return fail(std::move(ok.error()));
    }
  }
  hash_source source;
  source.size = hashes.size();
  source.for_each = [&](const hash_source::sink& use) { return for_batches(hashes, limits, use); };
  source.check_cancelled = [&] { return go_on(limits); };
  return build_filter(kind, {.fpr = fpr, .hash_bits = 64}, {&source, 1});
}

/// Fails if more keys than the capacity raise the rate above twice the requested one.
result<void> check_rate(const any_filter& filter, double fpr, std::span<const hash64> hashes,
                        std::uint64_t capacity, const limits& limits) {
  if (hashes.size() <= capacity || filter.current_fpr() <= 2 * fpr) return {};
  const auto distinct = distinct_of(hashes, limits);
  if (!distinct) return fail(distinct.error());
  if (*distinct <= capacity) return {};
  return fail(
      errc::full,
      fmt::format("the capacity of {} keys is too small for {} distinct keys, which raise "
                  "the rate from {} to {}; give a larger capacity, or null to have the "
                  "keys counted",
                  capacity, *distinct, format_rate(fpr), format_rate(filter.current_fpr())));
}

}  // namespace

result<std::uint64_t> capacity_of(std::int64_t given) {
  if (given > 0) return static_cast<std::uint64_t>(given);
  return fail(errc::invalid_argument,
              fmt::format("the capacity {} is not positive; give the number of keys, or null to "
                          "have them counted",
                          given));
}

result<void> check_plan(const kind_info& kind, double fpr, std::uint64_t capacity,
                        std::uint64_t max_bytes) {
  const auto planned = kind.plan({.capacity = capacity, .fpr = fpr, .hash_bits = 64});
  if (!planned) return fail(planned.error());
  return check_size(planned->bytes, max_bytes);
}

result<void> check_size(std::uint64_t bytes, std::uint64_t max_bytes) {
  if (bytes <= max_bytes) return {};
  return fail(errc::full, fmt::format("the filter would have {} bytes, and a value has at most {}; "
                                      "give a higher rate, or make several filters",
                                      bytes, max_bytes));
}

result<any_filter> build(const kind_info& kind, double fpr, std::span<const hash64> hashes,
                         std::uint64_t capacity, const limits& limits) {
  if (kind.build != nullptr) return build_once(kind, fpr, hashes, limits);
  plan_request request{.capacity = capacity, .fpr = fpr, .hash_bits = 64};
  if (capacity == counted) {
    request.capacity = std::max<std::uint64_t>(1, hashes.size());
    const bool keeps_copies = kind.can.erase || kind.can.count;
    if (!keeps_copies) {
      const auto distinct = distinct_of(hashes, limits);
      if (!distinct) return fail(distinct.error());
      request.capacity = *distinct;
    }
  }
  for (detail::capacity_retries retries(capacity == counted);;) {
    if (auto ok = check_plan(kind, fpr, request.capacity, limits.max_bytes); !ok) {
      return fail(std::move(ok.error()));
    }
    auto made = kind.create(request);
    if (!made) return made;
    insert_outcome stopped_by = insert_outcome::inserted;
    auto done = for_batches(hashes, limits, [&](std::span<const hash64> batch) -> result<void> {
      const auto inserted = made->insert(batch);
      if (!inserted) return fail(inserted.error());
      if (inserted->done == batch.size()) return {};
      stopped_by = inserted->stopped_by;
      if (stopped_by == insert_outcome::too_many_copies) {
        return fail(errc::full,
                    "the filter cannot store more copies of a key; give each key once, or choose "
                    "another kind");
      }
      return fail(errc::full,
                  "the filter has no room for all keys; choose a larger capacity or another kind");
    });
    if (retries.raise(request.capacity, stopped_by)) continue;
    if (done && capacity != counted) done = check_rate(*made, fpr, hashes, capacity, limits);
    if (!done) return fail(std::move(done.error()));
    made->settle_count();
    return made;
  }
}

result<any_filter> open_value(std::span<const std::byte> value, access how, verification verified) {
  auto stored = read_stored(mapped_storage(nullptr, value), verified, the_value);
  if (!stored) return fail(stored.error());
  if (auto ok = unlock(*stored, std::nullopt, the_value); !ok) return fail(std::move(ok.error()));
  return open_any(*stored, how, the_value);
}

bool kept_filter::is(std::span<const std::byte> value) const {
  return filter && value.size() == bytes.size() &&
         std::memcmp(value.data(), bytes.data(), bytes.size()) == 0;
}

result<void> kept_filter::open(std::span<const std::byte> value) {
  filter.reset();
  bytes.assign(value.begin(), value.end());
  auto opened = open_value(bytes, access::read_only);
  if (!opened) return fail(std::move(opened.error()));
  filter = std::move(*opened);
  return {};
}

result<void> merge(any_filter& all, const any_filter& other) {
  auto merged = merge_folded(all, other);
  all.settle_count();
  return merged;
}

result<void> merge_value(any_filter& all, std::span<const std::byte> value) {
  const auto other = open_value(value, access::read_only);
  if (!other) return fail(other.error());
  return merge(all, *other);
}

result<std::string> info_of_value(std::span<const std::byte> value) {
  auto stored = read_stored(mapped_storage(nullptr, value), verification::always, the_value);
  if (!stored) return fail(stored.error());
  const auto info = info_of(std::move(*stored), the_value);
  if (!info) return fail(info.error());
  return to_json(figures_of(*info));
}

}  // namespace bloomset::sql
