#include "redisbloom/cuckoo_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/numeric.hpp>

#include "redisbloom/murmur2.hpp"

namespace bloomset::server {
namespace {

constexpr std::byte free_slot{0};
constexpr std::uint64_t spread = 0x5bd1e995;  // MurmurHash2's multiplier
constexpr unsigned fingerprints = 255;

/// The other bucket of a fingerprint. `hash` may be a bucket's number: the modulo is a power of
/// two.
std::uint64_t other_bucket(std::uint64_t hash, std::byte fingerprint) noexcept {
  return hash ^ (std::to_integer<std::uint64_t>(fingerprint) * spread);
}

bool has(std::span<const std::byte> slots, std::byte fingerprint) noexcept {
  return std::ranges::find(slots, fingerprint) != slots.end();
}

}  // namespace

result<cuckoo_shape> cuckoo_chain::plan(const filter_spec& spec) {
  cuckoo_shape shape;
  shape.buckets = std::bit_ceil(spec.capacity / spec.bucket_size);
  shape.filters = 1;
  shape.bucket_size = spec.bucket_size;
  shape.max_iterations = spec.max_iterations;
  shape.expansion = static_cast<std::uint16_t>(spec.expansion);
  if (!is_sound(shape)) return fail(errc::invalid_argument, "Could not create filter");
  return shape;
}

cuckoo_chain::location cuckoo_chain::locate(std::string_view item) const noexcept {
  std::uint64_t hash = 0;
  std::uint64_t fingerprint = 0;
  if (shape_.is_legacy) {
    hash = murmur_hash_2(item, 0);
    fingerprint = hash >> 24 != 0 ? hash >> 24 : 7;
  } else {
    hash = murmur_hash_64a(item, 0);
    fingerprint = hash % fingerprints + 1;
  }
  const auto stored = static_cast<std::byte>(fingerprint);
  return {hash, other_bucket(hash, stored), stored};
}

std::uint64_t cuckoo_chain::last_bucket(std::size_t filter) const noexcept {
  return parts_[filter].bytes().size() / shape_.bucket_size - 1;
}

std::span<const std::byte> cuckoo_chain::bucket(std::size_t filter,
                                                std::uint64_t hash) const noexcept {
  const std::size_t slot = (hash & last_bucket(filter)) * shape_.bucket_size;
  return parts_[filter].bytes().subspan(slot, shape_.bucket_size);
}
std::span<std::byte> cuckoo_chain::bucket(std::size_t filter, std::uint64_t hash) noexcept {
  const std::size_t slot = (hash & last_bucket(filter)) * shape_.bucket_size;
  return parts_[filter].writable_bytes().subspan(slot, shape_.bucket_size);
}

bool cuckoo_chain::contains_one(const location& item) const noexcept {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (has(bucket(i, item.first), item.fingerprint) ||
        has(bucket(i, item.second), item.fingerprint)) {
      return true;
    }
  }
  return false;
}

void cuckoo_chain::contains(item_span items, std::span<bool> answers) const noexcept {
  for (std::size_t i = 0; i < items.size(); ++i) answers[i] = contains_one(locate(items[i]));
}

std::uint64_t cuckoo_chain::count(std::string_view item) const {
  const location entry = locate(item);
  std::ptrdiff_t copies = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    copies += std::ranges::count(bucket(i, entry.first), entry.fingerprint) +
              std::ranges::count(bucket(i, entry.second), entry.fingerprint);
  }
  return static_cast<std::uint64_t>(copies);
}

/// Puts an item into a free slot of its buckets. False if there is none.
bool cuckoo_chain::place(std::size_t filter, const location& item) noexcept {
  for (const std::uint64_t hash : {item.first, item.second}) {
    const auto slots = bucket(filter, hash);
    const auto free = std::ranges::find(slots, free_slot);
    if (free == slots.end()) continue;
    *free = item.fingerprint;
    return true;
  }
  return false;
}

bool cuckoo_chain::relocate_others(const location& item) noexcept {
  const std::size_t newest = parts_.size() - 1;
  const std::uint64_t last = last_bucket(newest);
  const std::size_t size = shape_.bucket_size;
  std::byte moving = item.fingerprint;
  std::uint64_t number = item.first & last;
  std::size_t victim = 0;
  for (std::uint32_t i = 0; i < shape_.max_iterations; ++i) {
    std::swap(bucket(newest, number)[victim], moving);
    number = other_bucket(number, moving) & last;
    const auto slots = bucket(newest, number);
    const auto free = std::ranges::find(slots, free_slot);
    if (free != slots.end()) {
      *free = moving;
      return true;
    }
    victim = (victim + 1) % size;
  }
  // Undoes all steps.
  for (std::uint32_t i = 0; i < shape_.max_iterations; ++i) {
    victim = (victim + size - 1) % size;
    number = other_bucket(number, moving) & last;
    std::swap(bucket(newest, number)[victim], moving);
  }
  return false;
}

stop_reason cuckoo_chain::grow(const growth_limit& limit) noexcept {
  if (shape_.expansion == 0) return stop_reason::full;
  const std::uint64_t size = shape_.bytes_of(shape_.filters);
  if (shape_.filters == max_sub_filters || size > max_sub_filter_bytes) {
    return stop_reason::out_of_memory;
  }
  const stop_reason reason = limit.check(bytes(), size);
  if (reason != stop_reason::none) return reason;
  if (!add_part(size)) return stop_reason::out_of_memory;
  ++shape_.filters;
  return stop_reason::none;
}

stop_reason cuckoo_chain::insert_one(const location& item, const growth_limit& limit) noexcept {
  bool done = false;
  for (std::size_t i = parts_.size(); i-- > 0 && !done;) done = place(i, item);
  if (!done && !relocate_others(item)) {
    const stop_reason reason = grow(limit);
    if (reason != stop_reason::none) return reason;
    place(parts_.size() - 1, item);
  }
  ++shape_.items;
  return stop_reason::none;
}

insert_result cuckoo_chain::insert(item_span items, std::span<bool> newly_inserted,
                                   insert_mode mode, const growth_limit& limit) noexcept {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const location item = locate(items[i]);
    newly_inserted[i] = mode == insert_mode::copies || !contains_one(item);
    if (!newly_inserted[i]) continue;
    const stop_reason reason = insert_one(item, limit);
    if (reason != stop_reason::none) return {i, reason};
  }
  return {items.size(), stop_reason::none};
}

bool cuckoo_chain::erase(std::string_view item) {
  const location entry = locate(item);
  for (std::size_t i = parts_.size(); i-- > 0;) {
    for (const std::uint64_t hash : {entry.first, entry.second}) {
      const auto slots = bucket(i, hash);
      const auto found = std::ranges::find(slots, entry.fingerprint);
      if (found == slots.end()) continue;
      *found = free_slot;
      if (shape_.items != 0) --shape_.items;
      ++shape_.deletes;
      if (parts_.size() > 1 &&
          static_cast<double>(shape_.deletes) > static_cast<double>(shape_.items) * 0.10) {
        compact_from_newest(false);
      }
      return true;
    }
  }
  return false;
}

/// Moves items into older sub-filters, which have at most as many buckets, so that a bucket's
/// number can stand for the hash. True if the sub-filter is empty now.
bool cuckoo_chain::move_to_older(std::size_t filter) noexcept {
  bool is_empty = true;
  const std::uint64_t last = last_bucket(filter);
  for (std::uint64_t number = 0; number <= last; ++number) {
    for (std::byte& slot : bucket(filter, number)) {
      if (slot == free_slot) continue;
      const location item{number, other_bucket(number, slot), slot};
      bool moved = false;
      for (std::size_t older = 0; older < filter && !moved; ++older) moved = place(older, item);
      if (moved) slot = free_slot;
      is_empty = is_empty && moved;
    }
  }
  return is_empty;
}

/// Frees the newest sub-filters that become empty. Unless `pass_full_ones`, stops at the first that
/// does not.
void cuckoo_chain::compact_from_newest(bool pass_full_ones) noexcept {
  for (std::size_t i = parts_.size(); i-- > 1;) {
    const bool is_empty = move_to_older(i);
    if (is_empty && i + 1 == parts_.size()) {
      parts_.pop_back();
      --shape_.filters;
    }
    if (!is_empty && !pass_full_ones) break;
  }
  shape_.deletes = 0;
}

bool cuckoo_chain::compact() {
  compact_from_newest(true);
  return true;
}

filter_facts cuckoo_chain::facts() const noexcept {
  // A non-member is compared with the fingerprints of two buckets, here two full ones.
  const double error_rate = std::min(1.0, 2.0 * shape_.bucket_size / fingerprints);
  return {.spec = {.family = filter_family::cuckoo,
                   .error_rate = error_rate,
                   .capacity = shape_.buckets * shape_.bucket_size,
                   .expansion = shape_.expansion,
                   .engine = filter_engine::compatible,
                   .bucket_size = shape_.bucket_size,
                   .max_iterations = shape_.max_iterations},
          .capacity = payload_bytes(shape_),
          .bytes = reported_size(shape_),
          .filters = shape_.filters,
          .items = shape_.items,
          .deleted = shape_.deletes,
          .buckets = shape_.buckets};
}

filter_state cuckoo_chain::state() const {
  double rejected = 1;  // share of non-members that no sub-filter so far matches
  double items = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto all = parts_[i].bytes();
    const auto slots = static_cast<double>(all.size());
    const double used = slots - static_cast<double>(std::ranges::count(all, free_slot));
    rejected *= numeric::power(1 - used / slots / fingerprints, 2 * shape_.bucket_size);
    // Different fingerprints per pair of buckets; copies count once.
    const std::uint64_t buckets = last_bucket(i) + 1;
    std::uint64_t different = 0;
    for (std::uint64_t number = 0; number < buckets; ++number) {
      const auto here = bucket(i, number);
      for (std::size_t s = 0; s < here.size(); ++s) {
        if (here[s] == free_slot || has(here.first(s), here[s])) continue;
        const std::uint64_t other = other_bucket(number, here[s]) & last_bucket(i);
        different += other >= number || !has(bucket(i, other), here[s]);
      }
    }
    items += formulas::fingerprint_cardinality(static_cast<double>(different),
                                               static_cast<double>(buckets), fingerprints);
  }
  return {1 - rejected, items};
}

std::vector<std::string> cuckoo_chain::debug_lines() const {
  return {fmt::format(
      "bktsize:{} buckets:{} items:{} deletes:{} filters:{} max_iterations:{} expansion:{}",
      shape_.bucket_size, shape_.buckets, shape_.items, shape_.deletes, shape_.filters,
      shape_.max_iterations, shape_.expansion)};
}

}  // namespace bloomset::server
