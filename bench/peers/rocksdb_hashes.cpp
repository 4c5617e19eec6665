// The loops of RocksDB's Bloom filter, given hashes, in the instructions of this CPU. They are
// internal, so they are compiled from a checkout.

#define ROCKSDB_PLATFORM_POSIX
#include "util/bloom_impl.h"

#include <vector>

#include "single_calls.hpp"

namespace bench {
namespace {

class fast_local_bloom {
 public:
  explicit fast_local_bloom(const setting& s)
      : probes_(loops::ChooseNumProbes(static_cast<int>(1000 * s.bits_per_key))),
        lines_(static_cast<std::size_t>(static_cast<double>(s.n) * s.bits_per_key / 512) + 1) {}

  void insert(std::uint64_t hash) {
    loops::AddHash(upper(hash), lower(hash), length(), probes_, lines_.front().bytes);
  }
  bool may_contain(std::uint64_t hash) const {
    return loops::HashMayMatch(upper(hash), lower(hash), length(), probes_, lines_.front().bytes);
  }
  std::uint64_t bytes() const { return lines_.size() * sizeof(line); }

 private:
  using loops = rocksdb::FastLocalBloomImpl;
  struct alignas(64) line {
    char bytes[64] = {};
  };
  static std::uint32_t upper(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  static std::uint32_t lower(std::uint64_t hash) { return static_cast<std::uint32_t>(hash); }
  std::uint32_t length() const { return static_cast<std::uint32_t>(bytes()); }

  int probes_;
  std::vector<line> lines_;
};

}  // namespace

[[gnu::visibility("default")]] entries rocksdb_hashes_peers() {
  entry row = single_calls_entry<fast_local_bloom>("RocksDB Bloom, of hashes, for this CPU");
  row.max_keys = 1'500'000'000;  // its length has 32 bits
  return {row};
}

}  // namespace bench
