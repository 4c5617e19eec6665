#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bloomset/defaults.hpp>
#include <bloomset/dialects/parquet.hpp>
#include <bloomset/file_index.hpp>
#include <bloomset/plan/units.hpp>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "commands/all.hpp"
#include "filters/file_key_spool.hpp"
#include "filters/filling.hpp"
#include "filters/hashing.hpp"
#include "filters/opened.hpp"
#include "filters/target.hpp"
#include "input/input.hpp"
#include "input/key_input.hpp"
#include "input/page_codecs.hpp"
#include "input/stored_reader.hpp"
#include "memory/file_memory.hpp"
#include "memory/memory_limit.hpp"
#include "terminal/declare.hpp"
#include "terminal/progress.hpp"
#include "terminal/secret_key.hpp"

namespace bloomset::cli {
namespace {
namespace index {

constexpr std::string_view verb = "index";

/// The label with the column of --column.
constexpr std::string_view column_label = "column";
/// The label with the options that say what a line is: -0, --crlf, --skip-comments, --skip-bad.
constexpr std::string_view lines_label = "lines";

/// An option of input_options, by its word in the label.
struct line_option {
  std::string_view word;
  bool& (*of)(input_options& options);
};
constexpr std::array line_options = {
    line_option{"nul", [](input_options& options) -> bool& { return options.nul; }},
    line_option{"crlf", [](input_options& options) -> bool& { return options.crlf; }},
    line_option{"skip-comments",
                [](input_options& options) -> bool& { return options.keys.is_blank.comments; }},
    line_option{"skip-bad", [](input_options& options) -> bool& { return options.keys.skip_bad; }},
};

/// The label's words, in the order of the list and with commas between them.
std::string line_form(input_options& options) {
  std::vector<std::string_view> words;
  for (const line_option& each : line_options) {
    if (each.of(options)) words.push_back(each.word);
  }
  return fmt::format("{}", fmt::join(words, ","));
}

/// Turns the label's options on.
void take_line_form(input_options& options, std::string_view form) {
  const std::string words = fmt::format(",{},", form);
  for (const line_option& each : line_options) {
    if (words.find(fmt::format(",{},", each.word)) != std::string::npos) each.of(options) = true;
  }
}

/// The label without skip-bad, which `skips_bad` gets: a file of which no line was left out has the
/// same keys with it.
std::string line_form_of(const label_list& labels, bool& skips_bad) {
  input_options read;
  take_line_form(read, labels.find(lines_label).value_or(""));
  if (std::exchange(read.keys.skip_bad, false)) skips_bad = true;
  return line_form(read);
}

struct index_options {
  std::string target;
  std::string fpr;
  std::string column;
  secret_key_option key;
  std::vector<std::string> labels;
  input_options input;
  bool compact = false;
  bool force = false;
  bool quiet = false;
};

/// The files of an index: lines, or the values of a column of Parquet files.
class indexed_files {
 public:
  static result<indexed_files> lines(result<std::unique_ptr<key_input>> input) {
    if (!input) return fail(std::move(input.error()));
    indexed_files made;
    for (std::size_t file = 0; file < (*input)->files(); ++file) {
      made.names_.emplace_back((*input)->path(file));
    }
    made.input_ = std::move(*input);
    return made;
  }

  static result<indexed_files> columns(const index_options& options) {
    const input_options& input = options.input;
    if (!input.keys.reader.empty() || !input.min_count.empty() || input.keys.skip_bad ||
        input.keys.is_blank.comments || input.nul || input.crlf) {
      return fail(errc::invalid_argument,
                  "--column: the values of the column are the keys, so leave out the options that "
                  "say how lines are read");
    }
    indexed_files made;
    made.names_ = input.names;
    std::uint64_t bytes = 0;
    for (const std::string& name : made.names_) {
      if (name == "-") {
        return fail(errc::invalid_argument,
                    "--column: a Parquet file is not read from stdin; give its name");
      }
      const auto size = examine_file(name, name);
      if (!size) return fail(size.error());
      bytes += size->value_or(0);
    }
    if (made.names_.empty()) return fail(errc::invalid_argument, "--column: give Parquet files");
    made.column_ = options.column;
    made.progress_ = std::make_unique<progress>(!input.no_progress, bytes);
    return made;
  }

  const std::vector<std::string>& names() const noexcept { return names_; }

  /// To be called before a message.
  void quieten() noexcept {
    if (input_) input_->quieten();
    if (progress_) progress_->clear();
  }

  result<void> read(hash_seed seed, file_keys& keys) {
    if (!input_) return read_columns(filter_hasher(seed), keys);
    auto ok = hash_files(*input_, {&seed, 1}, [&](std::size_t file, hash_lists lists) {
      return keys.add(file, lists.front());
    });
    if (ok) finish(*input_, verb);
    return ok;
  }

  result<void> label(label_list& labels) const {
    return input_ ? label_keys(labels, *input_) : labels.set(column_label, column_);
  }

 private:
  result<void> read_columns(const filter_hasher& hash, file_keys& keys) {
    std::vector<std::span<const std::byte>> bytes;
    std::vector<hash64> hashes;
    std::uint64_t done_bytes = 0;
    for (std::size_t file = 0; file < names_.size(); ++file) {
      const auto mapped = map_bytes(names_[file]);
      if (!mapped) return fail(mapped.error());
      auto ok = dialects::read_parquet_column(
          mapped->bytes(), column_, unpack_page,
          [&](std::span<const std::string_view> values) -> result<void> {
            bytes.clear();
            for (const std::string_view value : values) {
              bytes.push_back(std::as_bytes(std::span(value)));
            }
            hashes.resize(bytes.size());
            hash(bytes, hashes.data());
            progress_->update(keys.read(), done_bytes);
            return keys.add(file, hashes);
          });
      if (!ok) return named(names_[file], std::move(ok));
      done_bytes += mapped->bytes().size();
    }
    quieten();
    return {};
  }

  std::vector<std::string> names_;
  std::unique_ptr<key_input> input_;  // null for columns
  std::string column_;
  std::unique_ptr<progress> progress_;
};

/// Opens the files of the indexes that are the arguments, each file once, and reads them as they
/// were read. `spec` gets the lowest rate of the indexes, unless --fpr is given; `given` also gets
/// the labels that all of them have.
result<indexed_files> open_again(index_options& options, const std::optional<hash_key>& key,
                                 file_index_spec& spec, label_list& given) {
  const std::vector<std::string> names = std::exchange(options.input.names, {});
  if (names.empty()) return fail(errc::invalid_argument, "--compact: give the indexes to join");
  std::vector<file_index> indexes;
  for (const std::string& name : names) {
    auto index = open_file_index(path_of_filter(name), verification::automatic, key);
    if (!index) return not_ours(std::move(index.error()), "index --compact", name);
    indexes.push_back(std::move(*index));
  }
  std::vector<labelled_filter> labels;
  label_list common = indexes.front().labels();
  bool skips_bad = false;
  const std::string form = line_form_of(indexes.front().labels(), skips_bad);
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    const file_index& index = indexes[i];
    labels.push_back({names[i], &index.labels()});
    common.keep_common(index.labels());
    if (line_form_of(index.labels(), skips_bad) != form) {
      return fail(errc::incompatible,
                  fmt::format("{} and {}: their lines were read with different options; index the "
                              "files of one anew",
                              names.front(), names[i]));
    }
    if (options.fpr.empty()) {
      spec.fpr = i == 0 ? index.planned_fpr() : std::min(spec.fpr, index.planned_fpr());
    }
    for (std::size_t file = 0; file < index.files(); ++file) {
      const std::string_view path = index.name(file);
      if (path == "-") {
        return fail(errc::invalid_argument,
                    fmt::format("{}: it has the keys of stdin, which cannot be read again; build "
                                "the index from files",
                                names[i]));
      }
      if (seen.insert(path).second) options.input.names.emplace_back(path);
    }
    const std::string_view column = index.labels().find(column_label).value_or("");
    if (i == 0 && options.column.empty()) options.column = column;
    if (column != options.column) {
      return fail(errc::incompatible,
                  fmt::format("{}: its keys are {}; join indexes of the same keys", names[i],
                              column.empty() ? "lines" : fmt::format("of the column {}", column)));
    }
  }
  for (const auto& [name, value] : common.all()) {
    if (name == reader_label || name == key_bytes_label) continue;
    if (name == column_label || name == lines_label) continue;
    if (given.find(name)) continue;
    if (auto ok = given.set(name, value); !ok) return fail(ok.error());
  }
  if (!options.column.empty()) return indexed_files::columns(options);
  take_line_form(options.input, form);
  if (skips_bad) options.input.keys.skip_bad = true;
  return indexed_files::lines(open_keys(options.input, labels, verb, false));
}

result<indexed_files> open_files(index_options& options, const std::optional<hash_key>& key,
                                 file_index_spec& spec, label_list& labels) {
  if (options.compact) return open_again(options, key, spec, labels);
  if (!options.column.empty()) return indexed_files::columns(options);
  return indexed_files::lines(key_input::open(options.input));
}

result<void> check_names(const indexed_files& files) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : files.names()) {
    if (seen.insert(name).second) continue;
    return fail(errc::invalid_argument,
                fmt::format("{}: this file is given twice; answers would name it twice",
                            name == "-" ? stdin_name : std::string_view(name)));
  }
  return {};
}

result<status> run(index_options& options) {
  file_index_spec spec;
  if (auto ok = read_option("--fpr", options.fpr, parse_rate, spec.fpr); !ok) {
    return fail(std::move(ok.error()));
  }
  const auto key = options.key.read();
  if (!key) return fail(key.error());
  if (*key) spec.seed = **key;
  const auto memory = options.input.memory.read();
  if (!memory) return fail(memory.error());
  auto labels = read_labels(options.labels);
  if (!labels) return fail(labels.error());
  for (const std::string_view own : {column_label, lines_label}) {
    if (!labels->find(own)) continue;
    return fail(errc::invalid_argument,
                fmt::format("--label: {} is set by index; choose another name", own));
  }
  if (auto ok = check_target(options.target, options.force); !ok) return fail(ok.error());
  auto files = open_files(options, *key, spec, *labels);
  if (!files) return fail(files.error());
  if (auto ok = check_names(*files); !ok) return fail(ok.error());
  if (auto ok = check_apart(options.target, files->names()); !ok) return fail(ok.error());
  if (auto ok = check_apart(options.target, std::span(&options.key.file, 1)); !ok) {
    return fail(ok.error());
  }
  spec.names = files->names();

  // Half of what may wait is for the keys as they are read, half for the joined ones.
  const auto waiting =
      std::min<std::uint64_t>(key_spool::default_limit(), memory->for_waiting()) / 2;
  // The build needs more than a low limit leaves: a group of shards alone has 64 MiB.
  if (memory->given) use_file_memory();
  bool told = false;
  const file_keys* reading = nullptr;
  const auto notice = [&](const std::string& folder) {
    files->quieten();
    if (!std::exchange(told, true)) {
      say(verb, fmt::format("after {} the hashes of further keys go to temporary files in {}",
                            format_count(reading->read(), "key"), folder));
    }
  };
  file_key_spool spool(notice, waiting);
  file_keys keys(spool);
  reading = &keys;
  if (auto ok = files->read(spec.seed, keys); !ok) {
    return fail(file_memory_failure(std::move(ok.error())));
  }
  auto source = spool.source();
  if (!source) return fail(file_memory_failure(std::move(source.error())));
  spec.make_store = [&]() -> result<std::unique_ptr<file_key_store>> {
    return std::unique_ptr<file_key_store>(std::make_unique<file_key_spool>(notice, waiting));
  };
  auto made = file_index::build(spec, *source);
  if (!made) return fail(file_memory_failure(std::move(made.error())));
  if (auto ok = files->label(*labels); !ok) return fail(ok.error());
  if (const std::string form = line_form(options.input); options.column.empty() && !form.empty()) {
    if (auto ok = labels->set(lines_label, form); !ok) return fail(ok.error());
  }
  made->labels() = std::move(*labels);

  const std::string shown = options.target == "-" ? "stdout" : options.target;
  const auto written = options.target == "-"
                           ? write_stream(made->image(), STDOUT_FILENO, shown)
                           : replacing(options.target, [&] {
                               return save(*made, options.target,
                                           options.force ? if_exists::replace : if_exists::refuse);
                             });
  if (!written) return fail(written.error());
  if (options.quiet) return done;
  const double bits = 8 * static_cast<double>(made->size_in_bytes()) /
                      static_cast<double>(std::max<std::uint64_t>(1, made->size()));
  note(fmt::format("{}: {} in {}, {}{}, rate {}", shown, format_count(made->size(), "distinct key"),
                   format_count(made->files(), "file"), format_bytes(made->size_in_bytes()),
                   made->size() == 0 ? "" : fmt::format(", {:.2f} bits/key", bits),
                   format_rate(made->current_fpr())));
  return done;
}

action define(CLI::App& app) {
  auto options = std::make_shared<index_options>();
  option(app, "-o,--output", options->target, "the index to write; - is stdout")
      .value("FILE")
      .under(headings::output)
      .required();
  option(
      app, "--fpr", options->fpr,
      fmt::format("the probability that some file is named for a key that is in none of the files: "
                  "1%, 0.01, 1/1000 (default {}%)",
                  100 * default_fpr))
      .value("P")
      .under(headings::size);
  options->key.declare(app);
  find_declared(app, "--key-file").under(headings::kind);
  option(
      app, "--column", options->column,
      "the files are Parquet files, and the values of this column are the keys; COLUMN is its path "
      "in the schema, with dots")
      .value("COLUMN")
      .under(headings::input);
  option(app, "--label", options->labels,
         "store a label in the file, such as source=example.org or licence=CC0, which 'info' shows")
      .value("NAME=VALUE")
      .one_value_per_use()
      .under(headings::output);
  flag(app, "--compact", options->compact,
       "each INPUT is an index: re-read the files named in it, and make one index of them all")
      .under(headings::input);
  flag(app, "--force", options->force, "replace the file if it exists").under(headings::output);
  flag(app, "-q,--quiet", options->quiet, "no summary on stderr").under(headings::output);
  options->input.declare(app, keys::purpose::insert, false);
  find_declared(app, "INPUT")
      .meaning(
          "files of keys, one key per line, plain or compressed with gzip, zstd, xz or bzip2; "
          "'which' prints their names; with --compact, each INPUT is an index instead");
  find_declared(app, "--skip-bad").meaning(skip_bad_without_types);
  options->input.writes_to = &options->target;
  return [options] { return run(*options); };
}

}  // namespace index
}  // namespace

command index_command() {
  return {"index", "create an index of the keys of many files, for 'which'",
          "  bloomset index -o all.which logs/*.log.zst\n"
          "  bloomset index -o users.which --keys csv:user --fpr 1e-6 exports/*.csv.gz\n"
          "  bloomset index -o users.which --column user events/*.parquet\n"
          "  bloomset index --compact -o all.which --force all.which monday.which tuesday.which\n"
          "\n"
          "One query of an index answers for all files. For a key that is in some of the files, "
          "the index\n"
          "names exactly these. For a key that is in none, it names a file with probability "
          "--fpr, however\n"
          "many files there are. It needs about log2(1/rate) + log2(files) bits per distinct "
          "key: 17 for\n"
          "1000 files at 1%.\n"
          "\n"
          "Until the index is written, the hashes of all keys are kept, 12 bytes each. In memory "
          "they take at\n"
          "most the least of three sizes: a quarter of --memory-limit, an eighth of the machine's "
          "memory\n"
          "(at least 256 MiB), and 1 GiB. Further hashes go to temporary files in $TMPDIR.\n",
          index::define};
}

}  // namespace bloomset::cli
