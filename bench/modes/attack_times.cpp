// Whether the time of a query tells more than the filter should: an adversary who measures times.
// docs/how-it-works/adversaries-experiments.md explains it.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/bloomset.hpp>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "keys.hpp"
#include "modes.hpp"
#include "tests/support/adaptive_adversary.hpp"

namespace bench {
namespace {

using bloomset::any_filter;
using bloomset::hash_seed;
using bloomset::test::value_of;
using words = std::vector<std::string>;

// The program makes at most 200 comparisons. Without a difference, one of them is beyond this many
// standard deviations with a probability below 10^-7.
constexpr double significant = 6.5;

/// Keys of 12 bytes, so that neither length nor place in memory differs. Streams are disjoint.
words timed_words(std::uint64_t stream, std::uint64_t n) {
  words keys;
  for (std::uint64_t i = 0; i < n; ++i) {
    keys.push_back(fmt::format("{:012x}", mixed(stream << 40 | i) >> 16));
  }
  return keys;
}

/// The nanoseconds of a query of each key: the least of several, which are made in random order.
template <class Query>
std::vector<double> times_of(const words& keys, Query&& query) {
  using clock = std::chrono::steady_clock;
  std::vector<double> least(keys.size(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937_64 random(1);
  for (int round = 0; round < 15; ++round) {
    std::ranges::shuffle(order, random);
    for (const std::size_t i : order) {
      const std::string key = keys[i];  // in the cache, whose key it may be
      const auto begin = clock::now();
      query(key);
      const auto end = clock::now();
      least[i] = std::min(least[i], std::chrono::duration<double, std::nano>(end - begin).count());
    }
  }
  return least;
}
template <class Filter>
auto single_query(const Filter& filter) {
  return [&](std::string_view key) {
    const volatile bool answer = filter.may_contain(key);
    static_cast<void>(answer);
  };
}

/// The probability that the time of one of the first is the longer one, plus half of that of equal
/// times, and whether it differs from 1/2 by more than chance (Mann and Whitney's test).
std::string longer(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<std::pair<double, bool>> all;
  for (const double time : first) all.emplace_back(time, true);
  for (const double time : second) all.emplace_back(time, false);
  std::ranges::sort(all);
  double sum = 0;  // over the first, of the second that are shorter
  double shorter = 0;
  for (auto at = all.begin(); at != all.end();) {
    const auto end =
        std::find_if(at, all.end(), [&](const auto& each) { return each.first != at->first; });
    const auto ours =
        static_cast<double>(std::count_if(at, end, [](const auto& each) { return each.second; }));
    const double others = static_cast<double>(end - at) - ours;
    sum += ours * (shorter + others / 2);
    shorter += others;
    at = end;
  }
  const auto n = static_cast<double>(first.size());
  const auto m = static_cast<double>(second.size());
  const double share = sum / (n * m);
  const double deviation = std::sqrt((n + m + 1) / (12 * n * m));
  const bool differs = std::abs(share - 0.5) > significant * deviation;
  return fmt::format("{:.1f}%{}", 100 * share, differs ? "*" : " ");
}

/// Sets of keys, of which all are measured together, and the times of each.
template <class Query>
std::vector<std::vector<double>> times_of_sets(const std::vector<words>& sets, Query&& query) {
  words all;
  for (const words& each : sets) all.insert(all.end(), each.begin(), each.end());
  const std::vector<double> times = times_of(all, query);
  std::vector<std::vector<double>> of_sets;
  auto at = times.begin();
  for (const words& each : sets) {
    const auto end = at + static_cast<std::ptrdiff_t>(each.size());
    of_sets.emplace_back(at, end);
    at = end;
  }
  return of_sets;
}

double median_of(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

void time_kind(const bloomset::kind_info& kind, std::uint64_t n, const hash_seed& seed,
               const char* name) {
  bloomset::plan_request request{.capacity = n, .fpr = 0.01, .seed = seed};
  // A filter that grows has begun small.
  if (kind.can.grow) request.capacity = 1000;
  const words members = timed_words(1, n);
  const any_filter filter = bloomset::test::filter_of(kind, request, members);
  const auto size = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(n, 10'000));
  const words oldest(members.begin(), members.begin() + size);
  const words newest(members.end() - size, members.end());
  std::array<words, 2> absent;
  words positives;
  for (const std::string& key : timed_words(2, 1'000'000)) {
    if (filter.may_contain(key)) {
      positives.push_back(key);
    } else if (std::ssize(absent[1]) < size) {
      absent.at(std::ssize(absent[0]) == size).push_back(key);
    }
  }
  const auto times =
      times_of_sets({oldest, newest, absent[0], absent[1], positives}, single_query(filter));
  fmt::print("{:<16} {:<12} {:>6.0f} {:>8.0f} {:>9} {:>9} {:>9} {:>9}", kind.name, name,
             median_of(times[1]), median_of(times[2]), longer(times[2], times[3]),
             longer(times[1], times[2]), longer(times[1], times[4]), longer(times[0], times[1]));
  // Batches of one key and of other non-members, always the same, and of copies of one key.
  const words others = timed_words(3, 100);
  std::vector<std::string_view> batch(others.begin(), others.end());
  std::array<bool, 100> answers{};
  for (const std::size_t copies : {std::size_t{1}, batch.size()}) {
    const auto batch_times =
        times_of_sets({newest, absent[0], absent[1]}, [&](std::string_view key) {
          std::fill_n(batch.begin() + (copies == 1 ? 50 : 0), copies, key);
          filter.may_contain(batch, answers);
        });
    fmt::print(" {:>8.0f} {:>9} {:>9}", median_of(batch_times[1]),
               longer(batch_times[1], batch_times[2]), longer(batch_times[0], batch_times[1]));
  }
  fmt::print("\n");
  std::fflush(stdout);
}

/// In bloom, the time of a non-member tells which of its bits is the first that is not set.
void time_bits(std::uint64_t n, const hash_seed& seed, const char* name) {
  bloomset::bloom bits({.capacity = n, .fpr = 0.01, .seed = seed});
  for (const std::string& key : timed_words(1, n)) bits.insert(key);
  std::vector<words> sets(4);  // by the first bit that is not set
  for (std::string& key : timed_words(2, 100'000)) {
    const auto h = bits.hash_function()(bloomset::bytes_of(key));
    unsigned first = 0;
    while (first < bits.params().hashes &&
           bloomset::detail::test_bit(bits.bits().data(),
                                      bits.probe().position(h, first, bits.params().bits))) {
      ++first;
    }
    if (first < sets.size() && sets[first].size() < 10'000) sets[first].push_back(std::move(key));
  }
  const auto times = times_of_sets(sets, single_query(bits));
  fmt::print(
      "bloom, {}: the second bit is the first that is not set, against the first: {}, the "
      "third: {}, the fourth: {}\n",
      name, longer(times[1], times[0]), longer(times[2], times[0]), longer(times[3], times[0]));
}

}  // namespace

void attack_by_times(std::uint64_t n) {
  fmt::print("filters of {} keys at 1%\n", n);
  fmt::print("{:<16} {:<12} {:>15} {:^39} {:^28} {:^28}\n", "", "", "ns, median",
             "is the longer one", "one of a batch of 100", "batch of 100 copies");
  fmt::print(
      "{:<16} {:<12} {:>6} {:>8} {:>9} {:>9} {:>9} {:>9} {:>8} {:>9} {:>9} {:>8} {:>9} {:>9}\n",
      "kind", "hash", "member", "absent", "control", "member", "member", "oldest", "ns", "control",
      "member", "ns", "control", "member");
  const std::array<std::pair<hash_seed, const char*>, 2> targets = {
      {{hash_seed(0), "XXH3"},
       {hash_seed(bloomset::hash_key{{mixed(2), mixed(3)}}), "secret key"}}};
  for (const bloomset::kind_info& kind : bloomset::kinds()) {
    for (const auto& [seed, name] : targets) time_kind(kind, n, seed, name);
  }
  for (const auto& [seed, name] : targets) time_bits(n, seed, name);
  fmt::print("*: more than {} standard deviations from 50%\n", significant);
}

}  // namespace bench
