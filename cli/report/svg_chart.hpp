#pragma once

// A chart of lines as an SVG file. x is linear; y is logarithmic over decades, as usual for rates
// of false positives and for times.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::cli {

struct chart_point {
  double x;
  double y;
};

/// A line through its points. Colour and dash distinguish it from the others.
struct chart_line {
  std::string name;
  std::vector<chart_point> points;
  std::string_view colour;
  std::string_view dash;  ///< as stroke-dasharray, or empty
  bool dots = false;      ///< its points are drawn too: the first filled, the others hollow
};

/// A kind's line without points yet, in the kind's colour and with the n-th of nine dashes.
chart_line line_of(std::string_view kind, std::size_t n);

/// A single point with a text.
struct chart_mark {
  chart_point at;
  std::string text;
  bool is_leftmost = false;  ///< the text stands to the left, where nothing else is
};

struct chart {
  std::string title;
  std::string subtitle;
  std::string x_label;  ///< with its unit
  std::string y_label;
  double max_x = 1;  ///< x begins at 0
  int min_y = -5;    ///< decades: 10^-5
  int max_y = 0;
  bool y_percent = true;  ///< the axis names shares of 1 as percentages, else the values themselves
  std::vector<chart_line> lines;
  std::vector<chart_mark> marks;
};

/// The whole file. Parts outside the axes are cut off. Preconditions: max_x > 0, min_y < max_y, and
/// all y are positive.
std::string to_svg(const chart& drawn);

}  // namespace bloomset::cli
