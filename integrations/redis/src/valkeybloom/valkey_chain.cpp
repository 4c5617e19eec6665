#include "valkeybloom/valkey_chain.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <new>

#include "other_modules/chain_estimate.hpp"
#include "other_modules/packed_numbers.hpp"

namespace bloomset::server {
namespace {

constexpr std::uint64_t largest_prime = 0xffffffffffffffc5;  // 2^64 - 59
// Hash functions for the lowest rate, and a little more for bits that are rounded up to bytes. The
// limit bounds the time of a query.
constexpr std::uint32_t max_valkey_hashes = 1100;

// Threads of the server free filters, too.
struct {
  std::atomic<std::uint64_t> bytes, objects, filters, items, capacity;
} totals;

/// Calls `visit(position)` for each position of an item, until it returns false.
template <class Visit>
bool all_positions(const valkey_sub_filter& filter, sip_pair::hashes item, Visit&& visit) noexcept {
  const std::uint64_t bits = 8 * filter.bit_bytes();
  if (!visit(item.first % bits)) return false;
  if (filter.hashes > 1 && !visit(item.second % bits)) return false;
  for (std::uint32_t i = 2; i < filter.hashes; ++i) {
    std::uint64_t x = item.first + i * item.second;
    if (x >= largest_prime) x -= largest_prime;
    if (!visit(x % bits)) return false;
  }
  return true;
}

bool contains_item(const valkey_sub_filter& filter, sip_pair::hashes item) noexcept {
  const std::byte* const bits = filter.blob.bytes().data() + valkey_sub_filter::header_bytes;
  return all_positions(filter, item, [bits](std::uint64_t x) {
    return (bits[x / 8] & std::byte{1} << x % 8) != std::byte{0};
  });
}

void insert_item(valkey_sub_filter& filter, sip_pair::hashes item) noexcept {
  std::byte* const bits = filter.blob.writable_bytes().data() + valkey_sub_filter::header_bytes;
  all_positions(filter, item, [bits](std::uint64_t x) {
    bits[x / 8] |= std::byte{1} << x % 8;
    return true;
  });
  ++filter.items;
}

/// An empty sub-filter. Fails without memory.
result<valkey_sub_filter> make_sub_filter(std::uint64_t capacity, double error_rate,
                                          const sip_seed& seed) {
  valkey_sub_filter filter;
  const std::uint64_t bit_bytes = valkey_bit_bytes(capacity, error_rate);
  filter.capacity = capacity;
  filter.hashes = valkey_hash_functions(bit_bytes, capacity);
  auto blob = owned_storage::make(valkey_sub_filter::header_bytes + bit_bytes);
  if (!blob) return fail(std::move(blob.error()));
  filter.blob = std::move(*blob);
  packed_writer header;
  header << std::uint8_t{1} << bit_bytes << filter.hashes << seed;
  std::memcpy(filter.blob.writable_bytes().data(), header.bytes.data(), header.bytes.size());
  return filter;
}

/// Reads the header of a blob, and checks it against the plan for the rate. The next sub-filter is
/// planned from the capacity, so one that promised more than it holds would make a small dump grow
/// to any size.
bool read_sub_filter(valkey_sub_filter& filter, double error_rate, const sip_seed& seed) noexcept {
  const std::span<const std::byte> blob = filter.blob.bytes();
  if (blob.size() <= valkey_sub_filter::header_bytes || blob.size() > max_payload_bytes) {
    return false;
  }
  std::uint8_t version = 0;
  std::uint64_t bit_bytes = 0;
  sip_seed stored = {};
  packed_reader input{as_chars(blob)};
  input >> version >> bit_bytes >> filter.hashes >> stored;
  // Logarithms of other machines may round to another byte.
  return version == 1 && bit_bytes == filter.bit_bytes() && stored == seed && filter.hashes >= 1 &&
         filter.hashes <= max_valkey_hashes && filter.capacity >= 1 &&
         filter.capacity <= max_valkey_capacity && filter.items <= filter.capacity &&
         bit_bytes + 1 >= valkey_bit_bytes(filter.capacity, error_rate);
}

}  // namespace

valkey_totals totals_of_valkey_filters() noexcept {
  return {totals.bytes, totals.objects, totals.filters, totals.items, totals.capacity};
}

result<std::unique_ptr<valkey_chain>> valkey_chain::make(const valkey_spec& spec) {
  if (valkey_bit_bytes(spec.capacity, spec.error_rate) > max_payload_bytes) {
    return fail(errc::out_of_memory, "the filter is larger than memory");
  }
  auto first = make_sub_filter(spec.capacity, spec.error_rate, spec.seed);
  if (!first) return fail(std::move(first.error()));
  std::vector<valkey_sub_filter> filters;
  filters.push_back(std::move(*first));
  return std::make_unique<valkey_chain>(spec, std::move(filters), 1);
}

std::unique_ptr<valkey_chain> valkey_chain::open(const valkey_spec& spec,
                                                 std::vector<valkey_sub_filter> filters,
                                                 std::uint64_t room) {
  const auto is_share = [](double x) { return x > 0 && x < 1; };
  if (filters.empty() || !is_share(spec.error_rate) || !is_share(spec.tightening) ||
      (spec.expansion == 0 && filters.size() > 1)) {
    return nullptr;
  }
  std::uint64_t capacity = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    valkey_sub_filter& filter = filters[i];
    const auto rate = i == 0 ? spec.error_rate : valkey_rate(spec.error_rate, spec.tightening, i);
    bytes += filter.blob.bytes().size();
    // All but the last are full. Values in RDB files do not say how many items these have.
    const bool is_filled = i + 1 == filters.size() || filter.items == filter.capacity;
    if (!rate || !is_filled || !read_sub_filter(filter, *rate, spec.seed) ||
        bytes > max_payload_bytes || __builtin_add_overflow(capacity, filter.capacity, &capacity) ||
        capacity > max_valkey_capacity) {
      return nullptr;
    }
  }
  valkey_spec first = spec;
  first.capacity = filters.front().capacity;
  return std::make_unique<valkey_chain>(first, std::move(filters), room);
}

valkey_chain::valkey_chain(const valkey_spec& spec, std::vector<valkey_sub_filter> filters,
                           std::uint64_t room) noexcept
    : spec_(spec), hash_(spec.seed), filters_(std::move(filters)), room_(room) {
  const filter_facts present = facts();
  totals.bytes += present.bytes;
  totals.objects += 1;
  totals.filters += present.filters;
  totals.items += present.items;
  totals.capacity += present.capacity;
}

valkey_chain::~valkey_chain() {
  const filter_facts present = facts();
  totals.bytes -= present.bytes;
  totals.objects -= 1;
  totals.filters -= present.filters;
  totals.items -= present.items;
  totals.capacity -= present.capacity;
}

bool valkey_chain::any_contains(sip_pair::hashes item) const noexcept {
  for (std::size_t i = filters_.size(); i-- > 0;) {
    if (contains_item(filters_[i], item)) return true;
  }
  return false;
}

void valkey_chain::contains(item_span items, std::span<bool> answers) const noexcept {
  for (std::size_t i = 0; i < items.size(); ++i) answers[i] = any_contains(hash_(items[i]));
}

stop_reason valkey_chain::grow(const growth_limit& limit) noexcept try {
  if (spec_.expansion == 0) return stop_reason::full;
  const auto rate = valkey_rate(spec_.error_rate, spec_.tightening, filters_.size());
  if (!rate) return stop_reason::rate_underflow;
  std::uint64_t capacity = 0;
  if (__builtin_mul_overflow(filters_.back().capacity, std::uint64_t{spec_.expansion}, &capacity) ||
      capacity > max_valkey_capacity) {
    return stop_reason::capacity_overflow;
  }
  const std::uint64_t bit_bytes = valkey_bit_bytes(capacity, *rate);
  if (bit_bytes > max_payload_bytes) return stop_reason::out_of_memory;
  const std::uint64_t growth = valkey_sub_filter_bytes + bit_bytes;
  const stop_reason reason = limit.check(reported_size(), growth);
  if (reason != stop_reason::none) return reason;
  filters_.reserve(filters_.size() + 1);
  auto next = make_sub_filter(capacity, *rate, spec_.seed);
  if (!next) return stop_reason::out_of_memory;
  filters_.push_back(std::move(*next));
  const std::uint64_t room = room_;
  if (filters_.size() > room_) room_ = std::max<std::uint64_t>(4, 2 * room_);
  totals.bytes += growth + (room_ - room) * valkey_pointer_bytes;
  totals.filters += 1;
  totals.capacity += capacity;
  return stop_reason::none;
} catch (const std::bad_alloc&) {
  return stop_reason::out_of_memory;
}

insert_result valkey_chain::insert(item_span items, std::span<bool> newly_inserted, insert_mode,
                                   const growth_limit& limit) noexcept {
  for (std::size_t n = 0; n < items.size(); ++n) {
    const sip_pair::hashes item = hash_(items[n]);
    newly_inserted[n] = !any_contains(item);
    if (!newly_inserted[n]) continue;
    if (filters_.back().items >= filters_.back().capacity) {
      const stop_reason reason = grow(limit);
      if (reason != stop_reason::none) return {n, reason};
    }
    insert_item(filters_.back(), item);
    totals.items += 1;
  }
  return {items.size(), stop_reason::none};
}

filter_facts valkey_chain::facts() const noexcept {
  filter_facts facts = {.spec = {.family = filter_family::bloom,
                                 .error_rate = spec_.error_rate,
                                 .capacity = spec_.capacity,
                                 .expansion = spec_.expansion,
                                 .engine = filter_engine::valkey,
                                 .growth = spec_.expansion},
                        .bytes = reported_size(),
                        .filters = filters_.size()};
  for (const valkey_sub_filter& filter : filters_) {
    facts.capacity += filter.capacity;
    facts.items += filter.items;
  }
  return facts;
}

std::uint64_t valkey_chain::reported_size() const noexcept {
  std::uint64_t size = valkey_object_bytes + room_ * valkey_pointer_bytes;
  for (const valkey_sub_filter& filter : filters_) {
    size += valkey_sub_filter_bytes + filter.bit_bytes();
  }
  return size;
}

filter_state valkey_chain::state() const {
  chain_estimate estimate;
  for (const valkey_sub_filter& filter : filters_) {
    const auto bits = filter.blob.bytes().subspan(valkey_sub_filter::header_bytes);
    estimate.add(bits, 8 * bits.size(), filter.hashes, filter.items);
  }
  return estimate.state();
}

std::uint64_t valkey_chain::bytes() const noexcept {
  std::uint64_t sum = sizeof *this + filters_.capacity() * sizeof(valkey_sub_filter);
  for (const valkey_sub_filter& filter : filters_) sum += filter.blob.bytes().size();
  return sum;
}

std::vector<std::byte> valkey_chain::dump_header() const {
  packed_writer output;
  output << std::uint8_t{1} << spec_.expansion << spec_.error_rate << spec_.tightening
         << static_cast<std::uint8_t>(spec_.has_random_seed()) << std::uint64_t{filters_.size()};
  return std::move(output.bytes);
}

byte_pieces valkey_chain::dump_payload() const {
  byte_pieces pieces;
  pieces.reserve(filters_.size());
  for (const valkey_sub_filter& filter : filters_) pieces.push_back(filter.blob.bytes());
  return pieces;
}

}  // namespace bloomset::server
