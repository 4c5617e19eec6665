#pragma once

// A chart of lines as an SVG file: x linear, y logarithmic over decades, as rates of false
// positives are drawn.

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
};

/// A point of its own, with its text beside it.
struct chart_mark {
  chart_point at;
  std::string text;
};

struct chart {
  std::string title;
  std::string subtitle;
  std::string x_label;  ///< with its unit
  std::string y_label;
  double x_least = 0;
  double x_most = 1;
  int y_least = -5;  ///< decades: 10^-5
  int y_most = 0;
  std::vector<chart_line> lines;
  std::vector<chart_mark> marks;
};

/// The whole file. What lies outside of the axes is cut off at them. Precondition: x_least <
/// x_most, y_least < y_most, and all y are positive.
std::string to_svg(const chart& what);

}  // namespace bloomery::cli
