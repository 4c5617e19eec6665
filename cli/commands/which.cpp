#include <fmt/format.h>

#include <algorithm>
#include <bloomset/file_index.hpp>
#include <memory>
#include <nlohmann/json.hpp>
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

/// Answers lines, and prints them.
class answering {
 public:
  answering(const which_options& options, const file_index& index, output& out)
      : options_(options),
        index_(index),
        out_(out),
        hash_(index.hash_function()),
        names_only_(options.names_only || options.keys.size() == 1),
        named_(index.files()) {}

  std::uint64_t selected() const noexcept { return selected_; }

  /// `input` has the lines of a secret reader, which are not printed; else it may be null.
  void answer(const key_batch& batch, const key_input* input) {
    bytes_.clear();
    for (const std::string_view key : batch.keys) bytes_.push_back(std::as_bytes(std::span(key)));
    hashes_.resize(bytes_.size());
    hash_(bytes_, hashes_.data());
    index_.files_of(hashes_, lists_);
    for (std::size_t i = 0; i < batch.lines.size(); ++i) {
      const auto [first, last] = batch.keys_of(i);
      if (first == last) continue;
      files_.clear();
      for (std::size_t key = first; key < last; ++key) {
        const auto of = lists_.of(key);
        files_.insert(files_.end(), of.begin(), of.end());
      }
      if (last - first > 1) {
        std::ranges::sort(files_);
        files_.erase(std::unique(files_.begin(), files_.end()), files_.end());
      }
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
    for (std::size_t file = 0; file < named_.size(); ++file) {
      if (named_[file]) print_line(index_.name(file));
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
      print_line(index_.name(file));
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
      out_.append(json_text(index_.name(files_[i])));
    }
    out_.append("]}\n");
  }

  const which_options& options_;
  const file_index& index_;
  output& out_;
  filter_hasher hash_;
  bool names_only_;
  std::vector<bool> named_;
  std::vector<std::span<const std::byte>> bytes_;
  std::vector<hash64> hashes_;
  file_lists lists_;
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
  answers.answer(reader->batch(), nullptr);
  return {};
}

result<file_index> open_index(const which_options& options) {
  const auto key = options.key.read();
  if (!key) return fail(key.error());
  const auto verify = options.verify ? verification::always : verification::automatic;
  auto index = open_file_index(path_of_filter(options.index), verify, *key);
  return index ? std::move(index) : not_ours(std::move(index.error()), verb, options.index);
}

result<status> run(which_options& options) {
  const auto kind = find_reader(options.input);
  if (!kind) return fail(kind.error());
  if ((*kind)->secret && !options.keys.empty()) {
    return fail(errc::invalid_argument,
                "KEY: secrets are read from the terminal, a pipe or a file, never from arguments, "
                "which other users can see");
  }
  if (options.keys.empty() && options.index == "-") {
    return fail(errc::invalid_argument,
                "-: stdin cannot be both the index and the keys; give the index in a file");
  }
  const auto index = open_index(options);
  if (!index) return fail(index.error());
  const labelled_filter labels{options.index, &index->labels()};
  output out;
  answering answers(options, *index, out);
  options.input.names = {"-"};
  if (!options.keys.empty()) {
    options.input.names = {"/dev/null"};  // so that the reader is chosen as for any input
  }
  // A KEY is a record, as the lines of the files are; with --keys lines it is the key itself, which
  // no reader of a field finds in it, so the other reader is no mistake.
  const bool is_key_itself = !options.keys.empty() && options.input.keys.reader == plain_reader;
  const auto opened = is_key_itself ? key_input::open(options.input)
                                    : open_keys(options.input, {&labels, 1}, verb, options.strict);
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
  option(app, "INDEX", options->index, "an index of 'bloomset index'; - is stdin").required();
  option(app, "KEY", options->keys,
         "keys, in the form of the lines that 'index' read, or by themselves with --keys lines; "
         "without any, stdin is read, one key per line");
  flag(app, "-l,--names-only", options->names_only,
       "print only the names of files, each once; this is the default for one KEY")
      .under(headings::output);
  flag(app, "-v,--invert-match", options->invert, "print the keys that are in none of the files")
      .under(headings::output);
  flag(app, "-c,--count", options->count, "print only the number of keys that are in a file")
      .under(headings::output);
  flag(app, "-q,--quiet", options->quiet, "print nothing, and stop at the first key that is in one")
      .under(headings::output);
  flag(app, "--json", options->json, "print one JSON object per key that is in a file")
      .under(headings::output);
  flag(app, "--verify", options->verify,
       "verify the checksum of the index first, even if it is larger than 64 MiB")
      .under(headings::filter);
  options->key.declare(app);
  find_declared(app, "--key-file").under(headings::filter);
  flag(app, "--strict", options->strict, "fail if --keys is not the reader that made the keys")
      .under(headings::input);
  options->input.declare_reading(app, keys::purpose::ask, true);
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
          "For one KEY, or with -l, only the names of files are printed, in the order in which\n"
          "'index' was given them. Otherwise each line is a key, a tab and a file. A key that is\n"
          "in some files is answered with exactly these; one that is in none is given a file with\n"
          "the probability that 'index' was given as --fpr.\n",
          which::define};
}

}  // namespace bloomset::cli
