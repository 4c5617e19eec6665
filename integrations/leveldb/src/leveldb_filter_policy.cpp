#include <fmt/format.h>
#include <leveldb/slice.h>

#include <algorithm>
#include <bloomset/leveldb_filter_policy.hpp>
#include <span>
#include <vector>

#include "entry.hpp"

namespace bloomset {
namespace {

namespace entries = leveldb_entries;

constexpr double default_bits_per_key = 10;
constexpr double max_bits_per_key = 64;
constexpr double min_fpr = 1e-9;
constexpr std::size_t many_keys = 1024;  // from here on blocks of 512 bits fill evenly

std::span<const std::byte> bytes_of(const leveldb::Slice& slice) noexcept {
  return std::as_bytes(std::span<const char>(slice.data(), slice.size()));
}

hash64 hash_of(const leveldb::Slice& key) noexcept {
  return xxh3_hasher(0)(bytes_of(key));
}

/// The distinct hashes of the keys. Versions of one key have equal hashes.
std::vector<hash64> distinct_hashes(std::span<const leveldb::Slice> keys) {
  std::vector<hash64> hashes(keys.size());
  std::ranges::transform(keys, hashes.begin(), hash_of);
  std::ranges::sort(hashes);
  const auto repeated = std::ranges::unique(hashes);
  hashes.erase(repeated.begin(), repeated.end());
  return hashes;
}

std::string entry_of(filter_kind kind, std::span<const hash64> hashes,
                     const entries::demand& wanted) {
  const bool many = hashes.size() >= many_keys;
  if (kind == filter_kind::bloom) return entries::make_bloom(hashes, wanted);
  if (kind == filter_kind::blocked_bloom) {
    return many ? entries::make_blocked_bloom(hashes, wanted) : entries::make_bloom(hashes, wanted);
  }
  if (kind == filter_kind::fuse && many) {
    if (auto made = entries::make_fuse(hashes, wanted)) return std::move(*made);
  }
  return entries::make_ribbon(hashes, wanted);
}

}  // namespace

result<std::unique_ptr<const leveldb_filter_policy>> leveldb_filter_policy::make(
    const leveldb_filter_options& options) {
  const auto refuse = [](std::string why) { return fail(errc::invalid_argument, std::move(why)); };
  const bool by_rate = options.fpr != 0;
  if (options.kind != filter_kind::ribbon && options.kind != filter_kind::bloom &&
      options.kind != filter_kind::blocked_bloom && options.kind != filter_kind::fuse) {
    return refuse("LevelDB's filters can be made as ribbon, bloom, blocked_bloom or fuse");
  }
  if (by_rate && options.bits_per_key != 0) {
    return refuse("both bits per key and a rate are given; give one of them");
  }
  if (by_rate && !(options.fpr >= min_fpr && options.fpr < 1)) {
    return refuse(
        fmt::format("a false-positive rate of {} is out of range; give one from 1e-9 to "
                    "below 1, such as 0.01",
                    options.fpr));
  }
  if (!by_rate && options.bits_per_key != 0 &&
      !(options.bits_per_key >= 1 && options.bits_per_key <= max_bits_per_key)) {
    return refuse(fmt::format("{} bits per key are out of range; give 1 to 64, such as 10",
                              options.bits_per_key));
  }
  return std::unique_ptr<const leveldb_filter_policy>(new leveldb_filter_policy(options));
}

leveldb_filter_policy::leveldb_filter_policy(const leveldb_filter_options& options)
    : options_(options) {
  if (options_.fpr == 0 && options_.bits_per_key == 0) options_.bits_per_key = default_bits_per_key;
}

leveldb_filter_policy::~leveldb_filter_policy() = default;

void leveldb_filter_policy::CreateFilter(const leveldb::Slice* keys, int n,
                                         std::string* dst) const {
  if (n <= 0) return;
  const auto count = static_cast<std::size_t>(n);
  const std::vector<hash64> hashes = distinct_hashes({keys, count});
  entries::demand wanted{.fpr = options_.fpr};
  if (options_.fpr == 0) {
    const auto bits =
        static_cast<std::uint64_t>(static_cast<double>(count) * options_.bits_per_key);
    wanted.bytes = (std::max<std::uint64_t>(bits, 64) + 7) / 8 + 1;
  }
  dst->append(entry_of(options_.kind, hashes, wanted));
}

bool leveldb_filter_policy::KeyMayMatch(const leveldb::Slice& key,
                                        const leveldb::Slice& filter) const {
  return entries::may_contain(bytes_of(filter), hash_of(key));
}

}  // namespace bloomset
