// Damaged and malicious files are refused with a sentence that names the file. They cause no
// allocation that the file's own length does not justify. If forged bytes happen to be a filter,
// its answers read only its own memory.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cctype>
#include <fstream>
#include <limits>
#include <random>
#include <set>

#include "tests/support/filter_types.hpp"
#include "tests/support/golden_recipes.hpp"
#include "tests/support/stored_bytes.hpp"

namespace bloomset::test {
namespace {

constexpr std::string_view file_name = "some/file.bloom";

/// Opens bytes in place as a filter, with all checks.
result<any_filter> opened(std::span<const std::byte> bytes, verification how = verification::always,
                          access mode = access::read_only) {
  const std::string name(file_name);
  auto stored = read_stored(mapped_storage(nullptr, bytes), how, name);
  if (!stored) return fail(stored.error());
  if (auto ok = unlock(*stored, golden_key, name); !ok) return fail(std::move(ok.error()));
  return open_any(*stored, mode, name);
}

/// Expects one sentence that begins with the file's name and has more text.
void expect_sentence(const failure& why) {
  EXPECT_EQ(why.message.find(file_name), 0U) << why.message;
  EXPECT_GT(why.message.size(), file_name.size() + 20) << why.message;
  EXPECT_EQ(why.message.find('\n'), std::string::npos) << why.message;
  EXPECT_NE(why.message.back(), '.') << why.message;
}

::testing::AssertionResult refused(std::span<const std::byte> bytes) {
  for (const access mode : {access::read_only, access::writable}) {
    const auto filter = opened(bytes, verification::always, mode);
    if (filter) return ::testing::AssertionFailure() << "was taken for a filter";
    expect_sentence(filter.error());
    const errc code = filter.error().code;
    if (code == errc::out_of_memory || code == errc::io) {
      return ::testing::AssertionFailure()
             << "refused for another reason: " << filter.error().message;
    }
  }
  return ::testing::AssertionSuccess();
}

class hostile : public ::testing::TestWithParam<recipe> {
 protected:
  /// The offset of the last exception, or 0 in a file without exceptions.
  std::size_t last_exception() const {
    if (GetParam().exceptions.empty()) return 0;
    const std::size_t end =
        at::parameters + detail::load<std::uint32_t>(good_.data() + at::parameter_bytes);
    const auto count = detail::load<std::uint64_t>(good_.data() + end - 8);
    return end - detail::round_up(8 * count + 8, 64) + 8 * (count - 1);
  }
  const std::vector<std::byte> good_ = serialize(cook(GetParam()).image());
};

TEST_P(hostile, the_file_itself_is_good) {
  EXPECT_TRUE(opened(good_));
}

TEST_P(hostile, every_flipped_byte_is_found) {
  auto bytes = good_;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    // Every other value in the header; one bit beyond, where checksums are of whole bytes.
    const bool in_header = i < at::parameters;
    const unsigned first = in_header ? 1 : 1U << i % 8;
    const unsigned last = in_header ? 255 : first;
    for (unsigned flip = first; flip <= last; ++flip) {
      bytes[i] ^= static_cast<std::byte>(flip);
      const auto filter = opened(bytes);
      ASSERT_FALSE(filter) << "byte " << i << " xor " << flip;
      ASSERT_NO_FATAL_FAILURE(expect_sentence(filter.error()));
      bytes[i] ^= static_cast<std::byte>(flip);
    }
  }
  EXPECT_EQ(bytes, good_);
}

TEST_P(hostile, header_and_parameters_are_sealed_even_when_the_payload_is_not_read) {
  auto bytes = good_;
  const std::size_t sealed =
      at::parameters + detail::load<std::uint32_t>(bytes.data() + at::parameter_bytes);
  for (std::size_t i = 0; i < sealed; ++i) {
    for (unsigned flip = 1; flip < 256; flip *= 2) {
      bytes[i] ^= static_cast<std::byte>(flip);
      ASSERT_FALSE(opened(bytes, verification::header)) << "byte " << i << " xor " << flip;
      bytes[i] ^= static_cast<std::byte>(flip);
    }
  }
}

TEST_P(hostile, every_truncation_is_found) {
  for (std::size_t size = 0; size < good_.size(); ++size) {
    // A copy of its own, so that a read beyond the end is one beyond an allocation.
    const std::vector<std::byte> start(good_.begin(),
                                       good_.begin() + static_cast<std::ptrdiff_t>(size));
    for (const auto how : {verification::always, verification::header}) {
      const auto filter = opened(start, how);
      ASSERT_FALSE(filter) << "the first " << size << " bytes";
      ASSERT_NO_FATAL_FAILURE(expect_sentence(filter.error()));
      EXPECT_EQ(filter.error().code, errc::corrupt) << size;
    }
  }
}

TEST_P(hostile, nothing_may_follow_the_payload) {
  for (const std::size_t more : {std::size_t{1}, std::size_t{64}, good_.size()}) {
    auto longer = good_;
    longer.resize(good_.size() + more);
    EXPECT_TRUE(refused(longer)) << more;
    std::copy_n(good_.begin(), more, longer.begin() + static_cast<std::ptrdiff_t>(good_.size()));
    EXPECT_TRUE(refused(longer)) << more;
  }
}

TEST_P(hostile, a_header_that_is_sealed_but_absurd_is_refused) {
  const auto word16 = [&](std::size_t offset, std::uint16_t value) {
    return forged(good_, offset, value);
  };
  const auto own_version = detail::load<std::uint16_t>(good_.data() + at::kind_version);
  for (const std::uint16_t version : std::initializer_list<std::uint16_t>{0, 1, 2, 3, 0xffff}) {
    EXPECT_TRUE(version == 1 || refused(word16(at::format_version, version)));
    EXPECT_TRUE(version == own_version || refused(word16(at::kind_version, version)));
  }
  const auto own_kind = detail::load<std::uint16_t>(good_.data() + at::kind);
  const auto own_hash = detail::load<std::uint16_t>(good_.data() + at::hash);
  for (unsigned id = 0; id < 65536; id = id < 64 ? id + 1 : id * 2 - 1) {
    const auto value = static_cast<std::uint16_t>(id);
    EXPECT_TRUE(value == own_kind || refused(word16(at::kind, value))) << "kind " << id;
    EXPECT_TRUE(value == own_hash || refused(word16(at::hash, value))) << "hash " << id;
  }
  for (unsigned flag = 0; flag < 32; ++flag) {
    const auto bytes = forged(good_, at::flags, std::uint32_t{1} << flag);
    EXPECT_TRUE(bytes == good_ || refused(bytes)) << flag;
  }
  const auto size = detail::load<std::uint32_t>(good_.data() + at::parameter_bytes);
  for (const std::uint32_t other : {0U, size - 1, size + 1, size + 64, 0x7fffffc0U, 0xffffffffU}) {
    EXPECT_TRUE(refused(forged(good_, at::parameter_bytes, other))) << other;
  }
  const auto length = detail::load<std::uint64_t>(good_.data() + at::payload_bytes);
  for (const std::uint64_t other :
       {std::uint64_t{0}, length - 1, length + 1, length + 64, std::uint64_t{1} << 40,
        std::uint64_t{1} << 63, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_TRUE(refused(forged(good_, at::payload_bytes, other))) << other;
  }
}

// The values that break size arithmetic, as words of each width.
constexpr std::array absurd_words = {
    std::uint64_t{0},
    std::uint64_t{1},
    std::uint64_t{7},
    std::uint64_t{65},
    std::uint64_t{1} << 31,
    (std::uint64_t{1} << 32) - 1,
    std::uint64_t{1} << 32,
    std::uint64_t{1} << 36,
    std::uint64_t{1} << 40,
    std::uint64_t{1} << 57,
    std::uint64_t{1} << 61,
    std::uint64_t{1} << 62,
    std::uint64_t{1} << 63,
    (std::uint64_t{1} << 63) - 1,
    ~std::uint64_t{0},
    ~std::uint64_t{0} - 63,
    std::bit_cast<std::uint64_t>(-1.0),
    std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()),
    std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity()),
    std::bit_cast<std::uint64_t>(1e300),
};

/// The most address space that this process ever had, in bytes.
std::uint64_t peak_address_space() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmPeak:")) return std::stoull(line.substr(7)) * 1024;
  }
  return 0;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer);
#else
constexpr bool sanitized = false;
#endif

/// All that one may do with a filter that opened. Its answers mean nothing; that it gives some,
/// that a rate is one, and the sanitizers' silence, is what is tested.
void use(any_filter& filter) {
  const std::array<std::string_view, 3> keys = {"alice", "bob", ""};
  std::array<bool, 3> answers{};
  std::array<std::uint64_t, 3> counts{};
  filter.may_contain(keys, answers);
  const double rate = filter.info().current_fpr;
  EXPECT_TRUE(rate >= 0 && rate <= 1) << rate;
  (void)filter.count(keys, counts);
  if (filter.can().insert) {
    (void)filter.insert(keys);
    (void)filter.erase(keys, answers);
    (void)filter.insert(keys);
  }
  (void)serialize(filter.image());
}

/// Whatever may take memory that the parameters plan: growth, copies, unions, folds.
void grow(any_filter& filter) {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    for (int i = 0; i < 1500; ++i) all.push_back(fmt::format("key {}", i));
    return all;
  }();
  static const std::vector<std::string_view> keys(texts.begin(), texts.end());
  if (filter.can().insert) (void)filter.insert(keys);
  auto copy = filter.copy();
  if (copy && filter.can().merge) (void)copy->merge(filter);
  if (copy && filter.can().intersect) (void)copy->intersect(filter);
  (void)filter.fold(2);
  if (filter.can().insert) (void)filter.clear();
}

/// Forged bytes are refused with a sentence or are a filter that can be used; memory never runs
/// short on them, so that no absurd size was asked for.
void open_and_use(const std::vector<std::byte>& bytes, const std::string& what) {
  for (const access mode : {access::read_only, access::writable}) {
    auto filter = opened(bytes, verification::always, mode);
    if (filter) {
      use(*filter);
    } else {
      expect_sentence(filter.error());
      EXPECT_NE(filter.error().code, errc::out_of_memory) << what;
    }
  }
}

TEST_P(hostile, forged_parameters_are_refused_or_harmless_and_allocate_nothing) {
  const std::size_t size = detail::load<std::uint32_t>(good_.data() + at::parameter_bytes);
  const std::uint64_t before = peak_address_space();
  ASSERT_NE(before, 0U);
  for (std::size_t i = at::seed; i < at::parameters + size; i += 2) {
    std::set<std::vector<std::byte>> used;
    for (const std::uint64_t word : absurd_words) {
      const auto use = [&](auto forgery) {
        const auto bytes = forged(good_, i, forgery);
        if (!used.insert(bytes).second) return;
        open_and_use(bytes, fmt::format("{:#x} at byte {}", word, i));
      };
      use(static_cast<std::uint16_t>(word));
      if (i % 4 == 0) use(static_cast<std::uint32_t>(word));
      if (i % 8 == 0) use(word);
    }
  }
  // The smallest absurd size is 2^31 bits, 256 MiB. A sanitizer keeps freed memory for a while.
  EXPECT_LT(peak_address_space() - before, std::uint64_t{sanitized ? 1024 : 128} << 20);
}

// A parameter that is in its range may still plan a growth that no file of this size has.
TEST_P(hostile, forged_parameters_do_not_make_a_filter_grow_beyond_its_size) {
  const std::size_t size = detail::load<std::uint32_t>(good_.data() + at::parameter_bytes);
  const std::uint64_t before = peak_address_space();
  ASSERT_NE(before, 0U);
  const auto try_all = [&](std::size_t i, auto... values) {
    const auto with = [&](auto value) {
      auto filter = opened(forged(good_, i, value), verification::always, access::writable);
      if (filter) grow(*filter);
    };
    (with(values), ...);
  };
  for (std::size_t i = at::parameters; i < at::parameters + size; i += 4) {
    try_all(i, 1'000'000U, 4'000'000'000U, 0x7fffffffU);
    if (i % 8 != 0) continue;
    try_all(i, std::uint64_t{4'000'000'000}, std::uint64_t{1} << 33, std::uint64_t{1} << 40,
            std::uint64_t{1} << 56, 1e-300, 1e-9, 0.999, 4.0, 1e6, 1e9, 1e18);
  }
  EXPECT_LT(peak_address_space() - before, std::uint64_t{sanitized ? 1024 : 128} << 20);
}

// Another program may overwrite a mapped file after its check.
TEST(hostile_fuse, a_directory_that_changes_under_a_reader_leads_nowhere_else) {
  std::vector<hash64> hashes;
  for (std::uint64_t i = 0; i < 4'000'000; ++i) hashes.push_back(hash64{detail::remix64(i)});
  auto bytes = file_bytes(value_of(fuse::build({.fpr = 0.01}, std::span<const hash64>(hashes))));
  const auto view =
      value_of(open_stored<fuse_view>(value_of(read_bytes(std::span<const std::byte>(bytes)))));
  ASSERT_GT(view.params().shards, 1U);
  const auto directory = static_cast<std::ptrdiff_t>(
      bytes.size() - detail::load<std::uint64_t>(bytes.data() + at::payload_bytes));
  const auto some = std::span<const hash64>(hashes).first(1000);
  std::array<bool, 1000> answers{};
  for (const std::byte value : {std::byte{0xff}, std::byte{0x7f}, std::byte{0}}) {
    std::fill_n(bytes.begin() + directory, 16 * view.params().shards, value);
    view.may_contain(some, answers);
    for (const hash64 h : some) (void)view.may_contain(h);
  }
}

TEST_P(hostile, a_parameter_word_of_all_ones_is_refused) {
  const std::size_t size = detail::load<std::uint32_t>(good_.data() + at::parameter_bytes);
  for (std::size_t i = at::parameters; i < at::parameters + size; i += 8) {
    // The last exception may be any hash above the one before.
    if (i == last_exception()) continue;
    EXPECT_TRUE(refused(forged(good_, i, ~std::uint64_t{0}))) << "at byte " << i;
  }
}

TEST_P(hostile, a_forged_payload_is_refused_or_harmless) {
  std::mt19937_64 random(1);
  const std::size_t payload =
      good_.size() - detail::load<std::uint64_t>(good_.data() + at::payload_bytes);
  for (int round = 0; round < 300; ++round) {
    auto bytes = good_;
    for (int change = 0; change < 1 + round % 8; ++change) {
      bytes[payload + random() % (bytes.size() - payload)] = static_cast<std::byte>(random());
    }
    reseal(bytes);
    open_and_use(bytes, "a random payload");
  }
  auto all_ones = good_;
  std::fill(all_ones.begin() + static_cast<std::ptrdiff_t>(payload), all_ones.end(),
            std::byte{0xff});
  reseal(all_ones);
  open_and_use(all_ones, "a payload of ones");
}

// The block that bloom and counting_bloom begin with, by docs/reference/format.md.
class hostile_bloom_block : public hostile {};

TEST_P(hostile_bloom_block, out_of_its_ranges_is_refused) {
  constexpr std::size_t block = at::parameters;
  const auto refused_u64 = [&](std::size_t offset, std::uint64_t value) {
    return refused(forged(good_, block + offset, value));
  };
  const std::uint64_t max_words[] = {0, (std::uint64_t{1} << 57) + 1, ~std::uint64_t{0}};
  for (const std::uint64_t n : max_words) EXPECT_TRUE(refused_u64(0, n)) << n;
  for (const double fpr : {-0.1, 1.5, std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_TRUE(refused(forged(good_, block + 8, fpr))) << fpr;
  }
  const auto m = detail::load<std::uint64_t>(good_.data() + block + 16);
  for (const std::uint64_t bits :
       {std::uint64_t{0}, m + 8, m - 8, m * 2, std::uint64_t{1} << 62, (std::uint64_t{1} << 62) + 1,
        std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    EXPECT_TRUE(refused_u64(16, bits)) << bits;
  }
  for (const std::uint32_t k : {0U, 65U, 0x80000000U, 0xffffffffU}) {
    EXPECT_TRUE(refused(forged(good_, block + 24, k))) << k;
  }
  for (const int rule : {0, 5, 255, 0xffff}) {
    EXPECT_TRUE(refused(forged(good_, block + 28, static_cast<std::uint16_t>(rule)))) << rule;
  }
  for (std::size_t i = 30; i < 64; ++i) {
    EXPECT_TRUE(refused(forged(good_, block + i, std::uint8_t{1}))) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(files, hostile, ::testing::ValuesIn(recipes().begin(), recipes().end()),
                         [](const auto& test) { return test_name(test.param); });

std::vector<recipe> with_a_bloom_block() {
  std::vector<recipe> some;
  std::ranges::copy_if(recipes(), std::back_inserter(some), [](const recipe& how) {
    return (how.kind == "bloom" || how.kind == "counting_bloom") && how.hash_bits == 64;
  });
  return some;
}

INSTANTIATE_TEST_SUITE_P(files, hostile_bloom_block, ::testing::ValuesIn(with_a_bloom_block()),
                         [](const auto& test) { return test_name(test.param); });

TEST(hostile_bloom, bits_beyond_m_are_refused) {
  const auto f = make<bloom>(60, 0.02);
  ASSERT_NE(f.params().bits % 8, 0U) << "this test needs a last byte with padding";
  auto bytes = file_bytes(f);
  bytes.back() |= std::byte{0x80};
  reseal(bytes);
  EXPECT_TRUE(refused(bytes));
}

// A filter of which all segments but the first are empty: that one has `entries` of two bits in its
// first cell, which the hash 0 matches.
std::vector<std::byte> with_entries_in_one_cell(std::uint64_t entries) {
  expandable_params params = value_of(plan_expandable({.capacity = 100'000, .fpr = 0.3}));
  params.slot_bits = params.split_slot_bits = 2;
  params.entries = entries;
  const detail::segment_shape shape{params.cell_bits, params.slot_bits};
  constexpr std::size_t empty_block = 5;  // 33 zeros
  const std::size_t bits_of_code = detail::block_cells + 1 + entries;
  const std::size_t first_block =
      detail::bytes_for_bits(bits_of_code) + detail::bytes_for_bits(2 * entries);
  std::vector<std::byte> payload(params.segments() * sizeof(detail::segment_entry));
  for (std::uint64_t i = 0; i < params.segments(); ++i) {
    const std::size_t first_end = i == 0 ? first_block : empty_block;
    const std::size_t area = first_end + (shape.blocks() - 1) * empty_block;
    std::vector<std::byte> segment(shape.stored_bytes(area));
    for (std::size_t b = 1; b <= shape.blocks(); ++b) {
      detail::store(segment.data() + 2 * b,
                    static_cast<std::uint16_t>(first_end + (b - 1) * empty_block));
    }
    std::byte* const code = segment.data() + shape.offset_bytes();
    for (std::uint64_t k = 0; i == 0 && k < entries; ++k) {
      detail::set_bit(code, 1 + k);                      // an entry in cell 0,
      detail::set_bit(code, 8 * first_end - 2 * k - 1);  // the marker above
    }  // a remainder of one zero
    detail::store(payload.data() + i * sizeof(detail::segment_entry),
                  detail::segment_entry{static_cast<std::uint32_t>(segment.size() / 8), 0});
    payload.insert(payload.end(), segment.begin(), segment.end());
  }
  const filter_image image{
      {filter_kind::expandable, expandable::kind_version, hash_id::xxh3_64, 0, entries},
      params.encode(),
      {payload}};
  return serialize(image);
}

// Whoever lays such a segment out anew counts the entries of each block by 16 bits.
TEST(hostile_expandable, a_block_of_more_entries_than_a_layout_counts_is_refused) {
  const auto bytes = with_entries_in_one_cell(65'536);
  const auto loaded = opened(bytes, verification::always, access::writable);
  ASSERT_FALSE(loaded);
  expect_sentence(loaded.error());
  EXPECT_EQ(loaded.error().code, errc::corrupt);
  const auto mapped = open_stored<expandable_view>(value_of(read_bytes(bytes)));
  ASSERT_TRUE(mapped);
  EXPECT_TRUE(mapped->may_contain(hash64{0}));
  auto into = make<expandable>(100, 0.3);
  const auto merged = into.merge(*mapped);
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, errc::corrupt);
}

TEST(hostile_expandable, a_block_with_all_the_entries_that_a_layout_counts_loses_none) {
  auto filter =
      value_of(open_stored<expandable>(value_of(read_bytes(with_entries_in_one_cell(65'535)))));
  const std::uint64_t copies = filter.count(hash64{0});
  EXPECT_EQ(copies, 65'535U);
  // Of its block, and of no entry there.
  const hash64 in_block{std::uint64_t{1} << (filter.params().level + 1)};
  EXPECT_EQ(filter.insert(in_block), insert_outcome::full);
  EXPECT_FALSE(filter.may_contain(in_block));
  for (std::uint64_t i = 1; i < 3000; ++i) {
    // In blocks of the same segment, which has no gaps.
    const hash64 near{i << 20};
    ASSERT_TRUE(is_contained(filter.insert(near))) << i;
    ASSERT_TRUE(filter.may_contain(near)) << i;
  }
  EXPECT_EQ(filter.count(hash64{0}), copies);
}

// What is no filter at all ---------------------------------------------------------------------

TEST(hostile_path, what_is_no_filter_is_refused_with_its_name) {
  const std::filesystem::path folder = ::testing::TempDir();
  const auto write = [&](const std::string& name, std::string_view contents) {
    std::ofstream(folder / name, std::ios::binary) << contents;
    return folder / name;
  };
  const std::array paths = {
      write("empty.bloom", ""),
      write("short.bloom",
            "\x89"
            "BLOOM\r\n"),
      write("text.bloom", std::string(1000, 'a')),
      write("zeros.bloom", std::string(1000, '\0')),
  };
  for (const auto& path : paths) {
    for (const auto& filter : {open(path), load(path)}) {
      ASSERT_FALSE(filter) << path;
      EXPECT_EQ(filter.error().code, errc::corrupt) << path;
      EXPECT_EQ(filter.error().message.find(path.string()), 0U) << filter.error().message;
    }
    std::filesystem::remove(path);
  }
  const auto missing = open(folder / "no-such.bloom");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, errc::not_found);
  EXPECT_EQ(missing.error().message.find((folder / "no-such.bloom").string()), 0U);
  const auto is_folder = open(folder);
  ASSERT_FALSE(is_folder);
  EXPECT_EQ(is_folder.error().code, errc::io);
  // A pipe or device that never ends must not be read without end; one that is empty is no filter.
  const auto device = open("/dev/null");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, errc::corrupt);
}

}  // namespace
}  // namespace bloomset::test
