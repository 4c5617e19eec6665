#include "redisbloom/redisbloom_rdb.hpp"

#include <utility>

#include "other_modules/rdb_fields.hpp"

namespace bloomset::server {
namespace {

// The first versions with a field.
constexpr int bits_version = 1;
constexpr int options_version = 2;
constexpr int growth_version = 4;       // BF.*
constexpr int bucket_size_version = 4;  // CF.*

// Written instead of the number of sub-filters before a legacy filter.
constexpr std::uint64_t legacy_marker = 0;
constexpr std::uint64_t legacy_version = 3;

bool load_link(rdb_reader& input, int version, link_shape& link, owned_storage& bits) {
  input >> link.capacity >> link.error_rate >> link.hashes >> link.bits_per_item;
  if (version >= bits_version) {
    input >> link.bits >> link.log2_bits;
  } else {
    const double needed = static_cast<double>(link.capacity) * link.bits_per_item;
    if (!(needed >= 1 && needed < static_cast<double>(max_payload_bytes) * 8)) return false;
    link.bits = static_cast<std::uint64_t>(needed);
  }
  input >> bits >> link.items;
  link.bytes = bits.bytes().size();
  return !input.is_broken && make_sound(link);
}

}  // namespace

std::unique_ptr<filter_value> load_chain(io* stream, int version) {
  rdb_reader input{stream};
  chain_shape shape;
  shape.options = 0;
  shape.growth = legacy_growth;
  std::uint64_t links = 0;
  if (version < 0 || version > redisbloom_version) return nullptr;
  input >> shape.items >> links;
  if (version >= options_version) input >> shape.options;
  if (version >= growth_version) input >> shape.growth;
  if (input.is_broken || links == 0 || links > max_links || !is_sound(shape)) return nullptr;
  std::vector<owned_storage> bits;
  shape.items = 0;
  // The number of links is not trusted, so nothing is reserved for them.
  for (std::uint64_t i = 0; i < links; ++i) {
    link_shape& link = shape.links.emplace_back();
    if (!load_link(input, version, link, bits.emplace_back()) ||
        __builtin_add_overflow(shape.items, link.items, &shape.items)) {
      return nullptr;
    }
  }
  return std::make_unique<bloom_chain>(std::move(shape), std::move(bits));
}

void save(io* stream, const bloom_chain& filter) {
  rdb_writer output{stream};
  const chain_shape& shape = filter.shape();
  output << shape.items << shape.links.size() << shape.options << shape.growth;
  const byte_pieces payload = filter.dump_payload();
  for (std::size_t i = 0; i < shape.links.size(); ++i) {
    const link_shape& link = shape.links[i];
    output << link.capacity << link.error_rate << link.hashes << link.bits_per_item << link.bits
           << link.log2_bits << payload[i] << link.items;
  }
}

std::unique_ptr<filter_value> load_cuckoo(io* stream, int version) {
  rdb_reader input{stream};
  cuckoo_shape shape;
  if (version < 0 || version > redisbloom_version) return nullptr;
  input >> shape.filters;
  if (!input.is_broken && shape.filters == legacy_marker) {
    std::uint64_t old_version = 0;
    input >> old_version >> shape.deletes >> shape.filters;
    if (version != redisbloom_version || old_version != legacy_version) return nullptr;
    version = static_cast<int>(old_version);
  }
  input >> shape.buckets >> shape.items;
  const bool is_legacy = version < bucket_size_version;
  if (is_legacy) {
    shape.make_legacy();
  } else {
    input >> shape.deletes >> shape.bucket_size >> shape.max_iterations >> shape.expansion;
  }
  if (input.is_broken || (is_legacy && !is_sound(shape))) return nullptr;
  if (shape.filters > max_sub_filters) return nullptr;
  std::vector<owned_storage> slots;
  bool are_equal = !is_legacy;
  for (std::uint32_t i = 0; i < shape.filters; ++i) {
    std::uint64_t buckets = shape.buckets;
    if (!is_legacy) input >> buckets;
    input >> slots.emplace_back();
    if (input.is_broken) return nullptr;
    are_equal = are_equal && buckets == shape.buckets;
  }
  // A filter that grew before 2.2, or before its expansion was set, has equal sub-filters.
  if (are_equal && shape.filters > 1) shape.expansion = 1;
  if (!is_sound(shape)) return nullptr;
  for (std::uint32_t i = 0; i < shape.filters; ++i) {
    if (slots[i].bytes().size() != shape.bytes_of(i)) return nullptr;
  }
  return std::make_unique<cuckoo_chain>(shape, std::move(slots));
}

void save(io* stream, const cuckoo_chain& filter) {
  rdb_writer output{stream};
  const cuckoo_shape& shape = filter.shape();
  if (shape.is_legacy) output << legacy_marker << legacy_version << shape.deletes;
  output << shape.filters << shape.buckets << shape.items;
  if (!shape.is_legacy) {
    output << shape.deletes << shape.bucket_size << shape.max_iterations << shape.expansion;
  }
  std::uint32_t i = 0;
  for (const auto slots : filter.dump_payload()) {
    if (!shape.is_legacy) output << shape.bytes_of(i) / shape.bucket_size;
    output << slots;
    ++i;
  }
}

}  // namespace bloomset::server
