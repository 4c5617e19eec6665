#include <fmt/format.h>

#include <bloomset/any_filter.hpp>
#include <bloomset/plan/units.hpp>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/opened.hpp"
#include "filters/target.hpp"
#include "input/blocks.hpp"
#include "input/key_input.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {
namespace except {

constexpr std::string_view verb = "except";

struct except_options : change_options {
  bool undo = false;
};

result<status> except(except_options& options) {
  auto change = open_to_change(options, verb, [](const any_filter&) { return result<void>(); });
  if (!change) return fail(change.error());
  any_filter& filter = change->filter;
  key_input& input = *change->input;
  std::uint64_t changed = 0;
  const auto read = in_batches(input, [&](const key_batch& batch) -> result<void> {
    if (options.undo) {
      const auto removed = filter.remove_exceptions(batch.keys);
      if (!removed) return fail(removed.error());
      changed += *removed;
      return {};
    }
    const auto added = named(options.target, filter.add_exceptions(batch.keys));
    if (!added) return fail(added.error());
    changed += added->inserted;
    return {};
  });
  if (!read) return fail(read.error());
  finish(input, verb);
  if (changed != 0) {
    const auto saved = replacing(options.target, [&] { return save(filter, options.target); });
    if (!saved) return fail(saved.error());
  }
  if (options.quiet) return done;
  const std::string others =
      changed == input.keys() || options.undo
          ? ""
          : fmt::format(", {} got \"no\" before", format_count(input.keys() - changed));
  note(fmt::format("{}: {} read, {} {}{}; now {} of at most {}", options.target,
                   format_count(input.keys(), "key"), format_count(changed, "exception"),
                   options.undo ? "ended" : "added", others,
                   format_count(filter.exceptions().size()),
                   format_count(exception_list::max_size)));
  return done;
}

action define(CLI::App& app) {
  auto options = std::make_shared<except_options>();
  flag(app, "--undo", options->undo, "remove these keys from the exceptions");
  options->declare(app, "a filter", "fail if --keys is not the reader that made the filter's keys");
  return [options] { return except(*options); };
}

}  // namespace except
}  // namespace

command except_command() {
  return {"except", "answer \"no\" for known false positives from now on",
          "  bloomset except members.bloom passed-by-mistake.txt\n"
          "  echo bob@example.org | bloomset except allowed.bloom\n"
          "\n"
          "The exceptions, at most 4096, are stored in the filter's file. Give only keys that "
          "are certainly\n"
          "not members, because a member among the exceptions gets a \"no\". --undo removes keys "
          "from the\n"
          "exceptions, and so does adding them with 'bloomset add'.\n",
          except::define};
}

}  // namespace bloomset::cli
