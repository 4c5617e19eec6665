#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/advise.hpp>
#include <bloomset/any_filter.hpp>
#include <bloomset/defaults.hpp>
#include <bloomset/plan/units.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "commands/all.hpp"
#include "filters/plan_options.hpp"
#include "filters/target.hpp"
#include "report/report.hpp"
#include "report/speed.hpp"
#include "report/svg_chart.hpp"
#include "terminal/declare.hpp"
#include "terminal/progress.hpp"

namespace bloomset::cli {
namespace {
namespace bench {

constexpr std::uint64_t default_capacity = 1'000'000;
constexpr std::uint64_t max_key_bytes = 65'536;

struct arguments {
  plan_options options;
  needs wanted;
  std::string key_bytes = "16";
  bool json = false;
  bool no_progress = false;
  std::string plot;
  bool force = false;
};

/// A kind and its figures, or the reason that there are none.
struct row {
  const kind_info* kind;
  result<measured_kind> made;
};

/// The kinds to measure. The first one is marked.
result<std::vector<candidate>> chosen_kinds(const arguments& given, const plan_request& request) {
  if (given.options.kind.empty()) {
    auto found = advise(request, given.wanted);
    if (!found) return fail(std::move(found.error()));
    return std::move(found->ranked);
  }
  const auto kind = named("--kind", find_kind(given.options.kind));
  if (!kind) return fail(kind.error());
  auto plan = plan_for_named(**kind, request, given.wanted);
  if (!plan) return fail(std::move(plan.error()));
  return std::vector{candidate{*kind, std::move(plan)}};
}

result<std::uint64_t> key_bytes_of(const arguments& given) {
  const auto bytes = parse_count(given.key_bytes);
  if (bytes && *bytes >= min_key_bytes && *bytes <= max_key_bytes) return *bytes;
  return fail(errc::invalid_argument,
              fmt::format("--key-bytes: '{}' is not a number of bytes; give {} to {}",
                          given.key_bytes, min_key_bytes, max_key_bytes));
}

/// One row per kind. Fails if the first kind, which is marked, cannot be measured.
result<std::vector<row>> measure_all(const std::vector<candidate>& chosen,
                                     const plan_request& request, std::uint64_t key_bytes,
                                     bool no_progress) {
  std::uint64_t all = 0;
  for (const candidate& each : chosen) {
    if (each.plan) all += keys_to_measure(*each.kind, each.plan->capacity);
  }
  progress shown(!no_progress, all);
  std::uint64_t keys = 0;
  const auto worked = [&](std::uint64_t more) {
    keys += more;
    shown.update(keys, keys);
  };
  std::vector<row> rows;
  for (const candidate& each : chosen) {
    auto made = each.plan ? measure(*each.kind, request, *each.plan, key_bytes, worked)
                          : result<measured_kind>(each.plan.error());
    if (!made && rows.empty()) {
      return fail(made.error().code, fmt::format("{}: {}", each.kind->name, made.error().message));
    }
    rows.push_back({each.kind, std::move(made)});
  }
  return rows;
}

std::string shown_ns(double ns) {
  return fmt::format("{:.{}f}", ns, ns < 100 ? 1 : 0);
}

/// A measured rate, with as many digits as are significant.
std::string shown_rate(const measured_kind& made) {
  if (made.false_positives == 0)
    return fmt::format("< {}", format_rate(3.0 / static_cast<double>(made.non_members)));
  return format_rate(made.rate());
}

void print_table(const std::vector<row>& rows, const measured_kind& first,
                 std::uint64_t key_bytes) {
  fmt::print("{} of {}; nanoseconds per key in one thread, including hashing\n",
             format_count(first.plan.capacity, "key"), format_count(key_bytes, "byte"));
  std::size_t width = std::string_view("kind").size();
  for (const row& each : rows) width = std::max(width, each.kind->name.size());
  fmt::print("\n  {:<{}}  {:>8}  {:>9}  {:^14}  {:^14}     present\n", "", width, "", "", "insert",
             "look up absent");
  fmt::print("  {:<{}}  {:>8}  {:>9}", "kind", width, "bits/key", "rate");
  for (int i = 0; i < 3; ++i) fmt::print("  {:>6}  {:>6}", "single", "batch");
  fmt::print("\n");
  for (const row& each : rows) {
    if (!each.made) continue;
    const measured_kind& made = *each.made;
    const speeds& ns = made.ns;
    fmt::print("{} {:<{}}  {:>8.2f}  {:>9}", &each == &rows.front() ? '*' : ' ', each.kind->name,
               width, made.bits_per_key(), shown_rate(made));
    fmt::print("  {:>6}  {:>6}", ns.insert_one ? shown_ns(*ns.insert_one) : "-",
               shown_ns(ns.insert_batch));
    fmt::print("  {:>6}  {:>6}  {:>6}  {:>6}\n", shown_ns(ns.absent_one), shown_ns(ns.absent_batch),
               shown_ns(ns.present_one), shown_ns(ns.present_batch));
  }
  for (const row& each : rows) {
    if (!each.made)
      fmt::print("  {:<{}}  - {}\n", each.kind->name, width, each.made.error().message);
  }
  fmt::print("\nMedians of several runs, batches of {} keys; rate: of {} keys never inserted.\n",
             speed_batch, format_count(first.non_members));
  if (std::any_of(rows.begin(), rows.end(),
                  [](const row& each) { return each.made && each.kind->build != nullptr; })) {
    fmt::print("Kinds that are built once are built from all keys in one batch, by all cores.\n");
  }
}

nlohmann::ordered_json json_of(const row& each) {
  if (!each.made) return {{"kind", each.kind->name}, {"refused", each.made.error().message}};
  const measured_kind& made = *each.made;
  auto object = plan_json(each.kind->name, made.plan);
  object["measured_bytes"] = made.bytes;
  object["measured_bits_per_key"] = made.bits_per_key();
  object["measured_fpr"] = made.rate();
  object["non_members"] = made.non_members;
  const auto pair = [](const nlohmann::ordered_json& one, double batch) {
    return nlohmann::ordered_json{{"single", one}, {"batch", batch}};
  };
  const speeds& ns = made.ns;
  object["ns"] = {{"insert", pair(ns.insert_one ? nlohmann::ordered_json(*ns.insert_one)
                                                : nlohmann::ordered_json(),
                                  ns.insert_batch)},
                  {"absent", pair(ns.absent_one, ns.absent_batch)},
                  {"present", pair(ns.present_one, ns.present_batch)}};
  return object;
}

std::string plot_of(const std::vector<row>& rows, const measured_kind& first) {
  const std::string_view marked = rows.front().kind->name;
  chart made{.title = "Nanoseconds per key over bits per key",
             .subtitle = fmt::format("{}; filled: a look-up of an absent key, hollow: an insert; "
                                     "in batches; {}: {:.2f} bits/key, {} ns",
                                     format_count(first.plan.capacity, "key"), marked,
                                     first.bits_per_key(), shown_ns(first.ns.absent_batch)),
             .x_label = "size (bits per key)",
             .y_label = "time (ns per key)",
             .y_percent = false,
             .lines = {},
             .marks = {}};
  std::vector<double> bits;
  std::vector<double> times;
  for (const row& each : rows) {
    if (!each.made) continue;
    const measured_kind& kind = *each.made;
    chart_line line = line_of(each.kind->name, made.lines.size());
    line.dots = true;
    bits.push_back(kind.bits_per_key());
    for (const double ns : {kind.ns.absent_batch, kind.ns.insert_batch}) {
      // A coarse clock may measure no time at all.
      times.push_back(std::log10(std::max(0.01, ns)));
      line.points.push_back({bits.back(), std::max(0.01, ns)});
    }
    made.lines.push_back(std::move(line));
  }
  const auto [min_power, max_power] = std::ranges::minmax(times);
  made.max_x = std::ceil(std::ranges::max(bits) * 1.15);
  made.min_y = static_cast<int>(std::floor(min_power));
  made.max_y = std::max(made.min_y + 1, static_cast<int>(std::ceil(max_power)));
  made.marks.push_back({.at = made.lines.front().points.front(),
                        .text = std::string(marked),
                        .is_leftmost = bits.size() > 1 && bits.front() == std::ranges::min(bits)});
  return to_svg(made);
}

result<status> run(const arguments& given) {
  auto request = given.options.request();
  if (!request) return fail(request.error());
  if (request->capacity == 0 && request->bits == 0) request->capacity = default_capacity;
  if (request->fpr == 0 && request->hashes == 0 && (request->capacity == 0 || request->bits == 0)) {
    request->fpr = default_fpr;
  }
  const auto key_bytes = key_bytes_of(given);
  if (!key_bytes) return fail(key_bytes.error());
  const auto chosen = chosen_kinds(given, *request);
  if (!chosen) return fail(chosen.error());
  // A wrong target fails before the work.
  if (!given.plot.empty()) {
    if (auto ok = check_chart(given.plot, given.force); !ok) return fail(std::move(ok.error()));
  }
  const auto rows = measure_all(*chosen, *request, *key_bytes, given.no_progress);
  if (!rows) return fail(rows.error());
  const measured_kind& first = *rows->front().made;
  if (!given.plot.empty()) {
    const auto written = write_chart(plot_of(*rows, first), given.plot, given.force);
    if (!written) return fail(written.error());
  }
  if (!given.json) {
    print_table(*rows, first, *key_bytes);
    return done;
  }
  nlohmann::ordered_json object = {{"marked", rows->front().kind->name},
                                   {"key_bytes", *key_bytes},
                                   {"batch", speed_batch},
                                   {"kinds", nlohmann::ordered_json::array()}};
  for (const row& each : *rows) object["kinds"].push_back(json_of(each));
  fmt::print("{}\n", object.dump());
  return done;
}

action define(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  given->options.declare(app);
  find_declared(app, "--capacity")
      .meaning(fmt::format("keys to plan for: 1000, 10M, 1e9 (default, if no size is given: {})",
                           format_count(default_capacity)));
  find_declared(app, "--fpr")
      .meaning(fmt::format("rate of false positives: 1%, 0.01, 1/1000 (default {}%, unless both "
                           "--capacity and a size are given)",
                           100 * default_fpr));
  flag(app, "--deletable", given->wanted.deletable, "only kinds that can erase keys")
      .under(headings::kind);
  flag(app, "--counting", given->wanted.counting, "only kinds that count the copies of a key")
      .under(headings::kind);
  flag(app, "--growing", given->wanted.growing, "only kinds that grow beyond their capacity")
      .under(headings::kind);
  flag(app, "--static", given->wanted.unchanging,
       "also measure the kinds that are built once, from all keys")
      .under(headings::kind);
  option(app, "--key-bytes", given->key_bytes,
         fmt::format("the length of a key in bytes, {} to {} (default {})", min_key_bytes,
                     max_key_bytes, given->key_bytes))
      .value("N")
      .under(headings::input);
  flag(app, "--json", given->json, "print one JSON object").under(headings::output);
  flag(app, "--no-progress", given->no_progress,
       "do not show the progress line that appears on a terminal")
      .under(headings::output);
  option(app, "--plot", given->plot,
         "also write a chart of times against bits per key, with the table's first kind marked")
      .value("FILE.svg")
      .under(headings::output);
  flag(app, "--force", given->force, "replace the chart if it exists").under(headings::output);
  return [given] { return run(*given); };
}

}  // namespace bench
}  // namespace

command bench_command() {
  return {"bench", "measure the speed, size and rate of each kind on this machine",
          "  bloomset bench\n"
          "  bloomset bench --capacity 10M --fpr 0.1% --deletable\n"
          "  bloomset bench --kind vector_quotient --capacity 100M\n"
          "  bloomset bench --kind blocked_bloom --hash siphash --key-file key --key-bytes 20\n"
          "  bloomset bench --static --plot speed.svg\n"
          "  bloomset bench --capacity 1M --json | jq '.kinds[].ns.absent.batch'\n",
          bench::define};
}

}  // namespace bloomset::cli
