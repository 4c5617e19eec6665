#include "valkeybloom/valkey_rdb.hpp"

#include <limits>
#include <utility>

#include "other_modules/packed_numbers.hpp"
#include "other_modules/rdb_fields.hpp"
#include "server/settings.hpp"

namespace bloomset::server {
namespace {

/// The seed in a blob; zeros if the blob is too short, which open() refuses.
sip_seed seed_in(const owned_storage& blob) noexcept {
  constexpr std::size_t seed_offset = 13;
  sip_seed seed = {};
  const auto bytes = blob.bytes();
  if (bytes.size() >= seed_offset + seed.size()) {
    std::ranges::copy(bytes.subspan(seed_offset, seed.size()), seed.begin());
  }
  return seed;
}

/// A reader cannot look ahead in an RDB file, and both orders have one version, so a setting tells.
bool has_bits_first() noexcept {
  return current_settings().bloom_rdb_order == valkey_rdb_order::bits_first;
}

/// The filter, if the seed is the fixed one exactly if `is_random` is not set.
std::unique_ptr<valkey_chain> open_chain(valkey_spec spec, bool is_random,
                                         std::vector<valkey_sub_filter> filters,
                                         std::uint64_t room) {
  if (filters.empty()) return nullptr;
  spec.seed = seed_in(filters.front().blob);
  if (!is_random && spec.has_random_seed()) return nullptr;
  return valkey_chain::open(spec, std::move(filters), room);
}

}  // namespace

std::unique_ptr<valkey_chain> load_valkey_chain(io* stream) {
  rdb_reader input{stream};
  valkey_spec spec;
  std::uint64_t count = 0;
  std::uint64_t is_random = 0;
  input >> count >> spec.expansion >> spec.error_rate >> spec.tightening >> is_random;
  if (input.is_broken || count == 0) return nullptr;
  std::vector<valkey_sub_filter> filters;
  std::uint64_t room = 1;
  // The number of sub-filters is not trusted, so nothing is reserved for them.
  for (std::uint64_t i = 0; i < count; ++i) {
    valkey_sub_filter& filter = filters.emplace_back();
    if (has_bits_first()) input >> filter.blob;
    input >> filter.capacity;
    filter.items = filter.capacity;
    if (i + 1 == count) input >> filter.items;
    if (!has_bits_first()) input >> filter.blob;
    if (input.is_broken || filter.blob.bytes().size() <= valkey_sub_filter::header_bytes) {
      return nullptr;
    }
    if (filters.size() > room) room = std::max<std::uint64_t>(4, 2 * room);
  }
  return open_chain(spec, is_random == 1, std::move(filters), room);
}

void save(io* stream, const valkey_chain& filter) {
  rdb_writer output{stream};
  const valkey_spec& spec = filter.spec();
  output << std::uint64_t{filter.filters().size()} << spec.expansion << spec.error_rate
         << spec.tightening << std::uint64_t{spec.has_random_seed()};
  for (const valkey_sub_filter& part : filter.filters()) {
    if (has_bits_first()) output << part.blob.bytes();
    output << part.capacity;
    if (&part == &filter.filters().back()) output << part.items;
    if (!has_bits_first()) output << part.blob.bytes();
  }
}

std::vector<std::byte> load_data_of(const valkey_chain& filter) {
  packed_writer output{filter.dump_header()};
  for (const valkey_sub_filter& part : filter.filters()) {
    const auto blob = part.blob.bytes();
    output << std::uint64_t{blob.size()};
    output.bytes.insert(output.bytes.end(), blob.begin(), blob.end());
    output << part.items << part.capacity;
  }
  return std::move(output.bytes);
}

std::unique_ptr<valkey_chain> read_load_data(std::string_view data) {
  constexpr wire_error undecodable = "ERR bloom object decoding failed";
  constexpr std::size_t header_bytes = 4 + 8 + 8 + 1 + 8;
  if (data.empty()) throw refusal(undecodable);
  if (data.front() != 1) throw refusal("ERR bloom object decoding failed. Unsupported version");
  data.remove_prefix(1);
  if (data.size() < header_bytes) throw refusal(undecodable);
  packed_reader input{data};
  valkey_spec spec;
  std::uint8_t is_random = 0;
  std::uint64_t count = 0;
  input >> spec.expansion >> spec.error_rate >> spec.tightening >> is_random >> count;
  const auto is_share = [](double x) { return x > 0 && x < 1; };
  if (is_random > 1) throw refusal(undecodable);
  if (!is_share(spec.error_rate) || !is_share(spec.tightening)) {
    throw refusal("ERR (0 < error rate range < 1)");
  }
  std::vector<valkey_sub_filter> filters;
  for (std::uint64_t i = 0; i < count; ++i) {
    constexpr std::size_t counts_bytes = 2 * sizeof(std::uint64_t);
    std::uint64_t size = 0;
    if (input.bytes.size() < sizeof size) throw refusal(undecodable);
    input >> size;
    if (input.bytes.size() < counts_bytes || size > input.bytes.size() - counts_bytes) {
      throw refusal(undecodable);
    }
    valkey_sub_filter& filter = filters.emplace_back();
    auto blob = owned_storage::copy_of(std::as_bytes(std::span(input.bytes.substr(0, size))));
    if (!blob) throw refusal(no_memory);
    filter.blob = std::move(*blob);
    input.bytes.remove_prefix(size);
    input >> filter.items >> filter.capacity;
  }
  if (!input.bytes.empty()) throw refusal(undecodable);
  const std::uint64_t room = filters.size();
  auto filter = open_chain(spec, is_random == 1, std::move(filters), room);
  if (filter == nullptr) throw refusal(undecodable);
  return filter;
}

}  // namespace bloomset::server
