#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bloomset/defaults.hpp>
#include <bloomset/figures.hpp>
#include <bloomset/plan/units.hpp>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/foreign_build.hpp"
#include "filters/key_part.hpp"
#include "filters/kind_build.hpp"
#include "filters/opened.hpp"
#include "filters/plan_options.hpp"
#include "filters/target.hpp"
#include "input/key_input.hpp"
#include "input/stored_reader.hpp"
#include "memory/memory_limit.hpp"
#include "report/report.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {
namespace build {

constexpr std::string_view verb = "build";

struct build_options {
  std::string target;
  std::string format;
  plan_options plan;
  input_options input;
  std::string part;
  std::vector<std::string> labels;
  std::vector<std::string> universe;
  bool force = false;
  bool strict = false;
  bool quiet = false;
  bool canonical = false;
};

std::string summary(const any_filter& filter, std::string_view name, std::uint64_t keys_read) {
  const filter_info info = filter.info();
  // Repeated keys are reported if they exceed the error of the estimate. At capacity its standard
  // error is at most 0.67 sqrt(n/k) keys.
  const auto read = static_cast<double>(keys_read);
  const double different = distinct_keys(info);
  const bool repeats = different + 1 + 3 * std::sqrt(read) < 0.98 * read;
  const std::string distinct =
      repeats ? fmt::format(" (about {} distinct)",
                            format_count(static_cast<std::uint64_t>(std::llround(different))))
              : "";
  const double bits = 8 * static_cast<double>(info.plan.bytes) / (repeats ? different : read);
  return fmt::format("{}: {}{}, {}{}, rate {}", name, format_count(keys_read, "key"), distinct,
                     format_bytes(info.plan.bytes),
                     keys_read == 0 ? "" : fmt::format(", {:.2f} bits/key", bits),
                     format_rate(info.current_fpr));
}

/// The summary of a kind of two sets.
std::string summary(const any_filter& filter, std::string_view name, const key_input& universe) {
  const filter_info info = filter.info();
  return fmt::format(
      "{}: {} of a universe of {}, {}{}; keys outside the universe pass at a rate of {}", name,
      format_count(info.count, "member"), format_count(universe.keys(), "key"),
      format_bytes(info.plan.bytes),
      info.count == 0 ? "" : fmt::format(", {:.2f} bits/member", info.plan.bits_per_key()),
      format_rate(info.current_fpr));
}

std::vector<std::string_view> static_formats() {
  std::vector<std::string_view> names;
  for (const dialects::dialect& row : dialects::all()) {
    if (row.is_static()) names.push_back(row.name);
  }
  return names;
}

/// Fails if --partition is given for a kind that cannot have partitions.
result<void> check_partition(const kind_info& kind, const build_options& options) {
  if (options.input.keys.partition.empty() || kind.build_of_partitions != nullptr) return {};
  return fail(
      errc::invalid_argument,
      fmt::format(
          "--partition: filters of kind {} have no partitions; give --kind {}", kind.name,
          kinds_that([](const kind_info& each) { return each.build_of_partitions != nullptr; },
                     " or ")));
}

/// The options of --universe, which only kinds of two sets have and need.
result<std::optional<input_options>> read_universe(const kind_info& kind,
                                                   const build_options& options) {
  const bool has_universe = !options.universe.empty();
  if (has_universe != (kind.build_of_two_sets != nullptr)) {
    const auto kinds = [](bool two_sets) {
      return kinds_that(
          [=](const kind_info& each) { return (each.build_of_two_sets != nullptr) == two_sets; },
          " or ");
    };
    return fail(errc::invalid_argument,
                has_universe
                    ? fmt::format("--universe: a filter of kind {} has no use for other keys; give "
                                  "--kind {}, or --format {}",
                                  kind.name, kinds(true), fmt::join(static_formats(), " or "))
                    : fmt::format("a filter of kind {} is built from its members and all other "
                                  "keys that will be queried; give a file of all keys with "
                                  "--universe",
                                  kind.name));
  }
  if (!has_universe) return std::nullopt;
  auto all = input_of_universe(options.input, options.universe);
  if (!all) return fail(std::move(all.error()));
  return std::optional(std::move(*all));
}

/// A filter that is built once is sized by its keys. More keys than --capacity are a warning, or a
/// failure if `strict`.
result<void> report_capacity(const any_filter& filter, std::uint64_t said, std::string_view name,
                             bool strict) {
  if (said == 0 || filter.size() <= said) return {};
  const std::string text = fmt::format("{}: {} were read, more than the --capacity of {}", name,
                                       format_count(filter.size(), "key"), format_count(said));
  if (strict) return fail(errc::full, text + " (--strict: nothing was written)");
  say(verb, "warning: " + text + "; the filter is sized for all of them");
  return {};
}

result<status> build(const build_options& options) {
  auto request = options.plan.request();
  if (!request) return fail(request.error());
  const std::span key(&options.plan.key.file, 1);
  if (auto ok = check_apart(options.target, key); !ok) return fail(std::move(ok.error()));
  const auto memory = options.input.memory.read();
  if (!memory) return fail(memory.error());
  auto part = key_part::read(options.part);
  if (!part) return fail(part.error());
  auto labels = read_labels(options.labels);
  if (!labels) return fail(labels.error());
  if (!options.format.empty()) {
    if (!options.plan.kind.empty()) {
      return fail(errc::invalid_argument,
                  "--kind and --format exclude each other: a format has its own kind of filter; "
                  "give one of them");
    }
    if (memory->given || !part->is_all() || !labels->empty() ||
        !options.input.keys.partition.empty()) {
      return fail(errc::invalid_argument,
                  "--memory-limit, --part, --partition and --label are for Bloomset filters; leave "
                  "them out "
                  "with --format");
    }
    return build_foreign({options.format, options.target, options.universe, options.force,
                          options.strict, options.quiet},
                         *request, options.input);
  }
  const auto kind =
      named("--kind", find_kind(options.plan.kind.empty() ? default_kind : options.plan.kind));
  if (!kind) return fail(kind.error());
  apply_default_fpr(**kind, *request);
  request->hash_bits = hash_bits_for(**kind, *request);
  if (!part->is_all() && !(*kind)->can.merge) {
    return fail(errc::unsupported,
                fmt::format("--part: filters of kind {} cannot be merged; kinds that can: {}",
                            (*kind)->name, kinds_that(&abilities::merge)));
  }
  if (auto ok = check_partition(**kind, options); !ok) return fail(ok.error());
  if (auto ok = check_target(options.target, options.force); !ok) return fail(ok.error());
  auto opened = key_input::open(options.input);
  if (!opened) return fail(opened.error());

  const auto universe_options = read_universe(**kind, options);
  if (!universe_options) return fail(universe_options.error());
  std::unique_ptr<key_input> universe;
  build_input from{options.input, *opened, *part, *memory};
  if (*universe_options) {
    auto all = key_input::open(**universe_options);
    if (!all) return fail(std::move(all.error()));
    universe = std::move(*all);
    from.universe = &universe;
    from.universe_options = &**universe_options;
  }
  auto filter = build_of_kind(**kind, *request, from, options.canonical);
  if (!filter) return fail(filter.error());
  key_input& input = **opened;
  finish(input, verb);
  if (universe != nullptr) finish(*universe, verb);
  const std::string name = options.target == "-" ? "stdout" : options.target;
  const auto fits = (*kind)->build != nullptr
                        ? report_capacity(*filter, request->capacity, name, options.strict)
                        : report_overfull(*filter, name, verb, options.strict);
  if (!fits) return fail(fits.error());
  filter->settle_count();
  if (auto ok = label_keys(*labels, input); !ok) return fail(ok.error());
  filter->labels() = std::move(*labels);
  const auto written = write_filter(*filter, options.target, options.force, part->parts());
  if (!written) return fail(written.error());
  if (!options.quiet && universe != nullptr) note(summary(*filter, name, *universe));
  if (!options.quiet && universe == nullptr)
    note(summary(*filter, name, part->is_all() ? input.keys() : part->kept()));
  return done;
}

action define(CLI::App& app) {
  auto options = std::make_shared<build_options>();
  option(app, "-o,--output", options->target, "the filter to write; - is stdout")
      .value("FILE")
      .under(headings::output)
      .required();
  options->plan.declare(app);
  find_declared(app, "--kind").meaning(fmt::format("kind of filter (default {})", default_kind));
  find_declared(app, "--fpr")
      .meaning(fmt::format("rate of false positives: 1%, 0.01, 1/1000 (default {}%)",
                           100 * default_fpr));
  find_declared(app, "--capacity")
      .meaning(
          "keys to plan for: 1000, 10M, 1e9 (default without --memory: the number of keys read)");
  option(app, "--format", options->format,
         "write a filter of another program instead of a Bloomset filter")
      .value("FORMAT")
      .under(headings::kind);
  find_declared(app, "--with")
      .meaning("an option of the kind or of the --format; 'bloomset man' lists those of each");
  option(app, "--part", options->part,
         "build part I of a filter in N parts: each part has the size of the whole filter, but "
         "holds only its share of the keys; 'bloomset merge' makes the whole filter from all parts")
      .value("I/N")
      .under(headings::limits);
  option(app, "--label", options->labels,
         "store a label in the file, such as source=example.org or licence=CC0, which 'info' shows")
      .value("NAME=VALUE")
      .one_value_per_use()
      .under(headings::output);
  option(app, "--universe", options->universe,
         "a file of all keys that will be queried, with or without the members, for filters "
         "that make no errors on these keys")
      .value("FILE")
      .one_value_per_use()
      .under(headings::input);
  option(app, "--partition", options->input.keys.partition,
         "with --universe, divide the keys into partitions, such as the issuers of "
         "certificates; READER, such as fields:1 or csv:issuer, finds the partition of each line; "
         "the filter has no answer for keys of partitions that are not in the universe; readers")
      .value("READER")
      .under(headings::input);
  flag(app, "--force", options->force, "replace the file if it exists").under(headings::output);
  flag(app, "--strict", options->strict, "fail if there are more keys than the capacity")
      .under(headings::limits);
  flag(app, "--canonical", options->canonical,
       "write the same file for the same keys in any order; needed only for " +
           kinds_that([](const kind_info& kind) { return !kind.any_order; }, " and "))
      .under(headings::output);
  flag(app, "-q,--quiet", options->quiet, "no summary on stderr").under(headings::output);
  options->input.declare(app, keys::purpose::insert, false);
  options->input.writes_to = &options->target;
  return [options] { return build(*options); };
}

}  // namespace build
}  // namespace

command build_command() {
  return {
      "build", "create a filter from keys",
      "  bloomset build -o members.bloom members.txt\n"
      "  bloomset build -o members.bloom --fpr 0.1% --capacity 10M jan.txt.gz feb.txt.zst\n"
      "  cut -f1 users.tsv | bloomset build -o users.bloom --memory 100MB\n"
      "  find . -type f -print0 | bloomset build -0 -o files.bloom --strict\n"
      "  bloomset build -o fixed.bloom --kind fuse --fpr 0.4% members.txt\n"
      "  bloomset build -o revoked.bloom --kind exact --universe all.txt revoked.txt\n"
      "  bloomset build -o crl.bloom --kind exact --universe all.tsv --partition fields:1 "
      "crl.tsv\n"
      "  bloomset build -o pwned.bloom --keys pwned --min-count 10 pwnedpasswords/\n"
      "  bloomset build -o friends.bloom --keys email:lower addresses.txt\n"
      "  bloomset build -o part2.bloom --part 2/8 --capacity 10G --memory-limit 2GB "
      "all.txt.zst\n"
      "  bloomset build -o hashes.dcso --format dcso --fpr 0.1% hashes.txt\n"
      "\n"
      "Without --capacity and --memory, the filter is planned for the number of keys that "
      "are read,\n"
      "which is known only at the end of the input. For " +
          kinds_that(reads_files_again, " and ") +
          ", build therefore reads\n"
          "the files a second time if each line is a key, and a third time if keys repeat. For "
          "other kinds,\n"
          "and for compressed files, files larger than a quarter of the machine's memory, and "
          "stdin, it reads\n"
          "the input only once, and keeps the hashes of the keys, 8 or 16 bytes each. In memory "
          "they take\n"
          "at most the least of three sizes: a quarter of --memory-limit, an eighth of the "
          "machine's memory\n"
          "(at least 256 MiB), and 1 GiB. Further hashes go to a temporary file in $TMPDIR.\n"
          "\n"
          "Filters of the kinds " +
          kinds_that([](const kind_info& kind) { return kind.build != nullptr; }, " and ") +
          " are built once, from all keys, so the hashes of all\n"
          "keys are always kept until all are read. If only --memory is given, without --fpr and\n"
          "--capacity, such a filter gets the lowest rate that is possible at this size.\n"
          "\n"
          "A filter of kind " +
          kinds_that([](const kind_info& kind) { return kind.build_of_two_sets != nullptr; },
                     " or ") +
          " makes no errors on the keys of --universe. The build reads\n"
          "the members, then the universe once, and keeps up to 160 bytes per member. With "
          "--partition it\n"
          "reads the universe twice, and keeps up to 250 bytes per member. If these data might "
          "exceed\n"
          "the memory limit, they go to temporary files. With --format clubcard it reads the "
          "universe twice,\n"
          "and keeps up to 350 bytes per member in memory.\n"
          "\n"
          "A filter that does not fit into --memory-limit is built in temporary files if it is of\n"
          "one of these kinds: " +
          kinds_that(&kind_info::any_order) +
          ".\n"
          "Filters of other kinds must fit into memory.\n"
          "\n"
          "For most kinds, the same keys give the same file in any order. For the other kinds, "
          "give\n"
          "--canonical, which sorts the hashes of all keys, and so keeps them even with "
          "--capacity.\n",
      build::define};
}

}  // namespace bloomset::cli
