#include "redisbloom/bloom_chain.hpp"

#include <fmt/format.h>

#include <new>

#include "other_modules/chain_estimate.hpp"
#include "redisbloom/murmur2.hpp"

namespace bloomset::server {
namespace {

// The rate of a link, divided by that of the link before.
constexpr double tightening = 0.5;

// A link is at most this many times as large as `growth` such links as the one before: its items
// take up to twice the bits at half of the rate (1/2 at most), and versions of 2018 round up to a
// power of two.
constexpr std::uint64_t max_link_ratio = 4;

constexpr std::uint64_t seed_64 = 0xc6a4a7935bd1e995;
constexpr std::uint32_t seed_32 = 0x9747b28c;

}  // namespace

result<chain_shape> bloom_chain::plan(const filter_spec& spec) {
  chain_shape shape;
  shape.growth = spec.growth;
  const bool grows = spec.expansion != 0;
  if (!grows) shape.options |= does_not_grow;
  const auto link =
      plan_link(spec.capacity, spec.error_rate * (grows ? tightening : 1), shape.options);
  if (!link) return fail(errc::invalid_argument, "could not create filter");
  shape.links.push_back(*link);
  return shape;
}

bloom_chain::hash_pair bloom_chain::hash(std::string_view item) const noexcept {
  if ((shape_.options & hash_of_64_bits) != 0) {
    const std::uint64_t a = murmur_hash_64a(item, seed_64);
    return {a, murmur_hash_64a(item, a)};
  }
  const std::uint32_t a = murmur_hash_2(item, seed_32);
  return {a, murmur_hash_2(item, a)};
}

bool bloom_chain::link_contains(std::size_t link, hash_pair item) const noexcept {
  const link_shape& shape = shape_.links[link];
  const std::byte* const bits = parts_[link].bytes().data();
  const std::uint64_t positions = shape.positions();
  for (std::uint32_t i = 0; i < shape.hashes; ++i) {
    const std::uint64_t position = (item.a + i * item.b) % positions;
    if ((bits[position / 8] & std::byte{1} << position % 8) == std::byte{0}) return false;
  }
  return true;
}

bool bloom_chain::any_link_contains(hash_pair item) const noexcept {
  for (std::size_t i = parts_.size(); i-- > 0;) {
    if (link_contains(i, item)) return true;
  }
  return false;
}

void bloom_chain::contains(item_span items, std::span<bool> answers) const noexcept {
  for (std::size_t i = 0; i < items.size(); ++i) answers[i] = any_link_contains(hash(items[i]));
}

stop_reason bloom_chain::grow(const growth_limit& limit) noexcept try {
  if ((shape_.options & does_not_grow) != 0) return stop_reason::full;
  const link_shape& newest = shape_.links.back();
  std::uint64_t capacity = 0;
  if (__builtin_mul_overflow(newest.capacity, std::uint64_t{shape_.growth}, &capacity)) {
    return stop_reason::out_of_memory;
  }
  const auto next = plan_link(capacity, newest.error_rate * tightening, shape_.options);
  // Only a dump that no server wrote plans a larger link.
  const std::uint64_t max_bytes =
      max_link_ratio * shape_.growth * newest.bytes + sizeof(std::uint64_t);
  if (!next || next->bytes > max_bytes) return stop_reason::out_of_memory;
  const stop_reason reason = limit.check(bytes(), next->bytes);
  if (reason != stop_reason::none) return reason;
  shape_.links.reserve(shape_.links.size() + 1);
  if (!add_part(next->bytes)) return stop_reason::out_of_memory;
  shape_.links.push_back(*next);
  return stop_reason::none;
} catch (const std::bad_alloc&) {
  return stop_reason::out_of_memory;
}

insert_result bloom_chain::insert(item_span items, std::span<bool> newly_inserted, insert_mode,
                                  const growth_limit& limit) noexcept {
  for (std::size_t n = 0; n < items.size(); ++n) {
    const hash_pair item = hash(items[n]);
    newly_inserted[n] = !any_link_contains(item);
    if (!newly_inserted[n]) continue;
    if (shape_.links.back().items >= shape_.links.back().capacity) {
      const stop_reason reason = grow(limit);
      if (reason != stop_reason::none) return {n, reason};
    }
    link_shape& newest = shape_.links.back();
    std::byte* const bits = parts_.back().writable_bytes().data();
    const std::uint64_t positions = newest.positions();
    for (std::uint32_t i = 0; i < newest.hashes; ++i) {
      const std::uint64_t position = (item.a + i * item.b) % positions;
      bits[position / 8] |= std::byte{1} << position % 8;
    }
    ++newest.items;
    ++shape_.items;
  }
  return {items.size(), stop_reason::none};
}

filter_facts bloom_chain::facts() const noexcept {
  const bool grows = (shape_.options & does_not_grow) == 0;
  const link_shape& first = shape_.links.front();
  std::uint64_t capacity = 0;
  for (const link_shape& link : shape_.links) capacity += link.capacity;
  return {.spec = {.family = filter_family::bloom,
                   .error_rate = grows ? first.error_rate / tightening : first.error_rate,
                   .capacity = first.capacity,
                   .expansion = grows ? shape_.growth : 0,
                   .engine = filter_engine::compatible,
                   .growth = shape_.growth},
          .capacity = capacity,
          .bytes = reported_size(shape_),
          .filters = shape_.links.size(),
          .items = shape_.items};
}

filter_state bloom_chain::state() const {
  chain_estimate estimate;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const link_shape& link = shape_.links[i];
    estimate.add(parts_[i].bytes(), link.positions(), link.hashes, link.items);
  }
  return estimate.state();
}

std::vector<std::string> bloom_chain::debug_lines() const {
  std::vector<std::string> lines = {fmt::format("size:{}", shape_.items)};
  const int hash_bits = (shape_.options & hash_of_64_bits) != 0 ? 64 : 32;
  for (const link_shape& link : shape_.links) {
    lines.push_back(fmt::format(
        "bytes:{} bits:{} hashes:{} hashwidth:{} capacity:{} size:{} ratio:{:g}", link.bytes,
        link.bits, link.hashes, hash_bits, link.capacity, link.items, link.error_rate));
  }
  return lines;
}

}  // namespace bloomset::server
