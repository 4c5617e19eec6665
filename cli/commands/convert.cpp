#include <fmt/format.h>

#include "commands/all.hpp"
#include "declare.hpp"
#include "opened.hpp"
#include "target.hpp"

namespace bloomery::cli {
namespace {

struct arguments {
  std::string file;
  std::string output;
  std::string to;
  std::vector<std::string> to_with;
  format_options format;
  bool force = false;
};

result<status> run(const arguments& given) {
  if (auto ok = check_target(given.output, given.force); !ok) return fail(std::move(ok.error()));
  auto options = read_pairs(given.to_with, "--to-with");
  if (!options) return fail(std::move(options.error()));
  const auto opened = open_filter(given.file, given.format);
  if (!opened) return fail(opened.error());
  const auto* const foreign = std::get_if<dialects::foreign_filter>(&*opened);
  if (foreign == nullptr) {
    return fail(errc::unsupported,
                fmt::format("{}: our own filters hash keys in a way that no other format has, so "
                            "that no bit would mean the same keys; build it anew with 'bloomery "
                            "build --format'",
                            given.file));
  }
  const dialects::dialect* to = &foreign->format();
  if (!given.to.empty()) {
    const auto found = dialects::find(given.to);
    if (!found) return fail(found.error().code, "--to: " + found.error().message);
    to = *found;
  }
  options = dialects::options_for(*to, given.output, std::move(*options));
  if (!options) return fail(options.error());
  const auto converted = foreign->convert(*to, *options);
  if (!converted) {
    return fail(converted.error().code,
                fmt::format("{}: {}", given.file, converted.error().message));
  }
  auto saved = write_filter(*converted, given.output, given.force);
  if (!saved) return fail(std::move(saved.error()));
  return done;
}

action define(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  option(app, "FILE", given->file, "a filter of another program").required();
  option(app, "-o,--output", given->output, "where the result goes; - for stdout")
      .value("FILE")
      .required();
  option(app, "--to", given->to, "the format to write (default that of FILE)").value("FORMAT");
  option(app, "--to-with", given->to_with, "an option of the format to write")
      .value("NAME=VALUE")
      .one_value_a_time();
  flag(app, "--force", given->force, "replace the output if it exists");
  given->format.declare(app);
  return [given] { return run(*given); };
}

}  // namespace

command convert_command() {
  return {"convert", "put another program's filter into another container of the same bits",
          "  bloomery convert -o plain.bloom --to-with gzip=no packed.bloom.gz\n"
          "  bloomery convert -o user.filter --column user events.parquet\n"
          "  bloomery convert -o nb-1-big-Filter.db --to-with version=nb mc-1-big-Filter.db\n"
          "\n"
          "Formats with other hash functions share no bits: a filter that is wanted in another\n"
          "format is built anew from its keys, with 'bloomery build --format'.\n",
          define};
}

}  // namespace bloomery::cli
