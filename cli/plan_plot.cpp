#include "plan_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomery/plan/formulas.hpp>
#include <bloomery/plan/units.hpp>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "svg_chart.hpp"

namespace bloomery::cli {
namespace {

std::vector<double> rates(int lowest) {
  std::vector<double> all;
  for (int i = 1; i <= -8 * lowest; ++i) all.push_back(std::pow(10, -i / 8.0));
  return all;
}

}  // namespace

std::string plan_plot(const kind_info& kind, const plan_report& plan) {
  const int lowest =
      std::clamp(static_cast<int>(std::floor(std::log10(plan.planned_fpr))) - 1, -12, -5);
  chart made{
      .title = "Rate of false positives over bits per key",
      .subtitle = fmt::format("{} keys; the plans of every kind, and log2(1/rate), the least "
                              "possible",
                              format_count(plan.capacity)),
      .x_label = "size (bits per key)",
      .y_label = "rate of false positives (%)",
      .min_y = lowest,
      .lines = {},
      .marks = {}};
  chart_line bound{.name = "least possible", .points = {}, .colour = "#000000", .dash = ""};
  for (const double rate : rates(lowest)) {
    bound.points.push_back({formulas::information_bound(rate), rate});
  }
  made.max_x = std::ceil(std::max(bound.points.back().x * 2, plan.bits_per_key() * 1.15));
  made.lines.push_back(std::move(bound));
  std::size_t index = 0;
  for (const kind_info& each : kinds()) {
    chart_line line = line_of(each.name, index++);
    for (const double rate : rates(lowest)) {
      const auto point = each.plan({.capacity = plan.capacity, .fpr = rate});
      if (point) line.points.push_back({point->bits_per_key(), point->planned_fpr});
    }
    if (!line.points.empty()) made.lines.push_back(std::move(line));
  }
  made.marks.push_back({{plan.bits_per_key(), plan.planned_fpr},
                        fmt::format("{}: {:.2f} bits/key, {}", kind.name, plan.bits_per_key(),
                                    format_rate(plan.planned_fpr))});
  return to_svg(made);
}

}  // namespace bloomery::cli
