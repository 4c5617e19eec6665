#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/any_filter.hpp>
#include <iterator>
#include <vector>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/opened.hpp"
#include "input/blocks.hpp"
#include "input/key_input.hpp"
#include "input/stored_reader.hpp"
#include "terminal/declare.hpp"
#include "terminal/output.hpp"

namespace bloomset::cli {
namespace {
namespace count {

constexpr std::string_view verb = "count";

struct count_options {
  std::string filter;
  input_options input;
  secret_key_option key;
  bool strict = false;
};

result<status> count(count_options& options) {
  if (const auto reader = find_reader(options.input); !reader) return fail(reader.error());
  const auto key = options.key.read();
  if (!key) return fail(key.error());
  const auto filter = open(options.filter, verification::automatic, *key);
  if (!filter) return fail(not_ours(filter.error(), verb, options.filter));
  if (!filter->can().count) {
    return fail(
        errc::unsupported,
        fmt::format("{}: a filter of kind {} cannot count; build one of a kind that can "
                    "({})",
                    options.filter, filter->info().kind_name, kinds_that(&abilities::count)));
  }
  const std::array asked = {labelled_filter{options.filter, &filter->labels()}};
  options.input.print_lines();
  const auto opened = open_keys(options.input, asked, verb, options.strict);
  if (!opened) return fail(opened.error());
  key_input& input = **opened;
  const key_format format = options.input.format();
  output out;
  bool some = false;
  std::vector<std::uint64_t> counts;
  const auto read = in_batches(input, [&](const key_batch& batch) -> result<void> {
    counts.resize(std::max(counts.size(), batch.keys.size()));
    if (auto ok = filter->count(batch.keys, counts); !ok) return fail(ok.error());
    for (std::size_t i = 0; i < batch.lines.size(); ++i) {
      const auto [first, last] = batch.keys_of(i);
      if (first == last) continue;
      const std::uint64_t copies = *std::max_element(counts.data() + first, counts.data() + last);
      some |= copies != 0;
      const fmt::format_int digits(copies);
      out.append({digits.data(), digits.size()});
      out.append('\t');
      out.append(line_of(batch.lines[i], format));
      out.append(format.end);
    }
    if (!input.total_bytes() && input.would_wait()) return out.flush();
    return out.check();
  });
  if (!read) return fail(read.error());
  finish(input, verb);
  if (auto ok = out.flush(); !ok) return fail(ok.error());
  return some ? status::some : status::none;
}

action define(CLI::App& app) {
  auto options = std::make_shared<count_options>();
  option(app, "FILTER", options->filter, "a filter of a kind that counts").required();
  flag(app, "--strict", options->strict,
       "fail if --keys is not the reader that made the filter's keys");
  options->key.declare(app);
  options->input.declare(app, keys::purpose::insert, true);
  return [options] { return count(*options); };
}

}  // namespace count
}  // namespace

command count_command() {
  return {"count", "print how many copies of each line a filter holds",
          "  bloomset count visits.counting users.txt | sort -rn | head\n"
          "\n"
          "Prints the count, a tab and the line. A count may be too high, but never too low, "
          "except above\n"
          "the kind's maximum. A line with several keys is printed with the highest of their "
          "counts, and a\n"
          "line without a key is not printed. Exit 0 if some line is in the filter, 1 if none "
          "is, 2 on an\n"
          "error.\n",
          count::define};
}

}  // namespace bloomset::cli
