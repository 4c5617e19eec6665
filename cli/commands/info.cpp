#include <fmt/format.h>

#include <bloomset/figures.hpp>
#include <bloomset/plan/units.hpp>

#include "commands/all.hpp"
#include "filters/opened.hpp"
#include "report/report.hpp"
#include "terminal/declare.hpp"
#include "terminal/parse_error.hpp"

namespace bloomset::cli {
namespace {
namespace info {

struct arguments {
  std::vector<std::string> files;
  format_options format;
  bool json = false;
};

std::string sentence(const filter_info& info) {
  return fmt::format(
      "overfilled: the current rate, {}, is above the planned {}; rebuild it for "
      "more than {}\n",
      format_rate(info.current_fpr), format_rate(info.plan.planned_fpr),
      format_count(info.plan.capacity, "key"));
}

template <class Info>
void print(const arguments& given, const std::string& file, const Info& info) {
  if (given.json) {
    std::vector<property> list;
    if constexpr (std::same_as<Info, std::vector<property>>) {
      list = info;
    } else {
      list = figures_of(info);
    }
    list.insert(list.begin(), {"file", file});
    fmt::print("{}\n", safe_json(to_json(list)));
    return;
  }
  fmt::print("{}\n{}", one_line(file), to_text(info_figures(info)));
  if constexpr (std::same_as<Info, filter_info>) {
    if (info.overfilled) fmt::print("{}", sentence(info));
  }
}

result<status> run(const arguments& given) {
  auto opener = filter_opener::make(given.format);
  if (!opener) return fail(std::move(opener.error()));
  const bool one = given.files.size() == 1;
  status outcome = done;
  bool first = true;
  for (const std::string& file : given.files) {
    const auto info = opener->info(file);
    if (info && one) {
      if (auto ok = opener->all_used(); !ok) return fail(std::move(ok.error()));
    }
    if (!info) {
      if (one) return fail(info.error());
      fmt::print(stderr, "bloomset info: {}\n", one_line(info.error().message));
      outcome = status::error;
      continue;
    }
    if (!first && !given.json) fmt::print("\n");
    std::visit([&](const auto& any) { print(given, file, any); }, *info);
    first = false;
  }
  // An option may belong to a file that could not be opened.
  if (outcome == done) {
    if (auto ok = opener->all_used(); !ok) return fail(std::move(ok.error()));
  }
  return outcome;
}

action define(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  option(app, "FILE", given->files, "filters; - is stdin").required();
  given->format.declare(app);
  given->format.key.uses_variable = false;  // only --key-file checks that the filter has the key
  find_declared(app, "--key-file")
      .meaning("check that the filter was made with the secret key in this file");
  flag(app, "--json", given->json, "print one JSON object per filter, each on a line");
  return [given] { return run(*given); };
}

}  // namespace info
}  // namespace

command info_command() {
  return {"info", "print a filter's kind, size, key count, planned and current rate",
          "  bloomset info members.bloom\n"
          "  bloomset info --json *.bloom\n"
          "\n"
          "A line 'label keys' names the reader that made the filter's keys: the READER of\n"
          "--keys in 'build'. Without such a line, either each line of the input was a key, or\n"
          "Python, SQL or another program made the filter.\n",
          info::define};
}

}  // namespace bloomset::cli
