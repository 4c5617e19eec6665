#include "entry.hpp"

#include <algorithm>
#include <bloomset/blocked_bloom.hpp>
#include <bloomset/bloom.hpp>
#include <bloomset/fuse.hpp>
#include <bloomset/plan/numeric.hpp>
#include <cassert>
#include <cmath>
#include <numbers>
#include <utility>

#include "short_ribbon.hpp"

namespace bloomset::leveldb_entries {
namespace {

constexpr unsigned max_hashes = 32;  // 1 to 32 in five bits
constexpr unsigned tries = 16;       // seeds that are tried per shape of a ribbon

/// The byte that begins an entry; `number` is 1 to 32.
char head(layout id, unsigned number) noexcept {
  return static_cast<char>(static_cast<unsigned>(id) << 5 | (number - 1));
}

std::span<std::byte> bytes_of(std::string& entry, std::size_t from) noexcept {
  return std::as_writable_bytes(std::span<char>(entry).subspan(from));
}

/// A part of an entry under construction.
class entry_storage {
 public:
  explicit entry_storage(std::span<std::byte> bytes) noexcept : bytes_(bytes) {}
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  std::span<std::byte> writable_bytes() noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};
static_assert(writable_storage<entry_storage>);

/// Inserts into a filter whose bits are the zeros at the end of an entry.
template <class Filter, class Params>
void insert_all(const Params& params, std::span<const hash64> hashes, std::span<std::byte> bits) {
  auto filter = Filter::open(params, entry_storage(bits), 0);
  assert(filter);
  for (const hash64 h : hashes) (void)filter->insert(h);
}

bloom_params bloom_of(std::uint64_t bytes, unsigned k) noexcept {
  return {.bits = bytes * 8, .hashes = k};
}

/// One layout for all sizes of blocked filters: k bits anywhere in a block.
blocked_bloom_params blocks_of(std::uint64_t bytes, unsigned k) noexcept {
  return {.blocks = bytes / 64, .hashes = k, .layout = block_layout::free_512};
}

template <class Int>
void put_varint(std::string& into, Int value) {
  for (; value >= 0x80; value >>= 7) into += static_cast<char>(value | 0x80);
  into += static_cast<char>(value);
}

/// Removes a number of up to 64 bits from the front. None if it has no end.
std::optional<std::uint64_t> take_varint(std::span<const std::byte>& from) noexcept {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(from.front());
    from = from.subspan(1);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

short_ribbon ribbon_of(std::uint64_t bytes, unsigned columns, std::uint8_t seed) noexcept {
  return {.slots = bytes * 8 / columns, .columns = columns, .seed = seed};
}

/// Tries seeds for a ribbon of this number of bytes.
std::optional<std::string> try_ribbon(std::span<const hash64> hashes, std::uint64_t bytes,
                                      unsigned columns) {
  for (unsigned seed = 0; seed < tries; ++seed) {
    const short_ribbon shape = ribbon_of(bytes, columns, static_cast<std::uint8_t>(seed));
    std::string entry(2 + bytes, '\0');
    entry[0] = head(layout::ribbon, columns);
    entry[1] = static_cast<char>(seed);
    if (solve(shape, hashes, bytes_of(entry, 2).first(shape.bytes()))) return entry;
  }
  return std::nullopt;
}

bool ribbon_may_contain(std::span<const std::byte> rest, unsigned columns, hash64 h) noexcept {
  if (rest.size() < 2) return true;
  const std::span<const std::byte> bits = rest.subspan(1);
  const short_ribbon shape =
      ribbon_of(bits.size(), columns, std::to_integer<std::uint8_t>(rest[0]));
  return shape.slots == 0 || may_contain(shape, bits.first(shape.bytes()), h);
}

bool fuse_may_contain(std::span<const std::byte> rest, unsigned fingerprint_bits,
                      hash64 h) noexcept {
  fuse_params params{.fingerprint_bits = fingerprint_bits};
  const auto arity = take_varint(rest);
  const auto segment_log2 = take_varint(rest);
  const auto shards = take_varint(rest);
  const auto segments = take_varint(rest);
  const auto count = take_varint(rest);
  if (!arity || !segment_log2 || !shards || !segments || !count) return true;
  if (*arity < 3 || *arity > 4 || *segment_log2 > 63 || *shards > UINT32_MAX) return true;
  params.arity = static_cast<unsigned>(*arity);
  params.segment_log2 = static_cast<unsigned>(*segment_log2);
  params.shards = static_cast<std::uint32_t>(*shards);
  params.segments = *segments;
  const auto filter = basic_fuse<borrowed_storage>::open(params, borrowed_storage(rest), *count);
  return !filter || filter->may_contain(h);
}

}  // namespace

std::string make_bloom(std::span<const hash64> hashes, const demand& wanted) {
  const auto n = static_cast<double>(hashes.size());
  std::uint64_t bytes = wanted.bytes - 1;
  if (wanted.fpr != 0) {
    const auto plan = plan_bloom({.capacity = hashes.size(), .fpr = wanted.fpr});
    bytes = plan ? (plan->bits + 7) / 8 : 8;
  }
  const double best = std::numbers::ln2 * 8 * static_cast<double>(bytes) / n;
  const auto k = static_cast<unsigned>(std::clamp(std::round(best), 1.0, double{max_hashes}));
  std::string entry(1 + bytes, '\0');
  entry[0] = head(layout::bloom, k);
  insert_all<basic_bloom<double_hashing, entry_storage>>(bloom_of(bytes, k), hashes,
                                                         bytes_of(entry, 1));
  return entry;
}

std::string make_ribbon(std::span<const hash64> hashes, const demand& wanted) {
  const std::uint64_t n = hashes.size();
  if (wanted.fpr != 0) {
    const auto columns = static_cast<unsigned>(
        std::clamp(std::ceil(-numeric::log2(wanted.fpr)), 1.0, double{max_columns}));
    for (std::uint64_t slots = min_slots(n);; slots += slots / 64 + 1) {
      if (auto made = try_ribbon(hashes, (slots * columns + 7) / 8, columns))
        return std::move(*made);
    }
  }
  const std::uint64_t bytes = wanted.bytes - 2;
  auto columns =
      static_cast<unsigned>(std::min<std::uint64_t>(bytes * 8 / min_slots(n), max_columns));
  for (; columns != 0; --columns) {
    if (auto made = try_ribbon(hashes, bytes, columns)) return std::move(*made);
  }
  return make_bloom(hashes, wanted);
}

std::string make_blocked_bloom(std::span<const hash64> hashes, const demand& wanted) {
  blocked_bloom_spec spec{.capacity = hashes.size(), .layout = block_layout::free_512};
  if (wanted.fpr != 0) {
    spec.fpr = wanted.fpr;
  } else {
    spec.bits = (wanted.bytes - 1) / 64 * 512;
  }
  const auto plan = plan_blocked_bloom(spec);
  if (!plan) return make_bloom(hashes, wanted);
  std::string entry(1 + plan->blocks * 64, '\0');
  entry[0] = head(layout::blocked_bloom, plan->hashes);
  insert_all<basic_blocked_bloom<entry_storage>>(blocks_of(plan->blocks * 64, plan->hashes), hashes,
                                                 bytes_of(entry, 1));
  return entry;
}

std::optional<std::string> make_fuse(std::span<const hash64> hashes, const demand& wanted) {
  fuse_spec spec{.fpr = wanted.fpr, .arity = 4};
  if (wanted.fpr == 0) {
    const auto plan =
        plan_fuse({.capacity = hashes.size(), .bits = wanted.bytes * 8, .arity = spec.arity});
    if (!plan) return std::nullopt;
    spec.fingerprint_bits = plan->params.fingerprint_bits;
  }
  const auto made = fuse::build(spec, hashes);
  if (!made) return std::nullopt;
  const fuse_params& params = made->params();
  std::string entry(1, head(layout::fuse, params.fingerprint_bits));
  put_varint(entry, params.arity);
  put_varint(entry, params.segment_log2);
  put_varint(entry, params.shards);
  put_varint(entry, params.segments);
  put_varint(entry, made->size());
  for (const std::span<const std::byte> piece : made->image().payload) {
    entry.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  if (wanted.fpr == 0 && entry.size() > wanted.bytes) return std::nullopt;
  return entry;
}

bool may_contain(std::span<const std::byte> entry, hash64 h) noexcept {
  if (entry.empty()) return false;
  const auto first = std::to_integer<unsigned>(entry.front());
  const unsigned number = (first & 31) + 1;
  const std::span<const std::byte> rest = entry.subspan(1);
  switch (static_cast<layout>(first >> 5)) {
    case layout::bloom: {
      const auto filter = basic_bloom<double_hashing, borrowed_storage>::open(
          bloom_of(rest.size(), number), borrowed_storage(rest), 0);
      return rest.empty() || !filter || filter->may_contain(h);
    }
    case layout::ribbon:
      return ribbon_may_contain(rest, number, h);
    case layout::blocked_bloom: {
      if (rest.size() % 64 != 0 || number > max_block_hashes) return true;
      const auto filter = basic_blocked_bloom<borrowed_storage>::open(
          blocks_of(rest.size(), number), borrowed_storage(rest), 0);
      return !filter || filter->may_contain(h);
    }
    case layout::fuse:
      return fuse_may_contain(rest, number, h);
  }
  return true;  // of a later version, or damaged
}

}  // namespace bloomset::leveldb_entries
