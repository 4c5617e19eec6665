#include <fmt/format.h>

#include <algorithm>
#include <bloomset/any_filter.hpp>
#include <bloomset/plan/units.hpp>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/flags.hpp"
#include "filters/opened.hpp"
#include "filters/target.hpp"
#include "input/blocks.hpp"
#include "input/key_input.hpp"
#include "report/report.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {
namespace remove {

constexpr std::string_view verb = "remove";

result<status> remove(change_options& options) {
  auto change = open_to_change(options, verb, [&](const any_filter& filter) -> result<void> {
    if (filter.can().erase) return {};
    return fail(
        errc::unsupported,
        fmt::format("{}: a filter of kind {} cannot remove keys; build one of a kind that can "
                    "({})",
                    options.target, filter.info().kind_name, kinds_that(&abilities::erase)));
  });
  if (!change) return fail(change.error());
  any_filter& filter = change->filter;
  key_input& input = *change->input;
  std::uint64_t non_members = 0;
  std::string first_non_member;
  std::uint64_t removed = 0;
  flags erased;
  const auto read = in_batches(input, [&](const key_batch& batch) -> result<void> {
    const auto answers = erased.first(batch.keys.size());
    if (auto ok = filter.erase(batch.keys, answers); !ok) return fail(ok.error());
    for (std::size_t i = 0; i < batch.lines.size(); ++i) {
      const auto [first, last] = batch.keys_of(i);
      const auto members = std::count(answers.data() + first, answers.data() + last, true);
      removed += static_cast<std::uint64_t>(members);
      if (static_cast<std::size_t>(members) == last - first) continue;
      if (non_members++ == 0) first_non_member = input.position_of_line(batch, i);
    }
    return {};
  });
  if (!read) return fail(read.error());
  finish(input, verb);
  if (removed != 0) {
    const auto saved = replacing(options.target, [&] { return save(filter, options.target); });
    if (!saved) return fail(saved.error());
  }
  if (!options.quiet) {
    note(fmt::format("{}: {} read, {} of them removed; now {}", options.target,
                     format_count(input.keys(), "key"), format_count(removed),
                     keys_held(filter.info())));
  }
  if (non_members == 0) return status::some;
  say(verb, fmt::format("{} of {} lines certainly were not members and were skipped; the first "
                        "is {}",
                        format_count(non_members), format_count(input.lines()), first_non_member));
  return status::none;
}

action define(CLI::App& app) {
  auto options = std::make_shared<change_options>();
  options->declare(app, "a filter of a kind that can erase",
                   "fail if --keys is not the reader that made the filter's keys");
  return [options] { return remove(*options); };
}

}  // namespace remove
}  // namespace

command remove_command() {
  return {"remove", "remove keys from a filter",
          "  bloomset remove members.cuckoo left-today.txt\n"
          "\n"
          "Remove only keys that were added, because removing a false positive may remove a "
          "member. The exit\n"
          "status is 1 if some line was certainly not a member, but the keys of the other lines "
          "are removed.\n",
          remove::define};
}

}  // namespace bloomset::cli
