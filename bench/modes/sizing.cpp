// The ways to build a filter of a file of lines whose number is not known, by the command line.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/any_filter.hpp>

#include "keys.hpp"
#include "measure.hpp"
#include "modes.hpp"
#include "process.hpp"

namespace bench {
namespace {

constexpr std::uint64_t non_members = 1 << 20;

/// A way to make the file `output` from the lines of `input`.
struct way {
  std::string name;
  double bound = 0;  ///< for folds: the first capacity, in multiples of the number of keys
  std::vector<std::string> options;
};

/// A fold by 2.9 can only be by 2, which leaves 1.45 times the bits: bounds just below a whole
/// number are the worst.
const std::vector<way>& ways() {
  static const std::vector<way> all = {
      {"number of keys given", 1, {}},
      {"counted first", 0, {}},
      {"fold from 2.9 times the keys", 2.9, {"--with", "foldable=yes"}},
      {"fold from 19.9 times the keys", 19.9, {"--with", "foldable=yes"}},
      {"fold from 99.9 times the keys", 99.9, {"--with", "foldable=yes"}},
      {"expandable, begun for 64 keys", 0, {"--kind", "expandable", "--capacity", "64"}}};
  return all;
}

finished make(const way& how, const std::string& program, std::uint64_t n,
              const scratch_folder& scratch) {
  const bool folds = how.bound > 1;
  std::vector<std::string> line = {program,   "build", "-q",
                                   "--force", "-o",    scratch.file(folds ? "large" : "filter"),
                                   "--fpr",   "1%"};
  line.insert(line.end(), how.options.begin(), how.options.end());
  if (how.bound != 0) {
    line.insert(line.end(),
                {"--capacity", fmt::format("{:.0f}", how.bound * static_cast<double>(n))});
  }
  line.push_back(scratch.file("lines"));
  finished done = run_program(line);
  if (folds) {
    const finished fold = run_program(
        {program, "fold", "-q", "--force", "-o", scratch.file("filter"), scratch.file("large")});
    done.seconds += fold.seconds;
    done.peak = std::max(done.peak, fold.peak);
  }
  return done;
}

/// The share of non-members that pass.
double passing_share(const bloomset::any_filter& filter) {
  constexpr std::uint64_t batch = 4096;
  std::array<bool, batch> answers{};
  std::uint64_t passed = 0;
  for (std::uint64_t first = 0; first < non_members; first += batch) {
    const urls asked(strange_urls + first, batch);
    filter.may_contain(asked.all(), answers);
    passed += static_cast<std::uint64_t>(std::ranges::count(answers, true));
  }
  return static_cast<double>(passed) / static_cast<double>(non_members);
}

}  // namespace

void compare_sizing(const std::string& program, std::uint64_t n, unsigned runs,
                    const std::string& folder, const sink& write) {
  const scratch_folder scratch(folder);
  write_urls(scratch.file("lines"), n);
  std::vector<times> taken(ways().size());
  std::vector<std::uint64_t> peaks(ways().size());
  for (unsigned run = 0; run < runs; ++run) {
    for (std::size_t i = 0; i < ways().size(); ++i) {
      const way& how = ways()[i];
      // 10 bits per key, and as much again for the file in the page cache.
      if (how.bound * static_cast<double>(n) * 2.5 > static_cast<double>(memory_left())) continue;
      fmt::print(stderr, "{} keys, run {} of {}: {}\n", n, run + 1, runs, how.name);
      const finished done = make(how, program, n, scratch);
      taken[i].add(done.seconds, n);
      peaks[i] = std::max(peaks[i], done.peak);
      if (run + 1 != runs) continue;
      const auto filter = bloomset::open(scratch.file("filter")).value();
      nlohmann::json j = figures(taken[i]);
      j.update({{"record", "sizing"},
                {"name", how.name},
                {"n", n},
                {"bits", filter.info().plan.bits},
                {"peak", peaks[i]},
                {"rate", passing_share(filter)}});
      write(j);
    }
  }
}

}  // namespace bench
