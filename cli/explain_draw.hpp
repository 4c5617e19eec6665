#pragma once

// An array of bits or counters as rows of text under a ruler of indices.

#include <cstdint>
#include <string>
#include <vector>

#include "explain_text.hpp"

namespace bloomery::cli {

/// What a step did to a cell, drawn beneath it.
enum class mark : char {
  none = 0,       ///< nothing, and nothing is drawn
  fresh = '+',    ///< raised from zero by this insert
  again = '=',    ///< not zero before this insert either
  lowered = '-',  ///< lowered by this erase
  asked = '^',    ///< looked at by this lookup
};

struct strip {
  std::string label;  ///< "bit" or "counter"
  std::vector<unsigned> cells;
  std::vector<mark> marks;  ///< as many as cells
  unsigned largest = 1;     ///< that a cell can become
  bool all_rows = false;    ///< else a long array shows only rows with a mark
};

/// Every line ends with a newline and has at most 80 columns.
std::string draw(const strip& what, const palette& paint);

}  // namespace bloomery::cli
