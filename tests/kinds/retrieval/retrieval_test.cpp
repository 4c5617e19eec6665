// Static retrieval: every key has its value, the same bytes in any order, by any number of threads
// and on every CPU, the overhead, and no read beyond the bytes.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bloomset/detail/retrieval/retrieval.hpp>
#include <cmath>
#include <memory>
#include <vector>

#include "tests/support/chosen_hashes.hpp"
#include "tests/support/filter_types.hpp"
#include "tests/support/instruction_sets.hpp"

namespace bloomset::test {
namespace {

using detail::built_retrieval;
using detail::column_mask;
using detail::retrieval_params;
using detail::retrieval_spec;
using detail::retrieval_view;
using detail::valued_hash;
using detail::valued_hash_source;

constexpr std::uint32_t widths[] = {64, 128};

/// n distinct keys with values of r bits.
std::vector<valued_hash> random_entries(std::uint64_t stream, std::size_t n, std::uint32_t r) {
  std::vector<valued_hash> all;
  all.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const hash64 h{detail::remix64((stream + 1) << 32 | i)};  // a bijection
    all.emplace_back(h, static_cast<std::uint32_t>(detail::remix64(h.value + 1)) & column_mask(r));
  }
  return all;
}

built_retrieval build(const retrieval_spec& spec, std::span<const valued_hash> entries) {
  return value_of(detail::build_retrieval(spec, entries));
}
retrieval_view view_of(const built_retrieval& built) {
  return value_of(retrieval_view::open(built.params, built.payload.bytes()));
}
std::vector<std::byte> bytes_of(const built_retrieval& built) {
  detail::record_writer writer;
  built.params.write(writer);
  std::vector<std::byte> all = writer.finish();
  const auto payload = built.payload.bytes();
  all.insert(all.end(), payload.begin(), payload.end());
  return all;
}
std::vector<std::uint32_t> values_of(const retrieval_view& view, std::span<const hash64> hashes) {
  std::vector<std::uint32_t> values(hashes.size());
  view.get(hashes, values);
  return values;
}

/// The number of keys whose value is wrong, asked in a batch or, unless they are many, one by one.
std::size_t wrong_values(const built_retrieval& built, std::span<const valued_hash> entries) {
  const retrieval_view view = view_of(built);
  std::vector<hash64> hashes;
  for (const valued_hash& one : entries) hashes.push_back(one.hash());
  const auto values = values_of(view, hashes);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::uint32_t wanted = entries[i].value() & column_mask(built.params.columns);
    wrong += values[i] != wanted;
    if (i < 100'000) wrong += view.get(entries[i].hash()) != wanted;
  }
  return wrong;
}

/// Percent of r n bits that the levels need beyond them.
double overhead(const built_retrieval& built) {
  const double least = static_cast<double>(built.count) * built.params.columns / 8;
  return 100 * (static_cast<double>(built.payload.bytes().size() - 64) / least - 1);
}

// Values ----------------------------------------------------------------------------------------

TEST(retrieval, few_keys_have_their_values) {
  for (std::size_t n = 0; n <= 300; ++n) {
    for (const std::uint32_t width : widths) {
      const auto r = static_cast<std::uint32_t>(1 + n % 32);
      const auto entries = random_entries(n, n, r);
      const auto built = build({.columns = r, .width = width}, entries);
      ASSERT_EQ(built.count, n);
      ASSERT_EQ(wrong_values(built, entries), 0U) << n << " keys of " << r << " bits";
    }
  }
}

TEST(retrieval, values_of_any_number_of_bits_are_kept) {
  for (std::uint32_t r = 1; r <= 32; ++r) {
    for (const std::uint32_t width : widths) {
      for (const std::size_t n : {40U, 6000U}) {
        const auto entries = random_entries(r, n, r);
        const auto built = build({.columns = r, .width = width, .seed = r}, entries);
        ASSERT_EQ(wrong_values(built, entries), 0U) << n << " keys of " << r << " bits";
      }
    }
  }
}

TEST(retrieval, many_keys_have_their_values) {
  for (const std::size_t n : {1000U, 1024U, 1025U, 4096U, 4097U, 10'000U, 100'000U}) {
    for (const std::uint32_t r : {1U, 4U, 5U, 17U}) {
      const auto entries = random_entries(n, n, r);
      ASSERT_EQ(wrong_values(build({.columns = r}, entries), entries), 0U) << n << " of " << r;
    }
  }
}

TEST(retrieval, a_million_keys_have_their_values) {
  const auto entries = random_entries(1, 1'000'000, 7);
  for (const std::uint32_t r : {1U, 7U}) {
    EXPECT_EQ(wrong_values(build({.columns = r, .threads = 0}, entries), entries), 0U);
  }
}

// A level that is planned by an estimate of the number of keys, from a source in pieces.
TEST(retrieval, a_million_keys_and_more_are_read_in_pieces) {
  const auto entries = random_entries(3, 2'200'000, 2);
  const valued_hash_source pieces{
      entries.size(), [&](const valued_hash_source::sink& use) -> result<void> {
        for (std::size_t first = 0; first < entries.size(); first += 70'001) {
          const auto rest = std::span(entries).subspan(first);
          if (auto ok = use(rest.first(std::min<std::size_t>(rest.size(), 70'001))); !ok) return ok;
        }
        return {};
      }};
  const auto built = value_of(detail::build_retrieval({.columns = 2, .threads = 2}, pieces));
  EXPECT_EQ(built.count, entries.size());
  EXPECT_EQ(wrong_values(built, entries), 0U);
}

// Values that say the same for most keys are no worse than random ones: equations do not depend on
// them.
TEST(retrieval, equal_values_are_values) {
  for (const std::uint32_t value : {0U, 1U, 0x1ffffU}) {
    std::vector<valued_hash> entries;
    for (const hash64 h : hashes_of_stream(1, 20'000)) entries.emplace_back(h, value);
    for (const std::uint32_t r : {1U, 17U}) {
      EXPECT_EQ(wrong_values(build({.columns = r}, entries), entries), 0U);
    }
  }
}

// As the fingerprints of a filter, of which the values of non-members are independent. One of the
// 16 counts is six standard deviations off with a chance of 3e-8.
TEST(retrieval, other_hashes_have_uniform_values) {
  for (const std::uint32_t width : widths) {
    const auto built = build({.columns = 3, .width = width}, random_entries(1, 50'000, 3));
    std::array<double, 8> counts{};
    for (const std::uint32_t v : values_of(view_of(built), hashes_of_stream(2, 400'000))) {
      counts.at(v) += 1;
    }
    for (const double n : counts) EXPECT_NEAR(n, 50'000, 6 * 210);
  }
}

// Sets ------------------------------------------------------------------------------------------

TEST(retrieval, order_repetitions_and_threads_do_not_change_the_bytes) {
  for (const std::uint32_t width : widths) {
    for (const std::size_t n : {700U, 300'000U}) {
      auto entries = random_entries(n, n, 6);
      const auto bytes = bytes_of(build({.columns = 6, .width = width}, entries));
      std::ranges::reverse(entries);
      entries.insert(entries.end(), entries.begin(), entries.begin() + 500);
      std::rotate(entries.begin(), entries.begin() + 333, entries.end());
      for (const unsigned threads : {1U, 2U, 7U}) {
        const auto again = build({.columns = 6, .width = width, .threads = threads}, entries);
        EXPECT_EQ(again.count, n);
        EXPECT_TRUE(bytes_of(again) == bytes) << threads << " threads, " << n << " keys";
      }
    }
  }
}

TEST(retrieval, hashes_with_two_values_are_refused) {
  for (const std::size_t n : {2U, 50U, 5000U, 100'000U}) {
    auto entries = random_entries(1, n, 5);
    const valued_hash first = entries.front();
    entries.emplace_back(first.hash(), first.value() ^ 16);
    for (const std::uint32_t width : widths) {
      const auto built = detail::build_retrieval({.columns = 5, .width = width, .threads = 2},
                                                 std::span<const valued_hash>(entries));
      ASSERT_FALSE(built);
      EXPECT_EQ(built.error().code, errc::incompatible);
      // Their lowest 4 bits are one value.
      const auto narrow = build({.columns = 4, .width = width}, entries);
      EXPECT_EQ(narrow.count, n);
      EXPECT_EQ(wrong_values(narrow, entries), 0U);
    }
  }
}

TEST(retrieval, many_repetitions_of_few_keys_are_few_keys) {
  const auto few = random_entries(1, 3, 9);
  std::vector<valued_hash> entries;
  for (std::size_t i = 0; i < 300'000; ++i) entries.push_back(few[i % 3]);
  EXPECT_TRUE(bytes_of(build({.columns = 9, .threads = 2}, entries)) ==
              bytes_of(build({.columns = 9}, few)));
}

TEST(retrieval, a_source_that_fails_ends_the_build) {
  const valued_hash_source broken{
      5000, [](const valued_hash_source::sink&) { return fail(errc::io, "broken"); }};
  const auto built = detail::build_retrieval({.columns = 1}, broken);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, errc::io);
}

TEST(retrieval, requests_out_of_range_are_refused) {
  for (const retrieval_spec& spec :
       {retrieval_spec{.columns = 0}, retrieval_spec{.columns = 33},
        retrieval_spec{.columns = 1, .width = 32}, retrieval_spec{.columns = 1, .width = 256}}) {
    const auto built = detail::build_retrieval(spec, std::span<const valued_hash>());
    ASSERT_FALSE(built);
    EXPECT_EQ(built.error().code, errc::invalid_argument);
  }
}

// Three hashes for each try of the last level whose equations add up to 0 and whose values do not.
TEST(retrieval, hashes_that_were_chosen_for_the_seed_are_refused) {
  std::vector<valued_hash> entries;
  for (const hash64 h : unsolvable_hashes(7)) {
    entries.emplace_back(h, detail::fingerprint_of(h.value) % 16);
  }
  std::size_t refused = 0;
  for (const std::uint64_t seed : {0U, 7U}) {
    refused += !detail::build_retrieval({.columns = 4, .width = 64, .seed = seed},
                                        std::span<const valued_hash>(entries));
  }
  EXPECT_LE(refused, 1U);
}

// Overhead --------------------------------------------------------------------------------------

// Of 40 other sets of 100,000 keys the worst had 0.53% with 1 bit and 0.50% with 7.
TEST(retrieval, overhead_is_as_stated) {
  struct row {
    std::size_t n;
    std::uint32_t r;
    double mean;
    double worst;
  };
  for (const row& one : {row{1000, 1, 0.9, 1.7}, row{1000, 7, 2.5, 4}, row{10'000, 1, 1.1, 1.3},
                         row{100'000, 1, 0.48, 0.56}, row{100'000, 4, 0.22, 0.3},
                         row{100'000, 7, 0.4, 0.5}, row{100'000, 17, 0.25, 0.3}}) {
    double sum = 0;
    constexpr int sets = 5;
    for (int i = 0; i < sets; ++i) {
      const auto entries = random_entries(static_cast<std::uint64_t>(i), one.n, one.r);
      const double here = overhead(build({.columns = one.r}, entries));
      EXPECT_LE(here, one.worst) << one.n << " keys of " << one.r << " bits";
      sum += here;
    }
    EXPECT_LE(sum / sets, one.mean) << one.n << " keys of " << one.r << " bits";
  }
}

// Set i of n_i keys owns the hashes of the n_i from its first one on, of all N: floor((c_i 2^64 + h
// n_i) / N), c_i being the keys before it. Its slots lie together, and it needs no shape of its
// own.
TEST(retrieval, thousands_of_sets_share_one_table) {
  for (const std::uint64_t of_each : {1000U, 256U}) {
    const std::uint64_t sets = 400'000 / of_each;
    const auto alone = random_entries(1, sets * of_each, 7);
    std::vector<valued_hash> all;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      // All sets have the same size, so that c_i / N is i / sets.
      const double share = static_cast<double>(i / of_each) / static_cast<double>(sets);
      const auto first = static_cast<std::uint64_t>(std::ldexp(share, 64));
      all.emplace_back(hash64{first + alone[i].hash().value / sets}, alone[i].value());
    }
    const auto built = build({.columns = 7, .width = 128}, all);
    EXPECT_EQ(wrong_values(built, all), 0U);
    const double directory = 100 * 32 / (7 * static_cast<double>(of_each));
    EXPECT_LE(overhead(built) + directory, of_each == 1000 ? 0.6 : 2.0);
  }
}

// Kernels ---------------------------------------------------------------------------------------

TEST(retrieval_kernels, build_and_answer_alike) {
  for (std::uint32_t r = 1; r <= 32; ++r) {
    for (const std::uint32_t width : widths) {
      for (const std::size_t n : {60U, 5000U}) {
        const auto entries = random_entries(r, n, r);
        auto asked = hashes_of_stream(100, 1000);
        for (std::size_t i = 0; i < 60; ++i) asked.push_back(entries[i].hash());
        std::vector<std::byte> bytes;
        with_each_instruction_set([&] {
          const auto built = build({.columns = r, .width = width}, entries);
          if (bytes.empty()) bytes = bytes_of(built);
          ASSERT_TRUE(bytes_of(built) == bytes) << r << " columns";
          const retrieval_view view = view_of(built);
          const auto values = values_of(view, asked);
          for (std::size_t i = 0; i < asked.size(); ++i) {
            ASSERT_EQ(values[i], view.get(asked[i])) << r << " columns";
          }
          ASSERT_EQ(wrong_values(built, entries), 0U);
        });
      }
    }
  }
}

TEST(retrieval_kernels, answer_batches_of_any_size) {
  for (const std::uint32_t width : widths) {
    const auto entries = random_entries(1, 30'000, 3);
    const auto built = build({.columns = 3, .width = width}, entries);
    with_each_instruction_set([&] {
      for (const std::size_t n : {0U, 1U, 63U, 64U, 65U, 1023U, 1024U, 1025U, 2049U}) {
        EXPECT_EQ(wrong_values(built, std::span(entries).first(n)), 0U);
      }
    });
  }
}

// Stored parameters and hostile bytes -----------------------------------------------------------

TEST(retrieval_file, parameters_are_read_as_written) {
  for (const std::size_t n : {0U, 100U, 50'000U}) {
    const auto built = build({.columns = 2, .seed = 5}, random_entries(1, n, 2));
    detail::record_writer writer;
    built.params.write(writer);
    const auto block = writer.finish();
    detail::record_reader reader(block);
    const auto params = retrieval_params::read(reader);
    EXPECT_TRUE(reader.complete());
    EXPECT_TRUE(params.possible());
    EXPECT_EQ(params.payload_bytes(), built.payload.bytes().size());
    detail::record_writer again;
    params.write(again);
    EXPECT_TRUE(again.finish() == block);
  }
}

TEST(retrieval_file, parameters_out_of_their_ranges_are_refused) {
  const auto built = build({.columns = 2}, random_entries(1, 50'000, 2));
  const auto payload = built.payload.bytes();
  ASSERT_TRUE(retrieval_view::open(built.params, payload));
  const auto refused = [&](auto change) {
    detail::record_writer writer;
    built.params.write(writer);
    auto block = writer.finish();
    change(block.data());
    detail::record_reader reader(block);
    const auto params = retrieval_params::read(reader);
    return !reader.complete() || !retrieval_view::open(params, payload);
  };
  const auto with = [&](std::size_t offset, auto value) {
    return refused([&](std::byte* block) { detail::store(block + offset, value); });
  };
  for (const std::uint32_t columns : {0U, 1U, 3U, 33U, ~0U}) EXPECT_TRUE(with(0, columns));
  for (const std::uint32_t width : {0U, 64U, 127U, 256U, ~0U}) EXPECT_TRUE(with(4, width));
  for (const std::uint32_t levels : {0U, 1U, 33U, ~0U}) EXPECT_TRUE(with(8, levels));
  EXPECT_TRUE(with(12, 1U));
  EXPECT_TRUE(with(16, std::uint64_t{1} << 63)) << "a seed";
  for (const std::uint64_t shards : {std::uint64_t{0}, std::uint64_t{2}, ~std::uint64_t{0}}) {
    EXPECT_TRUE(with(24, shards)) << "shards " << shards;
    EXPECT_TRUE(with(32, shards)) << "starts " << shards;
  }
  std::vector<std::byte> damaged(payload.begin(), payload.end());
  damaged.back() = std::byte{1};
  EXPECT_FALSE(retrieval_view::open(built.params, damaged));
  EXPECT_FALSE(retrieval_view::open(built.params, payload.first(payload.size() - 1)));
  EXPECT_FALSE(retrieval_view::open(built.params, {}));
}

// Any bytes of the right size are a function. Queries of any hash stay inside them, which the
// address sanitizer sees.
TEST(retrieval_file, any_bytes_are_read_inside_their_bounds) {
  std::uint64_t made = 0;
  const auto random = [&](std::uint64_t below) { return detail::remix64(++made) % below; };
  auto asked = hashes_of_stream(4, 2000);
  asked.push_back({0});
  asked.push_back({~std::uint64_t{0}});
  for (int i = 0; i < 100; ++i) {
    retrieval_params params{.columns = static_cast<std::uint32_t>(1 + random(32)),
                            .width = widths[random(2)],
                            .levels = {}};
    const std::uint64_t levels = 1 + random(4);
    for (std::uint64_t j = 0; j < levels; ++j) {
      detail::retrieval_level level{.seed = random(2) * detail::remix64(made) >> 1,
                                    .shards = 1 + random(5),
                                    .columns = params.columns,
                                    .width = params.width,
                                    .bumps = j + 1 != levels};
      level.starts = level.shards == 1 ? 1 + random(300) : level.bucket_starts() * (1 + random(5));
      level.cut = level.all_starts();
      params.levels.push_back(level);
    }
    ASSERT_TRUE(params.possible());
    const auto payload = std::make_unique<std::byte[]>(params.payload_bytes());
    const std::span<std::byte> bytes(payload.get(), params.payload_bytes());
    for (std::byte& one : bytes.first(bytes.size() - 64)) one = static_cast<std::byte>(random(256));
    const auto view = value_of(retrieval_view::open(params, bytes));
    with_each_instruction_set([&] {
      const auto values = values_of(view, asked);
      for (std::size_t k = 0; k < asked.size(); ++k) {
        ASSERT_EQ(values[k], view.get(asked[k]));
        ASSERT_LE(values[k], column_mask(params.columns));
      }
    });
  }
}

TEST(retrieval_file, no_keys_are_no_bytes) {
  const auto built = build({.columns = 5}, {});
  EXPECT_EQ(built.payload.bytes().size(), 0U);
  const retrieval_view view = view_of(built);
  EXPECT_EQ(view.get(hash64{5}), 0U);
  EXPECT_EQ(values_of(view, hashes_of_stream(1, 100)), std::vector<std::uint32_t>(100));
}

}  // namespace
}  // namespace bloomset::test
