#include "input_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomery/plan/units.hpp>
#include <iterator>
#include <utility>

#include "declare.hpp"
#include "input.hpp"

namespace bloomery::cli {

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
      return fail(errc::not_found, fmt::format("{}: no file in this folder has a name that the "
                                               "reader {} looks for; give files",
                                               name, kind.name));
    }
    if (files->size() < kind.whole_folder && names.incomplete.empty()) {
      names.incomplete =
          fmt::format("{}: {} of the {} files of a whole folder; what the others hold is missing",
                      name, format_count(files->size()), format_count(kind.whole_folder));
    }
    std::move(files->begin(), files->end(), std::back_inserter(names.files));
  }
  if (names.files.empty()) names.files.emplace_back("-");
  return names;
}

result<std::string> reader_text(const input_options& options) {
  if (options.min_count.empty()) return options.keys.reader;
  const std::string_view text = options.keys.reader;
  if (text.substr(0, text.find(':')) != "pwned") {
    return fail(errc::invalid_argument, "--min-count: only --keys pwned reads counts");
  }
  if (text.find(':') != std::string_view::npos) {
    return fail(errc::invalid_argument,
                fmt::format("--min-count: --keys {} says already which to pass over; give one of "
                            "the two",
                            text));
  }
  const auto min = parse_count(options.min_count);
  if (!min) return fail(min.error().code, "--min-count: " + min.error().message);
  return fmt::format("{}:min={}", text, *min);
}

result<void> check_unshown(std::span<const std::string> names, std::string_view what) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto size = examine_file(
        names[i], names.size() == 1 ? std::string(what) : fmt::format("{} {}", what, i + 1));
    if (size) continue;
    return fail(size.error().code,
                fmt::format("{}; its name is not shown since it may be a secret: secrets are read "
                            "from the terminal, a pipe or a file, never from arguments, which "
                            "other users can see",
                            size.error().message));
  }
  return {};
}

void input_options::declare(CLI::App& app, keys::purpose why) {
  keys.why = why;
  option(app, "INPUT", names, "files of keys, one a line; gzip and zstd too; - or none is stdin");
  flag(app, "-0,--null", nul, "lines end in NUL, not in a newline");
  flag(app, "--crlf", crlf,
       "files as Windows writes them: a CR before a line's end, and a byte-order mark at a file's "
       "beginning, belong to no key");
  option(app, "--keys", keys.reader,
         "how a line becomes keys (default lines); 'bloomery man' explains each and what "
         "may follow its name")
      .value("READER");
  option(app, "--min-count", min_count, "with --keys pwned, pass over what was seen less often")
      .value("N");
  flag(app, "--skip-bad", keys.skip_bad,
       "pass over lines that --keys or the filter cannot read, and say at the end how many "
       "they were");
  flag(app, "--no-progress", no_progress, "no progress line, also on a terminal");
}

}  // namespace bloomery::cli
