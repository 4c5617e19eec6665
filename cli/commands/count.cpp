#include <fmt/format.h>

#include <array>
#include <bloomery/any_filter.hpp>
#include <iterator>

#include "commands/all.hpp"
#include "filling.hpp"
#include "key_input.hpp"
#include "output.hpp"

namespace bloomery::cli {
namespace {

struct count_options {
  std::string filter;
  input_options input;
};

result<status> count(const count_options& options) {
  const auto filter = open(options.filter);
  if (!filter) return fail(filter.error());
  if (!filter->can().count) {
    return fail(
        errc::unsupported,
        fmt::format("{}: a filter of kind {} does not count; build one of a kind that does "
                    "({})",
                    options.filter, filter->info().kind_name, kinds_that(&abilities::count)));
  }
  const auto opened = key_input::open(options.input);
  if (!opened) return fail(opened.error());
  key_input& input = **opened;
  const key_format format = options.input.format();
  output out;
  bool some = false;
  std::array<std::uint64_t, key_reader::most_keys> counts{};
  for (;;) {
    if (input.would_wait()) {
      if (auto ok = out.flush(); !ok) return fail(ok.error());
    }
    const auto batch = input.next();
    if (!batch) return fail(batch.error());
    if (batch->keys.empty()) break;
    if (auto ok = filter->count(batch->keys, counts); !ok) return fail(ok.error());
    for (std::size_t i = 0; i < batch->keys.size(); ++i) {
      const std::uint64_t copies = counts[i];
      some |= copies != 0;
      const fmt::format_int digits(copies);
      out.append({digits.data(), digits.size()});
      out.append('\t');
      out.append(line_of(batch->keys[i], format));
      out.append(format.end);
    }
    if (auto ok = out.check(); !ok) return fail(ok.error());
  }
  input.quieten();
  if (auto ok = out.flush(); !ok) return fail(ok.error());
  return some ? status::some : status::none;
}

action define(CLI::App& app) {
  auto options = std::make_shared<count_options>();
  app.add_option("FILTER", options->filter, "a filter of a kind that counts")->required();
  options->input.declare(app);
  return [options] { return count(*options); };
}

}  // namespace

command count_command() {
  return {
      "count", "print how often each line is in a filter",
      "  bloomery count visits.counting users.txt | sort -rn | head\n"
      "\n"
      "Prints each line with its count and a tab before it. A count is never too low, up to the\n"
      "kind's ceiling. Exit 0 if some line is in it, 1 if none is, 2 on an error.\n",
      define};
}

}  // namespace bloomery::cli
