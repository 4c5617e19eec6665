// Bloomset's filters inside a real LevelDB, and their bytes.

#include <gtest/gtest.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <unistd.h>

#include <bloomset/leveldb_filter_policy.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/dialects/leveldb_policies.hpp"

namespace bloomset::test {
namespace {

namespace fs = std::filesystem;

TEST(leveldb_policy, every_kind_finds_all_its_keys_at_every_size) {
  for (const filter_kind kind : policy_kinds) {
    for (const leveldb_filter_options options :
         {leveldb_filter_options{.kind = kind, .bits_per_key = 1},
          {.kind = kind, .bits_per_key = 6},
          {.kind = kind, .bits_per_key = 10.5},
          {.kind = kind, .bits_per_key = 64},
          {.kind = kind, .fpr = 0.5},
          {.kind = kind, .fpr = 0.01},
          {.kind = kind, .fpr = 1e-9}}) {
      const auto policy = policy_of(options);
      for (const std::size_t n :
           {1U, 2U, 7U, 8U, 35U, 63U, 64U, 65U, 127U, 128U, 129U, 200U, 1023U, 1024U, 5000U}) {
        const auto keys = keys_of("key", n);
        const std::string filter = filter_of(*policy, keys);
        ASSERT_EQ(passing(*policy, filter, keys), n)
            << "kind " << static_cast<int>(kind) << ", bits " << options.bits_per_key << ", rate "
            << options.fpr;
      }
    }
  }
}

// The size is what users of NewBloomFilterPolicy(n) know, and no kind exceeds it.
TEST(leveldb_policy, filters_are_no_larger_than_leveldbs_own_of_as_many_bits_a_key) {
  for (const filter_kind kind : policy_kinds) {
    for (int bits = 6; bits <= 20; ++bits) {
      const std::unique_ptr<const leveldb::FilterPolicy> own(leveldb::NewBloomFilterPolicy(bits));
      const auto policy = policy_of({.kind = kind, .bits_per_key = static_cast<double>(bits)});
      for (const std::size_t n : {1U, 5U, 35U, 200U, 1024U, 3000U}) {
        const auto keys = keys_of("key", n);
        EXPECT_LE(filter_of(*policy, keys).size(), filter_of(*own, keys).size())
            << "kind " << static_cast<int>(kind) << ", " << bits << " bits, " << n << " keys";
      }
    }
  }
}

TEST(leveldb_policy, repeated_keys_and_none_and_empty_ones) {
  for (const filter_kind kind : policy_kinds) {
    const auto policy = policy_of({.kind = kind});
    const std::vector<std::string> repeated(2000, "again");
    EXPECT_TRUE(policy->KeyMayMatch("again", filter_of(*policy, repeated)));
    EXPECT_TRUE(policy->KeyMayMatch("", filter_of(*policy, {""})));
    EXPECT_EQ(filter_of(*policy, {}), "");
    EXPECT_FALSE(policy->KeyMayMatch("any", ""));
    // It appends, and touches nothing that stands there.
    std::string text = "before";
    const leveldb::Slice key = "key";
    policy->CreateFilter(&key, 1, &text);
    EXPECT_TRUE(text.starts_with("before"));
    EXPECT_TRUE(policy->KeyMayMatch("key", leveldb::Slice(text).ToString().substr(6)));
  }
}

TEST(leveldb_policy, refuses_what_it_cannot_make) {
  for (const leveldb_filter_options options : {leveldb_filter_options{.bits_per_key = 0.5},
                                               {.bits_per_key = 65},
                                               {.bits_per_key = NAN},
                                               {.bits_per_key = -1},
                                               {.fpr = 1},
                                               {.fpr = -0.1},
                                               {.fpr = 1e-10},
                                               {.fpr = NAN},
                                               {.bits_per_key = 10, .fpr = 0.01},
                                               {.kind = filter_kind::cuckoo}}) {
    const auto made = leveldb_filter_policy::make(options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, errc::invalid_argument);
    EXPECT_FALSE(made.error().message.empty());
  }
}

// Damaged or foreign bytes may say anything but must not be read beyond their end (the sanitizers
// look), and a layout that is not known here must not lose a key.
TEST(leveldb_policy, any_bytes_are_answered) {
  const auto policy = policy_of({});
  std::mt19937_64 random(1);
  for (unsigned first = 0; first < 256; ++first) {
    for (std::size_t size = 1; size < 200; ++size) {
      std::string bytes(size, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random());
      bytes[0] = static_cast<char>(first);
      const bool maybe = policy->KeyMayMatch("key", bytes);
      const unsigned layout = first >> 5;
      if (layout == 0 || layout > 4 || size == 1) {
        EXPECT_TRUE(maybe) << first << " " << size;
      }
    }
  }
  for (const filter_kind kind : policy_kinds) {
    const auto made = filter_of(*policy_of({.kind = kind}), keys_of("key", 2000));
    for (int i = 0; i < 20'000; ++i) {
      std::string damaged =
          made.substr(0, random() % 16 == 0 ? random() % made.size() + 1 : made.size());
      damaged[random() % std::min<std::size_t>(damaged.size(), 64)] = static_cast<char>(random());
      (void)policy->KeyMayMatch("key", damaged);
    }
  }
}

// The products of such sizes wrap around to those of the bytes that are there.
TEST(leveldb_policy, a_fuse_entry_of_impossible_sizes_is_answered) {
  std::string entry = {'\x87',                     // fuse, fingerprints of 8 bits
                       3,      62, 1, 4, 0};       // arity, log2 of a segment, shards, segments
  entry += std::string({0, 0, 0, 0, 2, 0, 0, 0});  // of the shard: first segment, starts
  entry.resize(entry.size() + 128 - 8);
  for (const auto& key : keys_of("key", 100)) {
    EXPECT_TRUE(policy_of({})->KeyMayMatch(key, entry)) << key;
  }
}

// Such a number is no reason to believe the numbers after it.
TEST(leveldb_policy, a_fuse_entry_with_a_number_without_end_is_answered) {
  const std::vector<std::string> numbers = {"\3", "\5", "\1", "\4", "\1"};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::string entry(1, '\x87');
    for (std::size_t j = 0; j < numbers.size(); ++j) {
      entry += j == i ? std::string(10, '\x80') : numbers[j];
    }
    entry.resize(entry.size() + 200);
    EXPECT_TRUE(policy_of({})->KeyMayMatch("key", entry)) << i;
  }
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What this name of a policy once wrote, it reads for ever: files of each layout, which are made
// again byte for byte. BLOOMSET_MAKE_GOLDEN=1 writes those that are missing.
TEST(leveldb_policy, golden_entries_are_read_and_made_again) {
  struct golden {
    const char* name;
    leveldb_filter_options options;
    std::size_t keys;
  };
  for (const golden& g : {golden{"bloom", {.kind = filter_kind::bloom, .bits_per_key = 10}, 35},
                          golden{"ribbon", {.kind = filter_kind::ribbon, .bits_per_key = 10}, 35},
                          golden{"ribbon-long", {.kind = filter_kind::ribbon, .fpr = 0.05}, 500},
                          golden{"blocked", {.kind = filter_kind::blocked_bloom, .fpr = 0.1}, 1024},
                          golden{"fuse", {.kind = filter_kind::fuse, .fpr = 0.1}, 1024}}) {
    const fs::path path =
        fs::path(BLOOMSET_GOLDEN_FOLDER) / (std::string("leveldb-") + g.name + ".entry");
    const auto keys = keys_of("golden", g.keys);
    const auto policy = policy_of(g.options);
    const std::string made = filter_of(*policy, keys);
    if (!fs::exists(path) && std::getenv("BLOOMSET_MAKE_GOLDEN") != nullptr) {
      std::ofstream(path, std::ios::binary) << made;
    }
    const std::string kept = contents(path);
    ASSERT_FALSE(kept.empty()) << path << " is missing";
    EXPECT_EQ(passing(*policy, kept, keys), g.keys) << g.name;
    EXPECT_EQ(made, kept) << g.name;
  }
}

/// A database in a folder of its own, with two compacted tables' worth of keys.
class leveldb_with_policy : public ::testing::Test {
 protected:
  leveldb_with_policy() { fs::remove_all(folder_); }
  ~leveldb_with_policy() override { fs::remove_all(folder_); }

  std::unique_ptr<leveldb::DB> open(const leveldb::FilterPolicy& policy) const {
    leveldb::Options options;
    options.create_if_missing = true;
    options.filter_policy = &policy;
    leveldb::DB* db = nullptr;
    EXPECT_TRUE(leveldb::DB::Open(options, folder_.string(), &db).ok());
    return std::unique_ptr<leveldb::DB>(db);
  }

  static void write(leveldb::DB& db, const std::string& prefix) {
    for (const std::string& key : keys_of(prefix, 20'000)) {
      ASSERT_TRUE(db.Put({}, key, std::string(50, 'v')).ok());
    }
    db.CompactRange(nullptr, nullptr);
  }

  static void expect_keys(leveldb::DB& db, const std::string& prefix, std::size_t step = 1) {
    std::string value;
    for (std::size_t i = 0; i < 20'000; i += step) {
      const std::string key = prefix + std::to_string(i);
      ASSERT_TRUE(db.Get({}, key, &value).ok()) << key;
      ASSERT_TRUE(db.Get({}, key + "x", &value).IsNotFound()) << key;
    }
  }

  fs::path folder_ = fs::path(::testing::TempDir()) /
                     ("bloomset-leveldb-policy-test-" + std::to_string(::getpid()));
};

// What docs/use/leveldb.md says of a change of policy.
TEST_F(leveldb_with_policy, a_table_keeps_its_filter_until_it_is_rewritten) {
  const std::unique_ptr<const leveldb::FilterPolicy> own(leveldb::NewBloomFilterPolicy(10));
  const auto ours = policy_of({});
  // The names under which the tables have filters.
  const auto names = [&] {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() != ".ldb") continue;
      const std::string table = contents(entry.path());
      for (const std::string name : {own->Name(), ours->Name()}) {
        if (table.find("filter." + name) != std::string::npos) found.insert(name);
      }
    }
    return found;
  };
  write(*open(*own), "a");
  {
    const auto db = open(*ours);
    expect_keys(*db, "a");
    db->CompactRange(nullptr, nullptr);  // nothing lies above the compacted tables
  }
  EXPECT_EQ(names(), std::set<std::string>{own->Name()});
  {
    const auto db = open(*ours);
    write(*db, "a");  // the same keys again
    expect_keys(*db, "a");
  }
  EXPECT_EQ(names(), std::set<std::string>{ours->Name()});
  expect_keys(*open(*own), "a");
}

// Versions and deletions of keys too: LevelDB gives the filter the user's key of each.
TEST_F(leveldb_with_policy, what_one_policy_wrote_every_other_reads) {
  std::string prefix = "a";
  for (const filter_kind kind : policy_kinds) {
    for (const double bits : {4.0, 12.0}) {
      const auto policy = policy_of({.kind = kind, .bits_per_key = bits});
      const auto db = open(*policy);
      write(*db, prefix);
      // A filter has some 30 keys.
      for (std::string before = "a"; before <= prefix; ++before[0]) expect_keys(*db, before, 7);
      ++prefix[0];
    }
  }
  const auto policy = policy_of({});
  const auto db = open(*policy);
  ASSERT_TRUE(db->Delete({}, "a7").ok());
  db->CompactRange(nullptr, nullptr);
  std::string value;
  EXPECT_TRUE(db->Get({}, "a7", &value).IsNotFound());
  EXPECT_TRUE(db->Get({}, "a8", &value).ok());
}

}  // namespace
}  // namespace bloomset::test
