#pragma once

// An array of bits or counters as rows of text under a ruler of indices.

#include <cstdint>
#include <string>
#include <vector>

#include "teach/text/text.hpp"

namespace bloomset::teach {

/// The effect of a step on a cell. Its sign is drawn beneath the cell.
enum class mark : char {
  none = 0,       ///< no sign
  raised = '+',   ///< the insert raised it from zero
  kept = '=',     ///< it was not zero before the insert
  lowered = '-',  ///< the erase lowered it
  queried = '^',  ///< the query read it
};

struct strip {
  std::string label;  ///< "bit" or "counter"
  std::vector<unsigned> cells;
  std::vector<mark> marks;  ///< one per cell
  unsigned max_value = 1;   ///< the largest value of a cell
  bool all_rows = false;    ///< false: an array of more than 8 rows shows only rows with a mark
};

/// The drawing. Every line ends with a newline and has at most 80 columns.
std::string draw(const strip& cells, const palette& paint);

}  // namespace bloomset::teach
