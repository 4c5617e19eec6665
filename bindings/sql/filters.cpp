#include "filters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/detail/core/cardinality.hpp>
#include <bloomset/figures.hpp>
#include <cstring>
#include <memory>

namespace bloomset::sql {
namespace {

constexpr const char* the_value = "the filter";

/// The number of distinct keys for which the command line plans (key_spool::distinct_keys()).
std::uint64_t distinct_of(std::span<const hash64> hashes) {
  const auto counter = std::make_unique<detail::distinct_counter>();
  counter->add(hashes);
  return counter->distinct();
}

}  // namespace

result<std::uint64_t> capacity_of(std::int64_t given) {
  if (given > 0) return static_cast<std::uint64_t>(given);
  return fail(errc::invalid_argument,
              fmt::format("the capacity {} is not positive; give the number of keys, or null to "
                          "have them counted",
                          given));
}

result<any_filter> build(const kind_info& kind, double fpr, std::span<const hash64> hashes,
                         std::uint64_t capacity) {
  plan_request request{.capacity = capacity, .fpr = fpr, .hash_bits = 64};
  if (kind.build != nullptr) {
    request.capacity = 0;
    const std::array sources = {hash_source::of(hashes)};
    return build_filter(kind, request, sources);
  }
  if (capacity == counted) {
    const bool keeps_copies = kind.can.erase || kind.can.count;
    request.capacity =
        keeps_copies ? std::max<std::uint64_t>(1, hashes.size()) : distinct_of(hashes);
  }
  auto made = kind.create(request);
  if (!made) return made;
  const auto inserted = made->insert(hashes);
  if (!inserted) return fail(inserted.error());
  if (inserted->done < hashes.size()) {
    return fail(errc::full,
                "the filter has no room for all keys; choose a larger capacity or another kind");
  }
  made->settle_count();
  return made;
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
