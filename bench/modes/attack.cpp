// Attacks on filters, and what they achieve against a public seed, a secret seed and a secret key.
// docs/how-it-works/adversaries-experiments.md explains them.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <bloomset/bloomset.hpp>
#include <bloomset/detail/blocked_bloom/layout.hpp>
#include <bloomset/detail/expandable/segment_address.hpp>
#include <optional>

#include "attack_rows.hpp"
#include "keys.hpp"
#include "measure.hpp"
#include "modes.hpp"
#include "tests/support/adaptive_adversary.hpp"
#include "tests/support/chosen_hashes.hpp"
#include "xxh3_attack.hpp"

namespace bench {
namespace {

using bloomset::any_filter;
using bloomset::hash64;
using bloomset::hash_seed;
using bloomset::test::value_of;
using words = std::vector<std::string>;

std::uint64_t capacity = 0;  // of each filter

// What filters are hashed with. The secrets are fixed, so that each run prints the same figures.
std::array<hash_seed, 3> targets() {
  return {public_seed, mixed(1), bloomset::hash_key{{mixed(2), mixed(3)}}};
}

template <class Value>
void print_each(std::string_view attack, std::string_view figure, Value&& value) {
  const auto seeds = targets();
  print_row(attack, figure, {value(seeds[0]), value(seeds[1]), value(seeds[2])});
}

bloomset::plan_request request(const hash_seed& seed) {
  return {.capacity = capacity, .fpr = planned_rate, .seed = seed};
}
any_filter empty_filter(std::string_view kind, const bloomset::plan_request& request) {
  return value_of(value_of(bloomset::find_kind(kind))->create(request));
}
const words& members() {
  static const words all = bloomset::test::words("member", capacity);
  return all;
}
any_filter full_filter(std::string_view kind, const hash_seed& seed) {
  return bloomset::test::filter_of(*value_of(bloomset::find_kind(kind)), request(seed), members());
}

/// The eight bytes of the key that has this hash under the public seed.
std::string key_of(hash64 h) {
  const std::uint64_t integer = integer_of(h, public_seed);
  return {reinterpret_cast<const char*>(&integer), sizeof integer};
}
bool insert(any_filter& filter, std::string_view key) {
  const auto done = filter.insert(std::span(&key, 1));
  return done && done->done == 1;
}
double rate_of(const any_filter& filter) {
  words keys;
  for (std::uint64_t i = 0; i < 10 * capacity; ++i) keys.push_back(bloomset::test::word("new", i));
  return share_passing(filter, keys);
}

/// The first non-members that pass, at most `count` of at most `queries`.
words positives(const any_filter& filter, std::size_t count, std::uint64_t queries) {
  words found;
  for (std::uint64_t i = 0; found.size() < count && i < queries; ++i) {
    std::string key = bloomset::test::word("asked", i);
    if (filter.may_contain(key)) found.push_back(std::move(key));
  }
  return found;
}

// 1. Search without a query: in a copy of the filter that has the public seed.
void search() {
  const any_filter model = full_filter("blocked_bloom", public_seed);
  const stopwatch watch;
  const words found = positives(model, 1000, ~std::uint64_t{0});
  const double seconds = watch.seconds();
  print_each("search without a query", "found keys that pass", [&](const hash_seed& seed) {
    return percent(share_passing(full_filter("blocked_bloom", seed), found));
  });
  fmt::print("  1000 keys were found in {:.3f} s\n", seconds);
}

// 2. Positives that were found by queries, asked again.
void replay() {
  print_each("positives found by queries", "queries for each", [](const hash_seed& seed) {
    return fmt::format(
        "{:.0f}",
        100'000.0 / static_cast<double>(
                        positives(full_filter("blocked_bloom", seed), capacity, capacity).size()));
  });
  print_each("", "pass when asked again", [](const hash_seed& seed) {
    const any_filter filter = full_filter("blocked_bloom", seed);
    return percent(share_passing(filter, positives(filter, capacity, capacity)));
  });
}

// 3. Inserts of keys that raise the rate.
/// The bits that an insert of this hash sets.
std::uint64_t harm(const bloomset::bloom& filter, hash64 h) {
  std::uint64_t count = 0;
  for (unsigned i = 0; i < filter.params().hashes; ++i) {
    const auto at = filter.probe().position(h, i, filter.params().bits);
    count += !bloomset::detail::test_bit(filter.bits().data(), at);
  }
  return count;
}
std::uint64_t harm(const bloomset::blocked_bloom& filter, hash64 h) {
  std::uint64_t count = 0;
  bloomset::detail::with_layout(filter.params().layout, [&](auto layout) {
    const auto block = layout.block_of(h, filter.params().blocks) * layout.block_bytes;
    layout.for_words(h, filter.params().hashes, [&](std::uint64_t word, std::uint64_t bits) {
      const std::byte* const at = filter.bits().data() + block + 8 * word;
      count +=
          static_cast<unsigned>(std::popcount(bits & ~bloomset::detail::load<std::uint64_t>(at)));
    });
  });
  return count;
}
std::uint64_t harm(const bloomset::scalable_bloom& filter, hash64 h) {
  return filter.may_contain(h) ? 0 : harm(filter.members().back(), h);
}
/// An entry with fewer bits matches more hashes.
std::uint64_t harm(const bloomset::expandable& filter, hash64 h) {
  if (filter.may_contain(h)) return 0;
  const auto at = bloomset::detail::place_of(filter.params(), h);
  return 64 - bloomset::detail::level_of(filter.params(), at.segment) - at.slot_bits;
}
/// Of 256 hashes each the one that does the most harm.
template <class Filter>
words polluting_keys(const typename Filter::spec_type& spec = {.capacity = capacity,
                                                               .fpr = planned_rate}) {
  Filter model(spec);
  words keys;
  for (std::uint64_t i = 0; keys.size() < capacity; i += 256) {
    hash64 best = {};
    std::uint64_t most = 0;
    for (std::uint64_t j = 0; j < 256; ++j) {
      const hash64 h = non_member(i + j);
      if (const std::uint64_t count = harm(model, h); count > most) {
        most = count;
        best = h;
      }
    }
    model.insert(best);
    keys.push_back(key_of(best));
  }
  return keys;
}
void pollution() {
  const auto print = [](std::string_view name, std::string_view kind, const words& keys,
                        const bloomset::plan_request& asked) {
    std::array<std::string, 3> sizes;
    std::size_t column = 0;
    print_each(fmt::format("n chosen inserts, {}", name), "rate (planned 1%)",
               [&](const hash_seed& seed) {
                 auto plan = asked;
                 plan.seed = seed;
                 any_filter filter = empty_filter(kind, plan);
                 for (const auto& key : keys) insert(filter, key);
                 sizes.at(column++) =
                     fmt::format("{:.1f}", 8 * static_cast<double>(filter.size_in_bytes()) /
                                               static_cast<double>(capacity));
                 return percent(rate_of(filter));
               });
    if (value_of(bloomset::find_kind(kind))->can.grow) print_row("", "bits per key", sizes);
  };
  const words keys = polluting_keys<bloomset::bloom>();
  print("bloom", "bloom", keys, request(public_seed));
  print("counting_bloom", "counting_bloom", keys, request(public_seed));
  print("blocked_bloom", "blocked_bloom", polluting_keys<bloomset::blocked_bloom>(),
        request(public_seed));
  // Both grow from 1000 keys. The second row's filter need not grow.
  constexpr std::uint64_t first = 1000;
  print("scalable_bloom", "scalable_bloom",
        polluting_keys<bloomset::scalable_bloom>({.capacity = first, .fpr = planned_rate}),
        {.capacity = first, .fpr = planned_rate});
  print("expandable", "expandable",
        polluting_keys<bloomset::expandable>({.capacity = first, .fpr = planned_rate}),
        {.capacity = first, .fpr = planned_rate});
  print("expandable, growth 1", "expandable",
        polluting_keys<bloomset::expandable>(
            {.capacity = capacity, .fpr = planned_rate, .growth = 1}),
        {.capacity = capacity, .fpr = planned_rate, .options = {{"growth", "1"}}});
  print_each("inserts of keys that fail, bloom", "rate (planned 1%)", [](const auto& seed) {
    any_filter filter = empty_filter("bloom", request(seed));
    for (std::uint64_t i = 0, done = 0; done < capacity; ++i) {
      const std::string key = bloomset::test::word("chosen", i);
      if (filter.may_contain(key)) continue;
      insert(filter, key);
      ++done;
    }
    return percent(rate_of(filter));
  });
}

// 4. Inserts of keys of the same places.
/// Keys whose two buckets or blocks are among the first `places`.
template <class Filter>
words crowding_keys(std::uint64_t places, std::size_t count) {
  const Filter model({.capacity = capacity, .fpr = planned_rate, .seed = public_seed});
  words keys;
  for (std::uint64_t i = 0; keys.size() < count; ++i) {
    const hash64 h = non_member(i);
    const auto at = model.place(h);
    if (at.first < places && at.second < places) keys.push_back(key_of(h));
  }
  return keys;
}
void flooding() {
  const auto print = [](std::string_view kind, const words& chosen) {
    print_each(fmt::format("{} crowded keys, {}", chosen.size(), kind), "inserted before a refusal",
               [&](const hash_seed& seed) {
                 any_filter filter = empty_filter(kind, request(seed));
                 std::size_t done = 0;
                 while (done < chosen.size() && insert(filter, chosen[done])) ++done;
                 return fmt::format("{}", done);
               });
  };
  words shifted;
  for (std::uint64_t i = 0; i < capacity; ++i) shifted.push_back(key_of({i << 44}));
  print("expandable", shifted);
  print("vector_quotient", crowding_keys<bloomset::vector_quotient>(128, 10'000));
  print("cuckoo", crowding_keys<bloomset::cuckoo>(64, 400));
  // Keys of 64 entries, of which each is there three times; further copies are counted.
  words copies;
  for (std::uint64_t i = 0; i < capacity; ++i) copies.push_back(key_of({i << 44 | (i % 64)}));
  print_each(fmt::format("{} keys of 64 entries, expandable", capacity), "bytes for each",
             [&](const hash_seed& seed) {
               any_filter filter = full_filter("expandable", seed);
               const std::uint64_t before = filter.size_in_bytes();
               std::uint64_t done = 0;
               for (const auto& key : copies) done += insert(filter, key);
               return fmt::format("{:.1f}", static_cast<double>(filter.size_in_bytes() - before) /
                                                static_cast<double>(done));
             });
}

// 5. Builds from chosen keys.
words keys_of(const std::vector<hash64>& hashes) {
  words keys;
  for (const hash64 h : hashes) keys.push_back(key_of(h));
  return keys;
}
/// Builds a filter of `size` keys that begin with `chosen`, if that succeeds, and sets its time.
std::optional<any_filter> build(std::string_view kind, const words& chosen, std::uint64_t size,
                                const hash_seed& seed, double& seconds) {
  const bloomset::filter_hasher hash(seed);
  std::vector<hash64> hashes;
  for (const auto& key : chosen) hashes.push_back(hash(bloomset::bytes_of(key)));
  for (std::uint64_t i = 0; hashes.size() < size; ++i) {
    hashes.push_back(hash(bloomset::bytes_of(members()[i])));
  }
  const stopwatch watch;
  auto built =
      value_of(bloomset::find_kind(kind))->build(request(seed), bloomset::hash_source::of(hashes));
  seconds = watch.seconds();
  return built ? std::optional(std::move(*built)) : std::nullopt;
}
void builds() {
  const auto print = [](std::string_view kind, std::string_view what, const words& chosen,
                        std::uint64_t size) {
    std::array<std::string, 3> times;
    std::size_t column = 0;
    print_each(fmt::format("{} of {} {}, {}", chosen.size(), size, what, kind), "bits per key",
               [&](const hash_seed& seed) {
                 double seconds = 0;
                 const auto built = build(kind, chosen, size, seed, seconds);
                 times.at(column++) = fmt::format("{:.1f}", 1000 * seconds);
                 return built ? fmt::format("{:.2f}",
                                            8 * static_cast<double>(built->size_in_bytes()) /
                                                static_cast<double>(size))
                              : std::string("fails");
               });
    print_row("", "ms of the build", times);
  };
  print("fuse", "chosen", keys_of(bloomset::test::unpeelable_hashes(public_seed)), capacity);
  // At both levels that bump keys of 100,000, hashes with this many zero bits are in the first
  // bucket.
  const auto unsolvable = [](std::vector<unsigned> zeros) {
    return keys_of(bloomset::test::unsolvable_hashes(public_seed, zeros));
  };
  print("ribbon", "chosen", unsolvable({}), 1000);
  const stopwatch watch;
  const words of_all_levels = unsolvable({10, 6});
  fmt::print("  the next were found in {:.1f} s\n", watch.seconds());
  print("ribbon", "chosen", of_all_levels, capacity);
  for (const unsigned levels : {1U, 2U}) {
    print("ribbon", fmt::format("crowd level{}", levels == 1 ? " 1" : "s 1, 2"),
          keys_of(bloomset::test::crowding_hashes(public_seed, capacity, planned_rate, levels)),
          capacity);
  }
  // The first 16 bits choose the shard, and nearly the place in it.
  words alike;
  for (std::uint64_t i = 0; i < 10 * capacity; ++i) alike.push_back(key_of({mixed(i) >> 16}));
  for (const std::string_view kind : {"fuse", "ribbon"}) print(kind, "alike", alike, alike.size());
}

// 6. Erases of non-members that pass.
void erases() {
  for (const std::string_view kind :
       {"cuckoo", "vector_quotient", "expandable", "counting_bloom"}) {
    const words known = positives(full_filter(kind, public_seed), 1000, ~std::uint64_t{0});
    const auto print = [&](const char* who, const auto& keys_for) {
      print_each(
          fmt::format("1000 erases {}, {}", who, kind), "members lost", [&](const hash_seed& seed) {
            any_filter filter = full_filter(kind, seed);
            for (const std::string& key : keys_for(filter)) {
              bool erased = false;
              const std::string_view view = key;
              value_of(filter.erase(std::span(&view, 1), std::span(&erased, 1)));
            }
            const double kept = share_passing(filter, members()) * static_cast<double>(capacity);
            return fmt::format("{:.0f}", static_cast<double>(capacity) - kept);
          });
    };
    print("by search", [&](const any_filter&) { return known; });
    print("by queries",
          [](const any_filter& filter) { return positives(filter, 1000, ~std::uint64_t{0}); });
  }
}

// 7. An adversary who sees all answers, against filters with a secret key.
void adapt(std::uint64_t steps) {
  fmt::print("\n{} steps of an adversary who sees answers, against each kind with a secret key\n",
             steps);
  fmt::print("{:<16} {:>10} {:>8} {:>12} {:>10} {:>10} {:>8} {:>8}\n", "kind", "new keys", "passed",
             "pass again", "inserts", "erases", "refused", "lost");
  for (const bloomset::kind_info& kind : bloomset::kinds()) {
    const auto seen = bloomset::test::attack_keyed(kind, steps, 1);
    fmt::print("{:<16} {:>10} {:>8} {:>12} {:>10} {:>10} {:>8} {:>8}\n", kind.name, seen.asked,
               percent(seen.rate()),
               percent(static_cast<double>(seen.still) /
                       static_cast<double>(std::max<std::uint64_t>(seen.repeated, 1))),
               seen.inserted, seen.erased, seen.refused, seen.lost + seen.not_erased);
    std::fflush(stdout);
  }
}

}  // namespace

void attack(std::uint64_t members_of_each, std::uint64_t steps) {
  capacity = members_of_each;
  fmt::print("filters of {} keys at {}\n", capacity, percent(planned_rate));
  print_row("", "", {"XXH3, seed 0", "secret seed", "secret key"});
  search();
  replay();
  pollution();
  flooding();
  builds();
  erases();
  attack_by_long_keys(capacity);
  adapt(steps);
}

}  // namespace bench
