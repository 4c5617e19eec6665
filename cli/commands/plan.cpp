#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bloomset/advise.hpp>
#include <bloomset/defaults.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/units.hpp>
#include <cmath>

#include "commands/all.hpp"
#include "filters/plan_options.hpp"
#include "filters/target.hpp"
#include "report/report.hpp"
#include "report/svg_chart.hpp"
#include "teach/plan_lines.hpp"
#include "terminal/declare.hpp"
#include "terminal/terminal.hpp"

namespace bloomset::cli {
namespace {
namespace plan {

/// A remark on a figure that is assumed, or that is only a bound; empty if there is none.
std::string_view remark_on(const plan_request& request, bool rate_assumed) {
  if (rate_assumed) return "No rate was given; 1% is assumed.\n\n";
  if (request.capacity != 0 && request.fpr != 0 && request.bits != 0) {
    return "Keys, rate and memory are all given: the rate is the highest allowed.\n\n";
  }
  return "";
}

struct arguments {
  plan_options options;
  std::string universe;
  std::string partitions;
  needs wanted;
  bool json = false;
  std::string plot;
  bool force = false;
};

/// Prints text, which is wrapped at the width of a terminal.
void print(const std::string& text) {
  const auto width = terminal_width(STDOUT_FILENO);
  fmt::print("{}", width ? fitted(text, *width) : text);
}

void print_detail(const kind_info& kind, const plan_request& asked, const plan_report& plan) {
  const plan_request request = teach::settled_request(asked, plan);
  print(fmt::format("{}: {}\n{}\n", kind.name, kind.summary, to_text(plan_figures(plan))));
  // These lines are to be copied.
  fmt::print("  {}\n  {}\n", teach::shell_line(kind, request), teach::cpp_line(kind, request));
}

void print_table(const advice& found) {
  // Sizes are compared with the first kind of the registry, if it fits.
  const kind_info& first = kinds().front();
  std::uint64_t first_bytes = 0;
  std::size_t width = std::string_view("kind").size();
  for (const candidate& each : found.ranked) {
    width = std::max(width, each.kind->name.size());
    if (each.kind->kind == first.kind && each.plan) first_bytes = each.plan->bytes;
  }
  // The comparison is left out where it would leave no room for the last column.
  const auto columns = terminal_width(STDOUT_FILENO);
  if (columns && *columns < width + first.name.size() + 85) first_bytes = 0;
  const auto versus = [&](const plan_report& plan) {
    if (first_bytes == 0) return std::string();
    return fmt::format("  {:>{}.2f}x",
                       static_cast<double>(plan.bytes) / static_cast<double>(first_bytes),
                       first.name.size() + 2);
  };
  std::string text = fmt::format(
      "{:<{}}  {:>8}  {:>8}{}  {:>2}  {:>8}  {:>13}  can\n", "kind", width, "bits/key", "size",
      first_bytes == 0 ? "" : fmt::format("  vs {}", first.name), "k", "rate", "keys");
  for (const candidate& each : found.ranked) {
    if (!each.plan) continue;
    const plan_report& plan = *each.plan;
    text += fmt::format("{:<{}}  {:>8.2f}  {:>8}{}  {:>2}  {:>8}  {:>13}  {}\n", each.kind->name,
                        width, plan.bits_per_key(), format_bytes(plan.bytes), versus(plan),
                        plan.hashes ? fmt::format("{}", *plan.hashes) : "-",
                        format_rate(plan.planned_fpr), format_count(plan.capacity),
                        text_of(each.kind->can, " "));
  }
  for (const candidate& each : found.ranked) {
    if (each.plan) continue;
    text += fmt::format("{:<{}}  - {}\n", each.kind->name, width, each.plan.error().message);
  }
  print(text + fmt::format("\nRecommended: {}.\n\n", found.reason));
}

/// A way to make a filter of an unknown number of keys.
struct unknown_size {
  std::string_view way;
  double bits;      ///< per key
  double building;  ///< per key while the filter is built, with the hashes that are kept
  std::string_view advised_if;
};

/// The ways, if the request is answered by filters that grow and leaves the size open.
std::vector<unknown_size> ways_if_unknown(const advice& found, const plan_request& request,
                                          const needs& wanted) {
  if (!wanted.growing || wanted.deletable || wanted.counting || request.bits != 0) return {};
  const candidate& growing = found.recommended();
  // Enough keys that the header and whole blocks do not matter.
  const auto fixed = plan_for(**find_kind(default_kind),
                              {.capacity = std::max<std::uint64_t>(request.capacity, 1'000'000),
                               .fpr = request.fpr,
                               .hash_bits = request.hash_bits},
                              {});
  if (!fixed) return {};
  const double bits = fixed->bits_per_key();
  double grown = growing.plan->bits_per_key();
  for (const property& each : growing.plan->extras) {
    const auto* figure = std::get_if<double>(&each.value);
    if (each.name == "bits_per_key_after_1024fold_growth" && figure != nullptr) grown = *figure;
  }
  return {{"count first", bits, bits + fixed->hash_bits, "all keys are read in one run"},
          // A size of nearly 11 times may have no divisor between 10 and 11.
          {"fold from 10 times the keys", 1.1 * bits, 10 * bits, "no key arrives after the fold"},
          {growing.kind->name, grown, grown, "keys arrive while the filter is queried"}};
}

void print_ways(const std::vector<unknown_size>& ways) {
  if (ways.empty()) return;
  std::string text = fmt::format("\n{:<27}  {:>8}  {:>14}  best if\n", "if the number is unknown",
                                 "bits/key", "while building");
  for (const unknown_size& each : ways) {
    text += fmt::format("{:<27}  {:>8.2f}  {:>14.2f}  {}\n", each.way, each.bits, each.building,
                        each.advised_if);
  }
  print(text + "'bloomset build' without --capacity counts first.\n");
}

void print_json(const advice& found, const std::vector<unknown_size>& ways, bool rate_assumed) {
  const candidate& best = found.recommended();
  auto object = plan_json(best.kind->name, *best.plan);
  object["rate_assumed"] = rate_assumed;
  object["reason"] = found.reason;
  auto& all = object["kinds"] = nlohmann::ordered_json::array();
  for (const candidate& each : found.ranked) {
    if (each.plan) {
      all.push_back(plan_json(each.kind->name, *each.plan));
    } else {
      all.push_back({{"kind", each.kind->name}, {"refused", each.plan.error().message}});
    }
  }
  for (const unknown_size& each : ways) {
    object["if_unknown"].push_back(
        {{"way", each.way}, {"bits_per_key", each.bits}, {"bits_per_key_building", each.building}});
  }
  fmt::print("{}\n", object.dump());
}

/// The chart of --plot: the rate of every kind over bits per key, the information bound, and the
/// plan as a point. Calls each kind's planner for about 40 rates.
std::string plot_of(const kind_info& kind, const plan_report& plan) {
  const int lowest =
      std::clamp(static_cast<int>(std::floor(std::log10(plan.planned_fpr))) - 1, -12, -5);
  std::vector<double> rates;
  for (int i = 1; i <= -8 * lowest; ++i) rates.push_back(std::pow(10, -i / 8.0));
  chart made{.title = "Rate of false positives over bits per key",
             .subtitle = fmt::format("{}; the plans of every kind, and log2(1/rate), the least "
                                     "possible",
                                     format_count(plan.capacity, "key")),
             .x_label = "size (bits per key)",
             .y_label = "rate of false positives (%)",
             .min_y = lowest,
             .lines = {},
             .marks = {}};
  chart_line bound{.name = "least possible", .points = {}, .colour = "#000000", .dash = ""};
  for (const double rate : rates) {
    bound.points.push_back({formulas::information_bound(rate), rate});
  }
  made.max_x = std::ceil(std::max(bound.points.back().x * 2, plan.bits_per_key() * 1.15));
  made.lines.push_back(std::move(bound));
  std::size_t index = 0;
  for (const kind_info& each : kinds()) {
    chart_line line = line_of(each.name, index++);
    for (const double rate : rates) {
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

/// Writes the chart if --plot is given. Called before anything is printed, so that a failure prints
/// nothing else.
result<void> write_plot(const arguments& given, const kind_info& kind, const plan_report& plan) {
  if (given.plot.empty()) return {};
  return write_chart(plot_of(kind, plan), given.plot, given.force);
}

result<status> plan_one(const arguments& given, plan_request request, bool rate_assumed) {
  const auto kind = named("--kind", find_kind(given.options.kind));
  if (!kind) return fail(kind.error());
  if ((*kind)->build_of_two_sets != nullptr && rate_assumed) {
    request.fpr = 0;
    rate_assumed = false;
  }
  const auto plan = plan_for_named(**kind, request, given.wanted);
  if (!plan) return fail(plan.error());
  if (auto ok = write_plot(given, **kind, *plan); !ok) return fail(std::move(ok.error()));
  if (given.json) {
    auto object = plan_json((*kind)->name, *plan);
    object["rate_assumed"] = rate_assumed;
    fmt::print("{}\n", object.dump());
  } else {
    print(std::string(remark_on(request, rate_assumed)));
    print_detail(**kind, request, *plan);
  }
  return done;
}

result<status> run(const arguments& given) {
  if (!given.plot.empty()) {
    if (auto ok = check_chart(given.plot, given.force); !ok) return fail(std::move(ok.error()));
  }
  auto request = given.options.request();
  if (!request) return fail(request.error());
  if (!given.universe.empty()) request->options.emplace_back("universe", given.universe);
  if (!given.partitions.empty()) request->options.emplace_back("partitions", given.partitions);
  const bool rate_assumed = assume_default_fpr(*request);
  if (!given.options.kind.empty()) return plan_one(given, *request, rate_assumed);

  const auto found = advise(*request, given.wanted);
  if (!found) return fail(found.error());
  const candidate& best = found->recommended();
  if (auto ok = write_plot(given, *best.kind, *best.plan); !ok) return fail(std::move(ok.error()));
  const auto ways = ways_if_unknown(*found, *request, given.wanted);
  if (given.json) {
    print_json(*found, ways, rate_assumed);
    return done;
  }
  print(std::string(remark_on(*request, rate_assumed)));
  print_table(*found);
  print_detail(*best.kind, *request, *best.plan);
  print_ways(ways);
  return done;
}

action define(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  given->options.declare(app);
  find_declared(app, "--fpr")
      .meaning(fmt::format("rate of false positives: 1%, 0.01, 1/1000 (default {}%, if only "
                           "--capacity is given)",
                           100 * default_fpr))
      .under(fmt::format("{}; give two of three: --capacity, --fpr, and --bits or --memory",
                         headings::size));
  option(
      app, "--universe", given->universe,
      "for --kind exact: the number of all keys that will ever be queried, including the members "
      "that --capacity counts")
      .value("N")
      .under(headings::kind);
  option(app, "--partitions", given->partitions,
         "for --kind exact: the number of partitions ('build --partition'), such as issuers of "
         "certificates; members and other keys are assumed to be spread evenly among them")
      .value("N")
      .under(headings::kind);
  flag(app, "--deletable", given->wanted.deletable, "keys will be erased").under(headings::kind);
  flag(app, "--counting", given->wanted.counting, "the copies of a key will be counted")
      .under(headings::kind);
  flag(app, "--growing", given->wanted.growing, "the number of keys is not known in advance")
      .under(headings::kind);
  flag(app, "--static", given->wanted.unchanging, "all keys are known and never change")
      .under(headings::kind);
  flag(app, "--json", given->json, "print one JSON object").under(headings::output);
  option(app, "--plot", given->plot,
         "also write a chart of every kind's rate against its bits per key, with this plan marked")
      .value("FILE.svg")
      .under(headings::output);
  flag(app, "--force", given->force, "replace the chart if it exists").under(headings::output);
  return [given] { return run(*given); };
}

}  // namespace plan
}  // namespace

command plan_command() {
  return {"plan", "compute a filter's size or rate, and recommend a kind",
          "  bloomset plan --capacity 100M --fpr 1%\n"
          "  bloomset plan --capacity 1e9 --memory 1GB\n"
          "  bloomset plan --memory 64MiB --fpr 1/1000 --deletable\n"
          "  bloomset plan --capacity 1000 --bits 8000 --kind bloom --json\n"
          "  bloomset plan --capacity 1M --kind exact --universe 100M --partitions 1000\n"
          "  bloomset plan --capacity 100M --fpr 0.1% --plot rates.svg\n",
          plan::define};
}

}  // namespace bloomset::cli
