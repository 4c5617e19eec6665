#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bloomset/defaults.hpp>
#include <bloomset/file_index.hpp>
#include <bloomset/plan/units.hpp>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "commands/all.hpp"
#include "filters/file_key_spool.hpp"
#include "filters/filling.hpp"
#include "filters/hashing.hpp"
#include "filters/target.hpp"
#include "input/key_input.hpp"
#include "input/stored_reader.hpp"
#include "memory/memory_limit.hpp"
#include "terminal/declare.hpp"
#include "terminal/secret_key.hpp"

namespace bloomset::cli {
namespace {
namespace index {

constexpr std::string_view verb = "index";

struct index_options {
  std::string target;
  std::string fpr;
  secret_key_option key;
  std::vector<std::string> labels;
  input_options input;
  bool force = false;
  bool quiet = false;
};

result<std::vector<std::string>> names_of(const key_input& input) {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  for (std::size_t file = 0; file < input.files(); ++file) {
    if (!seen.insert(input.path(file)).second) {
      return fail(errc::invalid_argument,
                  fmt::format("{}: this file is given twice; answers would name it twice",
                              input.name(file)));
    }
    names.emplace_back(input.path(file));
  }
  return names;
}

result<status> run(const index_options& options) {
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
  if (auto ok = check_target(options.target, options.force); !ok) return fail(ok.error());
  const auto opened = key_input::open(options.input);
  if (!opened) return fail(opened.error());
  key_input& input = **opened;
  auto names = names_of(input);
  if (!names) return fail(std::move(names.error()));
  spec.names = std::move(*names);

  // Half of what may wait is for the keys as they are read, half for the joined ones.
  const auto waiting =
      std::min<std::uint64_t>(key_spool::default_limit(), memory->for_waiting()) / 2;
  bool told = false;
  const auto notice = [&](const std::string& folder) {
    input.quieten();
    if (!std::exchange(told, true)) {
      say(verb, fmt::format("after {} the hashes of further keys go to temporary files in {}",
                            format_count(input.keys(), "key"), folder));
    }
  };
  file_key_spool spool(notice, waiting);
  file_keys keys(spool);
  const auto read = hash_files(input, {&spec.seed, 1}, [&](std::size_t file, hash_lists lists) {
    return keys.add(file, lists.front());
  });
  if (!read) return fail(read.error());
  finish(input, verb);
  const auto source = spool.source();
  if (!source) return fail(source.error());
  spec.make_store = [&]() -> result<std::unique_ptr<file_key_store>> {
    return std::unique_ptr<file_key_store>(std::make_unique<file_key_spool>(notice, waiting));
  };
  auto made = file_index::build(spec, *source);
  if (!made) return fail(std::move(made.error()));
  if (auto ok = label_keys(*labels, input); !ok) return fail(ok.error());
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
  option(app, "--fpr", options->fpr,
         fmt::format("the probability that a key of no file is given one, over all files: 1%, "
                     "0.01, 1/1000 (default {}%)",
                     100 * default_fpr))
      .value("P")
      .under(headings::size);
  options->key.declare(app);
  find_declared(app, "--key-file").under(headings::kind);
  option(app, "--label", options->labels,
         "a label that 'info' shows, such as source=example.org or licence=CC0")
      .value("NAME=VALUE")
      .one_value_per_use()
      .under(headings::output);
  flag(app, "--force", options->force, "replace the file if it exists").under(headings::output);
  flag(app, "-q,--quiet", options->quiet, "no summary on stderr").under(headings::output);
  options->input.declare(app, keys::purpose::insert, false);
  find_declared(app, "INPUT")
      .meaning(
          "the files that answers name, of one key per line, plain or packed by gzip, zstd, xz or "
          "bzip2");
  options->input.writes_to = &options->target;
  return [options] { return run(*options); };
}

}  // namespace index
}  // namespace

command index_command() {
  return {
      "index", "create an index of the keys of many files, for 'which'",
      "  bloomset index -o all.which logs/*.log.zst\n"
      "  bloomset index -o users.which --keys csv:user --fpr 1e-6 exports/*.csv.gz\n"
      "\n"
      "An index answers for all files at once. For a key that is in some files, it names\n"
      "exactly these. For a key that is in none, it names a file with probability --fpr,\n"
      "however many files there are. The index needs about log2(1/rate) + log2(files) bits per\n"
      "distinct key: 17 for 1000 files at 1%.\n"
      "\n"
      "The hashes of all keys are kept, 12 bytes each: at most 1 GiB, an eighth of the\n"
      "machine's memory, or a quarter of --memory-limit in memory, whichever is least.\n"
      "Further hashes go to temporary files in $TMPDIR.\n",
      index::define};
}

}  // namespace bloomset::cli
