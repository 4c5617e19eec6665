#include "redisbloom_rdb.hpp"

#include <cstring>
#include <utility>

#include "loaded_bytes.hpp"

namespace bloomery::server {
namespace {

// Since when fields are there.
constexpr int first_with_bits = 1;
constexpr int first_with_options = 2;
constexpr int first_with_growth = 4;       // of BF.*
constexpr int first_with_bucket_size = 4;  // of CF.*

// What stands in place of the number of sub-filters before a filter of before 2.2.
constexpr std::uint64_t marks_old_cuckoo = 0;
constexpr std::uint64_t old_cuckoo_version = 3;

bool is_broken(io* from) noexcept {
  return api.has_io_error(from) != 0;
}

/// A number that must fit its field; none else, or if there is none.
template <class Number>
bool load_number(io* from, Number& into) noexcept {
  const std::uint64_t number = api.load_unsigned(from);
  into = static_cast<Number>(number);
  return into == number && !is_broken(from);
}
bool load_number(io* from, double& into) noexcept {
  into = api.load_real(from);
  return !is_broken(from);
}

/// The next string as memory of a filter, or none if there is none or it is empty.
std::optional<owned_storage> load_storage(io* from) {
  const loaded_bytes bytes(from);
  if (is_broken(from) || bytes.view().empty()) return std::nullopt;
  auto copied = owned_storage::copy_of(std::as_bytes(std::span(bytes.view())));
  return copied ? std::optional(std::move(*copied)) : std::nullopt;
}

bool load_link(io* from, int version, link_shape& link, owned_storage& bits) {
  if (!load_number(from, link.capacity) || !load_number(from, link.error_rate) ||
      !load_number(from, link.hashes) || !load_number(from, link.bits_per_item)) {
    return false;
  }
  if (version >= first_with_bits) {
    if (!load_number(from, link.bits) || !load_number(from, link.log2_bits)) return false;
  } else {
    const double wanted = static_cast<double>(link.capacity) * link.bits_per_item;
    if (!(wanted >= 1 && wanted < static_cast<double>(max_payload_bytes) * 8)) return false;
    link.bits = static_cast<std::uint64_t>(wanted);
  }
  auto loaded = load_storage(from);
  if (!loaded || !load_number(from, link.items)) return false;
  bits = std::move(*loaded);
  link.bytes = bits.bytes().size();
  return make_sound(link);
}

/// The fields of before 2.2 behind those that the versions share.
std::unique_ptr<filter_value> load_old_cuckoo(io* from, cuckoo_shape shape) {
  shape.is_old = true;
  shape.bucket_size = 2;
  shape.max_iterations = 500;
  shape.expansion = 1;
  if (!is_sound(shape)) return nullptr;
  std::vector<owned_storage> slots;
  for (std::uint32_t i = 0; i < shape.filters; ++i) {
    auto loaded = load_storage(from);
    if (!loaded || loaded->bytes().size() != shape.bytes_of(i)) return nullptr;
    slots.push_back(std::move(*loaded));
  }
  return std::make_unique<cuckoo_chain>(shape, std::move(slots));
}

void save_bytes(io* to, std::span<const std::byte> bytes) {
  const std::string_view chars = as_chars(bytes);
  api.save_bytes(to, chars.data(), chars.size());
}

}  // namespace

std::unique_ptr<filter_value> load_chain(io* from, int version) {
  chain_shape shape;
  shape.options = 0;
  shape.growth = older_growth;
  std::uint64_t links = 0;
  if (version < 0 || version > redisbloom_version || !load_number(from, shape.items) ||
      !load_number(from, links) || links == 0 ||
      (version >= first_with_options && !load_number(from, shape.options)) ||
      (version >= first_with_growth && !load_number(from, shape.growth)) || !is_sound(shape)) {
    return nullptr;
  }
  std::vector<owned_storage> bits;
  shape.items = 0;
  // However many are promised, each has to be there.
  for (std::uint64_t i = 0; i < links; ++i) {
    link_shape link;
    owned_storage bits_of_link;
    if (!load_link(from, version, link, bits_of_link) ||
        __builtin_add_overflow(shape.items, link.items, &shape.items)) {
      return nullptr;
    }
    shape.links.push_back(link);
    bits.push_back(std::move(bits_of_link));
  }
  return std::make_unique<bloom_chain>(std::move(shape), std::move(bits));
}

void save(io* to, const bloom_chain& filter) {
  const chain_shape& shape = filter.shape();
  api.save_unsigned(to, shape.items);
  api.save_unsigned(to, shape.links.size());
  api.save_unsigned(to, shape.options);
  api.save_unsigned(to, shape.growth);
  const auto payload = filter.dump_payload();
  for (std::size_t i = 0; i < shape.links.size(); ++i) {
    const link_shape& link = shape.links[i];
    api.save_unsigned(to, link.capacity);
    api.save_real(to, link.error_rate);
    api.save_unsigned(to, link.hashes);
    api.save_real(to, link.bits_per_item);
    api.save_unsigned(to, link.bits);
    api.save_unsigned(to, link.log2_bits);
    save_bytes(to, payload[i]);
    api.save_unsigned(to, link.items);
  }
}

std::unique_ptr<filter_value> load_cuckoo(io* from, int version) {
  cuckoo_shape shape;
  if (version < 0 || version > redisbloom_version || !load_number(from, shape.filters)) {
    return nullptr;
  }
  if (shape.filters == marks_old_cuckoo) {
    std::uint64_t old_version = 0;
    if (version != redisbloom_version || !load_number(from, old_version) ||
        old_version != old_cuckoo_version || !load_number(from, shape.deletes) ||
        !load_number(from, shape.filters)) {
      return nullptr;
    }
    version = static_cast<int>(old_version);
  }
  if (!load_number(from, shape.buckets) || !load_number(from, shape.items)) return nullptr;
  if (version < first_with_bucket_size) return load_old_cuckoo(from, shape);
  if (!load_number(from, shape.deletes) || !load_number(from, shape.bucket_size) ||
      !load_number(from, shape.max_iterations) || !load_number(from, shape.expansion)) {
    return nullptr;
  }
  std::vector<owned_storage> slots;
  bool are_equal = true;
  for (std::uint32_t i = 0; i < shape.filters; ++i) {
    std::uint64_t buckets = 0;
    if (!load_number(from, buckets)) return nullptr;
    auto loaded = load_storage(from);
    if (!loaded) return nullptr;
    are_equal = are_equal && buckets == shape.buckets;
    slots.push_back(std::move(*loaded));
  }
  // One that grew before 2.2, or before its expansion was set, has sub-filters of one size.
  if (are_equal && shape.filters > 1) shape.expansion = 1;
  if (!is_sound(shape)) return nullptr;
  for (std::uint32_t i = 0; i < shape.filters; ++i) {
    if (slots[i].bytes().size() != shape.bytes_of(i)) return nullptr;
  }
  return std::make_unique<cuckoo_chain>(shape, std::move(slots));
}

void save(io* to, const cuckoo_chain& filter) {
  const cuckoo_shape& shape = filter.shape();
  if (shape.is_old) {
    api.save_unsigned(to, marks_old_cuckoo);
    api.save_unsigned(to, old_cuckoo_version);
    api.save_unsigned(to, shape.deletes);
  }
  api.save_unsigned(to, shape.filters);
  api.save_unsigned(to, shape.buckets);
  api.save_unsigned(to, shape.items);
  if (!shape.is_old) {
    api.save_unsigned(to, shape.deletes);
    api.save_unsigned(to, shape.bucket_size);
    api.save_unsigned(to, shape.max_iterations);
    api.save_unsigned(to, shape.expansion);
  }
  std::uint32_t i = 0;
  for (const auto slots : filter.dump_payload()) {
    if (!shape.is_old) api.save_unsigned(to, shape.bytes_of(i) / shape.bucket_size);
    save_bytes(to, slots);
    ++i;
  }
}

}  // namespace bloomery::server
