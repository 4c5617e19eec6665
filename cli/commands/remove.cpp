#include <fmt/format.h>

#include <algorithm>
#include <bloomery/any_filter.hpp>
#include <bloomery/plan/units.hpp>

#include "commands/all.hpp"
#include "declare.hpp"
#include "filling.hpp"
#include "flags.hpp"
#include "key_input.hpp"
#include "opened.hpp"
#include "target.hpp"

namespace bloomery::cli {
namespace {

constexpr std::string_view verb = "remove";

struct remove_options {
  std::string target;
  input_options input;
};

result<status> remove(const remove_options& options) {
  const auto opened = key_input::open(options.input);
  if (!opened) return fail(opened.error());
  key_input& input = **opened;
  const auto lock = file_lock::acquire(options.target);
  if (!lock) return fail(lock.error());
  auto filter = load(options.target);
  if (!filter) return fail(not_ours(filter.error(), verb, options.target));
  if (!filter->can().erase) {
    return fail(
        errc::unsupported,
        fmt::format("{}: from a filter of kind {} no key can be removed; build one of a kind "
                    "that allows it ({})",
                    options.target, filter->info().kind_name, kinds_that(&abilities::erase)));
  }
  std::uint64_t strangers = 0;
  std::string first_stranger;
  bool changed = false;
  flags erased;
  for (;;) {
    const auto batch = input.next();
    if (!batch) return fail(batch.error());
    if (batch->lines.empty()) break;
    const auto answers = erased.first(batch->keys.size());
    if (auto ok = filter->erase(batch->keys, answers); !ok) return fail(ok.error());
    for (std::size_t i = 0; i < batch->lines.size(); ++i) {
      const auto [first, last] = batch->keys_of(i);
      const auto members = std::count(answers.data() + first, answers.data() + last, true);
      changed |= members != 0;
      if (static_cast<std::size_t>(members) == last - first) continue;
      if (strangers++ == 0) first_stranger = input.position_of_line(batch->first_line + i);
    }
  }
  finish(input, verb);
  if (changed) {
    const auto saved = replacing(options.target, [&] { return save(*filter, options.target); });
    if (!saved) return fail(saved.error());
  }
  if (strangers == 0) return status::some;
  say(verb, fmt::format("{} of {} lines certainly were no members and were passed over; the first "
                        "is {}",
                        format_count(strangers), format_count(input.lines()), first_stranger));
  return status::none;
}

action define(CLI::App& app) {
  auto options = std::make_shared<remove_options>();
  option(app, "FILTER", options->target, "a filter of a kind that allows it").required();
  options->input.declare(app, keys::purpose::insert);
  return [options] { return remove(*options); };
}

}  // namespace

command remove_command() {
  return {"remove", "take keys out of a filter",
          "  bloomery remove members.cuckoo left-today.txt\n"
          "\n"
          "Remove only keys that were added: a stranger that passes as a member takes a member's\n"
          "place with it. Exit 1 if a line certainly was no member; the others are removed.\n",
          define};
}

}  // namespace bloomery::cli
