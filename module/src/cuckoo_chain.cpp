#include "cuckoo_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <bloomery/plan/formulas.hpp>
#include <bloomery/plan/numeric.hpp>
#include <cmath>
#include <new>

#include "murmur2.hpp"

namespace bloomery::server {
namespace {

constexpr std::byte free_slot{0};
constexpr std::uint64_t spread = 0x5bd1e995;  // MurmurHash2's multiplier
constexpr unsigned fingerprints = 255;

/// The other home of a fingerprint. Modulo a power of two it does not matter whether the hash or
/// only its bucket is known.
std::uint64_t other_home(std::uint64_t hash, std::uint8_t fingerprint) noexcept {
  return hash ^ (fingerprint * spread);
}

/// A fingerprint of h that is not 0. Old: the upper byte of 32 bits, and 7 in place of 0.
std::uint8_t fingerprint_of(std::uint64_t hash) noexcept {
  return static_cast<std::uint8_t>(hash % fingerprints + 1);
}
std::uint8_t old_fingerprint_of(std::uint32_t hash) noexcept {
  const auto upper = static_cast<std::uint8_t>(hash >> 24);
  return upper != 0 ? upper : std::uint8_t{7};
}

result<cuckoo_shape> plan_cuckoo(const filter_spec& spec) {
  cuckoo_shape shape;
  shape.buckets = std::bit_ceil(spec.capacity / spec.bucket_size);
  shape.filters = 1;
  shape.bucket_size = spec.bucket_size;
  shape.max_iterations = spec.max_iterations;
  shape.expansion = static_cast<std::uint16_t>(spec.expansion);
  if (!is_sound(shape)) return fail(errc::invalid_argument, "Could not create filter");
  return shape;
}

}  // namespace

result<std::uint64_t> cuckoo_chain::planned_bytes(const filter_spec& spec) {
  const auto shape = plan_cuckoo(spec);
  if (!shape) return fail(shape.error());
  return shape->bytes_of(0);
}

result<std::unique_ptr<filter_value>> cuckoo_chain::make(const filter_spec& spec) {
  const auto shape = plan_cuckoo(spec);
  if (!shape) return fail(shape.error());
  auto slots = owned_storage::make(shape->bytes_of(0));
  if (!slots) return fail(std::move(slots.error()));
  std::vector<owned_storage> all;
  all.push_back(std::move(*slots));
  return std::make_unique<cuckoo_chain>(*shape, std::move(all));
}

cuckoo_chain::homes cuckoo_chain::find_homes(std::string_view item) const noexcept {
  homes at{};
  if (shape_.is_old) {
    const std::uint32_t hash = murmur_hash_2(item, 0);
    at.first = hash;
    at.fingerprint = old_fingerprint_of(hash);
  } else {
    at.first = murmur_hash_64a(item, 0);
    at.fingerprint = fingerprint_of(at.first);
  }
  at.second = other_home(at.first, at.fingerprint);
  return at;
}

std::uint64_t cuckoo_chain::last_bucket(std::size_t filter) const noexcept {
  return slots_[filter].bytes().size() / shape_.bucket_size - 1;
}

std::size_t cuckoo_chain::first_slot(std::size_t filter, std::uint64_t hash) const noexcept {
  return (hash & last_bucket(filter)) * shape_.bucket_size;
}

std::span<const std::byte> cuckoo_chain::bucket(std::size_t filter,
                                                std::uint64_t hash) const noexcept {
  return slots_[filter].bytes().subspan(first_slot(filter, hash), shape_.bucket_size);
}
std::span<std::byte> cuckoo_chain::bucket(std::size_t filter, std::uint64_t hash) noexcept {
  return slots_[filter].writable_bytes().subspan(first_slot(filter, hash), shape_.bucket_size);
}

bool cuckoo_chain::is_in(const homes& item) const noexcept {
  const std::byte wanted{item.fingerprint};
  const auto has = [&](std::span<const std::byte> slots) {
    return std::ranges::find(slots, wanted) != slots.end();
  };
  bool found = false;
  for (std::size_t i = 0; i < slots_.size() && !found; ++i) {
    found = has(bucket(i, item.first)) || has(bucket(i, item.second));
  }
  return found;
}

void cuckoo_chain::contains(std::span<const std::string_view> items,
                            std::span<bool> answers) const noexcept {
  for (std::size_t i = 0; i < items.size(); ++i) answers[i] = is_in(find_homes(items[i]));
}

std::uint64_t cuckoo_chain::count(std::string_view item) const {
  const homes at = find_homes(item);
  const std::byte wanted{at.fingerprint};
  std::ptrdiff_t copies = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    copies += std::ranges::count(bucket(i, at.first), wanted) +
              std::ranges::count(bucket(i, at.second), wanted);
  }
  return static_cast<std::uint64_t>(copies);
}

/// Into a free slot of one of its buckets.
bool cuckoo_chain::put(std::size_t filter, const homes& item) noexcept {
  for (const std::uint64_t home : {item.first, item.second}) {
    const auto slots = bucket(filter, home);
    const auto free = std::ranges::find(slots, free_slot);
    if (free == slots.end()) continue;
    *free = std::byte{item.fingerprint};
    return true;
  }
  return false;
}

bool cuckoo_chain::kick(const homes& item) noexcept {
  const std::size_t newest = slots_.size() - 1;
  const std::uint64_t last = last_bucket(newest);
  const std::size_t size = shape_.bucket_size;
  std::byte moving{item.fingerprint};
  std::uint64_t at = item.first & last;
  std::size_t victim = 0;
  for (std::uint32_t i = 0; i < shape_.max_iterations; ++i) {
    std::swap(bucket(newest, at)[victim], moving);
    at = other_home(at, std::to_integer<std::uint8_t>(moving)) & last;
    const auto slots = bucket(newest, at);
    const auto free = std::ranges::find(slots, free_slot);
    if (free != slots.end()) {
      *free = moving;
      return true;
    }
    victim = (victim + 1) % size;
  }
  // The same way back.
  for (std::uint32_t i = 0; i < shape_.max_iterations; ++i) {
    victim = (victim + size - 1) % size;
    at = other_home(at, std::to_integer<std::uint8_t>(moving)) & last;
    std::swap(bucket(newest, at)[victim], moving);
  }
  return false;
}

stop cuckoo_chain::grow(const growth_limit& limit) noexcept try {
  if (shape_.expansion == 0) return stop::full;
  const std::uint64_t size = shape_.bytes_of(shape_.filters);
  if (shape_.filters == max_sub_filters || size > max_sub_filter_bytes) return stop::memory;
  if (const stop why = limit.refusal(bytes(), size); why != stop::none) return why;
  auto slots = owned_storage::make(size);
  if (!slots) return stop::memory;
  slots_.push_back(std::move(*slots));
  ++shape_.filters;
  return stop::none;
} catch (const std::bad_alloc&) {
  return stop::memory;
}

stop cuckoo_chain::insert(const homes& item, const growth_limit& limit) noexcept {
  bool done = false;
  for (std::size_t i = slots_.size(); i-- > 0 && !done;) done = put(i, item);
  if (!done && !kick(item)) {
    const stop why = grow(limit);
    if (why != stop::none) return why;
    put(slots_.size() - 1, item);
  }
  ++shape_.items;
  return stop::none;
}

added_items cuckoo_chain::add(std::span<const std::string_view> items, std::span<bool> fresh,
                              adding how, const growth_limit& limit) noexcept {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const homes at = find_homes(items[i]);
    fresh[i] = how == adding::copies || !is_in(at);
    if (!fresh[i]) continue;
    const stop why = insert(at, limit);
    if (why != stop::none) return {i, why};
  }
  return {items.size(), stop::none};
}

bool cuckoo_chain::erase(std::string_view item) {
  const homes at = find_homes(item);
  for (std::size_t i = slots_.size(); i-- > 0;) {
    for (const std::uint64_t home : {at.first, at.second}) {
      const auto slots = bucket(i, home);
      const auto found = std::ranges::find(slots, std::byte{at.fingerprint});
      if (found == slots.end()) continue;
      *found = free_slot;
      if (shape_.items != 0) --shape_.items;
      ++shape_.deletes;
      if (slots_.size() > 1 &&
          static_cast<double>(shape_.deletes) > static_cast<double>(shape_.items) * 0.10) {
        compact_from_newest(false);
      }
      return true;
    }
  }
  return false;
}

/// Moves what finds room in older sub-filters, which have at most as many buckets, so that a bucket
/// stands for its hash. Whether the sub-filter is empty now.
bool cuckoo_chain::move_down(std::size_t filter) noexcept {
  bool is_empty = true;
  const std::uint64_t last = last_bucket(filter);
  for (std::uint64_t at = 0; at <= last; ++at) {
    for (std::byte& slot : bucket(filter, at)) {
      if (slot == free_slot) continue;
      const auto fingerprint = std::to_integer<std::uint8_t>(slot);
      const homes item{at, other_home(at, fingerprint), fingerprint};
      bool moved = false;
      for (std::size_t older = 0; older < filter && !moved; ++older) moved = put(older, item);
      if (moved) {
        slot = free_slot;
      } else {
        is_empty = false;
      }
    }
  }
  return is_empty;
}

void cuckoo_chain::compact_from_newest(bool also_behind_a_full_one) noexcept {
  for (std::size_t i = slots_.size(); i-- > 1;) {
    const bool is_empty = move_down(i);
    if (is_empty && i + 1 == slots_.size()) {
      slots_.pop_back();
      --shape_.filters;
    }
    if (!is_empty && !also_behind_a_full_one) break;
  }
  shape_.deletes = 0;
}

bool cuckoo_chain::compact() {
  compact_from_newest(true);
  return true;
}

filter_facts cuckoo_chain::facts() const noexcept {
  filter_spec spec;
  spec.family = filter_family::cuckoo;
  spec.engine = filter_engine::compatible;
  // A stranger is compared with two full buckets of fingerprints.
  spec.error_rate = std::min(1.0, 2.0 * shape_.bucket_size / fingerprints);
  spec.capacity = shape_.buckets * shape_.bucket_size;
  spec.expansion = shape_.expansion;
  spec.bucket_size = shape_.bucket_size;
  spec.max_iterations = shape_.max_iterations;
  filter_facts all{.spec = spec,
                   .capacity = payload_bytes(shape_),
                   .bytes = size_as_told(shape_),
                   .filters = shape_.filters,
                   .items = shape_.items,
                   .deleted = shape_.deletes};
  all.buckets = shape_.buckets;
  return all;
}

filter_state cuckoo_chain::state() const {
  const auto has = [](std::span<const std::byte> slots, std::byte wanted) {
    return std::ranges::find(slots, wanted) != slots.end();
  };
  double passes_none = 1;
  double items = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto all = slots_[i].bytes();
    const auto slots = static_cast<double>(all.size());
    const double taken = slots - static_cast<double>(std::ranges::count(all, free_slot));
    passes_none *= numeric::power(1 - taken / slots / fingerprints, 2 * shape_.bucket_size);
    // Of copies, in one bucket or both, the first one counts.
    const std::uint64_t buckets = last_bucket(i) + 1;
    std::uint64_t different = 0;
    for (std::uint64_t b = 0; b < buckets; ++b) {
      const auto here = bucket(i, b);
      for (std::size_t s = 0; s < here.size(); ++s) {
        if (here[s] == free_slot || has(here.first(s), here[s])) continue;
        const std::uint64_t other =
            other_home(b, std::to_integer<std::uint8_t>(here[s])) & last_bucket(i);
        different += other >= b || !has(bucket(i, other), here[s]);
      }
    }
    items += formulas::fingerprint_cardinality(static_cast<double>(different),
                                               static_cast<double>(buckets), fingerprints);
  }
  return {1 - passes_none, items};
}

std::vector<std::string> cuckoo_chain::debug_lines() const {
  return {fmt::format(
      "bktsize:{} buckets:{} items:{} deletes:{} filters:{} max_iterations:{} expansion:{}",
      shape_.bucket_size, shape_.buckets, shape_.items, shape_.deletes, shape_.filters,
      shape_.max_iterations, shape_.expansion)};
}

std::uint64_t cuckoo_chain::bytes() const noexcept {
  std::uint64_t sum = sizeof *this + slots_.capacity() * sizeof(owned_storage);
  for (const owned_storage& each : slots_) sum += each.bytes().size();
  return sum;
}

std::vector<std::span<const std::byte>> cuckoo_chain::dump_payload() const {
  std::vector<std::span<const std::byte>> filters;
  filters.reserve(slots_.size());
  for (const owned_storage& each : slots_) filters.push_back(each.bytes());
  return filters;
}

}  // namespace bloomery::server
