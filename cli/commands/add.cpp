#include <fmt/format.h>

#include <bloomset/any_filter.hpp>
#include <bloomset/plan/units.hpp>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/opened.hpp"
#include "filters/target.hpp"
#include "input/key_input.hpp"
#include "input/stored_reader.hpp"
#include "report/report.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {
namespace add {

constexpr std::string_view verb = "add";

result<status> add(change_options& options) {
  auto change = open_to_change(options, verb, [&](const any_filter& filter) -> result<void> {
    if (filter.can().insert) return {};
    return fail(
        errc::unsupported,
        fmt::format(
            "{}: a filter of kind {} accepts no keys after it is built; build a new one from "
            "all its keys (kinds that accept more: {})",
            options.target, filter.info().kind_name, kinds_that(&abilities::insert)));
  });
  if (!change) return fail(change.error());
  any_filter& filter = change->filter;
  key_input& input = *change->input;
  const bool was_empty = filter.size() == 0;
  const auto newly_inserted =
      insert_all(filter, input, "rebuild the filter with a larger --capacity");
  if (!newly_inserted) return fail(newly_inserted.error());
  finish(input, verb);
  if (was_empty && !filter.labels().find(reader_label) && !filter.labels().find(partition_label)) {
    if (auto ok = label_keys(filter.labels(), input); !ok) return fail(ok.error());
  }
  label_more_keys(filter.labels(), input);
  filter.settle_count();
  if (auto ok = report_overfull(filter, options.target, verb, options.strict); !ok) {
    return fail(ok.error());
  }
  const auto saved = replacing(options.target, [&] { return save(filter, options.target); });
  if (!saved) return fail(saved.error());
  if (!options.quiet) {
    const filter_info info = filter.info();
    // New keys that are false positives are not counted. If all keys were new, their share would be
    // the current rate.
    const bool may_be_more = *newly_inserted < input.keys() &&
                             static_cast<double>(input.keys()) * info.current_fpr >= 0.5;
    note(fmt::format("{}: {} read, {}{} of them new; now {}, planned for {}, rate {}",
                     options.target, format_count(input.keys(), "key"),
                     may_be_more ? "at least " : "", format_count(*newly_inserted), keys_held(info),
                     format_count(info.plan.capacity), format_rate(info.current_fpr)));
  }
  return done;
}

action define(CLI::App& app) {
  auto options = std::make_shared<change_options>();
  options->declare(app, "a filter of a kind that accepts more keys",
                   "fail if there are more keys than the capacity, or if --keys is not the reader "
                   "that made the filter's keys");
  return [options] { return add(*options); };
}

}  // namespace add
}  // namespace

command add_command() {
  return {
      "add", "insert more keys into a filter",
      "  bloomset add members.bloom joined-today.txt\n"
      "  zcat log.gz | cut -d' ' -f1 | bloomset add --strict seen.bloom\n"
      "\n"
      "The filter is locked until its replacement is written. Several programs may add to it at\n"
      "once: each waits until the one before has finished, so no keys are lost.\n",
      add::define};
}

}  // namespace bloomset::cli
