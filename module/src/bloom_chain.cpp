#include "bloom_chain.hpp"

#include <fmt/format.h>

#include <bit>
#include <bloomery/plan/formulas.hpp>
#include <bloomery/plan/numeric.hpp>
#include <cmath>
#include <cstring>
#include <new>

#include "murmur2.hpp"

namespace bloomery::server {
namespace {

// Each link's rate is half of the one before, so that their sum stays below the one asked for.
constexpr double tightening = 0.5;

constexpr std::uint64_t seed_of_64 = 0xc6a4a7935bd1e995;
constexpr std::uint32_t seed_of_32 = 0x9747b28c;

result<chain_shape> plan_chain(const filter_spec& spec) {
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

/// Bits that are set of those that items' places can be.
std::uint64_t ones_in(std::span<const std::byte> bits, std::uint64_t places) noexcept {
  std::uint64_t ones = 0;
  for (std::uint64_t at = 0; at < places; at += 64) {
    std::uint64_t word = 0;
    const std::uint64_t left = bits.size() - at / 8;
    std::memcpy(&word, bits.data() + at / 8, left < sizeof word ? left : sizeof word);
    if (places - at < 64) word &= (std::uint64_t{1} << (places - at)) - 1;
    ones += static_cast<std::uint64_t>(std::popcount(word));
  }
  return ones;
}

}  // namespace

result<std::uint64_t> bloom_chain::planned_bytes(const filter_spec& spec) {
  const auto shape = plan_chain(spec);
  if (!shape) return fail(shape.error());
  return shape->links.front().bytes;
}

result<std::unique_ptr<filter_value>> bloom_chain::make(const filter_spec& spec) {
  auto shape = plan_chain(spec);
  if (!shape) return fail(std::move(shape.error()));
  auto bits = owned_storage::make(shape->links.front().bytes);
  if (!bits) return fail(std::move(bits.error()));
  std::vector<owned_storage> all;
  all.push_back(std::move(*bits));
  return std::make_unique<bloom_chain>(std::move(*shape), std::move(all));
}

bloom_chain::hash_pair bloom_chain::hash(std::string_view item) const noexcept {
  if ((shape_.options & hash_of_64_bits) != 0) {
    const std::uint64_t a = murmur_hash_64a(item, seed_of_64);
    return {a, murmur_hash_64a(item, a)};
  }
  const std::uint32_t a = murmur_hash_2(item, seed_of_32);
  return {a, murmur_hash_2(item, a)};
}

bool bloom_chain::is_in(std::size_t link, hash_pair item) const noexcept {
  const link_shape& shape = shape_.links[link];
  const std::byte* const bits = bits_[link].bytes().data();
  const std::uint64_t places = shape.places();
  for (std::uint32_t i = 0; i < shape.hashes; ++i) {
    const std::uint64_t at = (item.a + i * item.b) % places;
    if ((bits[at / 8] & std::byte{1} << at % 8) == std::byte{0}) return false;
  }
  return true;
}

bool bloom_chain::is_in_any(hash_pair item) const noexcept {
  for (std::size_t i = bits_.size(); i-- > 0;) {
    if (is_in(i, item)) return true;
  }
  return false;
}

void bloom_chain::contains(std::span<const std::string_view> items,
                           std::span<bool> answers) const noexcept {
  for (std::size_t i = 0; i < items.size(); ++i) answers[i] = is_in_any(hash(items[i]));
}

stop bloom_chain::grow(const growth_limit& limit) noexcept try {
  if ((shape_.options & does_not_grow) != 0) return stop::full;
  const link_shape& newest = shape_.links.back();
  std::uint64_t capacity = 0;
  if (__builtin_mul_overflow(newest.capacity, std::uint64_t{shape_.growth}, &capacity)) {
    return stop::memory;
  }
  const auto next = plan_link(capacity, newest.error_rate * tightening, shape_.options);
  if (!next) return stop::memory;
  if (const stop why = limit.refusal(bytes(), next->bytes); why != stop::none) return why;
  auto bits = owned_storage::make(next->bytes);
  if (!bits) return stop::memory;
  shape_.links.reserve(shape_.links.size() + 1);
  bits_.push_back(std::move(*bits));
  shape_.links.push_back(*next);
  return stop::none;
} catch (const std::bad_alloc&) {
  return stop::memory;
}

added_items bloom_chain::add(std::span<const std::string_view> items, std::span<bool> fresh, adding,
                             const growth_limit& limit) noexcept {
  for (std::size_t n = 0; n < items.size(); ++n) {
    const hash_pair item = hash(items[n]);
    fresh[n] = !is_in_any(item);
    if (!fresh[n]) continue;
    if (shape_.links.back().items >= shape_.links.back().capacity) {
      const stop why = grow(limit);
      if (why != stop::none) return {n, why};
    }
    link_shape& newest = shape_.links.back();
    std::byte* const bits = bits_.back().writable_bytes().data();
    const std::uint64_t places = newest.places();
    for (std::uint32_t i = 0; i < newest.hashes; ++i) {
      const std::uint64_t at = (item.a + i * item.b) % places;
      bits[at / 8] |= std::byte{1} << at % 8;
    }
    ++newest.items;
    ++shape_.items;
  }
  return {items.size(), stop::none};
}

filter_facts bloom_chain::facts() const noexcept {
  const bool grows = (shape_.options & does_not_grow) == 0;
  const link_shape& first = shape_.links.front();
  filter_spec spec;
  spec.family = filter_family::bloom;
  spec.engine = filter_engine::compatible;
  spec.error_rate = grows ? first.error_rate / tightening : first.error_rate;
  spec.capacity = first.capacity;
  spec.expansion = grows ? shape_.growth : 0;
  spec.growth = shape_.growth;
  std::uint64_t capacity = 0;
  for (const link_shape& link : shape_.links) capacity += link.capacity;
  return {.spec = spec,
          .capacity = capacity,
          .bytes = size_as_told(shape_),
          .filters = shape_.links.size(),
          .items = shape_.items,
          .deleted = 0};
}

filter_state bloom_chain::state() const {
  double passes_none = 1;
  double items = 0;
  for (std::size_t i = 0; i < bits_.size(); ++i) {
    const link_shape& link = shape_.links[i];
    const auto places = static_cast<double>(link.places());
    const double full = static_cast<double>(ones_in(bits_[i].bytes(), link.places())) / places;
    // What seemed to be in an older link never came to this one. A full link tells nothing.
    const double came = full < 1 ? formulas::throws_behind(full * places, places) / link.hashes
                                 : static_cast<double>(link.items);
    if (passes_none > 0) items += came / passes_none;
    passes_none *= 1 - numeric::power(full, link.hashes);
  }
  return {1 - passes_none, items};
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

std::uint64_t bloom_chain::bytes() const noexcept {
  std::uint64_t sum = sizeof *this + bits_.capacity() * sizeof(owned_storage) +
                      shape_.links.capacity() * sizeof(link_shape);
  for (const link_shape& link : shape_.links) sum += link.bytes;
  return sum;
}

std::vector<std::span<const std::byte>> bloom_chain::dump_payload() const {
  std::vector<std::span<const std::byte>> links;
  links.reserve(bits_.size());
  for (const owned_storage& each : bits_) links.push_back(each.bytes());
  return links;
}

}  // namespace bloomery::server
