#include "opened.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "declare.hpp"

namespace bloomery::cli {
namespace {

// What our own reader says of other bytes, and what they might be instead.
tl::unexpected<failure> no_filter(failure why, const dialects::guess& guess) {
  std::vector<std::string> options;
  options.reserve(guess.perhaps.size());
  for (const auto* row : guess.perhaps) options.push_back(fmt::format("--format {}", row->name));
  why.message += options.empty()
                     ? ", or name the --format if another program did"
                     : fmt::format(", or say {} if it is one", fmt::join(options, " or "));
  return fail(std::move(why));
}

}  // namespace

void format_options::declare(CLI::App& app) {
  option(app, "--format", format, "the program that wrote the filter, if not by content")
      .value("FORMAT");
  option(app, "--column", column, "whose filters to take from a Parquet file").value("COLUMN");
  option(app, "--with", with, "an option of the format's own; 'bloomery man' lists them")
      .value("NAME=VALUE")
      .one_value_a_time();
}

result<dialects::option_list> read_pairs(const std::vector<std::string>& pairs) {
  dialects::option_list list;
  for (const std::string& pair : pairs) {
    const auto at = pair.find('=');
    if (at == std::string::npos || at == 0) {
      return fail(errc::invalid_argument,
                  fmt::format("'{}' is not NAME=VALUE; write for example funnel=utf8", pair));
    }
    list.emplace_back(pair.substr(0, at), pair.substr(at + 1));
  }
  return list;
}

result<const dialects::dialect*> find_format(const std::string& name) {
  auto found = dialects::find(name);
  if (!found) return fail(found.error().code, "--format: " + found.error().message);
  return found;
}

result<opened_filter> open_filter(const std::string& name, const format_options& options,
                                  access how, verification verify) {
  auto pairs = read_pairs(options.with);
  if (!pairs) return fail(pairs.error().code, "--with: " + pairs.error().message);
  if (!options.column.empty()) pairs->emplace_back("column", options.column);
  const dialects::dialect* format = nullptr;
  if (!options.format.empty()) {
    const auto found = find_format(options.format);
    if (!found) return fail(found.error());
    format = *found;
  }

  auto bytes = map_bytes(name);
  if (!bytes) return fail(std::move(bytes.error()));
  const bool ours = has_signature(bytes->bytes());
  if (!ours) {
    const auto guess = dialects::recognise(bytes->bytes());
    if (format == nullptr) format = guess.certain;
    if (format == nullptr && !options.column.empty()) format = *dialects::find("parquet");
    if (format == nullptr) {
      if (guess.damaged != nullptr) {
        if (auto damaged = dialects::open(*bytes, {.name = name}); !damaged) {
          return fail(std::move(damaged.error()));
        }
      }
      return no_filter(read_stored(std::move(*bytes), verify, name).error(), guess);
    }
    auto filter = dialects::open(*format, *bytes, {name, how, std::move(*pairs)});
    if (!filter) return fail(std::move(filter.error()));
    return std::move(*filter);
  }
  const auto stored = read_stored(std::move(*bytes), verify, name);
  if (!stored) return fail(stored.error());
  auto filter = open_any(*stored, how, name);
  if (!filter) return fail(std::move(filter.error()));
  return std::move(*filter);
}

failure not_ours(failure why, std::string_view verb, const std::string& name) {
  if (why.code != errc::corrupt) return why;
  const auto bytes = map_bytes(name);
  if (!bytes || has_signature(bytes->bytes())) return why;
  const auto guess = dialects::recognise(bytes->bytes());
  const auto* const format = guess.certain != nullptr ? guess.certain : guess.damaged;
  if (format == nullptr) return why;
  return {
      errc::unsupported,
      fmt::format("{}: {} of format {}, and '{}' takes our own filters only; check, info, "
                  "merge and convert take others, and 'build --format' makes them anew",
                  name, guess.certain != nullptr ? "this is a filter" : "this looks like a filter",
                  format->name, verb)};
}

result<void> write_filter(const dialects::foreign_filter& filter, const std::string& target,
                          if_exists policy) {
  const auto image = filter.image();
  if (!image) {
    return fail(image.error().code,
                fmt::format("{}: {}", target == "-" ? "stdout" : target, image.error().message));
  }
  const auto pieces = image->pieces();
  return target == "-" ? write_stream(pieces, STDOUT_FILENO, "stdout")
                       : write_file(pieces, target, policy);
}

result<void> write_filter(const opened_filter& filter, const std::string& target,
                          if_exists policy) {
  if (const auto* foreign = std::get_if<dialects::foreign_filter>(&filter)) {
    return write_filter(*foreign, target, policy);
  }
  const auto& ours = std::get<any_filter>(filter);
  return target == "-" ? write_stream(ours.image(), STDOUT_FILENO, "stdout")
                       : save(ours, target, policy);
}

}  // namespace bloomery::cli
