#include <fmt/format.h>

#include <bloomery/any_filter.hpp>
#include <bloomery/plan/units.hpp>

#include "commands/all.hpp"
#include "parse_error.hpp"
#include "report.hpp"

namespace bloomery::cli {
namespace {

struct arguments {
  std::vector<std::string> files;
  bool json = false;
};

std::string sentence(const filter_info& info) {
  return fmt::format(
      "overfilled: the current rate, {}, is beyond the planned {}; rebuild it for "
      "more than {} keys\n",
      format_rate(info.current_fpr), format_rate(info.plan.planned_fpr),
      format_count(info.plan.capacity));
}

result<status> run(const arguments& given) {
  status outcome = done;
  bool first = true;
  for (const std::string& file : given.files) {
    const auto filter = open(file);
    if (!filter) {
      if (given.files.size() == 1) return fail(filter.error());
      fmt::print(stderr, "bloomery info: {}\n", one_line(filter.error().message));
      outcome = status::error;
      continue;
    }
    const filter_info info = filter->info();
    if (given.json) {
      fmt::print(
          "{}\n",
          info_json(file, info).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    } else {
      fmt::print("{}{}\n{}", first ? "" : "\n", file, to_text(info_figures(info)));
      if (overfilled(info)) fmt::print("{}", sentence(info));
    }
    first = false;
  }
  return outcome;
}

action define(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  app.add_option("FILE", given->files, "filters")->required();
  app.add_flag("--json", given->json, "a JSON object a line");
  return [given] { return run(*given); };
}

}  // namespace

command info_command() {
  return {"info", "what a filter is, what it promised and what it delivers",
          "  bloomery info members.bloom\n"
          "  bloomery info --json *.bloom\n",
          define};
}

}  // namespace bloomery::cli
