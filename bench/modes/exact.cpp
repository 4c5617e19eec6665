// Exact filters of members in universes of several sizes: size beside the least possible, time of a
// build, and queries. Each key of the universe is queried, and a wrong answer ends the program.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/exact.hpp>
#include <bloomset/plan/units.hpp>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "../keys.hpp"
#include "../measure.hpp"
#include "../modes.hpp"

namespace bench {
namespace {

using namespace bloomset;

constexpr std::size_t exact_batch = 4096;

/// Median seconds per key of batches. Throws if an answer is not `expected`.
double time_answers(const exact& filter, std::span<const hash64> hashes, bool expected,
                    unsigned runs) {
  times taken;
  std::array<bool, exact_batch> answers;
  for (unsigned run = 0; run < runs; ++run) {
    std::size_t members = 0;
    const stopwatch watch;
    for (std::size_t at = 0; at < hashes.size(); at += exact_batch) {
      const auto some = hashes.subspan(at, std::min(exact_batch, hashes.size() - at));
      filter.may_contain(some, answers);
      members += static_cast<std::size_t>(std::count(
          answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(some.size()), true));
    }
    taken.add(watch.seconds(), hashes.size());
    if (members != (expected ? hashes.size() : 0)) {
      throw std::runtime_error("an exact filter answered a key of its universe wrongly");
    }
  }
  return taken.median();
}

}  // namespace

void time_exact(std::uint64_t members, std::uint64_t universe, unsigned runs) {
  fmt::print("{:<10} {:>8} {:>10} {:>8} {:>12} {:>14} {:>12}\n", "members", "|S|/|R|", "bits/key",
             "ratio", "build, s", "other key, ns", "member, ns");
  for (const std::uint64_t ratio : {2, 10, 100, 1000}) {
    const std::uint64_t count = std::min(members, universe / ratio);
    std::vector<hash64> all;
    for (std::uint64_t i = 0; i < count * (ratio + 1); ++i) all.push_back(member(i));
    const auto own = std::span<const hash64>(all).first(count);
    const auto others = std::span<const hash64>(all).subspan(count);
    const stopwatch watch;
    const exact filter = exact::build({}, own, others).value();
    const double build = watch.seconds();
    const exact_plan least = plan_exact({.capacity = count, .universe = all.size()}).value();
    const double bits = 8 * static_cast<double>(filter.size_in_bytes());
    fmt::print("{:<10} {:>8} {:>10.3f} {:>8.3f} {:>12.2f} {:>14.1f} {:>12.1f}\n",
               format_count(count), ratio, bits / static_cast<double>(count),
               bits / least.information_bits, build,
               1e9 * time_answers(filter, others, false, runs),
               1e9 * time_answers(filter, own, true, runs));
  }
}

}  // namespace bench
