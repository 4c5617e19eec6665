// Calibration of blocked_bloom's prefetching on this CPU: from which size of filter on it pays and
// how far ahead it is fastest, beside what the library does (bloomset::detail::keys_ahead).

#include <fmt/format.h>

#include <array>
#include <bloomset/blocked_bloom.hpp>
#include <bloomset/plan/units.hpp>
#include <map>
#include <vector>

#include "cpu/dispatch.hpp"
#include "keys.hpp"
#include "measure.hpp"
#include "modes.hpp"

namespace bench {
namespace {

namespace detail = bloomset::detail;

constexpr std::array<std::size_t, 4> batches = {8, 32, 100, 1024};
constexpr std::array<unsigned, 8> distances = {0, 8, 16, 32, 48, 64, 96, 128};
constexpr std::size_t large = std::size_t{1} << 27;

/// Nanoseconds per key, by distance; by the library's rule at its own distance.
std::map<unsigned, double> measure(const detail::block_array& array, std::size_t batch,
                                   unsigned runs) {
  const auto kernel = detail::chosen_kernels<detail::layout_kernels>().split_512.may_contain;
  std::vector<bloomset::hash64> asked(array.size() < large ? 1U << 16 : 1U << 19);
  const flags answers = make_flags(asked.size());
  std::map<unsigned, times> taken;
  for (const unsigned ahead : distances) taken[ahead];
  taken[detail::keys_ahead(array, batch)];
  for (unsigned run = 0; run < runs; ++run) {
    for (auto& [ahead, all] : taken) {
      fill_questions(asked, {}, 0, run * 1000 + ahead);
      const stopwatch watch;
      for (std::size_t at = 0; at + batch <= asked.size(); at += batch) {
        kernel(array, {asked.data() + at, batch}, answers.get() + at, ahead);
      }
      keep(answers[0]);
      all.add(watch.seconds(), asked.size());
    }
  }
  std::map<unsigned, double> medians;
  for (const auto& [ahead, all] : taken) medians[ahead] = all.median() * 1e9;
  return medians;
}

}  // namespace

void tune(unsigned runs) {
  const std::size_t cache = detail::second_level_cache;
  fmt::print("kernel {}, second-level cache {}: the library does not prefetch up to this size\n",
             name_of(detail::chosen_instruction_set()), bloomset::format_bytes(cache));
  fmt::print("ns per key\n{:>10} {:>6} {:>6} {:>16} {:>16}\n", "filter", "batch", "plain",
             "best (ahead)", "library (ahead)");
  std::size_t pays_from = 0;
  for (const std::size_t bytes :
       {cache / 8, cache / 2, cache / 4 * 3, cache, cache / 2 * 3, cache * 2, cache * 4, large}) {
    auto memory = bloomset::owned_storage::make(bytes / 64 * 64).value();
    const detail::block_array array{memory.writable_bytes().data(), bytes / 64,
                                    bloomset::block_layout::split_512, 8};
    detail::fill_zero(memory.writable_bytes());
    for (const std::size_t batch : batches) {
      const auto taken = measure(array, batch, runs);
      const unsigned ours = detail::keys_ahead(array, batch);
      auto best = std::next(taken.begin());
      for (auto at = best; at != taken.end(); ++at) best = at->second < best->second ? at : best;
      fmt::print("{:>10} {:>6} {:>6.2f} {:>10.2f} ({:>3}) {:>10.2f} ({:>3})\n",
                 bloomset::format_bytes(bytes), batch, taken.at(0), best->second, best->first,
                 taken.at(ours), ours);
      if (batch != batches.back()) continue;
      if (best->second >= taken.at(0))
        pays_from = 0;
      else if (pays_from == 0)
        pays_from = bytes;
    }
  }
  if (pays_from != 0) {
    fmt::print("prefetching pays in batches of {} from {} on\n", batches.back(),
               bloomset::format_bytes(pays_from));
  }
}

}  // namespace bench
