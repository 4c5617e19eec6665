#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record.hpp"
#include "subject.hpp"

namespace bench {

struct comparison {
  std::vector<std::uint64_t> sizes;
  std::vector<double> rates;
  std::vector<unsigned> threads;
  unsigned runs = 5;
  double cell_seconds = 1;   ///< a query's cell is measured no further once it took so long
  double build_seconds = 4;  ///< and a build's
  std::uint64_t rate_keys = 10'000'000;  ///< non-members by which the rate is measured
  std::uint64_t least = 1 << 20;         ///< asked in one run in the caches, by going round
  std::uint64_t questions = 0;    ///< asked in one run of single and batch, beyond the caches
  std::uint64_t bulk = 0;         ///< asked in one call, where the filter is beyond the caches
  std::uint64_t batch = 1024;     ///< keys a call
  std::vector<std::string> only;  ///< of the subjects' names, those that contain one of these
};

/// Measures all subjects at all sizes and rates, one after the other within each run, so that what
/// else happens on the machine meets all alike. Gives a record a subject, size and rate to `write`.
/// Throws std::runtime_error when a filter denies a member or its batch contradicts its single
/// answers.
void compare(const comparison& how, const entries& all, const sink& write);

/// Batches of several sizes at one size and rate: the default filter, the line limits and the peers
/// whose batches can be of any size, asked for non-members by one thread.
void compare_batches(std::uint64_t n, double fpr, unsigned runs, const entries& all,
                     const sink& write);

}  // namespace bench
