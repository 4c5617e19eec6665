#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "blocks.hpp"
#include "commands/all.hpp"
#include "declare.hpp"
#include "filling.hpp"
#include "flags.hpp"
#include "key_input.hpp"
#include "opened.hpp"
#include "output.hpp"

namespace bloomery::cli {
namespace {

constexpr std::string_view verb = "check";

struct check_options {
  std::string filter;
  std::vector<std::string> more_filters;
  format_options format;
  input_options input;
  bool invert = false;
  bool count = false;
  bool quiet = false;
  bool json = false;
  bool verify = false;
};

/// A text as JSON, quoted; what is not UTF-8 becomes U+FFFD.
std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

struct asked_filter {
  std::string name;
  opened_filter filter;
};

/// Whether keys can be asked of the filter, or what has to be said of it first.
result<void> check_askable(const asked_filter& asked) {
  const auto* const foreign = std::get_if<dialects::foreign_filter>(&asked.filter);
  if (foreign == nullptr) return {};
  const auto ok = foreign->askable();
  if (ok) return {};
  return fail(ok.error().code, fmt::format("{}: {}", asked.name, ok.error().message));
}

/// What the filters said of a batch of lines, and of how many they said maybe in all batches.
struct answers {
  explicit answers(std::size_t filters) : of_keys(filters), of_lines(filters), hits(filters) {}

  std::vector<flags> of_keys;   ///< filter by filter
  std::vector<flags> of_lines;  ///< the same of lines that have no key of their own each: any of it
  std::vector<const bool*> of;  ///< of each line
  flags selected;
  std::vector<std::uint64_t> hits;
};

/// The question that a check asks: of which filters, and what it prints of the answers. Any number
/// of threads may ask at once, each with answers of its own.
class question {
 public:
  static result<question> make(const check_options& options) {
    question made(options);
    std::vector<std::string> names = {options.filter};
    names.insert(names.end(), options.more_filters.begin(), options.more_filters.end());
    auto opener = filter_opener::make(options.format);
    if (!opener) return fail(std::move(opener.error()));
    for (std::string& name : names) {
      auto opened = opener->open(name, access::read_only,
                                 options.verify ? verification::always : verification::automatic);
      if (!opened) return fail(std::move(opened.error()));
      made.filters_.push_back({std::move(name), std::move(*opened)});
    }
    if (auto ok = opener->all_used(); !ok) return fail(std::move(ok.error()));
    for (const asked_filter& each : made.filters_) {
      if (auto ok = check_askable(each); !ok) return fail(std::move(ok.error()));
    }
    return made;
  }

  std::size_t filters() const noexcept { return filters_.size(); }

  /// What is wrong with a key, in the words of the first filter that knows of what type its keys
  /// are and does not take it; none if no filter knows.
  std::function<result<void>(std::string_view key)> accepts() const {
    std::vector<const dialects::foreign_filter*> typed;
    for (const asked_filter& each : filters_) {
      const auto* const foreign = std::get_if<dialects::foreign_filter>(&each.filter);
      if (foreign != nullptr && foreign->stores_key_type() && !foreign->takes_any_key())
        typed.push_back(foreign);
    }
    if (typed.empty()) return nullptr;
    return [typed = std::move(typed)](std::string_view key) -> result<void> {
      for (const auto* filter : typed) {
        if (auto ok = filter->accepts(key); !ok) return ok;
      }
      return {};
    };
  }

  /// Asks all filters; the number of lines selected.
  std::size_t ask(const key_batch& batch, answers& said) const {
    const std::size_t lines = batch.lines.size();
    const auto selected = said.selected.first(lines);
    std::fill(selected.begin(), selected.end(), false);
    said.of.clear();
    for (std::size_t f = 0; f < filters_.size(); ++f) {
      const auto of_keys = said.of_keys[f].first(batch.keys.size());
      std::visit([&](const auto& filter) noexcept { filter.may_contain(batch.keys, of_keys); },
                 filters_[f].filter);
      const bool* const of_lines =
          batch.ends.empty() ? of_keys.data() : any_of_line(batch, of_keys, said.of_lines[f]);
      said.of.push_back(of_lines);
      for (std::size_t i = 0; i < lines; ++i) {
        said.hits[f] += of_lines[i];
        selected[i] |= of_lines[i];
      }
    }
    std::size_t n = 0;
    for (std::size_t i = 0; i < lines; ++i) {
      selected[i] ^= options_.invert;
      n += selected[i];
    }
    return batch.ends.empty() || !options_.invert ? n : n - drop_keyless(batch, selected);
  }

  /// Prints the selected lines of a batch that was asked, to an output or a string.
  template <class Out>
  void print(const key_batch& batch, const answers& said, Out& out) const {
    if (filters_.size() > 1 && !options_.invert) {
      print_named(batch, said, out);
    } else {
      print_plain(batch.lines, said, out);
    }
  }

  /// The same of secret lines: where they stand.
  void print_places(const key_batch& batch, const answers& said, const key_input& input,
                    output& out) const {
    for (std::size_t i = 0; i < batch.lines.size(); ++i) {
      if (!said.selected.data()[i]) continue;
      if (filters_.size() > 1 && !options_.invert) {
        append_names(said, i, out,
                     [](const asked_filter& one) { return std::string_view(one.name); });
        out.append('\t');
      }
      out.append(input.place_of_line(batch.first_line + i));
      out.append('\n');
    }
  }

  /// What a person is told who was asked for one line.
  void print_verdict(const answers& said, output& out) const {
    const bool maybe = said.selected.data()[0] != options_.invert;
    out.append(maybe ? "It may be in " : "It certainly is not in ");
    bool first = true;
    for (std::size_t f = 0; f < filters_.size(); ++f) {
      if (maybe && !said.of[f][0]) continue;
      if (!first) out.append(", ");
      first = false;
      out.append(filters_[f].name);
    }
    out.append(".\n");
  }

  void print_json(const key_batch& batch, const answers& said, const key_input& input,
                  output& out) const {
    for (std::size_t i = 0; i < batch.lines.size(); ++i) {
      if (!said.selected.data()[i]) continue;
      out.append("{");
      if (options_.input.names.size() > 1) {
        out.append(R"("file":)");
        out.append(json_text(input.name()));
        out.append(',');
      }
      const fmt::format_int line(batch.first_line + i);
      out.append(R"("line":)");
      out.append({line.data(), line.size()});
      if (input.choice().plain()) {
        out.append(R"(,"key":)");
        out.append(json_text(batch.keys[batch.keys_of(i).first]));
      } else if (!input.secret()) {
        append_record(batch, said, i, input, out);
      }
      out.append(options_.invert ? R"(,"maybe":false,"filters":[)"
                                 : R"(,"maybe":true,"filters":[)");
      append_names(said, i, out, [](const asked_filter& one) { return json_text(one.name); });
      out.append("]}\n");
    }
  }

  std::string totals(std::uint64_t lines, std::uint64_t selected,
                     std::span<const std::uint64_t> hits) const {
    if (!options_.json) return fmt::format("{}\n", selected);
    std::string text = fmt::format(R"({{"lines":{},"selected":{},"filters":[)", lines, selected);
    for (std::size_t f = 0; f < filters_.size(); ++f) {
      text += fmt::format(R"({}{{"filter":{},"maybe":{}}})", f == 0 ? "" : ",",
                          json_text(filters_[f].name), hits[f]);
    }
    return text + "]}\n";
  }

 private:
  explicit question(const check_options& options)
      : options_(options), format_(options.input.format()) {}

  /// For each line whether any of its keys may be in the filter.
  static const bool* any_of_line(const key_batch& batch, std::span<const bool> of_keys,
                                 flags& memory) {
    const auto of_lines = memory.first(batch.lines.size());
    for (std::size_t i = 0; i < of_lines.size(); ++i) {
      const auto [first, last] = batch.keys_of(i);
      of_lines[i] = std::any_of(of_keys.begin() + static_cast<std::ptrdiff_t>(first),
                                of_keys.begin() + static_cast<std::ptrdiff_t>(last),
                                [](bool maybe) { return maybe; });
    }
    return of_lines.data();
  }

  /// A line without a key is not selected by what its keys are not in; how many there were.
  static std::size_t drop_keyless(const key_batch& batch, std::span<bool> selected) noexcept {
    std::size_t n = 0;
    for (std::size_t i = 0; i < selected.size(); ++i) {
      const auto [first, last] = batch.keys_of(i);
      if (first != last || !selected[i]) continue;
      selected[i] = false;
      ++n;
    }
    return n;
  }

  /// The line and those of its keys that may be in some filter.
  void append_record(const key_batch& batch, const answers& said, std::size_t line,
                     const key_input& input, output& out) const {
    out.append(R"(,"record":)");
    out.append(json_text(batch.lines[line]));
    out.append(R"(,"keys":[)");
    const auto [first, last] = batch.keys_of(line);
    bool comma = false;
    for (std::size_t key = first; key < last; ++key) {
      if (std::none_of(said.of_keys.begin(), said.of_keys.end(),
                       [&](const flags& of) { return of.data()[key]; })) {
        continue;
      }
      if (comma) out.append(',');
      comma = true;
      out.append(json_text(input.shown(batch.lines[line], key - first, batch.keys[key])));
    }
    out.append("]");
  }

  // Lines that are neighbours in the block are copied in one piece, ends and all.
  template <class Out>
  void print_plain(std::span<const std::string_view> lines, const answers& said, Out& out) const {
    std::string_view run;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!said.selected.data()[i]) continue;
      const std::string_view line = line_of(lines[i], format_);
      if (run.data() + run.size() == line.data()) {
        run = {run.data(), run.size() + line.size() + 1};
      } else {
        if (!run.empty()) out.append(run);
        run = {line.data(), line.size() + 1};
      }
    }
    if (!run.empty()) out.append(run);
  }

  template <class Out>
  void print_named(const key_batch& batch, const answers& said, Out& out) const {
    const std::string_view end(&format_.end, 1);
    for (std::size_t i = 0; i < batch.lines.size(); ++i) {
      if (!said.selected.data()[i]) continue;
      append_names(said, i, out,
                   [](const asked_filter& one) { return std::string_view(one.name); });
      out.append("\t");
      out.append(line_of(batch.lines[i], format_));
      out.append(end);
    }
  }

  /// The filters that may contain a key of line i, with commas between.
  template <class Out, class NameOf>
  void append_names(const answers& said, std::size_t i, Out& out, NameOf&& name_of) const {
    bool first = true;
    for (std::size_t f = 0; f < filters_.size(); ++f) {
      if (!said.of[f][i]) continue;
      if (!first) out.append(",");
      first = false;
      out.append(name_of(filters_[f]));
    }
  }

  const check_options& options_;
  key_format format_;
  std::vector<asked_filter> filters_;
};

struct tally {
  std::uint64_t selected = 0;
  std::vector<std::uint64_t> hits;
};

/// Batch after batch, each printed when the input makes us wait: for pipes and terminals, and where
/// the number of each line is wanted.
result<tally> check_in_turn(const check_options& options, const question& asked, key_input& input,
                            output& out) {
  answers said(asked.filters());
  std::uint64_t selected = 0;
  for (;;) {
    if (input.would_wait()) {
      if (auto ok = out.flush(); !ok) return fail(ok.error());
    }
    const auto batch = input.next();
    if (!batch) return fail(batch.error());
    if (batch->lines.empty()) break;
    const std::size_t now = asked.ask(*batch, said);
    selected += now;
    if (input.prompted() && !options.quiet && !options.count && !options.json) {
      asked.print_verdict(said, out);
      continue;
    }
    if (now == 0) continue;
    if (options.quiet) break;
    if (options.count) continue;
    if (options.json) {
      asked.print_json(*batch, said, input, out);
    } else if (input.secret()) {
      asked.print_places(*batch, said, input, out);
    } else {
      asked.print(*batch, said, out);
    }
    if (auto ok = out.check(); !ok) return fail(ok.error());
  }
  return tally{selected, std::move(said.hits)};
}

/// A thread's share of a check.
struct share {
  explicit share(std::size_t filters) : said(filters) {}

  /// Asks about every line of a block and keeps what is to be printed; what was read of it.
  reading check(const check_options& options, const question& asked, const key_input& input,
                const key_block& block) {
    text.clear();
    return for_each_batch(block, input, reader ? &*reader : nullptr, lines,
                          [&](const key_batch& batch) {
                            const std::size_t now = asked.ask(batch, said);
                            selected += now;
                            if (now != 0 && !options.quiet && !options.count) {
                              asked.print(batch, said, text);
                            }
                          });
  }

  answers said;
  std::optional<record_keys> reader;
  std::vector<std::string_view> lines;
  std::string text;
  std::uint64_t selected = 0;
};

/// Block after block by every core, printed in order.
result<tally> check_by_every_core(const check_options& options, const question& asked,
                                  key_input& input, output& out) {
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
  tally sum{0, std::vector<std::uint64_t>(asked.filters())};
  for (const share& one : shares) {
    sum.selected += one.selected;
    for (std::size_t f = 0; f < sum.hits.size(); ++f) sum.hits[f] += one.said.hits[f];
  }
  return sum;
}

/// Below this many bytes of input the threads cost more than they save.
constexpr std::uint64_t worth_threads = std::uint64_t{4} << 20;

result<status> check(check_options& options) {
  const auto reader = keys::find(options.input.keys.reader);
  if (!reader) return fail(reader.error().code, "--keys: " + reader.error().message);
  if ((*reader)->secret) {  // without a FILTER a password among the arguments is taken for it
    const std::span<const std::string> first(&options.filter, 1);
    if (auto ok = check_unshown(first, "FILTER"); !ok) return fail(std::move(ok.error()));
    if (auto ok = check_unshown(options.more_filters, "--filter"); !ok) return fail(ok.error());
  }
  const auto asked = question::make(options);
  if (!asked) return fail(asked.error());
  // Lines and a progress line on one terminal would spoil each other.
  const bool prints = !options.quiet && !options.count;
  if (prints && ::isatty(STDOUT_FILENO) != 0) options.input.no_progress = true;
  options.input.keys.accepts = asked->accepts();
  const auto opened = key_input::open(options.input);
  if (!opened) return fail(opened.error());
  key_input& input = **opened;
  output out;
  const bool every_core = input.total_bytes().value_or(0) >= worth_threads &&
                          !(options.json && prints) && !input.secret();
  const auto sum = every_core ? check_by_every_core(options, *asked, input, out)
                              : check_in_turn(options, *asked, input, out);
  if (!sum) return fail(sum.error());
  finish(input, verb);
  if (options.count && !options.quiet) {
    out.append(asked->totals(input.lines(), sum->selected, sum->hits));
  }
  if (auto ok = out.flush(); !ok) return fail(ok.error());
  return sum->selected != 0 ? status::some : status::none;
}

action define(CLI::App& app) {
  auto options = std::make_shared<check_options>();
  option(app, "FILTER", options->filter, "a filter").required();
  option(app, "--filter", options->more_filters,
         "one more filter to ask; each line is then printed with the names of those it may "
         "be in and a tab before it")
      .value("F")
      .one_value_a_time();
  flag(app, "-v,--invert-match", options->invert, "select the lines that surely are in none");
  flag(app, "-c,--count", options->count, "print only the number of selected lines");
  flag(app, "-q,--quiet", options->quiet, "print nothing, and stop at the first selected line");
  flag(app, "--json", options->json, "print a JSON object for each selected line");
  flag(app, "--verify", options->verify,
       "check the whole filter against its checksum first, also beyond 64 MiB");
  options->format.declare(app);
  options->input.declare(app, keys::purpose::ask);
  return [options] { return check(*options); };
}

}  // namespace

command check_command() {
  return {
      "check", "print the lines that may be in a filter",
      "  bloomery check members.bloom visitors.txt\n"
      "  bloomery check -v seen.bloom today.txt.gz > new.txt\n"
      "  bloomery check jan.bloom --filter feb.bloom --filter mar.bloom names.txt\n"
      "  bloomery check events.parquet --column user users.txt\n"
      "  bloomery check pwned.bloom --keys password\n"
      "  bloomery check bad.bloom --keys safe-browsing --json urls.txt\n"
      "  if echo alice@example.com | bloomery check -q members.bloom; then ...\n"
      "\n"
      "Exit 0 if some line is selected, 1 if none is, 2 on an error. A line that is not printed\n"
      "surely is not in the filter; one that is printed is a stranger with the filter's rate.\n",
      define};
}

}  // namespace bloomery::cli
