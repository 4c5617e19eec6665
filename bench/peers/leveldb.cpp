// LevelDB's Bloom filter of keys, by its public FilterPolicy. Its hash has 32 bits.

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cmath>
#include <limits>
#include <string>

#include "peers.hpp"

namespace bench {
namespace {

leveldb::Slice slice_of(const bloomset::hash64& h) {
  return {reinterpret_cast<const char*>(&h.value), sizeof h.value};
}

class leveldb_bloom final : public subject {
 public:
  explicit leveldb_bloom(const setting& s)
      : policy_(leveldb::NewBloomFilterPolicy(static_cast<int>(std::lround(s.bits_per_key)))) {}

  /// The slices that CreateFilter wants are a part of the work: 2 of some 60 ns a key.
  void build(keys members, unsigned) override {
    filter_.clear();
    std::vector<leveldb::Slice> slices;
    slices.reserve(members.size());
    for (const bloomset::hash64& h : members) slices.push_back(slice_of(h));
    policy_->CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter_);
  }
  std::uint64_t bytes() const override { return filter_.size(); }
  std::uint64_t ask_each(keys asked) const override {
    const leveldb::Slice filter(filter_);
    std::uint64_t found = 0;
    for (const bloomset::hash64& h : asked) found += policy_->KeyMayMatch(slice_of(h), filter);
    return found;
  }

 private:
  std::unique_ptr<const leveldb::FilterPolicy> policy_;
  std::string filter_;
};

}  // namespace

entries leveldb_peer() {
  return {{.name = "LevelDB Bloom",
           .takes_keys = true,
           .max_keys = std::numeric_limits<int>::max(),
           .make = [](const setting& s) { return std::make_unique<leveldb_bloom>(s); }}};
}

}  // namespace bench
