// The scalable Bloom filter in files: a mapped filter answers alike, and parameters that contradict
// each other are refused.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <bloomset/bloomset.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace {

using bloomset::errc;
using bloomset::scalable_bloom;
using bloomset::scalable_bloom_params;
using bloomset::scalable_bloom_view;

TEST(scalable_bloom_file, a_mapped_one_answers_alike_and_its_members_are_aligned) {
  scalable_bloom filter({.capacity = 1, .fpr = 0.05});
  for (int i = 0; i < 5000; ++i) filter.insert(i);
  const auto path = testing::TempDir() + "/scalable_bloom_view_test.bloom";
  ASSERT_TRUE(bloomset::save(filter, path));
  auto opened = bloomset::open<scalable_bloom_view>(path);
  ASSERT_TRUE(opened) << opened.error().message;
  const scalable_bloom_view view = std::move(*opened);
  for (int i = 0; i < 20'000; ++i) ASSERT_EQ(view.may_contain(i), filter.may_contain(i)) << i;
  EXPECT_EQ(view.size(), filter.size());
  EXPECT_EQ(view.capacity(), filter.capacity());
  EXPECT_EQ(view.current_fpr(), filter.current_fpr());
  EXPECT_EQ(view.estimate_size(), filter.estimate_size());
  EXPECT_EQ(view.size_in_bytes(), filter.size_in_bytes());
  EXPECT_EQ(bloomset::serialize(view.image()), bloomset::serialize(filter.image()));
  for (const auto& member : view.members()) {
    EXPECT_EQ(std::bit_cast<std::uintptr_t>(member.bits().data()) % 64, 0U);
  }
}

struct sample {
  scalable_bloom filter{{.capacity = 100, .fpr = 0.01}};
  bloomset::filter_header header;
  std::vector<std::byte> block;
  std::vector<std::byte> payload;

  sample() : header{} {
    for (int i = 0; i < 1000; ++i) filter.insert(i);
    const auto image = filter.image();
    header = image.header;
    block = image.parameters;
    for (const auto piece : image.payload)
      payload.insert(payload.end(), piece.begin(), piece.end());
  }

  /// Opens the block and payload as they are now: the failure's class, or none.
  template <class F>
  std::optional<errc> refusal(std::uint64_t count) const {
    const auto params = scalable_bloom_params::decode(header, block);
    if (!params) return params.error().code;
    if constexpr (std::same_as<F, scalable_bloom>) {
      const auto opened =
          F::open(*params, bloomset::owned_storage::copy_of(payload).value(), count);
      return opened ? std::nullopt : std::optional(opened.error().code);
    } else {
      const auto opened = F::open(*params, bloomset::mapped_storage(nullptr, payload), count);
      return opened ? std::nullopt : std::optional(opened.error().code);
    }
  }
  void expect_corrupt(std::uint64_t count, const std::string& what) const {
    EXPECT_EQ(refusal<scalable_bloom>(count), errc::corrupt) << what;
    EXPECT_EQ(refusal<scalable_bloom_view>(count), errc::corrupt) << what;
  }

  template <class Word>
  void patch(std::size_t at, Word word) {
    std::memcpy(block.data() + at, &word, sizeof word);
  }
};

TEST(scalable_bloom_file, hostile_parameters_are_refused) {
  const sample good;
  ASSERT_EQ(good.refusal<scalable_bloom>(good.header.count), std::nullopt);
  ASSERT_EQ(good.refusal<scalable_bloom_view>(good.header.count), std::nullopt);
  const auto members = static_cast<std::uint32_t>(good.filter.members().size());
  ASSERT_EQ(members, 4U);
  const auto refuse = [&](const std::string& what, std::size_t at, auto word) {
    sample bad;
    bad.patch(at, word);
    bad.expect_corrupt(bad.header.count, what);
  };
  constexpr std::uint64_t huge = std::uint64_t{1} << 62;
  const double nan = std::nan("");
  refuse("no initial capacity", 0, std::uint64_t{0});
  refuse("too high an initial capacity", 0, huge);
  for (const double rate : {0.0, 1.0, -1.0, nan}) refuse("rate", 8, rate);
  for (const double growth : {0.5, 1e9, -2.0, nan, HUGE_VAL}) refuse("growth", 16, growth);
  for (const double tightening : {0.0, 1.0, nan}) refuse("tightening", 24, tightening);
  for (const std::uint32_t count : {0U, 1U, members - 1, members + 1, 257U, ~0U}) {
    refuse(fmt::format("{} members", count), 32, count);
  }
  refuse("reserved", 38, std::uint16_t{1});
  for (std::uint32_t i = 0; i < members; ++i) {
    const std::size_t at = 40 + 32 * std::size_t{i};
    for (const std::uint64_t capacity : {std::uint64_t{0}, huge, ~std::uint64_t{0}}) {
      refuse("capacity", at, capacity);
    }
    for (const double rate : {-0.1, 1.1, nan}) refuse("member rate", at + 8, rate);
    for (const std::uint64_t bits : {std::uint64_t{0}, std::uint64_t{1}, huge, huge + 1,
                                     ~std::uint64_t{0}, ~std::uint64_t{0} - 512}) {
      refuse("bits", at + 16, bits);
    }
    for (const std::uint32_t k : {0U, 65U, ~0U}) refuse("hashes", at + 24, k);
    refuse("member reserved", at + 28, std::uint32_t{1});
  }
  refuse("padding", good.block.size() - 1, std::byte{1});
}

TEST(scalable_bloom_file, member_sizes_whose_sum_wraps_are_refused) {
  // Every member of 2^62 bits is in range by itself; 32 of them have 2^64 bytes, which wraps to 0.
  scalable_bloom_params params =
      bloomset::plan_scalable_bloom({.capacity = 1, .fpr = 0.01}).value();
  params.members.front().bits = bloomset::max_bits;
  params.members.resize(32, params.members.front());
  const auto decoded = scalable_bloom_params::decode(
      {bloomset::filter_kind::scalable_bloom, 1, bloomset::hash_id::xxh3_64, 0, 0},
      params.encode());
  ASSERT_TRUE(decoded);
  const auto opened = scalable_bloom::open(*decoded, bloomset::owned_storage(), 31);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, errc::corrupt);
}

TEST(scalable_bloom_file, payloads_and_counts_that_do_not_fit_are_refused) {
  const sample good;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{64}, good.payload.size() - 1, good.payload.size() + 64}) {
    sample bad;
    bad.payload.resize(size);
    bad.expect_corrupt(bad.header.count, fmt::format("{} bytes", size));
  }
  // Every bit beyond a member's m, in its last byte or in the padding, must be zero.
  std::size_t end = 0;
  for (const auto& member : good.filter.members()) {
    const std::size_t size = member.size_in_bytes();
    ASSERT_NE(size % 64, 0U) << "the sample needs padding";
    sample bad;
    bad.payload[end + size] = std::byte{1};
    bad.expect_corrupt(bad.header.count, "padding");
    end += bloomset::detail::round_up(size, 64);
  }
  // Older members are full and the newest has at most its capacity: 700 to 1500 keys here.
  for (const std::uint64_t count :
       {std::uint64_t{0}, std::uint64_t{699}, std::uint64_t{1501}, ~std::uint64_t{0}}) {
    good.expect_corrupt(count, fmt::format("count {}", count));
  }
  sample newer;
  newer.header.kind_version = 2;
  EXPECT_EQ(newer.refusal<scalable_bloom>(newer.header.count), errc::unsupported);
  sample other_rule;
  other_rule.patch(36, std::uint16_t{99});
  EXPECT_EQ(other_rule.refusal<scalable_bloom>(other_rule.header.count), errc::unsupported);
}

}  // namespace
