#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/xxhash.hpp>
#include <bloomset/layers.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/format.hpp"
#include "core/varint.hpp"

namespace bloomset {
namespace {

using layer_bytes = std::vector<std::byte>;
using hash_range = std::pair<std::uint64_t, std::uint64_t>;

constexpr std::array<unsigned char, 4> layer_magic = {0x89, 'B', 'L', 'Y'};
constexpr std::size_t checked_from = 8;  // the checksum covers what follows it
constexpr std::uint64_t max_keys = std::uint64_t{1} << 40;
constexpr std::uint64_t max_places = std::uint64_t{1} << 62;
constexpr unsigned min_low_bits = 4;
constexpr unsigned max_low_bits = 40;

struct layer_header {
  std::array<unsigned char, 4> magic;
  std::uint32_t checksum;  // the lowest bits of XXH3-64 of all that follows
  std::uint64_t base;
};
static_assert(sizeof(layer_header) == 16);

std::uint32_t checksum_of(std::span<const std::byte> layer) noexcept {
  const auto checked = layer.subspan(checked_from);
  return static_cast<std::uint32_t>(XXH3_64bits(checked.data(), checked.size()));
}

/// Bits are added from the lowest bit of each byte on.
class bit_writer {
 public:
  explicit bit_writer(layer_bytes& into) : into_(into) {}

  void add(std::uint64_t value, unsigned bits) {
    for (unsigned i = 0; i < bits; ++i) {
      if (used_ % 8 == 0) into_.push_back({});
      into_.back() |= static_cast<std::byte>((value >> i & 1) << used_ % 8);
      ++used_;
    }
  }

 private:
  layer_bytes& into_;
  std::uint64_t used_ = 0;
};

/// The first hash of a place: the least h with mulhi64(h, places) == place.
std::uint64_t first_hash(std::uint64_t place, std::uint64_t places) noexcept {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(((static_cast<wide>(place) << 64) + places - 1) / places);
}

/// Adds the ranges of a layer.
result<std::uint64_t> read_layer(std::span<const std::byte> layer, std::uint64_t base,
                                 std::vector<hash_range>& ranges) {
  const auto wrong = [](const char* how) {
    return fail(errc::corrupt, std::string("a layer ") + how);
  };
  if (layer.size() <= sizeof(layer_header)) return wrong("ends within its header");
  const auto header = detail::load<layer_header>(layer.data());
  if (header.magic != layer_magic) return wrong("does not begin with its signature");
  if (header.checksum != checksum_of(layer)) return wrong("does not match its checksum");
  if (header.base != base) {
    return fail(errc::incompatible, "a layer belongs to another filter");
  }
  auto rest = layer.subspan(sizeof(layer_header));
  const auto keys = detail::take_varint(rest);
  const auto places = detail::take_varint(rest);
  if (!keys || !places || rest.empty()) return wrong("ends within its lengths");
  const auto low_bits = std::to_integer<unsigned>(rest.front());
  rest = rest.subspan(1);
  if (low_bits < min_low_bits || low_bits > max_low_bits) return wrong("has a wrong code");
  const std::uint64_t bits = 8 * std::uint64_t{rest.size()};
  if (*keys == 0 || *keys > bits / (low_bits + 1) || *places < *keys || *places > max_places) {
    return wrong("has other keys than it announces");
  }
  std::uint64_t at = 0;
  const auto bit = [&] {
    const bool value = (std::to_integer<unsigned>(rest[at / 8]) >> at % 8 & 1) != 0;
    ++at;
    return value;
  };
  std::uint64_t place = 0;  // the next that may be in the list
  for (std::uint64_t key = 0; key < *keys; ++key) {
    std::uint64_t gap = 0;
    while (at < bits && bit()) ++gap;
    if (bits - at < low_bits || gap > *places >> low_bits) return wrong("has a wrong gap");
    gap <<= low_bits;
    for (unsigned i = 0; i < low_bits; ++i) gap |= std::uint64_t{bit()} << i;
    if (gap >= *places - place) return wrong("has a place beyond its last one");
    place += gap;
    const std::uint64_t end = place + 1 == *places ? 0 : first_hash(place + 1, *places);
    ranges.emplace_back(first_hash(place, *places), end - 1);
    ++place;
    if (place == *places && key + 1 != *keys) return wrong("has a place beyond its last one");
  }
  if (bits - at >= 8) return wrong("is longer than its keys");
  while (at < bits) {
    if (bit()) return wrong("has bits after its keys");
  }
  return *keys;
}

}  // namespace

result<std::vector<std::byte>> make_layer(const std::vector<hash64>& hashes, double fpr,
                                          std::uint64_t base) {
  if (hashes.empty() || std::uint64_t{hashes.size()} > max_keys) {
    return fail(errc::invalid_argument, "a layer needs a key, and has at most 2^40");
  }
  if (!(fpr >= 1e-9 && fpr <= 1.0 / 64)) {
    return detail::format_failure(errc::invalid_argument,
                                  "the rate of a layer is from 1e-9 to 1/64, not {}", fpr);
  }
  const auto size = static_cast<double>(hashes.size());
  if (size / fpr >= static_cast<double>(max_places)) {
    return detail::format_failure(errc::invalid_argument,
                                  "a layer of {} keys has no rate as low as {}; give a higher one",
                                  hashes.size(), fpr);
  }
  const auto places = static_cast<std::uint64_t>(std::ceil(size / fpr));
  std::vector<std::uint64_t> list;
  list.reserve(hashes.size());
  for (const hash64 h : hashes) list.push_back(detail::mulhi64(h.value, places));
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  // The best power of two for gaps of 1 / fpr on average is about ln(2) / fpr.
  unsigned low_bits = min_low_bits;
  while (low_bits < max_low_bits &&
         static_cast<double>(std::uint64_t{2} << low_bits) <= 0.7 / fpr) {
    ++low_bits;
  }
  layer_bytes made(sizeof(layer_header));
  detail::append_varint(made, list.size());
  detail::append_varint(made, places);
  made.push_back(static_cast<std::byte>(low_bits));
  bit_writer bits(made);
  std::uint64_t next = 0;
  for (const std::uint64_t place : list) {
    const std::uint64_t gap = place - next;
    for (std::uint64_t i = 0; i < gap >> low_bits; ++i) bits.add(1, 1);
    bits.add(0, 1);
    bits.add(gap, low_bits);
    next = place + 1;
  }
  detail::store(made.data(), layer_header{layer_magic, 0, base});
  detail::store(made.data() + offsetof(layer_header, checksum), checksum_of(made));
  return made;
}

double layer_list::fpr() const noexcept {
  double share = 0;
  for (const auto& [first, last] : ranges_) share += static_cast<double>(last - first) + 1;
  return share * 0x1p-64;
}

bool layer_list::contains(hash64 h) const noexcept {
  if (ranges_.empty()) return false;
  const std::uint64_t cell = h.value >> cell_shift_;
  if ((cells_[cell / 64] >> cell % 64 & 1) == 0) return false;
  const auto after = std::ranges::upper_bound(ranges_, h.value, {}, &hash_range::first);
  return after != ranges_.begin() && h.value <= (after - 1)->second;
}

result<layer_list> layer_list::of(std::vector<std::vector<std::byte>> layers, std::uint64_t base) {
  layer_list list;
  std::uint64_t bytes = 0;
  for (const auto& layer : layers) {
    bytes += layer.size();
    if (bytes > max_bytes) {
      return fail(errc::unsupported, "its layers have more than 4,000 MiB; publish a new base");
    }
    const auto keys = read_layer(layer, base, list.ranges_);
    if (!keys) return fail(keys.error());
    list.keys_ += *keys;
  }
  list.layers_ = std::move(layers);
  auto& ranges = list.ranges_;
  std::ranges::sort(ranges);
  std::size_t used = 0;
  for (const hash_range& range : ranges) {
    if (used != 0 && range.first <= ranges[used - 1].second) {
      ranges[used - 1].second = std::max(ranges[used - 1].second, range.second);
    } else {
      ranges[used++] = range;
    }
  }
  ranges.resize(used);
  unsigned cell_bits = 6;
  while (std::uint64_t{1} << cell_bits < 16 * std::uint64_t{used}) ++cell_bits;
  list.cell_shift_ = 64 - cell_bits;
  list.cells_.resize(std::size_t{1} << (cell_bits - 6));
  for (const auto& [first, last] : ranges) {
    for (std::uint64_t cell = first >> list.cell_shift_; cell <= last >> list.cell_shift_; ++cell) {
      list.cells_[cell / 64] |= std::uint64_t{1} << cell % 64;
    }
  }
  return list;
}

}  // namespace bloomset
