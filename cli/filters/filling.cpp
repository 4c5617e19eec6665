#include "filters/filling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bloomset/figures.hpp>
#include <bloomset/plan/units.hpp>
#include <cstdio>
#include <vector>

#include "input/blocks.hpp"
#include "report/report.hpp"
#include "terminal/parse_error.hpp"

namespace bloomset::cli {

void note(std::string_view text) {
  // What cannot be said is no failure of the work.
  static_cast<void>(std::fputs((one_line(text) + '\n').c_str(), stderr));
}

void say(std::string_view verb, std::string_view text) {
  note(fmt::format("bloomset {}: {}", verb, text));
}

void finish(key_input& input, std::string_view verb) {
  input.quieten();
  if (const std::string skipped = input.skipped(); !skipped.empty()) say(verb, skipped);
  if (const std::string permits = input.exceptions(); !permits.empty()) say(verb, permits);
  if (!input.incomplete().empty()) say(verb, "warning: " + input.incomplete());
  if (const std::string form = input.unread_form(); !form.empty()) say(verb, "warning: " + form);
}

failure no_room(const std::string& place, insert_outcome why, std::string_view advice) {
  if (why == insert_outcome::too_many_copies) {
    return fail(errc::full,
                fmt::format("{}: the filter cannot store more copies of this key; remove "
                            "repeated lines with 'bloomset dedup'",
                            place));
  }
  return fail(errc::full,
              fmt::format("{}: the filter is full and cannot store this key; {}", place, advice));
}

result<std::uint64_t> insert_all(any_filter& filter, key_input& input, std::string_view advice) {
  std::uint64_t fresh = 0;
  const auto read = in_batches(input, [&](const key_batch& batch) -> result<void> {
    const auto done = filter.insert(batch.keys);
    if (!done) return fail(done.error());
    fresh += done->inserted;
    if (done->done == batch.keys.size()) return {};
    return no_room(input.position_of_line(batch, batch.line_of_key(done->done)), done->stopped_by,
                   advice);
  });
  if (!read) return fail(read.error());
  return fresh;
}

std::string overfull(const any_filter& filter, std::string_view name) {
  if (filter.can().grow) return {};
  const filter_info info = filter.info();
  if (!beyond_capacity(info)) return {};
  return fmt::format(
      "{}: {} are in a filter planned for {}, and its rate is {} instead of {}; rebuild it "
      "with a larger --capacity",
      name, keys_held(info), format_count(info.plan.capacity), format_rate(info.current_fpr),
      format_rate(info.plan.planned_fpr));
}

result<void> report_overfull(const any_filter& filter, std::string_view name, std::string_view verb,
                             bool strict) {
  const std::string text = overfull(filter, name);
  if (text.empty()) return {};
  if (strict) return fail(errc::full, text + " (--strict: nothing was written)");
  say(verb, "warning: " + text);
  return {};
}

}  // namespace bloomset::cli
