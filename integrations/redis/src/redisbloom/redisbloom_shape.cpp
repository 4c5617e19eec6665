#include "redisbloom/redisbloom_shape.hpp"

#include <algorithm>
#include <bit>
#include <bloomset/plan/numeric.hpp>
#include <cmath>
#include <utility>

#include "values/filter_spec.hpp"

namespace bloomset::server {
namespace {

// ln 2 and its square with RedisBloom's digits. The last one may change the number of bits.
constexpr double ln_2 = 0.693147180559945;  // NOLINT(modernize-use-std-numbers)
constexpr double ln_2_squared = 0.480453013918201;

// Sizes of headers. Older versions had no growth, and a capacity of 32 bits.
constexpr std::size_t chain_header = 20;
constexpr std::size_t chain_header_without_growth = 16;
constexpr std::size_t link_header = 53;
constexpr std::size_t link_header_32_bits = 49;
constexpr std::size_t legacy_cuckoo_header = 32;

constexpr std::uint32_t known_options =
    exact_bits | capacity_is_log2 | hash_of_64_bits | does_not_grow;
// Hash functions for a rate of 2^-1074, the lowest double. The limit bounds the time of a query.
constexpr std::uint32_t max_hash_functions = 1075;

std::uint32_t hashes_for(double bits_per_item) noexcept {
  return static_cast<std::uint32_t>(std::ceil(ln_2 * bits_per_item));
}

double bits_per_item_for(double error_rate) noexcept {
  return -numeric::log(error_rate) / ln_2_squared;
}

/// Whether a link has the bits that its capacity and rate need. The next link is planned from both,
/// so a link that promised more than it holds would make a small dump grow to any size.
bool holds_its_capacity(const link_shape& link) noexcept {
  constexpr double rounding = 1e-6;  // logarithms of other machines
  const double bits_per_item = bits_per_item_for(link.error_rate);
  return std::abs(link.bits_per_item - bits_per_item) <= rounding * bits_per_item &&
         static_cast<double>(link.capacity) * bits_per_item <
             (static_cast<double>(link.bits) + 1) * (1 + rounding);
}

}  // namespace

std::optional<link_shape> plan_link(std::uint64_t capacity, double error_rate,
                                    std::uint32_t options) noexcept {
  link_shape link;
  link.capacity = capacity;
  link.error_rate = error_rate;
  link.bits_per_item = bits_per_item_for(error_rate);
  if (capacity == 0 || !(link.bits_per_item > 0) || !(error_rate > 0)) return std::nullopt;
  const double bits = static_cast<double>(capacity) * link.bits_per_item;
  constexpr auto max_bits = static_cast<double>(max_payload_bytes) * 8;
  if ((options & capacity_is_log2) != 0) {
    if (capacity > static_cast<std::uint64_t>(std::countr_zero(max_payload_bytes))) {
      return std::nullopt;
    }
    link.log2_bits = static_cast<std::uint8_t>(capacity);
    link.bits = link.positions();
    link.capacity = static_cast<std::uint64_t>(static_cast<double>(link.bits) / link.bits_per_item);
  } else if (!(bits < max_bits)) {
    return std::nullopt;
  } else if ((options & exact_bits) != 0) {
    link.bits = static_cast<std::uint64_t>(bits);
    if (link.bits == 0) link.bits = 1;
  } else {
    const double log2_bits = std::logb(bits) + 1;
    if (log2_bits < 0) return std::nullopt;
    link.log2_bits = static_cast<std::uint8_t>(log2_bits);
    link.bits = std::uint64_t{1} << link.log2_bits;
    // The bits that were rounded up hold further items.
    const auto spare = static_cast<std::uint64_t>(static_cast<double>(link.bits) - bits);
    link.capacity += static_cast<std::uint64_t>(static_cast<double>(spare) / link.bits_per_item);
  }
  link.bytes = (link.bits / 64 + (link.bits % 64 != 0)) * 8;
  link.bits = link.bytes * 8;
  link.hashes = hashes_for(link.bits_per_item);
  return make_sound(link) ? std::optional(link) : std::nullopt;
}

bool make_sound(link_shape& link) noexcept {
  if (link.bytes > max_payload_bytes) return false;
  if (link.bits == 0 && link.log2_bits != 0) link.bits = link.bytes * 8;
  // Links of 2018 are rounded up to whole bytes, later ones to whole words.
  return link.error_rate > 0 && link.error_rate < 1 && link.bits_per_item > 0 &&
         link.bits_per_item * ln_2 <= max_hash_functions && link.hashes >= 1 &&
         link.hashes == hashes_for(link.bits_per_item) && link.bits >= 1 &&
         link.bits <= link.bytes * 8 && link.bytes * 8 - link.bits < 64 && link.log2_bits < 64 &&
         link.positions() <= link.bits && holds_its_capacity(link);
}

bool is_sound(const chain_shape& chain) noexcept {
  return (chain.options & ~known_options) == 0 && chain.growth <= max_expansion;
}

bool is_sound(const cuckoo_shape& filter) noexcept {
  if (!std::has_single_bit(filter.buckets) || filter.buckets > max_sub_filter_bytes ||
      filter.bucket_size == 0 || filter.bucket_size > 255 || filter.filters == 0 ||
      filter.filters > max_sub_filters || filter.expansion > max_expansion ||
      (filter.expansion == 0 ? filter.filters > 1 : !std::has_single_bit(filter.expansion))) {
    return false;
  }
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < filter.filters; ++i) {
    const std::uint64_t bytes = filter.bytes_of(i);
    sum += bytes;
    if (bytes > max_sub_filter_bytes || sum > max_payload_bytes) return false;
  }
  return true;
}

std::uint64_t cuckoo_shape::bytes_of(std::uint32_t filter) const noexcept {
  const auto first = static_cast<unsigned>(std::countr_zero(buckets));
  const auto step = expansion > 1 ? static_cast<unsigned>(std::countr_zero(expansion)) : 0U;
  const std::uint64_t log2_buckets = first + std::uint64_t{step} * filter;
  constexpr auto max_log2 = static_cast<unsigned>(std::countr_zero(max_sub_filter_bytes));
  if (log2_buckets > max_log2) return max_sub_filter_bytes + 1;
  const std::uint64_t bytes = (std::uint64_t{1} << log2_buckets) * bucket_size;
  return std::min(bytes, max_sub_filter_bytes + 1);
}

std::uint64_t payload_bytes(const cuckoo_shape& filter) noexcept {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < filter.filters; ++i) sum += filter.bytes_of(i);
  return sum;
}

std::optional<chain_shape> read_chain_header(std::string_view header) {
  if (header.size() < chain_header_without_growth) return std::nullopt;
  chain_shape chain;
  std::uint32_t links = 0;
  packed_reader input{header};
  input >> chain.items >> links >> chain.options;
  // The size and the number of links tell the versions apart.
  const auto has_size = [&](std::size_t first, std::size_t link) {
    return header.size() == first + std::uint64_t{links} * link;
  };
  const bool has_64_bits = has_size(chain_header, link_header);
  const bool has_growth = has_64_bits || has_size(chain_header, link_header_32_bits);
  if (links == 0 || links > max_links ||
      !(has_growth || has_size(chain_header_without_growth, link_header_32_bits))) {
    return std::nullopt;
  }
  chain.growth = legacy_growth;
  if (has_growth) input >> chain.growth;
  if (!is_sound(chain)) return std::nullopt;
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < links; ++i) {
    link_shape link;
    input >> link.bytes >> link.bits >> link.items >> link.error_rate >> link.bits_per_item >>
        link.hashes;
    if (has_64_bits) {
      input >> link.capacity;
    } else {
      std::uint32_t capacity = 0;
      input >> capacity;
      link.capacity = capacity;
    }
    input >> link.log2_bits;
    if (!make_sound(link) || __builtin_add_overflow(items, link.items, &items)) return std::nullopt;
    bytes += link.bytes;
    if (bytes > max_payload_bytes) return std::nullopt;
    chain.links.push_back(link);
  }
  if (items != chain.items) return std::nullopt;
  return chain;
}

std::vector<std::byte> header_of(const chain_shape& chain) {
  packed_writer output;
  output.bytes.reserve(chain_header + chain.links.size() * link_header);
  output << chain.items << static_cast<std::uint32_t>(chain.links.size()) << chain.options
         << chain.growth;
  for (const link_shape& link : chain.links) {
    output << link.bytes << link.bits << link.items << link.error_rate << link.bits_per_item
           << link.hashes << link.capacity << link.log2_bits;
  }
  return std::move(output.bytes);
}

std::optional<cuckoo_shape> read_cuckoo_header(std::string_view header) noexcept {
  if (header.size() != cuckoo_header_bytes && header.size() != legacy_cuckoo_header) {
    return std::nullopt;
  }
  cuckoo_shape filter;
  std::uint64_t filters = 0;
  packed_reader input{header};
  input >> filter.items >> filter.buckets >> filter.deletes >> filters;
  if (filters > max_sub_filters) return std::nullopt;
  filter.filters = static_cast<std::uint32_t>(filters);
  if (header.size() == cuckoo_header_bytes) {
    input >> filter.bucket_size >> filter.max_iterations >> filter.expansion;
  } else {
    filter.make_legacy();
  }
  return is_sound(filter) ? std::optional(filter) : std::nullopt;
}

std::vector<std::byte> header_of(const cuckoo_shape& filter) {
  packed_writer output;
  output.bytes.reserve(cuckoo_header_bytes);
  output << filter.items << filter.buckets << filter.deletes << std::uint64_t{filter.filters};
  if (!filter.is_legacy) output << filter.bucket_size << filter.max_iterations << filter.expansion;
  return std::move(output.bytes);
}

// The sizes of RedisBloom's structures on a 64-bit machine, and the bits or slots.
std::uint64_t reported_size(const chain_shape& chain) noexcept {
  std::uint64_t size = 32;
  for (const link_shape& link : chain.links) size += 64 + link.bytes;
  return size;
}

std::uint64_t reported_size(const cuckoo_shape& filter) noexcept {
  return 40 + std::uint64_t{16} * filter.filters + payload_bytes(filter);
}

}  // namespace bloomset::server
