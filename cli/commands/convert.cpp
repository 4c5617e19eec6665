#include <fmt/format.h>

#include <array>

#include "commands/all.hpp"
#include "filters/opened.hpp"
#include "filters/target.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {
namespace convert {

struct arguments {
  std::string file;
  std::string output;
  std::string to;
  std::vector<std::string> to_with;
  format_options format;
  bool force = false;
};

result<status> run(const arguments& given) {
  const std::array read = {given.file, given.format.key.file};
  if (auto ok = check_apart(given.output, read); !ok) return fail(std::move(ok.error()));
  if (auto ok = check_target(given.output, given.force); !ok) return fail(std::move(ok.error()));
  auto options = read_pairs(given.to_with, "--to-with", "funnel=utf8");
  if (!options) return fail(std::move(options.error()));
  const auto opened = open_filter(given.file, given.format);
  if (!opened) return fail(opened.error());
  const auto* const foreign = std::get_if<dialects::foreign_filter>(&*opened);
  if (foreign == nullptr) {
    return fail(
        errc::unsupported,
        fmt::format("{}: a Bloomset filter cannot be converted, because no other format has its "
                    "hash function; rebuild it from the keys with 'bloomset build --format'",
                    given.file));
  }
  const dialects::dialect* to = &foreign->format();
  if (!given.to.empty()) {
    const auto found = named("--to", dialects::find(given.to));
    if (!found) return fail(found.error());
    to = *found;
  }
  options = dialects::options_for(*to, given.output, std::move(*options));
  if (!options) return fail(options.error());
  const auto converted = named(given.file, foreign->convert(*to, *options));
  if (!converted) return fail(converted.error());
  auto saved = write_filter(*converted, given.output, given.force);
  if (!saved) return fail(std::move(saved.error()));
  return done;
}

action define(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  option(app, "FILE", given->file, "a filter of another program").required();
  option(app, "-o,--output", given->output, "the filter to write; - is stdout")
      .value("FILE")
      .required();
  option(app, "--to", given->to, "the format to write (default: the format of FILE)")
      .value("FORMAT");
  option(app, "--to-with", given->to_with, "an option of the format to write")
      .value("NAME=VALUE")
      .one_value_per_use();
  flag(app, "--force", given->force, "replace the file if it exists");
  given->format.declare(app);
  return [given] { return run(*given); };
}

}  // namespace convert
}  // namespace

command convert_command() {
  return {
      "convert", "write another program's filter in a different file format",
      "  bloomset convert -o plain.bloom --to-with gzip=no packed.bloom.gz\n"
      "  bloomset convert -o user.filter --column user events.parquet\n"
      "  bloomset convert -o nb-1-big-Filter.db --to-with version=nb mc-1-big-Filter.db\n"
      "\n"
      "The bits stay the same. A format with other hash functions needs a new filter, built from\n"
      "the keys with 'bloomset build --format'.\n",
      convert::define};
}

}  // namespace bloomset::cli
