// LevelDB itself, if it is installed: the filters in its table files equal Bloomset's bit for bit,
// and answer as its own policy does.

#include <gtest/gtest.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/dialects/dialect.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "tests/support/dialect_samples.hpp"

namespace bloomset::test {
namespace {

namespace d = bloomset::dialects;
namespace fs = std::filesystem;
using detail::load;

std::uint64_t varint(const std::vector<std::byte>& file, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(file.at(at++));
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

struct block {
  std::size_t at;
  std::size_t size;
};

/// The filter block of a table, by doc/table_format.md. The footer of 48 bytes begins with the
/// handle of the metaindex block, which has one entry: the name of the policy and a handle.
block filter_block(const std::vector<std::byte>& table) {
  std::size_t at = table.size() - 48;
  const std::size_t meta_at = varint(table, at);
  std::size_t entry = meta_at;
  EXPECT_EQ(varint(table, entry), 0U);  // shared with the key before: there is none
  const std::size_t key_size = varint(table, entry);
  (void)varint(table, entry);
  const std::string key(reinterpret_cast<const char*>(table.data()) + entry, key_size);
  EXPECT_EQ(key, "filter.leveldb.BuiltinBloomFilter2");
  entry += key_size;
  const std::size_t from = varint(table, entry);
  const std::size_t size = varint(table, entry);
  return {from, size};
}

TEST(leveldb_itself, its_filters_out_of_a_table_are_ours) {
  const fs::path folder = fs::path(::testing::TempDir()) / "bloomset-leveldb-test";
  fs::remove_all(folder);
  const std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  leveldb::Options options;
  options.create_if_missing = true;
  options.filter_policy = policy.get();
  options.compression = leveldb::kNoCompression;
  std::vector<std::string> keys;
  for (int i = 0; i < 5000; ++i) keys.push_back("key" + std::to_string(100'000 + i));
  {
    leveldb::DB* opened = nullptr;
    ASSERT_TRUE(leveldb::DB::Open(options, folder.string(), &opened).ok());
    const std::unique_ptr<leveldb::DB> db(opened);
    for (const std::string& key : keys) {
      ASSERT_TRUE(db->Put({}, key, "value of " + key).ok());
    }
    db->CompactRange(nullptr, nullptr);
  }

  std::size_t found = 0;
  for (const auto& each : fs::directory_iterator(folder)) {
    if (each.path().extension() != ".ldb") continue;
    std::ifstream in(each.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    std::vector<std::byte> table(text.size());
    std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), table.begin());
    const auto [at, size] = filter_block(table);
    // Filters, the offset of each, where those begin, and log2 of the range of a filter.
    ASSERT_EQ(table.at(at + size - 1), std::byte{11});
    const std::size_t offsets = load<std::uint32_t>(table.data() + at + size - 5);
    const std::size_t filters = (size - 5 - offsets) / 4;
    std::size_t next_key = 0;
    for (std::size_t i = 0; i < filters; ++i) {
      const std::size_t begin = load<std::uint32_t>(table.data() + at + offsets + 4 * i);
      const std::size_t end = load<std::uint32_t>(table.data() + at + offsets + 4 * (i + 1));
      if (begin == end) continue;  // a range of the file in which no block begins
      const std::vector<std::byte> stored(table.begin() + static_cast<std::ptrdiff_t>(at + begin),
                                          table.begin() + static_cast<std::ptrdiff_t>(at + end));
      const auto filter = d::open(*d::find("leveldb").value(), mapped_storage(nullptr, stored));
      ASSERT_TRUE(filter);
      EXPECT_EQ(filter->info().hashes, 6U);
      // The keys are in order, so this filter's are the next ones: 10 bits of it each.
      const std::size_t first = next_key;
      while (next_key < keys.size() && filter->may_contain(keys[next_key]) &&
             (next_key - first) * 10 < filter->info().bits) {
        ++next_key;
      }
      // The last may be a non-member that passes; what was built of them tells.
      const leveldb::Slice text_of(reinterpret_cast<const char*>(stored.data()), stored.size());
      bool same = false;
      for (std::size_t n = next_key - first; n > 0 && !same && n + 8 > next_key - first; --n) {
        auto built = d::create(*d::find("leveldb").value(), {.capacity = n}).value();
        ASSERT_TRUE(insert_all(built, {keys.begin() + static_cast<std::ptrdiff_t>(first),
                                       keys.begin() + static_cast<std::ptrdiff_t>(first + n)}));
        same = built.image()->bytes() == stored;
        if (same) next_key = first + n;
      }
      EXPECT_TRUE(same) << "filter " << i;
      for (int non_member = 0; non_member < 1000; ++non_member) {
        const std::string key = "non-member" + std::to_string(non_member);
        EXPECT_EQ(filter->may_contain(key), policy->KeyMayMatch(key, text_of));
      }
      ++found;
    }
    EXPECT_EQ(next_key, keys.size());
  }
  EXPECT_GT(found, 20U);
  fs::remove_all(folder);
}

TEST(leveldb_itself, its_policy_builds_the_same_bytes) {
  for (const int bits : {1, 6, 10, 16, 20, 50}) {
    const std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(bits));
    for (const int n : {1, 2, 7, 100, 1000}) {
      std::vector<std::string> keys;
      for (int i = 0; i < n; ++i)
        keys.push_back(std::string(static_cast<std::size_t>(i % 13), '\xc3') + std::to_string(i));
      const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
      std::string theirs;
      policy->CreateFilter(slices.data(), n, &theirs);
      auto ours = d::create(*d::find("leveldb").value(),
                            {.capacity = static_cast<std::uint64_t>(n),
                             .options = {{"bits_per_key", std::to_string(bits)}}})
                      .value();
      ASSERT_TRUE(insert_all(ours, keys));
      const auto bytes = ours.image()->bytes();
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), theirs)
          << bits << " bits, " << n << " keys";
    }
  }
}

}  // namespace
}  // namespace bloomset::test
