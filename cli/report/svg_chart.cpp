#include "report/svg_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

namespace bloomset::cli {
namespace {

constexpr double width = 900;
constexpr double height = 560;
constexpr double left = 84;
constexpr double right = 690;  // the names of the lines stand to the right of it
constexpr double top = 84;
constexpr double bottom = 490;

struct kind_colour {
  std::string_view kind;
  std::string_view colour;
};
// The list of the explorer page. The dashes distinguish the lines without colour.
// NOLINTNEXTLINE(modernize-avoid-c-arrays): the list says how many there are.
constexpr kind_colour kind_colours[] = {
#include "kind_colours.inc"
};
constexpr std::string_view other_colour = "#555f6d";
constexpr std::array<std::string_view, 9> dashes = {"",     "9 3", "2 3",      "10 3 2 3", "5 5",
                                                    "14 4", "4 2", "14 3 3 3", "1 3"};

std::string escaped(std::string_view text) {
  using escape = std::pair<char, std::string_view>;
  constexpr std::array escapes = {escape{'&', "&amp;"}, escape{'<', "&lt;"}, escape{'>', "&gt;"},
                                  escape{'"', "&quot;"}};
  std::string safe;
  for (const char c : text) {
    const auto* const found = std::ranges::find(escapes, c, &escape::first);
    safe += found == escapes.end() ? std::string_view(&c, 1) : found->second;
  }
  return safe;
}

/// 1, 2 or 5 times a power of ten, so that there are 4 to 10 steps.
double step_of(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 4)));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= range / 4) return factor * power;
  }
  return power;
}

class drawing {
 public:
  explicit drawing(const chart& drawn) : chart_(drawn) {}

  std::string draw() {
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" role=\"img\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">",
        width, height);
    add("<title>{}</title>", escaped(chart_.title));
    add(R"(<rect width="{}" height="{}" fill="#fff"/>)", width, height);
    add(R"(<clipPath id="plot"><rect x="{}" y="{}" width="{}" height="{}"/></clipPath>)", left, top,
        right - left, bottom - top);
    add(R"(<text x="16" y="30" font-size="18" font-weight="bold">{}</text>)",
        escaped(chart_.title));
    add(R"(<text x="16" y="52" fill="#555">{}</text>)", escaped(chart_.subtitle));
    axes();
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) line(chart_.lines[i], i);
    for (const chart_mark& mark : chart_.marks) point(mark);
    add("</svg>");
    return std::move(text_);
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> form, Values&&... values) {
    text_ += fmt::format(form, std::forward<Values>(values)...);
    text_ += '\n';
  }

  double x(double value) const { return left + value / chart_.max_x * (right - left); }
  double y(double value) const {
    return bottom -
           (std::log10(value) - chart_.min_y) / (chart_.max_y - chart_.min_y) * (bottom - top);
  }

  void axes() {
    const double step = step_of(chart_.max_x);
    const auto last = static_cast<int>(std::floor(chart_.max_x / step + 1e-6));
    for (int i = 0; i <= last; ++i) {
      const double at = i * step;
      add(R"(<path d="M{0:.1f},{1}V{2}" stroke="#ddd"/>)", x(at), top, bottom);
      add(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{:.6g}</text>)", x(at), bottom + 20, at);
    }
    for (int decade = chart_.min_y; decade <= chart_.max_y; ++decade) {
      const double value = std::pow(10, decade);
      add(R"(<path d="M{0},{1:.1f}H{2}" stroke="#ddd"/>)", left, y(value), right);
      add(R"(<text x="{}" y="{:.1f}" text-anchor="end">{:.6g}{}</text>)", left - 8, y(value) + 4,
          chart_.y_percent ? 100 * value : value, chart_.y_percent ? "%" : "");
    }
    add(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none" stroke="#666"/>)", left, top,
        right - left, bottom - top);
    add(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)", (left + right) / 2,
        bottom + 46, escaped(chart_.x_label));
    add("<text transform=\"translate(22 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        (top + bottom) / 2, escaped(chart_.y_label));
  }

  void line(const chart_line& each, std::size_t row) {
    const std::string style =
        fmt::format(R"(stroke="{}" stroke-width="2"{})", each.colour,
                    each.dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", each.dash));
    std::string points;
    for (const chart_point& p : each.points) {
      points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x(p.x), y(p.y));
    }
    add("<polyline points=\"{}\" fill=\"none\" {} clip-path=\"url(#plot)\"><title>{}</title>"
        "</polyline>",
        points, style, escaped(each.name));
    for (std::size_t i = 0; each.dots && i < each.points.size(); ++i) {
      add("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" fill=\"{}\" stroke=\"{}\" "
          "stroke-width=\"2\"/>",
          x(each.points[i].x), y(each.points[i].y), i == 0 ? each.colour : "#fff", each.colour);
    }
    const double at = top + 10 + 24 * static_cast<double>(row);
    add("<path d=\"M{},{}h34\" {}/>", right + 18, at, style);
    add(R"(<text x="{}" y="{}">{}</text>)", right + 60, at + 4, escaped(each.name));
  }

  void point(const chart_mark& mark) {
    const double px = std::clamp(x(mark.at.x), left, right);
    const double py = std::clamp(y(mark.at.y), top, bottom);
    // On the side that has more room.
    const bool before = mark.is_leftmost || px > (left + right) / 2;
    add("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\" fill=\"#d55e00\" stroke=\"#fff\" "
        "stroke-width=\"2\"/>",
        px, py);
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-weight=\"bold\" "
        "paint-order=\"stroke\" stroke=\"#fff\" stroke-width=\"5\">{}</text>",
        before ? px - 12 : px + 12, py - 10, before ? "end" : "start", escaped(mark.text));
  }

  const chart& chart_;
  std::string text_;
};

}  // namespace

chart_line line_of(std::string_view kind, std::size_t n) {
  const auto* const known = std::ranges::find(kind_colours, kind, &kind_colour::kind);
  return {.name = std::string(kind),
          .points = {},
          .colour = known == std::end(kind_colours) ? other_colour : known->colour,
          .dash = dashes.at(n % dashes.size())};
}

std::string to_svg(const chart& drawn) {
  return drawing(drawn).draw();
}

}  // namespace bloomset::cli
