#include "other_modules/chain_estimate.hpp"

#include <bit>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/numeric.hpp>
#include <cstring>

namespace bloomset::server {
namespace {

/// Set bits among the first `positions`.
std::uint64_t count_ones(std::span<const std::byte> bits, std::uint64_t positions) noexcept {
  std::uint64_t ones = 0;
  for (std::uint64_t i = 0; i < positions; i += 64) {
    std::uint64_t word = 0;
    const std::uint64_t left = bits.size() - i / 8;
    std::memcpy(&word, bits.data() + i / 8, left < sizeof word ? left : sizeof word);
    if (positions - i < 64) word &= (std::uint64_t{1} << (positions - i)) - 1;
    ones += static_cast<std::uint64_t>(std::popcount(word));
  }
  return ones;
}

}  // namespace

void chain_estimate::add(std::span<const std::byte> bits, std::uint64_t positions,
                         std::uint32_t hashes, std::uint64_t counted_items) noexcept {
  const auto m = static_cast<double>(positions);
  const double load = static_cast<double>(count_ones(bits, positions)) / m;
  // A filter of ones tells nothing.
  const double items =
      load < 1 ? formulas::throws_behind(load * m, m) / hashes : static_cast<double>(counted_items);
  if (rejected_ > 0) items_ += items / rejected_;
  rejected_ *= 1 - numeric::power(load, hashes);
}

}  // namespace bloomset::server
