#include <fmt/format.h>

#include <algorithm>
#include <bloomset/keys/content.hpp>
#include <bloomset/plan/units.hpp>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/query.hpp"
#include "input/blocks.hpp"
#include "input/key_input.hpp"
#include "input/stored_reader.hpp"
#include "memory/deferred_lines.hpp"
#include "memory/memory_limit.hpp"
#include "remote/transfer_options.hpp"
#include "report/match_printer.hpp"
#include "scan/known_files.hpp"
#include "terminal/declare.hpp"
#include "terminal/output.hpp"

namespace bloomset::cli {
namespace {
namespace check {

constexpr std::string_view verb = "check";

struct check_options {
  std::string filter;
  std::vector<std::string> more_filters;
  std::vector<std::string> files;
  format_options format;
  transfer_options transfer;
  input_options input;
  bool invert = false;
  bool unknown = false;
  bool count = false;
  bool quiet = false;
  bool json = false;
  bool verify = false;
  bool strict = false;
  bool line_numbers = false;
  bool file_names = false;

  /// Whether lines are printed with their places, which only one thread knows.
  bool prints_places() const noexcept {
    return (json || line_numbers || file_names) && !count && !quiet;
  }
};

struct tally {
  std::uint64_t selected = 0;
  std::vector<std::uint64_t> hits;
  std::vector<bool> fitting;
  std::uint64_t unknown = 0;  // lines for which some filter has no answer
};

// A check goes one of three ways, which check() chooses: in order, in parallel, or on disk. The
// last two do not know a line's number, and the last one prints nothing before the input's end. An
// option that needs either belongs to prints_places().

/// One thread: prints each batch before it waits for input, and knows each line's number.
result<tally> check_in_order(const check_options& options, const query& asked, key_input& input,
                             output& out) {
  const match_printer printer(asked, input, {options.file_names, options.line_numbers});
  answers said(asked.filters());
  std::uint64_t selected = 0;
  for (;;) {
    if (input.would_wait()) {
      if (auto ok = out.flush(); !ok) return fail(ok.error());
    }
    const auto batch = input.next();
    if (!batch) return fail(batch.error());
    if (batch->lines.empty()) break;
    const auto asked_now = asked.ask(*batch, said);
    if (!asked_now) return fail(asked_now.error());
    const std::size_t now = *asked_now;
    selected += now;
    if (input.prompted() && !options.quiet && !options.count && !options.json) {
      printer.print_verdict(said, out);
      continue;
    }
    if (now == 0) continue;
    if (options.quiet) break;
    if (options.count) continue;
    if (options.json) {
      printer.print_json(*batch, said, out);
    } else if (input.secret()) {
      printer.print_positions(*batch, said, out);
    } else {
      printer.print(*batch, said, out);
    }
    if (auto ok = out.check(); !ok) return fail(ok.error());
  }
  return tally{selected, std::move(said.hits), std::move(said.fitting), said.unknowns};
}

/// The work of one thread.
struct share {
  explicit share(std::size_t filters) : said(filters) {}

  /// Checks every line of a block and keeps the text to print.
  reading check(const check_options& options, const query& asked, const key_input& input,
                const key_block& block) {
    const match_printer printer(asked, input, {});
    text.clear();
    return for_each_batch(block, input, reader ? &*reader : nullptr, lines,
                          [&](const key_batch& batch) {
                            const std::size_t now = *asked.ask(batch, said);  // is not remote
                            selected += now;
                            if (now != 0 && !options.quiet && !options.count) {
                              printer.print(batch, said, text);
                            }
                          });
  }

  answers said;
  std::optional<record_keys> reader;
  std::vector<std::string_view> lines;
  std::string text;
  std::uint64_t selected = 0;
};

/// All cores work on blocks. Their texts are printed in the order of the blocks.
result<tally> check_in_parallel(const check_options& options, const query& asked, key_input& input,
                                output& out) {
  std::vector<share> shares;
  for (unsigned slot = 0; slot < threads_for_blocks(0); ++slot) {
    shares.emplace_back(asked.filters());
    if (input.choice().unread()) continue;
    auto reader = record_keys::make(input.choice());
    if (!reader) return fail(std::move(reader.error()));
    shares.back().reader.emplace(std::move(*reader));
  }
  const block_steps steps = {
      .work = [&](unsigned slot, const key_block& block) -> reading {
        return shares[slot].check(options, asked, input, block);
      },
      .hand_on = [&](unsigned slot) -> result<bool> {
        out.append(shares[slot].text);
        if (auto ok = out.check(); !ok) return fail(ok.error());
        return !options.quiet || shares[slot].selected == 0;
      },
  };
  if (auto ok = in_blocks(input, steps); !ok) return fail(ok.error());
  tally sum{0, std::vector<std::uint64_t>(asked.filters()), std::vector<bool>(asked.filters()), 0};
  for (const share& one : shares) {
    sum.selected += one.selected;
    sum.unknown += one.said.unknowns;
    for (std::size_t f = 0; f < sum.hits.size(); ++f) {
      sum.hits[f] += one.said.hits[f];
      if (one.said.fitting[f]) sum.fitting[f] = true;
    }
  }
  return sum;
}

/// The lines of a block that have keys, and the hashes of these keys.
struct hashed_lines {
  reading read(const key_block& block, const key_input& input, const filter_hasher& hash) {
    lines.clear();
    hashes.clear();
    return for_each_batch(block, input, reader ? &*reader : nullptr, scratch,
                          [&](const key_batch& batch) {
                            for (std::size_t i = 0; i < batch.lines.size(); ++i) {
                              const auto [first, last] = batch.keys_of(i);
                              // A line without a key is never selected.
                              if (first != last) lines.emplace_back(batch.lines[i], last - first);
                            }
                            keys.clear();
                            for (const std::string_view key : batch.keys) {
                              keys.push_back(std::as_bytes(std::span(key)));
                            }
                            hashes.resize(hashes.size() + keys.size());
                            hash(keys, hashes.data() + (hashes.size() - keys.size()));
                          });
  }

  std::optional<record_keys> reader;
  std::vector<std::pair<std::string_view, std::size_t>> lines;  // with their numbers of keys
  std::vector<hash64> hashes;
  std::vector<std::string_view> scratch;
  std::vector<std::span<const std::byte>> keys;
};

/// Keeps the lines and the hashes of their keys on disk, and queries the filter in the order of the
/// hashes.
result<tally> check_on_disk(const check_options& options, const any_filter& filter,
                            const memory_limit& memory, key_input& input, output& out) {
  const key_format format = input.format();
  auto lines = deferred_lines::make(memory.for_waiting(), format.end);
  if (!lines) return fail(lines.error());
  input.quieten();
  say(verb, fmt::format("{} of {} does not fit the memory limit of {}; lines wait in temporary "
                        "files in {} and are printed at the end",
                        options.filter, format_bytes(filter.size_in_bytes()),
                        format_bytes(memory.bytes), lines->folder()));
  const bool prints = !options.quiet && !options.count;
  const filter_hasher hash(filter.image().header.seed);
  std::vector<hashed_lines> slots(threads_for_blocks(0));
  for (hashed_lines& slot : slots) {
    if (input.choice().unread()) break;
    auto reader = record_keys::make(input.choice());
    if (!reader) return fail(std::move(reader.error()));
    slot.reader.emplace(std::move(*reader));
  }
  const block_steps steps = {
      .work = [&](unsigned slot, const key_block& block) -> reading {
        return slots[slot].read(block, input, hash);
      },
      .hand_on = [&](unsigned slot) -> result<bool> {
        std::span<const hash64> left = slots[slot].hashes;
        for (const auto& [line, keys] : slots[slot].lines) {
          const auto text = prints ? line_of(line, format) : std::string_view();
          if (auto ok = lines->add(text, left.first(keys)); !ok) return fail(ok.error());
          left = left.subspan(keys);
        }
        return true;
      },
  };
  const auto read = in_blocks(input, steps);  // after a failure, the lines before it are answered
  if (auto ok = lines->choose_members(filter); !ok) return fail(ok.error());
  const std::uint64_t hits = lines->chosen();
  if (options.invert) lines->invert();
  const std::uint64_t selected = options.invert ? lines->chosen() : hits;
  if (prints) {
    if (auto ok = lines->print(out); !ok) return fail(ok.error());
    if (auto ok = out.flush(); !ok) return fail(ok.error());
  }
  if (!read) return fail(read.error());
  return tally{selected, {hits}, {true}, 0};
}

/// Says once of each filter whose keys have a known form that no queried key has it: the wrong keys
/// get the same answers as non-members.
void say_wrong_forms(const query& asked, const tally& sum, std::uint64_t keys) {
  for (std::size_t f = 0; f < asked.filters() && keys != 0; ++f) {
    const std::string sentence = sum.fitting[f] ? std::string() : asked.wrong_form(f, keys);
    if (!sentence.empty()) say(verb, "warning: " + sentence);
  }
}

/// Says how many lines have no answer, which are in neither of the other selections.
void say_unknown(const check_options& options, const tally& sum) {
  if (sum.unknown == 0 || options.unknown) return;
  say(verb, fmt::format("warning: {} {} no answer, because a filter does not cover the key; "
                        "--unknown prints {}",
                        format_count(sum.unknown, "line"), sum.unknown == 1 ? "has" : "have",
                        sum.unknown == 1 ? "it" : "them"));
}

/// Whether the filters do not fit the limit, and can be queried on disk. Says so if they cannot.
bool is_on_disk(const check_options& options, const query& asked, const memory_limit& memory,
                const key_input& input) {
  if (!memory.given || memory.fits(asked.size_in_bytes())) return false;
  if (asked.in_hash_order() != nullptr && !options.prints_places() && !options.unknown &&
      !input.secret()) {
    return true;
  }
  say(verb,
      fmt::format("the filters do not fit the memory limit and are read page by page, which is "
                  "slow for many keys; only a single {} filter, without --json, -n, -H and "
                  "--unknown, is read in the order of the hashes",
                  kinds_that(&kind_info::in_hash_order, " or ")));
  return false;
}

/// With --files there are no lines, and options of lines have no meaning.
result<void> check_only_files(const check_options& options) {
  const input_options& input = options.input;
  if (options.files.empty()) return {};
  const auto refuse = [](std::string_view what) {
    return fail(errc::invalid_argument,
                fmt::format("--files: the keys are the files' digests, and {}", what));
  };
  if (!input.names.empty()) return refuse("not lines of other inputs; leave INPUT out");
  if (options.line_numbers || options.file_names || input.nul || input.crlf ||
      input.keys.skip_bad || input.keys.is_blank.comments || !input.min_count.empty() ||
      !input.memory.text.empty()) {
    return refuse(
        "-n, -H, -0, --crlf, --skip-bad, --skip-comments, --min-count and --memory-limit "
        "are for lines; leave them out");
  }
  return {};
}

result<status> check(check_options& options) {
  const auto reader = find_reader(options.input);
  if (!reader) return fail(reader.error());
  std::vector<std::string> filters = {options.filter};
  filters.insert(filters.end(), options.more_filters.begin(), options.more_filters.end());
  if ((*reader)->secret && std::ranges::any_of(filters, is_url)) {
    return fail(errc::unsupported,
                "the ranges that are read from a server show it which secret is queried; download "
                "the file");
  }
  if ((*reader)->secret) {  // a password given as an argument takes the place of FILTER
    const std::span<const std::string> all(filters);
    if (auto ok = check_unshown(all.first(1), "FILTER"); !ok) return fail(std::move(ok.error()));
    if (auto ok = check_unshown(all.subspan(1), "--filter"); !ok) return fail(ok.error());
  }
  const auto& names = options.input.names;
  const bool keys_in_stdin =
      (names.empty() && options.files.empty()) || std::ranges::find(names, "-") != names.end();
  if (keys_in_stdin && std::ranges::find(filters, "-") != filters.end()) {
    return fail(errc::invalid_argument,
                "-: stdin cannot be both the filter and the keys; give the keys in files");
  }
  if (options.invert && options.unknown) {
    return fail(errc::invalid_argument,
                "--invert-match and --unknown select different lines; give one of them");
  }
  if (auto ok = check_only_files(options); !ok) return fail(ok.error());
  const auto memory = options.input.memory.read();
  if (!memory) return fail(memory.error());
  const auto limits = options.transfer.read();
  if (!limits) return fail(limits.error());
  const auto asked = query::open(std::move(filters), options.format, *limits,
                                 options.verify ? verification::always : verification::automatic,
                                 options.unknown  ? selection::unknown
                                 : options.invert ? selection::non_members
                                                  : selection::members);
  if (!asked) return fail(asked.error());
  if (!options.files.empty()) {
    // Another reader than the filters' is said. That it makes digests is checked below.
    if (keys::content_digest::make(options.input.keys.reader)) {
      if (auto ok = choose_reader(options.input, asked->labels(), verb, options.strict); !ok) {
        return fail(std::move(ok.error()));
      }
    }
    return check_files(*asked, {.roots = options.files,
                                .digest = options.input.keys.reader,
                                .count = options.count,
                                .quiet = options.quiet,
                                .json = options.json});
  }
  if (!options.quiet && !options.count) options.input.print_lines();
  const auto labels = asked->labels();
  options.input.keys.accepts = asked->key_check();
  const auto opened = open_keys(options.input, labels, verb, options.strict);
  if (!opened) return fail(opened.error());
  key_input& input = **opened;
  output out;
  const bool parallel = input.total_bytes().value_or(0) >= min_bytes_for_threads &&
                        !options.prints_places() && !input.secret() && !input.in_order() &&
                        !asked->is_remote();
  const auto sum = is_on_disk(options, *asked, *memory, input)
                       ? check_on_disk(options, *asked->in_hash_order(), *memory, input, out)
                   : parallel ? check_in_parallel(options, *asked, input, out)
                              : check_in_order(options, *asked, input, out);
  if (!sum) return fail(sum.error());
  finish(input, verb);
  if (input.choice().stored && input.keys() == 0 && input.lines() != 0) {
    say(verb, fmt::format("warning: the filter's reader, {}, found no key in any line; --keys "
                          "lines reads each line as a key",
                          input.choice().reader));
  }
  say_wrong_forms(*asked, *sum, input.keys());
  say_unknown(options, *sum);
  for (const labelled_filter& filter : labels) {
    const std::string sentence = other_key_size(filter, input);
    if (!sentence.empty()) say(verb, "warning: " + sentence);
  }
  if (options.count && !options.quiet) {
    out.append(options.json ? match_printer(*asked, input, {}).totals_json(sum->selected, sum->hits)
                            : fmt::format("{}\n", sum->selected));
  }
  if (auto ok = out.flush(); !ok) return fail(ok.error());
  return sum->selected != 0 ? status::some : status::none;
}

action define(CLI::App& app) {
  auto options = std::make_shared<check_options>();
  option(app, "FILTER", options->filter, "a filter file, its http or https URL, or - for stdin")
      .required();
  option(app, "--filter", options->more_filters,
         "another filter to query; the names of the filters that match, and a tab, are then "
         "printed before each line")
      .value("F")
      .one_value_per_use()
      .under(headings::filter);
  option(app, "--files", options->files,
         "instead of lines, query the digests of files: of the file PATH, or of all files below "
         "the folder PATH; if the filter does not name the digest, give --keys md5, sha1 or "
         "sha256; add :upper or :lower if its keys are digests written as hexadecimal text")
      .value("PATH")
      .one_value_per_use()
      .under(headings::input);
  flag(app, "-v,--invert-match", options->invert,
       "select the lines that are certainly in none of the filters")
      .under(headings::output);
  flag(
      app, "--unknown", options->unknown,
      "select the lines for which a filter has no answer, such as certificates of issuers that the "
      "filter does not know")
      .under(headings::output);
  flag(app, "-c,--count", options->count, "print only the number of selected lines")
      .under(headings::output);
  flag(app, "-q,--quiet", options->quiet,
       "print nothing, and stop at the first selected line; the exit status gives the answer")
      .under(headings::output);
  flag(app, "-n,--line-number", options->line_numbers,
       "print each line's number in its file, and a colon, before the line")
      .under(headings::output);
  flag(app, "-H,--with-filename", options->file_names,
       "print the name of each line's file, and a colon, before the line")
      .under(headings::output);
  flag(app, "--json", options->json, "print one JSON object per selected line")
      .under(headings::output);
  flag(app, "--verify", options->verify,
       "verify the checksum of the whole filter first (default: if it has at most 64 MiB)")
      .under(headings::filter);
  flag(app, "--strict", options->strict,
       "fail if --keys is not the reader that made the filter's keys")
      .under(headings::input);
  options->format.declare(app);
  options->transfer.declare(app);
  options->input.declare(app, keys::purpose::ask, true);
  find_declared(app, "--memory-limit")
      .meaning(
          "if the filter is larger than three quarters of SIZE, read it only once, from front to "
          "back, while the lines wait in temporary files in $TMPDIR (default: map the filter)");
  return [options] { return check(*options); };
}

}  // namespace check
}  // namespace

command check_command() {
  return {
      "check", "print the lines that may be in a filter",
      "  bloomset check members.bloom visitors.txt\n"
      "  bloomset check -v seen.bloom today.txt.gz > new.txt\n"
      "  bloomset check jan.bloom --filter feb.bloom --filter mar.bloom names.txt\n"
      "  bloomset check events.parquet --column user users.txt\n"
      "  bloomset check pwned.bloom --keys password\n"
      "  bloomset check bad.bloom --keys safe-browsing --json urls.txt\n"
      "  bloomset check -v hashlookup.bloom --files /mnt/disk --keys sha1:upper > unknown.txt\n"
      "  ssh host cat seen.bloom | bloomset check -n -H - *.log\n"
      "  bloomset check https://example.com/members.bloom visitors.txt\n"
      "  if echo alice@example.com | bloomset check -q members.bloom; then ...\n"
      "\n"
      "Exit 0 if some line is selected, 1 if none is, 2 on an error. Without -v, the key of a\n"
      "line that is not printed is certainly not in the filter. Some lines that are not in "
      "the filter\n"
      "are printed too: at a rate of 1%, about one such line in a hundred. With -v, these "
      "lines are\n"
      "missing from the output instead.\n"
      "\n"
      "A filter is mapped into memory, so a query reads only those pages of the file that it "
      "needs.\n"
      "If most of the file does not fit into memory, this is slow for many keys. With "
      "--memory-limit,\n"
      "a filter larger than three quarters of the limit is read once from front to back "
      "instead, and\n"
      "the lines are printed at the end, in their original order. This works for a single "
      "filter\n"
      "of kind " +
          kinds_that(&kind_info::in_hash_order, " or ") +
          ", without --json, -n, -H and --unknown.\n"
          "\n"
          "If FILTER is a URL, only the bytes of the file that the keys need are requested. So "
          "the\n"
          "checksum of the whole file is verified only with --verify. The server sees which bytes "
          "are\n"
          "requested, so it can test guesses of the keys.\n",
      check::define};
}

}  // namespace bloomset::cli
