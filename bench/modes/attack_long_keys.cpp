// The attack by keys of more than 240 bytes, of which XXH3 makes pairs collide under a share of all
// seeds. docs/how-it-works/adversaries-experiments.md explains it.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/bloomset.hpp>
#include <span>
#include <utility>

#include "attack_rows.hpp"
#include "keys.hpp"
#include "measure.hpp"
#include "tests/support/adaptive_adversary.hpp"
#include "xxh3_attack.hpp"

namespace bench {
namespace {

using bloomset::hash_seed;
using bloomset::test::value_of;
using words = std::vector<std::string>;

/// Of 4096 hash functions, those under which a pair of long keys collides for some of the words.
/// `hash(i, key)` is the i-th function.
template <class Hash>
std::string collisions_of(std::span<const colliding_words> some, Hash&& hash) {
  std::uint64_t colliding = 0;
  for (std::uint64_t i = 0; i < 4096; ++i) {
    colliding += std::any_of(some.begin(), some.end(), [&](const colliding_words& each) {
      const std::string key = long_key({each}, i);
      std::string other = key;
      exchange(other, each, 0);
      return hash(i, key) == hash(i, other);
    });
  }
  return fmt::format("{}", colliding);
}

struct long_key_result {
  std::uint64_t queries = 0;
  double passing = 0;  ///< share of fresh keys, if words that collide were found
};
/// Finds words that collide in a filter by queries alone, and then asks for fresh keys.
long_key_result attack_one(const bloomset::any_filter& filter,
                           const std::vector<colliding_words>& likely) {
  constexpr std::uint64_t fresh = 10'000;
  long_key_result seen;
  const auto passes = [&](const std::string& key) {
    ++seen.queries;
    return filter.may_contain(key);
  };
  std::vector<bool> tried(likely.size());
  for (std::uint64_t random = 0;;) {
    // The likeliest that no positive has tried and that use each word of the key once.
    std::vector<colliding_words> now;
    std::vector<bool> used(128);
    for (std::size_t i = 0; i < likely.size(); ++i) {
      if (tried[i] || used[likely[i].first] || used[likely[i].second]) continue;
      tried[i] = used[likely[i].first] = used[likely[i].second] = true;
      now.push_back(likely[i]);
    }
    if (now.empty()) return seen;
    std::string key;
    do key = long_key(now, random += 1000);
    while (!passes(key));
    for (const colliding_words& each : now) {
      std::vector<unsigned> bits;
      for (unsigned t = 0; t < 32 && (t == 0 || !bits.empty()); ++t) {
        std::string other = key;
        exchange(other, each, t);
        if (passes(other)) bits.push_back(t);
      }
      if (bits.size() < 8) continue;
      words keys;
      for (std::uint64_t i = 1; i <= fresh && i < std::uint64_t{1} << bits.size(); ++i) {
        keys.push_back(key);
        for (std::size_t t = 0; t < bits.size(); ++t) {
          if ((i >> t & 1) != 0) exchange(keys.back(), each, bits[t]);
        }
      }
      seen.passing = share_passing(filter, keys);
      return seen;
    }
  }
}

}  // namespace

void attack_by_long_keys(std::uint64_t members) {
  const stopwatch watch;
  const std::vector<colliding_words> likely = likely_collisions();
  const auto with_seed = [](std::uint64_t i, const std::string& key) {
    return bloomset::xxh3_hasher(mixed(~i))(bloomset::bytes_of(key));
  };
  const auto with_128_bits = [](std::uint64_t i, const std::string& key) {
    const auto hash = XXH3_128bits_withSeed(key.data(), key.size(), mixed(~i));
    return std::pair(hash.low64, hash.high64);
  };
  const auto with_two_seeds = [](std::uint64_t i, const std::string& key) {
    const hash_seed seed = mixed(~i);
    const auto bytes = bloomset::bytes_of(key);
    return std::pair(bloomset::filter_hasher(seed.half(0))(bytes),
                     bloomset::filter_hasher(seed.half(1))(bytes));
  };
  const auto with_key = [](std::uint64_t i, const std::string& key) {
    return siphash(bloomset::hash_key{{mixed(i), i}}, bloomset::bytes_of(key));
  };
  const std::span first(likely.data(), 1);
  const std::span first_1000(likely.data(), 1000);
  print_row("a pair of long keys collides", "of 4096 seeds or keys",
            {"", collisions_of(first, with_seed), collisions_of(first, with_key)});
  print_row("", "with 128 bits of XXH3", {"", collisions_of(first, with_128_bits), ""});
  print_row("", "in a filter's 128 bits", {"", collisions_of(first, with_two_seeds), ""});
  print_row("one of 1000 such pairs collides", "of 4096 seeds or keys",
            {"", collisions_of(first_1000, with_seed), ""});

  // Against the public seed, and against 15 secret seeds and keys.
  const bloomset::kind_info& kind = *value_of(bloomset::find_kind("blocked_bloom"));
  const words inserted = bloomset::test::words("member", members);
  std::array<std::string, 3> fell;
  std::array<std::string, 3> queries;
  std::array<std::string, 3> passing;
  for (std::size_t column = 0; column < 3; ++column) {
    std::vector<long_key_result> found;
    std::uint64_t i = 0;
    for (; i < (column == 0 ? 1 : 15); ++i) {
      const hash_seed seed = column == 0   ? hash_seed(public_seed)
                             : column == 1 ? hash_seed(mixed(i))
                                           : bloomset::hash_key{{mixed(i), i}};
      const auto filter = bloomset::test::filter_of(
          kind, {.capacity = members, .fpr = planned_rate, .seed = seed}, inserted);
      const auto seen = attack_one(filter, likely);
      if (seen.passing > 0) found.push_back(seen);
    }
    fell[column] = fmt::format("{} of {}", found.size(), i);
    if (found.empty()) continue;
    const auto middle = found.begin() + static_cast<std::ptrdiff_t>(found.size() / 2);
    std::ranges::nth_element(found, middle, {}, &long_key_result::queries);
    queries[column] = fmt::format("{}", middle->queries);
    passing[column] = percent(std::ranges::min(found, {}, &long_key_result::passing).passing);
  }
  print_row("pairs of long keys, by queries", "filters that fell", fell);
  print_row("", "queries (median)", queries);
  print_row("", "then fresh keys that pass", passing);
  fmt::print("  words {} and {} of 1088 bytes; {} candidates; {:.1f} s\n", likely[0].first,
             likely[0].second, likely.size(), watch.seconds());
}

}  // namespace bench
