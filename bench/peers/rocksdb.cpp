// RocksDB's Bloom and Ribbon filters of keys, made by its public policies. Since 7.0 the public
// header only names the builder and the reader that a policy gives out; what they can be called for
// in 7.8 stands here, in the order of their virtual functions. CMake takes this file for 7.8 alone.

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>

#include "peers.hpp"

static_assert(ROCKSDB_MAJOR == 7 && ROCKSDB_MINOR == 8);

namespace rocksdb {

class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() = default;
  virtual void AddKey(const Slice& key) = 0;
  virtual std::size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* memory) = 0;
};

class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() = default;
  virtual bool MayMatch(const Slice& key) = 0;
  virtual void MayMatch(int n, Slice** asked, bool* answers) = 0;
};

}  // namespace rocksdb

namespace bench {
namespace {

// As many as its batches may have.
constexpr std::size_t max_in_batch = 32;

rocksdb::Slice slice_of(const bloomset::hash64& h) {
  return {reinterpret_cast<const char*>(&h.value), sizeof h.value};
}

class rocksdb_filter final : public subject {
 public:
  explicit rocksdb_filter(const rocksdb::FilterPolicy* policy) : policy_(policy) {}

  void build(keys members, unsigned) override {
    reader_.reset();
    memory_.reset();
    const rocksdb::BlockBasedTableOptions options;
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy_->GetBuilderWithContext(rocksdb::FilterBuildingContext(options)));
    for (const bloomset::hash64& h : members) builder->AddKey(slice_of(h));
    filter_ = builder->Finish(&memory_);
    if (filter_.size() == 0) throw std::runtime_error("no filter was made");
    reader_.reset(policy_->GetFilterBitsReader(filter_));
  }
  std::uint64_t bytes() const override { return filter_.size(); }
  std::uint64_t ask_each(keys asked) const override {
    std::uint64_t found = 0;
    for (const bloomset::hash64& h : asked) found += reader_->MayMatch(slice_of(h));
    return found;
  }
  void ask_batch(keys asked, bool* answers, unsigned) const override {
    std::array<rocksdb::Slice, max_in_batch> slices;
    std::array<rocksdb::Slice*, max_in_batch> to;
    for (std::size_t i = 0; i < max_in_batch; ++i) to[i] = &slices[i];
    for (std::size_t at = 0; at < asked.size(); at += max_in_batch) {
      const std::size_t n = std::min(max_in_batch, asked.size() - at);
      for (std::size_t i = 0; i < n; ++i) slices[i] = slice_of(asked[at + i]);
      reader_->MayMatch(static_cast<int>(n), to.data(), answers + at);
    }
  }

 private:
  std::unique_ptr<const rocksdb::FilterPolicy> policy_;
  std::unique_ptr<const char[]> memory_;
  rocksdb::Slice filter_;
  std::unique_ptr<rocksdb::FilterBitsReader> reader_;
};

}  // namespace

entries rocksdb_peers() {
  const auto row = [](std::string name, const rocksdb::FilterPolicy* (*policy)(double)) {
    return entry{.name = std::move(name),
                 .takes_keys = true,
                 .batch = true,
                 .max_keys = std::numeric_limits<std::uint32_t>::max() / 2,
                 .make = [policy](const setting& s) {
                   return std::make_unique<rocksdb_filter>(policy(s.bits_per_key));
                 }};
  };
  return {
      row("RocksDB Bloom", [](double bits) { return rocksdb::NewBloomFilterPolicy(bits); }),
      row("RocksDB Ribbon", [](double bits) { return rocksdb::NewRibbonFilterPolicy(bits, -1); })};
}

}  // namespace bench
