// Strings of 20 bytes, each in memory of its own, hashing included: blocked_bloom and Boost.Bloom,
// both by XXH3.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "keys.hpp"
#include "measure.hpp"
#include "modes.hpp"
#include "peers/peers.hpp"
#include "strings.hpp"

namespace bench {
namespace {

constexpr std::size_t string_length = 20;

class fixed_strings {
 public:
  fixed_strings(std::uint64_t first, std::size_t count, bool shuffled) {
    for (std::size_t i = 0; i < count; ++i) texts_.push_back(fmt::format("{:020}", first + i));
    views_.assign(texts_.begin(), texts_.end());
    if (shuffled) std::shuffle(views_.begin(), views_.end(), std::mt19937_64(first));
  }
  string_views all() const noexcept { return views_; }

 private:
  std::vector<std::string> texts_;
  std::vector<std::string_view> views_;
};

struct timed_strings {
  std::string name;
  bool is_ours;
  std::unique_ptr<string_subject> filter;
  times build, batch, single;
};

/// The median of the fastest peer in seconds, or 0 without peers.
double fastest_peer(const std::vector<timed_strings>& rows, times timed_strings::* what) {
  double least = 0;
  for (const timed_strings& r : rows) {
    const double median = (r.*what).median();
    if (!r.is_ours && (least == 0 || median < least)) least = median;
  }
  return least;
}

/// One table: strings in the order of their allocation, which lie side by side, or shuffled.
void time_order(std::uint64_t n, unsigned runs, bool shuffled) {
  std::vector<timed_strings> rows;
  rows.push_back({"blocked_bloom", true, std::make_unique<our_strings>(false), {}, {}, {}});
  rows.push_back(
      {"blocked_bloom, distinct keys", true, std::make_unique<our_strings>(true), {}, {}, {}});
  rows.push_back({"blocked_bloom, for this CPU", true, our_native_strings(), {}, {}, {}});
#ifdef BLOOMSET_BENCH_BOOST
  for (auto* make : {boost_string_peers, boost_native_string_peers}) {
    for (auto& [name, filter] : make(n, 0.01))
      rows.push_back({name, false, std::move(filter), {}, {}, {}});
  }
#endif
  const fixed_strings members(0, n, shuffled);
  const fixed_strings others(n, n, shuffled);
  const flags answers = make_flags(n);
  for (unsigned run = 0; run < runs; ++run) {
    for (timed_strings& r : rows) {
      const stopwatch building;
      r.filter->build(members.all());
      r.build.add(building.seconds(), n);
      if (r.filter->ask_each(members.all()) != n) {
        throw std::runtime_error(r.name + " denies a member");
      }
      const stopwatch batch;
      r.filter->ask_batch(others.all(), answers.get());
      r.batch.add(batch.seconds(), n);
      const stopwatch single;
      keep(r.filter->ask_each(others.all()));
      r.single.add(single.seconds(), n);
    }
  }
  fmt::print(
      "ns per string of {} bytes, {} strings in {}, medians of {} runs; absent strings are "
      "queried\n{:<60} {:>6} {:>6} {:>6}\n",
      string_length, n, shuffled ? "random order" : "the order of their memory", runs, "", "build",
      "batch", "single");
  constexpr std::array columns = {&timed_strings::build, &timed_strings::batch,
                                  &timed_strings::single};
  for (const timed_strings& r : rows) {
    fmt::print("{:<60}", r.name);
    for (const auto what : columns) fmt::print(" {:>6.2f}", (r.*what).median() * 1e9);
    fmt::print("\n");
  }
  for (const timed_strings& r : rows) {
    if (!r.is_ours || fastest_peer(rows, columns[0]) == 0) continue;
    fmt::print("{:<60}", r.name + ", of the fastest peer's time");
    for (const auto what : columns) {
      fmt::print(" {:>5.2f}x", (r.*what).median() / fastest_peer(rows, what));
    }
    fmt::print("\n");
  }
}

}  // namespace

void time_strings(std::uint64_t n, unsigned runs) {
  for (const bool shuffled : {false, true}) time_order(n, runs, shuffled);
}

}  // namespace bench
