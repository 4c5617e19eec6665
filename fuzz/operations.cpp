// Bytes as a sequence of operations on a filter in lockstep with a real multiset: the end of the
// program at the first false negative, count that is too low, or refusal that changed something.
// FILTER is the type. Byte 0 is the capacity, byte 1 the rate, byte 2 the seed; then three bytes an
// operation (tests/lockstep.hpp, apply).

#include <array>
#include <bloomery/bloomery.hpp>
#include <bloomery/detail/core/precondition.hpp>
#include <cstdio>
#include <cstdlib>

#include "tests/lockstep.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using filter = FILTER;
  constexpr std::size_t max_operations = 300;
  if (size < 3) return 0;
  constexpr std::array rates = {0.5, 0.1, 0.01, 0.0001};
  bloomery::test::lockstep<filter> pair(
      bloomery::detail::or_die(filter::make({.capacity = std::uint64_t{data[0]} % 100 + 1,
                                             .fpr = rates.at(data[1] % rates.size()),
                                             .seed = data[2]})));
  for (std::size_t i = 3; i + 3 <= size && i < 3 * max_operations; i += 3) {
    bloomery::test::apply(pair, data[i], data[i + 1], data[i + 2]);
    if (pair.ok()) continue;
    std::fprintf(stderr, "operation %zu: %s\n", i / 3 - 1, pair.contradiction().c_str());
    std::abort();
  }
  pair.check_all();
  if (!pair.ok()) {
    std::fprintf(stderr, "at the end: %s\n", pair.contradiction().c_str());
    std::abort();
  }
  return 0;
}
