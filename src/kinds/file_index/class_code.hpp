#pragma once

// The code of the answers: which bits of an answer are beside the fingerprint, and which are in a
// second structure.
//
// Answers are sorted by weight, the number of their keys. Classes are runs of 2^j neighbouring
// answers that begin at a multiple of 2^j. The first structure has fingerprint and class in mixed
// radix: value = fingerprint C + class, of C classes in r columns, so that another key passes with
// probability C / 2^r. A second structure per j has the place in the class. A key so needs r + j
// bits. Each class more costs nothing until C = fpr 2^r; each column more doubles C.

#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

struct class_code {
  std::uint32_t columns = 1;       ///< r
  std::vector<std::uint8_t> bits;  ///< per class its j, in the order of the answers
};

inline constexpr std::uint32_t max_classes = std::uint32_t{1} << 16;

/// The code that needs the fewest bits, or nearly the fewest in a smaller first structure.
/// `weights` are sorted from the greatest on, and none is 0. Precondition: 2^-31 <= fpr <= 1/2.
class_code choose_classes(std::span<const std::uint64_t> weights, double fpr);

}  // namespace bloomset::detail

#pragma GCC visibility pop
