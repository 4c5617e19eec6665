#pragma once

// A chart of lines as an SVG file: x linear, y logarithmic over decades, as rates of false
// positives and times are drawn.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

struct chart_point {
  double x;
  double y;
};

/// A line through its points, told apart from the others by colour and dash.
struct chart_line {
  std::string name;
  std::vector<chart_point> points;
  std::string_view colour;
  std::string_view dash;  ///< as stroke-dasharray, or empty
  bool dots = false;      ///< its points are drawn too: the first filled, the others hollow
};

/// A line without points yet, in the n-th of nine looks.
chart_line line_of(std::string_view name, std::size_t n);

/// A point of its own, with its text beside it.
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
  double min_x = 0;
  double max_x = 1;
  int min_y = -5;  ///< decades: 10^-5
  int max_y = 0;
  bool y_percent = true;  ///< the axis names shares of 1 as percentages, else the values themselves
  std::vector<chart_line> lines;
  std::vector<chart_mark> marks;
};

/// The whole file. What lies outside of the axes is cut off at them. Precondition: min_x <
/// max_x, min_y < max_y, and all y are positive.
std::string to_svg(const chart& drawn);

}  // namespace bloomery::cli
