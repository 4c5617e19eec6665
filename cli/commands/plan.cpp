#include <fmt/format.h>

#include <bloomery/any_filter.hpp>
#include <bloomery/plan/units.hpp>

#include "commands/all.hpp"
#include "plan_options.hpp"

namespace bloomery::cli {
namespace {

action define(CLI::App& app) {
  auto options = std::make_shared<plan_options>();
  options->declare(app);
  return [options]() -> result<status> {
    const auto request = options->request();
    if (!request) return fail(request.error());
    const auto row = find_kind(options->kind.empty() ? "bloom" : options->kind);
    if (!row) return fail(row.error());
    const auto plan = (*row)->plan(*request);
    if (!plan) return fail(plan.error());
    fmt::print("{}: {} keys, {} bits, {}, {} hashes, {:.2f} bits/key, {}\n", (*row)->name,
               format_count(plan->capacity), format_count(plan->bits), format_bytes(plan->bytes),
               plan->hashes.value_or(0), plan->bits_per_key(), format_rate(plan->planned_fpr));
    return done;
  };
}

}  // namespace

command plan_command() {
  return {"plan", "size a filter from what is known",
          "  bloomery plan --capacity 100M --fpr 1%\n"
          "  bloomery plan --capacity 1e9 --memory 1GB\n",
          define};
}

}  // namespace bloomery::cli
