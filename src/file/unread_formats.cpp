#include <bloomset/unread_formats.hpp>

#include <array>
#include <bloomset/plan/numeric.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>

#include "core/format.hpp"

namespace bloomset {
namespace {
namespace unread {

using namespace std::string_view_literals;

/// The bytes of a file, whose numbers are little-endian.
struct file_view {
  std::string_view bytes;
  std::string_view name;

  bool begins(std::string_view magic) const noexcept { return bytes.starts_with(magic); }
  bool ends(std::string_view magic) const noexcept { return bytes.ends_with(magic); }
  /// Precondition: the number is there.
  template <class Number>
  Number at(std::size_t offset) const noexcept {
    Number number{};
    std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
  }
};

// A small whole number, read as a double, is below this.
constexpr double min_rate = 1e-30;

bool is_rate(double value) noexcept {
  return value > min_rate && value < 1;
}

bool leveldb_table(const file_view& file) noexcept {
  return file.ends("\x57\xfb\x80\x8b\x24\x75\x47\xdb"sv);
}
bool rocksdb_table(const file_view& file) noexcept {
  return file.ends("\xf7\xcf\xf4\x85\xb7\x41\xe2\x88"sv);
}
bool orc(const file_view& file) noexcept {
  // The last byte is the length of the postscript, which ends in the letters.
  return file.begins("ORC"sv) && file.bytes.size() > 8 &&
         file.bytes.substr(file.bytes.size() - 4, 3) == "ORC"sv;
}

/// A pickle of protocol 2 to 5. Its text has the names of classes.
bool pickle(const file_view& file) noexcept {
  return file.bytes.size() > 3 && file.bytes[0] == '\x80' && file.bytes[1] >= 2 &&
         file.bytes[1] <= 5 && file.ends("."sv);
}
bool pybloom_pickle(const file_view& file) noexcept {
  constexpr std::size_t first_names = 200;
  return pickle(file) &&
         file.bytes.substr(0, first_names).find("pybloom"sv) != std::string_view::npos;
}

/// BloomFilter.tofile(): rate, slices, bits per slice, capacity, count, and the bits.
bool pybloom(const file_view& file) noexcept {
  constexpr std::size_t header = 40;
  constexpr std::uint64_t max_slices = 1000;
  if (file.bytes.size() < header || !is_rate(file.at<double>(0))) return false;
  const auto slices = file.at<std::uint64_t>(8);
  const auto slice_bits = file.at<std::uint64_t>(16);
  if (slices == 0 || slices > max_slices || slice_bits == 0 || slice_bits >> 50 != 0) return false;
  return file.bytes.size() - header == (slices * slice_bits + 7) / 8;
}
/// ScalableBloomFilter.tofile(): growth, ratio, first capacity, rate, number of filters, their
/// sizes, and the filters.
bool scalable_pybloom(const file_view& file) noexcept {
  constexpr std::size_t header = 32;
  if (file.bytes.size() < header + 8) return false;
  const auto growth = file.at<std::int32_t>(0);
  const auto filters = file.at<std::int32_t>(28);
  if (growth < 2 || growth > 16 || filters < 1 || filters > 64) return false;
  if (!is_rate(file.at<double>(4)) || !is_rate(file.at<double>(20))) return false;
  const auto first = header + static_cast<std::size_t>(filters) * 8;
  return file.bytes.size() > first && file.at<std::uint64_t>(header) <= file.bytes.size() - first;
}

/// The bytes of a filter of pyprobables for so many keys, if each place has so many bits.
double bytes_of_pyprobables(std::uint64_t keys, double rate, double bits_per_place) noexcept {
  const double places = std::ceil(-static_cast<double>(keys) * numeric::log(rate) /
                                  (std::numbers::ln2 * std::numbers::ln2));
  return std::ceil(places * bits_per_place / 8);
}
/// The planned number of keys, the inserted number and the rate, at the end of a file.
struct pyprobables_footer {
  std::uint64_t keys = 0;
  double rate = 0;

  static constexpr std::size_t bytes = 20;
  /// Whether they follow so many bytes.
  bool read(const file_view& file, std::size_t at) noexcept {
    keys = file.at<std::uint64_t>(at);
    rate = static_cast<double>(file.at<float>(at + 16));
    return is_rate(rate) && keys != 0 && keys >> 50 == 0;
  }
};

/// The bits, or counters of 32 bits, and a footer.
bool pyprobables(const file_view& file) noexcept {
  constexpr double counter_bits = 32;
  if (file.bytes.size() <= pyprobables_footer::bytes) return false;
  const std::size_t size = file.bytes.size() - pyprobables_footer::bytes;
  pyprobables_footer footer;
  if (!footer.read(file, size)) return false;
  const auto is_size = [&](double planned, double tolerance) {
    return std::fabs(planned - static_cast<double>(size)) <= tolerance;
  };
  return is_size(bytes_of_pyprobables(footer.keys, footer.rate, 1), 1) ||
         is_size(bytes_of_pyprobables(footer.keys, footer.rate, counter_bits), counter_bits / 8);
}

/// Filters that grow: each is its number of keys and its bits. Their number precedes the footer.
bool expanding_pyprobables(const file_view& file) noexcept {
  constexpr std::uint64_t max_filters = 1 << 20;
  constexpr std::size_t tail = 8 + pyprobables_footer::bytes;
  if (file.bytes.size() <= tail) return false;
  const std::size_t size = file.bytes.size() - tail;
  const auto filters = file.at<std::uint64_t>(size);
  pyprobables_footer footer;
  if (filters == 0 || filters > max_filters || size % filters != 0) return false;
  if (!footer.read(file, size + 8)) return false;
  const std::uint64_t size_of_each = size / filters;
  const auto each = static_cast<double>(size_of_each) - 8;
  return std::fabs(bytes_of_pyprobables(footer.keys, footer.rate, 1) - each) <= 1;
}

/// Counters of 32 bits, and at the end their columns, rows and the sum.
bool count_min_sketch(const file_view& file) noexcept {
  constexpr std::size_t footer = 16;
  constexpr std::uint32_t max_rows = 1000;
  if (file.bytes.size() <= footer) return false;
  const std::size_t size = file.bytes.size() - footer;
  const std::uint64_t columns = file.at<std::uint32_t>(size);
  const std::uint64_t rows = file.at<std::uint32_t>(size + 4);
  return rows != 0 && rows <= max_rows && columns * rows * 4 == size;
}

/// Fingerprints of 32 bits, some with a counter, and at the end the entries of a bucket and the
/// limit of moves. Without another sign, these must be the usual ones.
bool cuckoo_of_pyprobables(const file_view& file) noexcept {
  constexpr std::size_t footer = 8;
  constexpr std::uint32_t usual_moves = 500;
  constexpr std::uint32_t max_entries = 16;
  if (file.bytes.size() <= footer) return false;
  const std::size_t size = file.bytes.size() - footer;
  const auto entries = file.at<std::uint32_t>(size);
  return entries != 0 && entries <= max_entries &&
         file.at<std::uint32_t>(size + 4) == usual_moves && size % (std::size_t{entries} * 4) == 0;
}

/// The cookie of a bitmap of 32-bit numbers, without and with runs.
bool roaring_at(const file_view& file, std::size_t at) noexcept {
  if (file.bytes.size() < at + 8) return false;
  constexpr std::uint32_t max_containers = 65536;
  const auto cookie = file.at<std::uint32_t>(at);
  const auto containers = file.at<std::uint32_t>(at + 4);
  const bool may_be_empty = file.bytes.size() == at + 8;
  return (cookie == 12346 && (containers != 0 || may_be_empty) && containers <= max_containers) ||
         (cookie & 0xffff) == 12347;
}
/// Such a bitmap, or of 64-bit numbers: how many of them, and before each the upper half.
bool roaring(const file_view& file) noexcept {
  constexpr std::size_t first_of_many = 12;
  if (roaring_at(file, 0)) return true;
  return roaring_at(file, first_of_many) && file.at<std::uint64_t>(0) != 0 &&
         file.at<std::uint64_t>(0) >> 32 == 0;
}

/// A signature, version 1 and a number of functions; the bits are words of 32 bits.
bool dolma(const file_view& file) noexcept {
  return file.begins("\x17\xf1\xf0\x81\x01\0\0\0"sv);
}

bool commit_graph(const file_view& file) noexcept {
  return file.begins("CGPH\1"sv);
}

/// Four digits of the version after REDIS, or three after VALKEY.
bool rdb(const file_view& file) noexcept {
  const auto digits_at = [&](std::size_t first, std::size_t count) {
    const std::string_view digits = file.bytes.substr(std::min(first, file.bytes.size()), count);
    return digits.size() == count &&
           digits.find_first_not_of("0123456789"sv) == std::string_view::npos;
  };
  return (file.begins("REDIS"sv) && digits_at(5, 4)) ||
         (file.begins("VALKEY"sv) && digits_at(6, 3));
}
/// What DUMP replies for a key with a module's value: 7, and the module type's number, whose first
/// 54 bits are a name of nine characters.
bool valkey_bloom_dump(const file_view& file) noexcept {
  return file.begins("\x07\x81\x6e\x5a\x28\x99\xf9\x6d\xac"sv);
}

/// Bitcoin Core's files of block filters, which are known by their names: fltr00000.dat.
bool bip158(const file_view& file) noexcept {
  const std::string_view name = file.name.substr(file.name.rfind('/') + 1);
  return name.size() == 13 && name.starts_with("fltr") && name.ends_with(".dat");
}

/// The number of functions in 64 bits, and the bits.
bool rbloom(const file_view& file) noexcept {
  constexpr std::uint64_t max_hashes = 100;
  if (file.bytes.size() <= 8) return false;
  const auto hashes = file.at<std::uint64_t>(0);
  return hashes != 0 && hashes <= max_hashes;
}

struct unread_row {
  unread_format form;
  bool (*is)(const file_view& file) noexcept;
  certainty sign = certainty::signature;
};

constexpr auto python_remedy =
    "its hash functions are unknown, so build a filter anew from the keys with 'bloomset build'"sv;
constexpr auto table_remedy =
    "its filters are in a block within it, so write its keys as lines, and build a filter of them"sv;

// A specific row precedes a general one.
constexpr std::array rows = {
    unread_row{{"a LevelDB table (SSTable)", table_remedy}, leveldb_table},
    unread_row{{"a RocksDB table (SSTable)", table_remedy}, rocksdb_table},
    unread_row{{"an ORC file", "write a column as lines, and build a filter of them"}, orc},
    unread_row{{"a pickle of pybloom", python_remedy}, pybloom_pickle},
    unread_row{{"a pickle of Python", "write the keys as lines, and build a filter of them"},
               pickle},
    unread_row{{"a filter of pybloom", python_remedy}, pybloom},
    unread_row{{"a scalable filter of pybloom", python_remedy}, scalable_pybloom},
    unread_row{{"a filter of pyprobables", python_remedy}, pyprobables},
    unread_row{{"a filter of pyprobables that grows", python_remedy}, expanding_pyprobables},
    unread_row{{"a count-min sketch of pyprobables",
                "it estimates counts, so write the keys as lines, and build a filter of them"},
               count_min_sketch},
    unread_row{{"a cuckoo filter of pyprobables", python_remedy}, cuckoo_of_pyprobables},
    unread_row{{"a filter of dolma or bff",
                "its hash function depends on the program's build, so build a filter anew from the "
                "texts with 'bloomset build'"},
               dolma},
    unread_row{
        {"a Roaring bitmap",
         "it is an exact set of numbers, so write them as lines, and build a filter of them"},
        roaring},
    unread_row{{"an RDB file of Redis or Valkey",
                "start a server with the module bloomset.so on it, which reads the filters of "
                "RedisBloom and valkey-bloom"},
               rdb},
    unread_row{{"a filter of valkey-bloom as DUMP replies it",
                "RESTORE it in a server with the module bloomset.so"},
               valkey_bloom_dump},
    unread_row{{"a commit-graph of git", "git itself queries its filters: git log -- PATH"},
               commit_graph},
    unread_row{{"a file of BIP 158's block filters",
                "they are coded sets, which a Bitcoin node queries; format bip37 is the older one"},
               bip158},
    unread_row{{"perhaps a filter of rbloom",
                "its hashes are those of the program that made it, so build a filter anew from the "
                "keys with 'bloomset build'"},
               rbloom,
               certainty::first_word},
};

}  // namespace unread
}  // namespace

const unread_format* recognise_unread(std::span<const std::byte> file, std::string_view name,
                                      certainty least) noexcept {
  const unread::file_view view{{reinterpret_cast<const char*>(file.data()), file.size()}, name};
  for (const unread::unread_row& row : unread::rows) {
    const bool is_wanted = least == certainty::first_word || row.sign == certainty::signature;
    if (is_wanted && row.is(view)) return &row.form;
  }
  return nullptr;
}

failure not_read(const unread_format& form, const std::string& name) {
  return detail::format_failure(errc::unsupported, "{}: this is {}, which is not read; {}", name,
                                form.what, form.remedy);
}

}  // namespace bloomset
