#include <fmt/format.h>

#include <algorithm>
#include <bloomset/file_index.hpp>
#include <bloomset/keys/reader.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/opened.hpp"
#include "input/key_input.hpp"
#include "input/stored_reader.hpp"
#include "terminal/declare.hpp"
#include "terminal/output.hpp"
#include "terminal/parse_error.hpp"
#include "terminal/secret_key.hpp"

namespace bloomset::cli {
namespace {
namespace which {

constexpr std::string_view verb = "which";

struct which_options {
  std::string index;
  std::vector<std::string> more_indexes;
  std::vector<std::string> keys;
  secret_key_option key;
  input_options input;
  bool invert = false;
  bool names_only = false;
  bool count = false;
  bool quiet = false;
  bool json = false;
  bool verify = false;
  bool strict = false;
};

std::string json_text(std::string_view text) {
  return safe_json(
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

/// Indexes that are asked together. A name that several of them have is one file.
class indexes {
 public:
  explicit indexes(std::vector<file_index> all) : all_(std::move(all)), lists_(all_.size()) {
    std::unordered_map<std::string_view, std::uint32_t> known;
    for (const file_index& index : all_) {
      auto& files = files_.emplace_back();
      for (std::size_t file = 0; file < index.files(); ++file) {
        const auto [at, is_new] =
            known.emplace(index.name(file), static_cast<std::uint32_t>(names_.size()));
        if (is_new) names_.push_back(index.name(file));
        files.push_back(at->second);
      }
    }
  }

  std::size_t files() const noexcept { return names_.size(); }
  std::string_view name(std::uint32_t file) const noexcept { return names_[file]; }

  /// Asks all keys of a batch.
  void ask(std::span<const std::string_view> keys) {
    bytes_.clear();
    for (const std::string_view key : keys) bytes_.push_back(std::as_bytes(std::span(key)));
    hashes_.resize(bytes_.size());
    for (std::size_t i = 0; i < all_.size(); ++i) {
      all_[i].hash_function()(bytes_, hashes_.data());
      all_[i].files_of(hashes_, lists_[i]);
    }
  }
  /// Appends the files of a key of that batch.
  void append_files(std::size_t key, std::vector<std::uint32_t>& to) const {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      for (const std::uint32_t file : lists_[i].of(key)) to.push_back(files_[i][file]);
    }
  }

 private:
  std::vector<file_index> all_;
  std::vector<file_lists> lists_;
  std::vector<std::string_view> names_;
  std::vector<std::vector<std::uint32_t>> files_;  // per index and file: its number here
  std::vector<std::span<const std::byte>> bytes_;
  std::vector<hash64> hashes_;
};

/// Answers lines, and prints them.
class answering {
 public:
  answering(const which_options& options, indexes& asked, output& out)
      : options_(options),
        asked_(asked),
        out_(out),
        names_only_(options.names_only || options.keys.size() == 1),
        named_(asked.files()) {}

  std::uint64_t selected() const noexcept { return selected_; }

  /// `input` has the lines of a secret reader, which are not printed; else it may be null.
  void answer(const key_batch& batch, const key_input* input) {
    asked_.ask(batch.keys);
    for (std::size_t i = 0; i < batch.lines.size(); ++i) {
      const auto [first, last] = batch.keys_of(i);
      if (first == last) continue;
      files_.clear();
      for (std::size_t key = first; key < last; ++key) asked_.append_files(key, files_);
      std::ranges::sort(files_);
      files_.erase(std::unique(files_.begin(), files_.end()), files_.end());
      if (files_.empty() != options_.invert) continue;
      ++selected_;
      if (options_.quiet || options_.count) continue;
      if (options_.json) {
        print_json(batch.lines[i], input == nullptr);
      } else if (input != nullptr) {
        print(one_line(input->position_of_line(batch, i)));
      } else {
        print(line_of(batch.lines[i], options_.input.format()));
      }
    }
  }

  /// Prints the names of all files that were found, each once.
  void print_names() {
    if (!names_only_ || options_.quiet || options_.count || options_.json || options_.invert)
      return;
    for (std::uint32_t file = 0; file < named_.size(); ++file) {
      if (named_[file]) print_line(asked_.name(file));
    }
  }

 private:
  void print_line(std::string_view text) {
    out_.append(text);
    out_.append(options_.input.format().end);
  }

  void print(std::string_view line) {
    if (options_.invert) {
      print_line(line);
      return;
    }
    for (const std::uint32_t file : files_) {
      if (names_only_) {
        named_[file] = true;
        continue;
      }
      out_.append(line);
      out_.append('\t');
      print_line(asked_.name(file));
    }
  }

  void print_json(std::string_view line, bool is_shown) {
    out_.append("{");
    if (is_shown) {
      out_.append(R"("key":)");
      out_.append(json_text(line));
      out_.append(",");
    }
    out_.append(R"("files":[)");
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (i != 0) out_.append(",");
      out_.append(json_text(asked_.name(files_[i])));
    }
    out_.append("]}\n");
  }

  const which_options& options_;
  indexes& asked_;
  output& out_;
  bool names_only_;
  std::vector<bool> named_;
  std::vector<std::uint32_t> files_;
  std::uint64_t selected_ = 0;
};

/// Answers the keys that are arguments.
result<void> answer_arguments(const which_options& options, const key_choice& choice,
                              answering& answers) {
  auto reader = record_keys::make(choice);
  if (!reader) return fail(std::move(reader.error()));
  reader->begin_file(0, "arguments");
  reading read;
  for (const std::string& key : options.keys) {
    if (!reader->read(key, read)) break;
  }
  if (read.wrong && read.stopped) {
    return named(fmt::format("KEY {}", read.wrong->line + 1), result<void>(read.wrong->why));
  }
  if (read.skipped != 0 && read.wrong) {
    say(verb,
        fmt::format("KEY {}: {}; it was skipped", read.wrong->line + 1, read.wrong->why.message));
  }
  answers.answer(reader->batch(), nullptr);
  return {};
}

/// Whether the readers of all indexes find a key within a record, or use records as keys.
bool readers_find_parts(std::span<const labelled_filter> indexes) {
  return std::ranges::all_of(indexes, [](const labelled_filter& index) {
    const auto reader = index.labels->find(reader_label);
    if (!reader) return true;
    const auto kind = keys::find(*reader);
    return kind && (*kind)->finds_part;
  });
}

result<std::vector<file_index>> open_indexes(const which_options& options,
                                             std::span<const std::string> names) {
  const auto key = options.key.read();
  if (!key) return fail(key.error());
  const auto verify = options.verify ? verification::always : verification::automatic;
  std::vector<file_index> all;
  for (const std::string& name : names) {
    auto index = open_file_index(path_of_filter(name), verify, *key);
    if (!index) return not_ours(std::move(index.error()), verb, name);
    all.push_back(std::move(*index));
  }
  return all;
}

result<status> run(which_options& options) {
  const auto kind = find_reader(options.input);
  if (!kind) return fail(kind.error());
  if ((*kind)->secret && !options.keys.empty()) {
    return fail(errc::invalid_argument,
                "KEY: secrets are read from the terminal, a pipe or a file, never from arguments, "
                "which other users can see");
  }
  std::vector<std::string> names = {options.index};
  names.insert(names.end(), options.more_indexes.begin(), options.more_indexes.end());
  const auto from_stdin = std::ranges::count(names, "-");
  if (from_stdin > 1 || (from_stdin == 1 && options.keys.empty())) {
    return fail(
        errc::invalid_argument,
        "-: stdin cannot be both an index and the keys, nor two indexes; give indexes in files");
  }
  const auto opened_indexes = open_indexes(options, names);
  if (!opened_indexes) return fail(opened_indexes.error());
  std::vector<labelled_filter> labels;
  labels.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    labels.push_back({names[i], &(*opened_indexes)[i].labels()});
  }
  indexes asked(*opened_indexes);
  output out;
  answering answers(options, asked, out);
  options.input.names = {"-"};
  if (!options.quiet && !options.count) options.input.print_lines();
  if (!options.keys.empty()) {
    options.input.names = {"/dev/null"};  // so that the reader is chosen as for any input
  }
  // A KEY is the key itself if its record has more than the key. Otherwise it is a record, such as
  // an address that the reader converts to its normal form.
  if (!options.keys.empty() && options.input.keys.reader.empty() && readers_find_parts(labels)) {
    options.input.keys.reader = plain_reader;
  }
  const bool is_key_itself = !options.keys.empty() && options.input.keys.reader == plain_reader;
  const auto opened = is_key_itself ? key_input::open(options.input)
                                    : open_keys(options.input, labels, verb, options.strict);
  if (!opened) return fail(opened.error());
  key_input& input = **opened;
  if (!options.keys.empty()) {
    if (auto ok = answer_arguments(options, input.choice(), answers); !ok) return fail(ok.error());
  }
  while (options.keys.empty()) {
    if (input.would_wait()) {
      if (auto ok = out.flush(); !ok) return fail(ok.error());
    }
    const auto batch = input.next();
    if (!batch) return fail(batch.error());
    if (batch->lines.empty()) break;
    answers.answer(*batch, input.secret() ? &input : nullptr);
    if (options.quiet && answers.selected() != 0) break;
    if (auto ok = out.check(); !ok) return fail(ok.error());
  }
  finish(input, verb);
  answers.print_names();
  if (options.count && !options.quiet) out.append(fmt::format("{}\n", answers.selected()));
  if (auto ok = out.flush(); !ok) return fail(ok.error());
  return answers.selected() != 0 ? status::some : status::none;
}

action define(CLI::App& app) {
  auto options = std::make_shared<which_options>();
  option(app, "INDEX", options->index, "an index that 'bloomset index' made; - is stdin")
      .required();
  option(app, "KEY", options->keys,
         "the keys to look up; readers such as email and url convert a KEY as they convert a "
         "line; with fields, csv and json, KEY is the key itself; without a KEY, stdin is read, "
         "one key per line")
      .as_text();
  option(app, "--index", options->more_indexes,
         "another index to query, such as one of newer files")
      .value("INDEX")
      .one_value_per_use()
      .under(headings::filter);
  flag(app, "-l,--names-only", options->names_only,
       "print only the names of files, each once; this is the default for one KEY")
      .under(headings::output);
  flag(app, "-v,--invert-match", options->invert, "print the keys that are in none of the files")
      .under(headings::output);
  flag(app, "-c,--count", options->count, "print only the number of keys that are in a file")
      .under(headings::output);
  flag(app, "-q,--quiet", options->quiet,
       "print nothing, and stop at the first key that is in a file")
      .under(headings::output);
  flag(app, "--json", options->json, "print one JSON object per key that is in a file")
      .under(headings::output);
  flag(app, "--verify", options->verify,
       "verify the checksum of the whole index first (default: if it has at most 64 MiB)")
      .under(headings::filter);
  options->key.declare(app);
  find_declared(app, "--key-file").under(headings::filter);
  flag(app, "--strict", options->strict, "fail if --keys is not the reader that made the keys")
      .under(headings::input);
  options->input.declare_reading(app, keys::purpose::ask, true);
  find_declared(app, "--keys")
      .meaning(
          "the reader that turns a line into keys; 'bloomset man' explains each reader and its "
          "arguments (default: the reader that made the index's keys if the index names one, "
          "otherwise lines)");
  find_declared(app, "--skip-bad").meaning(skip_bad_without_types);
  return [options] { return run(*options); };
}

}  // namespace which
}  // namespace

command which_command() {
  return {"which", "print which of many files may have a key",
          "  bloomset which all.which alice@example.com\n"
          "  zgrep -h 'error 4711' $(bloomset which all.which 4711)\n"
          "  bloomset which -l all.which < suspects.txt\n"
          "  bloomset which -0 all.which 4711 | xargs -0 -r zstdgrep 4711\n"
          "\n"
          "For one KEY, or with -l, only the names of files are printed, in the order of the\n"
          "arguments of 'bloomset index'. Otherwise each line is a key, a tab and a file. For a\n"
          "key that is in some files, exactly these are printed. For a key that is in none, a\n"
          "file is printed with the probability that was given to 'index' as --fpr.\n",
          which::define};
}

}  // namespace bloomset::cli
