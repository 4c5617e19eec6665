// How often LevelDB reads from its tables for a key that is there and for one that is not: without
// a filter, with LevelDB's own, and with ours of the same bits per key, and of four fifths of them.
// Prints a table.
//
//   leveldb-reads [--sequential] [--block-size BYTES] [KEYS [BITS_A_KEY...]]
//
// Default: 100000 keys in random order, blocks of 4096 bytes; 6 8 10 12 14 16 18 20. A filter is of
// one block, so with blocks of 65536 bytes and more the kinds for filters of many keys are shown
// too.

#include <fmt/format.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/options.h>
#include <leveldb/write_batch.h>

#include <atomic>
#include <bloomset/leveldb_filter_policy.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using bloomset::filter_kind;

constexpr std::size_t value_bytes = 100;
constexpr int max_keys = 10'000'000;
constexpr int large_block = 65536;

void check(const leveldb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

/// A file whose reads are counted.
class counted_file final : public leveldb::RandomAccessFile {
 public:
  counted_file(leveldb::RandomAccessFile* file, std::atomic<std::uint64_t>& reads)
      : file_(file), reads_(reads) {}

  leveldb::Status Read(std::uint64_t offset, std::size_t n, leveldb::Slice* result,
                       char* scratch) const override {
    ++reads_;
    return file_->Read(offset, n, result, scratch);
  }

 private:
  std::unique_ptr<leveldb::RandomAccessFile> file_;
  std::atomic<std::uint64_t>& reads_;
};

/// The system as it is, but that it counts the reads from tables.
class counting_env final : public leveldb::EnvWrapper {
 public:
  counting_env() : EnvWrapper(Default()) {}

  leveldb::Status NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** file) override {
    const leveldb::Status status = target()->NewRandomAccessFile(name, file);
    if (status.ok()) *file = new counted_file(*file, reads_);  // LevelDB deletes it
    return status;
  }

  std::uint64_t reads() const noexcept { return reads_; }

 private:
  std::atomic<std::uint64_t> reads_ = 0;
};

struct outcome {
  double absent = 0;   ///< reads a get
  double present = 0;  ///< reads a get
  std::uint64_t table_bytes = 0;
};

/// Keys in no order, as of hashed or random names, or one after the other.
enum class key_order { random, sequential };

struct database {
  key_order order = key_order::random;
  int block_bytes = 4096;
};

/// SplitMix64's finalizer (G. Steele and others, "Fast splittable pseudorandom number generators",
/// 2014): different numbers give different keys.
std::uint64_t scramble(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

std::string key_of(int number, key_order order) {
  return order == key_order::random
             ? fmt::format("{:016x}", scramble(static_cast<std::uint64_t>(number)))
             : fmt::format("{:016}", number);
}

std::uint64_t bytes_of_tables(const std::filesystem::path& folder) {
  std::uint64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".ldb") bytes += file.file_size();
  }
  return bytes;
}

/// Even numbers are in the database and odd ones are not, so that every table's range covers both.
outcome measure(const std::filesystem::path& folder, int keys, const database& shape,
                const leveldb::FilterPolicy* policy) {
  const key_order order = shape.order;
  std::filesystem::remove_all(folder);
  counting_env env;
  const std::unique_ptr<leveldb::Cache> no_cache(leveldb::NewLRUCache(0));
  leveldb::Options options;
  options.create_if_missing = true;
  options.env = &env;
  options.filter_policy = policy;
  options.block_size = static_cast<std::size_t>(shape.block_bytes);
  options.block_cache = no_cache.get();
  options.compression = leveldb::kNoCompression;

  leveldb::DB* opened = nullptr;
  check(leveldb::DB::Open(options, folder.string(), &opened));
  std::unique_ptr<leveldb::DB> db(opened);
  leveldb::WriteBatch batch;
  for (int i = 0; i < keys; ++i) {
    batch.Put(key_of(2 * i, order), std::string(value_bytes, static_cast<char>('a' + i % 26)));
    if (i % 1000 == 999 || i + 1 == keys) {
      check(db->Write({}, &batch));
      batch.Clear();
    }
  }
  db->CompactRange(nullptr, nullptr);

  std::string value;
  for (int i = 0; i < keys; i += 50)
    (void)db->Get({}, key_of(2 * i, order), &value);  // opens the tables
  const auto reads_a_get = [&](int odd) {
    const std::uint64_t before = env.reads();
    for (int i = 0; i < keys; ++i) {
      const leveldb::Status found = db->Get({}, key_of(2 * i + odd, order), &value);
      if (found.IsNotFound() != (odd == 1)) throw std::runtime_error("a key was lost or invented");
    }
    return static_cast<double>(env.reads() - before) / keys;
  };
  const double absent = reads_a_get(1);
  const double present = reads_a_get(0);
  db.reset();
  return {absent, present, bytes_of_tables(folder)};
}

int number(std::string_view text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw std::runtime_error(fmt::format("'{}' is not a number from {} to {}", text, least, most));
  }
  return value;
}

std::vector<filter_kind> kinds_for(const database& shape) {
  std::vector kinds = {filter_kind::bloom, filter_kind::ribbon};
  if (shape.block_bytes >= large_block) {
    kinds.insert(kinds.begin(), {filter_kind::blocked_bloom, filter_kind::fuse});
  }
  return kinds;
}

std::string_view name_of(filter_kind kind) {
  switch (kind) {
    case filter_kind::bloom:
      return "bloom";
    case filter_kind::blocked_bloom:
      return "blocked_bloom";
    case filter_kind::fuse:
      return "fuse";
    default:
      return "ribbon";
  }
}

/// The options in front of the numbers, which they leave.
database take_options(std::span<const std::string_view>& arguments) {
  database shape;
  while (!arguments.empty() && arguments[0].starts_with("--")) {
    if (arguments[0] == "--sequential") {
      shape.order = key_order::sequential;
    } else if (arguments[0] == "--block-size" && arguments.size() > 1) {
      constexpr int least = 1024;
      constexpr int most = 4 << 20;
      arguments = arguments.subspan(1);
      shape.block_bytes = number(arguments[0], least, most);
    } else {
      throw std::runtime_error(
          fmt::format("'{}' is none of --sequential and --block-size BYTES", arguments[0]));
    }
    arguments = arguments.subspan(1);
  }
  return shape;
}

void run(std::span<const std::string_view> arguments) {
  const database shape = take_options(arguments);
  const int keys = arguments.empty() ? 100'000 : number(arguments[0], 1, max_keys);
  std::vector<int> bits = {6, 8, 10, 12, 14, 16, 18, 20};
  if (arguments.size() > 1) {
    bits.clear();
    for (const std::string_view text : arguments.subspan(1)) bits.push_back(number(text, 1, 64));
  }
  std::string folder_name =
      (std::filesystem::temp_directory_path() / "leveldb-reads-XXXXXX").string();
  if (mkdtemp(folder_name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  const std::filesystem::path folder = folder_name;
  const struct cleaner {
    const std::filesystem::path& folder;
    ~cleaner() {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
    }
  } cleaner{folder};

  fmt::print("{} {} keys of {} bytes with values of {} bytes; as many absent keys between them\n\n",
             keys, shape.order == key_order::random ? "random" : "sequential",
             key_of(0, shape.order).size(), value_bytes);
  fmt::print("{:>8}  {:<13}  {:>19}  {:>19}  {:>16}\n", "bits/key", "filter", "reads an absent key",
             "reads a present key", "bytes of filters");
  const outcome without = measure(folder / "db", keys, shape, nullptr);
  const auto print = [&](std::string_view bits_text, std::string_view name, const outcome& o) {
    fmt::print("{:>8}  {:<13}  {:>19.5f}  {:>19.5f}  {:>16}\n", bits_text, name, o.absent,
               o.present, static_cast<std::int64_t>(o.table_bytes - without.table_bytes));
    (void)std::fflush(stdout);
  };
  print("", "none", without);
  for (const int b : bits) {
    const std::unique_ptr<const leveldb::FilterPolicy> own(leveldb::NewBloomFilterPolicy(b));
    print(fmt::to_string(b), "LevelDB's", measure(folder / "db", keys, shape, own.get()));
    const auto print_ours = [&](filter_kind kind, double bits_per_key) {
      const auto ours =
          bloomset::leveldb_filter_policy::make({.kind = kind, .bits_per_key = bits_per_key});
      if (!ours) throw std::runtime_error(ours.error().message);
      print(fmt::format("{:.4g}", bits_per_key), name_of(kind),
            measure(folder / "db", keys, shape, ours->get()));
    };
    for (const filter_kind kind : kinds_for(shape)) print_ours(kind, b);
    print_ours(filter_kind::ribbon, b * 0.8);
  }
}

}  // namespace

int main(int count, char** values) {
  try {
    run(std::vector<std::string_view>(values + 1, values + count));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "leveldb-reads: {}\n", error.what());
    return 2;
  }
}
