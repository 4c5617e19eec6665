// The scalable Bloom filter's promise: it may start at any size, and at every doubling of its keys
// the measured rate is within the requested one.
//
// Seeds are fixed. With new seeds a correct filter would fail here with probability below 1e-6 in
// all. There are some 70 checks of the requested rate at below 1e-8 each (Student's t, 63 or more
// degrees of freedom, 6.5 standard errors), and as many of current_fpr at 1e-9 each (Bernstein).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bloomset/bloomset.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

using bloomset::hash64;
using bloomset::scalable_bloom;

enum class family : std::uint8_t { sequential, strided, random, text };
constexpr std::array families = {family::sequential, family::strided, family::random, family::text};
constexpr std::uint64_t first_non_member = std::uint64_t{1} << 32;

/// Distinct keys of a family, hashed with the filter's seed.
std::vector<hash64> keys(family which, std::uint64_t seed, std::uint64_t first, std::size_t n) {
  const bloomset::xxh3_hasher hash(seed);
  std::vector<hash64> hashes;
  hashes.reserve(n);
  const auto add = [&](const auto& key) {
    bloomset::with_hash(hash, key, [&](hash64 h) { hashes.push_back(h); });
  };
  for (std::uint64_t i = first; i < first + n; ++i) {
    if (which == family::sequential) add(i);
    if (which == family::strided) add(i * 4096);
    if (which == family::random) add(bloomset::detail::remix64(i));
    if (which == family::text) add(fmt::format("https://www.example.com/users/{}/index.html", i));
  }
  return hashes;
}

struct measurement {
  std::vector<double> rates;  // measured, of each filter
  double found = 0;           // non-members that passed, all filters
  double expected = 0;        // by current_fpr
  double variance = 0;

  void add(const scalable_bloom& filter, std::span<const hash64> non_members) {
    const auto answers = std::make_unique<bool[]>(non_members.size());
    filter.may_contain(non_members, std::span(answers.get(), non_members.size()));
    const auto n = static_cast<double>(non_members.size());
    const auto passed =
        static_cast<double>(std::count(answers.get(), answers.get() + non_members.size(), true));
    const double p = filter.current_fpr();
    rates.push_back(passed / n);
    found += passed;
    expected += n * p;
    variance += n * p * (1 - p);
  }

  double mean() const {
    double sum = 0;
    for (const double rate : rates) sum += rate;
    return sum / static_cast<double>(rates.size());
  }
  double standard_error() const {
    double squares = 0;
    for (const double rate : rates) squares += (rate - mean()) * (rate - mean());
    const auto n = static_cast<double>(rates.size());
    return std::sqrt(squares / (n - 1) / n);
  }
};

struct growth_case {
  std::uint64_t start;
  double fpr;
  double growth;
  double tightening;
  std::uint64_t most;       // keys, in the end
  std::uint64_t seeds;      // of each family
  std::size_t non_members;  // asked of each filter at each doubling
  double tolerance;         // that the test's own noise must stay below, as a share of the rate
};

class scalable_bloom_rate : public testing::TestWithParam<growth_case> {};

TEST_P(scalable_bloom_rate, holds_at_every_doubling) {
  const growth_case& c = GetParam();
  std::vector<measurement> doublings;
  for (const family which : families) {
    for (std::uint64_t seed = 1; seed <= c.seeds; ++seed) {
      scalable_bloom filter({.capacity = c.start,
                             .fpr = c.fpr,
                             .growth = c.growth,
                             .tightening = c.tightening,
                             .seed = seed});
      const auto members = keys(which, seed, 0, c.most);
      const auto non_members = keys(which, seed, first_non_member, c.non_members);
      std::uint64_t done = 0;
      std::size_t step = 0;
      for (std::uint64_t n = c.start; n <= c.most; n *= 2, ++step) {
        const std::span batch = std::span(members).subspan(done, n - done);
        ASSERT_EQ(filter.insert(batch).done, batch.size());
        done = n;
        if (step == doublings.size()) doublings.emplace_back();
        doublings[step].add(filter, non_members);
      }
    }
  }
  std::uint64_t n = c.start;
  for (const measurement& m : doublings) {
    SCOPED_TRACE(fmt::format("{} keys from {}: measured {:.5f} +- {:.5f}, by the bits {:.5f}", n,
                             c.start, m.mean(), m.standard_error(),
                             m.mean() * m.expected / std::max(m.found, 1.0)));
    const double noise = 6.5 * m.standard_error();
    EXPECT_LE(m.mean(), c.fpr + noise);
    EXPECT_LE(noise, c.tolerance * c.fpr) << "the test would not see a rate that is too high";
    // Bernstein: P(|found - expected| >= t) <= 2 exp(-t^2 / (2 (variance + t/3))) = 1e-9.
    const double log_chance = std::log(2 / 1e-9);
    const double t =
        log_chance / 3 + std::sqrt(log_chance * log_chance / 9 + 2 * m.variance * log_chance);
    EXPECT_NEAR(m.found, m.expected, t) << "current_fpr and sampling disagree";
    n *= 2;
  }
}

// A start from few keys leaves the filters of different seeds further apart, since small members
// keep most of the compound rate.
INSTANTIATE_TEST_SUITE_P(growth, scalable_bloom_rate,
                         testing::Values(growth_case{1, 0.01, 2, 0.5, 4096, 64, 1000, 0.15},
                                         growth_case{1, 0.01, 2, 0.5, 131'072, 16, 2000, 0.4},
                                         growth_case{1, 0.1, 4, 0.8, 4096, 64, 500, 0.15},
                                         growth_case{1000, 0.01, 2, 0.5, 128'000, 16, 5000, 0.15},
                                         growth_case{7, 0.001, 1.5, 0.9, 7168, 25, 10'000, 0.3},
                                         growth_case{64, 0.3, 10, 0.25, 4096, 50, 1000, 0.1}),
                         [](const auto& of) {
                           return fmt::format("from_{}_to_{}_rate_1_in_{:.0f}", of.param.start,
                                              of.param.most, 1 / of.param.fpr);
                         });

}  // namespace
