#include <fmt/format.h>

#include <bloomery/any_filter.hpp>
#include <bloomery/plan/units.hpp>

#include "commands/all.hpp"

namespace bloomery::cli {
namespace {

action define(CLI::App& app) {
  auto file = std::make_shared<std::string>();
  app.add_option("FILE", *file, "a filter")->required();
  return [file]() -> result<status> {
    const auto filter = open(*file);
    if (!filter) return fail(filter.error());
    const auto info = filter->info();
    fmt::print("kind          {}\ncapacity      {}\ncurrent rate  {}\n", info.kind_name,
               format_count(info.plan.capacity), format_rate(info.current_fpr));
    return done;
  };
}

}  // namespace

command info_command() {
  return {"info", "what a filter is, what it promised and what it delivers",
          "  bloomery info members.bloom\n", define};
}

}  // namespace bloomery::cli
