// LevelDB's built-in filter policy, leveldb.BuiltinBloomFilter2: the bits, then a byte for k. A
// table has one filter for the keys of each range of blocks.

#include "bloom_model.hpp"

namespace bloomset::dialects {
namespace {
namespace leveldb_format {

constexpr unsigned max_hashes = 30;  // larger numbers are reserved: always maybe
constexpr std::uint64_t min_bits = 64;

constexpr std::array options = {
    kind_option{"bits_per_key", "1 to 1000 (default 10)", "what NewBloomFilterPolicy is given"}};

struct leveldb_container {
  using rule = rules::leveldb;
  static constexpr row id = row::leveldb;
  static constexpr counting counts = counting::nothing;

  std::uint64_t bits = 0;
  unsigned hashes = 0;

  bloom_params shape() const { return {.bits = bits, .hashes = hashes}; }
  rule probe() const { return {}; }
  key_form form() const { return {}; }
  bit_order order() const { return bit_order::bytes; }

  void describe(foreign_info& info) const { info.variant = "leveldb.BuiltinBloomFilter2"; }
  result<void> check_merge(const leveldb_container&) const { return {}; }
  result<foreign_image> image(std::span<const std::byte> array, std::uint64_t) const {
    return foreign_image{{}, array, {static_cast<std::byte>(hashes)}};
  }
  result<leveldb_container> convert(const option_list&) const { return only_container(id); }
};

result<leveldb_container> read(std::span<const std::byte> bytes) {
  if (bytes.size() < 2) {
    return fail(errc::corrupt, "a LevelDB filter has two bytes or more: bits, and one for k");
  }
  const auto hashes = std::to_integer<unsigned>(bytes.back());
  if (hashes == 0 || hashes > max_hashes) {
    return fail(errc::unsupported,
                fmt::format("its last byte, the number of hash functions, is {}; 1 to 30 are known",
                            hashes));
  }
  const std::uint64_t bits = (std::uint64_t{bytes.size()} - 1) * 8;
  if (bits > rules::leveldb::max_places) {
    return fail(errc::corrupt, "it is longer than its 32-bit hashes reach");
  }
  return leveldb_container{bits, hashes};
}

recognition looks_like(std::span<const std::byte> bytes) noexcept {
  // Any bytes may end in a small number, so nothing is certain. The policy's minimum size excludes
  // some.
  return bytes.size() > min_bits / 8 && read(bytes) ? recognition::maybe : recognition::no;
}

result<foreign_filter> open_filter(const mapped_storage& bytes, const open_request& request) {
  if (!request.options.empty()) {
    return fail(errc::invalid_argument, "bits_per_key is for building; leave it out");
  }
  const auto made = read(bytes.bytes());
  if (!made) return fail(made.error());
  return over_bytes(*made, bytes.slice(0, bytes.bytes().size() - 1), request.how);
}

result<foreign_filter> create_filter(const plan_request& request) {
  const auto ok =
      check_request(request, "leveldb", {}, "give a capacity, and bits_per_key=N if not 10");
  if (!ok) return fail(ok.error());
  const auto per_key = number_option(request.options, "bits_per_key", 1, 1000, 10);
  if (!per_key) return fail(per_key.error());
  if (request.capacity > rules::leveldb::max_places / *per_key) {
    return too_large("leveldb", "2^32 bits");
  }
  const std::uint64_t bits = up_to_eight(std::max(min_bits, request.capacity * *per_key));
  const auto hashes = static_cast<unsigned>(static_cast<double>(*per_key) * 0.69);  // times ln 2
  return empty_filter(leveldb_container{bits, std::clamp(hashes, 1U, max_hashes)});
}

}  // namespace leveldb_format
}  // namespace

dialect leveldb_dialect() noexcept {
  return {"leveldb",
          "a filter of LevelDB's built-in policy, as a table's filter block holds it",
          "only m and k are stored, and nothing that identifies the format: give --format leveldb",
          leveldb_format::options,
          leveldb_format::looks_like,
          leveldb_format::open_filter,
          leveldb_format::create_filter};
}

}  // namespace bloomset::dialects
