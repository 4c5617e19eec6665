#include "input/input_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bloomset/plan/units.hpp>
#include <iterator>
#include <utility>

#include "input/input.hpp"
#include "input/stored_reader.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {

result<input_names> expand_names(const input_options& options, const keys::reader_kind& kind) {
  input_names names;
  for (const std::string& name : options.names) {
    if (kind.in_folder == nullptr || !is_folder(name)) {
      names.files.push_back(name);
      continue;
    }
    auto files = files_in(name, kind.in_folder);
    if (!files) return fail(std::move(files.error()));
    if (files->empty()) {
      return fail(errc::not_found, fmt::format("{}: this folder has no file that the reader {} "
                                               "recognises by name; give files",
                                               name, kind.name));
    }
    if (files->size() < kind.whole_folder && names.incomplete.empty()) {
      names.incomplete =
          fmt::format("{}: this folder has {} of {} files; the keys of the others are missing",
                      name, format_count(files->size()), format_count(kind.whole_folder));
    }
    std::move(files->begin(), files->end(), std::back_inserter(names.files));
  }
  if (names.files.empty()) names.files.emplace_back("-");
  return names;
}

result<std::string> reader_text(const input_options& options) {
  const std::string_view text =
      options.keys.reader.empty() ? plain_reader : std::string_view(options.keys.reader);
  if (options.min_count.empty()) return std::string(text);
  if (text.substr(0, text.find(':')) != "pwned") {
    return fail(errc::invalid_argument, "--min-count: only --keys pwned reads counts");
  }
  if (text.find(':') != std::string_view::npos) {
    return fail(errc::invalid_argument,
                fmt::format("--min-count: --keys {} already has a minimum; give one of "
                            "the two",
                            text));
  }
  const auto min = named("--min-count", parse_count(options.min_count));
  if (!min) return fail(min.error());
  return fmt::format("{}:min={}", text, *min);
}

result<const keys::reader_kind*> find_reader(const input_options& options) {
  const std::string& text = options.keys.reader;
  auto kind = named("--keys", keys::find(text.empty() ? plain_reader : text));
  if (kind && (*kind)->secret && options.keys.why == keys::purpose::insert) {
    return fail(
        errc::invalid_argument,
        fmt::format("--keys {}: secret lines can only be checked; build the filter from the list "
                    "that they are checked against",
                    (*kind)->name));
  }
  if (options.keys.why != keys::purpose::insert) return kind;
  if (auto ok = check_name("--keys", text); !ok) return fail(std::move(ok.error()));
  return kind;
}

result<const keys::reader_kind*> find_partition_reader(const input_options& options) {
  auto kind = named("--partition", keys::find(options.keys.partition));
  if (kind && (*kind)->secret) {
    return fail(errc::invalid_argument,
                fmt::format("--partition {}: a secret is not a partition", (*kind)->name));
  }
  return kind;
}

result<void> check_unshown(std::span<const std::string> names, std::string_view what) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto size = examine_file(
        names[i], names.size() == 1 ? std::string(what) : fmt::format("{} {}", what, i + 1));
    if (size) continue;
    return fail(
        size.error().code,
        fmt::format("{}; its name is not shown because it may be a secret: secrets are read "
                    "from the terminal, a pipe or a file, never from arguments, which "
                    "other users can see",
                    size.error().message));
  }
  return {};
}

void input_options::print_lines() noexcept {
  if (::isatty(STDOUT_FILENO) != 0) no_progress = true;
}

void input_options::declare(CLI::App& app, keys::purpose why, bool has_filter) {
  option(app, "INPUT", names,
         "files of keys, one key per line, plain or compressed with gzip, zstd, xz or bzip2; "
         "stdin is read if no file is given, or for -");
  declare_reading(app, why, has_filter);
  memory.declare(app);
  if (has_filter) {
    find_declared(app, "--memory-limit")
        .meaning(
            "memory for a line, and for decompressing a file (default: half of the free memory); "
            "a line or file that needs more is an error");
  }
}

void input_options::declare_reading(CLI::App& app, keys::purpose why, bool has_filter) {
  keys.why = why;
  flag(app, "-0,--null", nul, "lines end with NUL instead of a newline").under(headings::input);
  flag(app, "--crlf", crlf,
       "for files from Windows: drop the carriage return (CR) at the end of a line, and the "
       "byte-order mark at the beginning of a file")
      .under(headings::input);
  option(app, "--keys", keys.reader,
         fmt::format(
             "the reader that turns a line into keys; 'bloomset man' explains each reader and its "
             "arguments (default: {})",
             has_filter ? "the reader that the filter names, otherwise lines, which takes the "
                          "whole line as the key"
                        : "lines"))
      .value("READER")
      .under(headings::input);
  option(app, "--min-count", min_count,
         "with --keys pwned, skip passwords that were seen fewer than N times")
      .value("N")
      .under(headings::input);
  flag(app, "--skip-bad", keys.skip_bad,
       "instead of failing, skip lines that are not valid for --keys or not of the type of "
       "the filter's keys, and report their number at the end")
      .under(headings::input);
  flag(app, "--skip-comments", keys.is_blank.comments, "skip lines that begin with #")
      .under(headings::input);
  flag(app, "--no-progress", no_progress,
       "do not show the progress line that appears on a terminal")
      .under(headings::output);
}

result<input_options> input_of_universe(const input_options& members,
                                        const std::vector<std::string>& names) {
  const auto reads_stdin = [](const std::vector<std::string>& files) {
    return files.empty() || std::ranges::find(files, "-") != files.end();
  };
  if (reads_stdin(names) && reads_stdin(members.names)) {
    return fail(errc::invalid_argument,
                "--universe: stdin cannot have both the members and the universe; give a file");
  }
  input_options universe = members;
  universe.names = names;
  // A query may look up more keys than a member has, such as the parents of a domain.
  universe.keys.why = keys::purpose::ask;
  return universe;
}

}  // namespace bloomset::cli
