#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bloomery/any_filter.hpp>
#include <nlohmann/json.hpp>

#include "commands/all.hpp"
#include "key_input.hpp"
#include "output.hpp"

namespace bloomery::cli {
namespace {

struct check_options {
  std::string filter;
  std::vector<std::string> more_filters;
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

/// A filter that is asked, with what it said of the batch at hand and of all before.
struct asked_filter {
  std::string name;
  any_filter filter;
  std::array<bool, key_reader::most_keys> answers{};
  std::uint64_t hits = 0;
};

class checker {
 public:
  static result<checker> make(const check_options& options) {
    checker made(options);
    std::vector<std::string> names = {options.filter};
    names.insert(names.end(), options.more_filters.begin(), options.more_filters.end());
    for (std::string& name : names) {
      auto opened = open(name, options.verify ? verification::always : verification::automatic);
      if (!opened) return fail(std::move(opened.error()));
      made.filters_.push_back({std::move(name), std::move(*opened)});
    }
    return made;
  }

  /// Asks all filters; the number of lines selected.
  std::size_t ask(std::span<const std::string_view> keys) noexcept {
    std::fill_n(selected_.begin(), keys.size(), false);
    for (asked_filter& one : filters_) {
      one.filter.may_contain(keys, one.answers);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        one.hits += one.answers[i];
        selected_[i] |= one.answers[i];
      }
    }
    std::size_t n = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      selected_[i] ^= options_.invert;
      n += selected_[i];
    }
    return n;
  }

  /// Prints the selected lines of the batch that was asked last.
  void print(const key_batch& batch, std::string_view file, output& out) const {
    if (options_.json) {
      print_json(batch, file, out);
    } else if (filters_.size() > 1 && !options_.invert) {
      print_named(batch.keys, out);
    } else {
      print_plain(batch.keys, out);
    }
  }

  std::string totals(std::uint64_t lines, std::uint64_t selected) const {
    if (!options_.json) return fmt::format("{}\n", selected);
    std::string text = fmt::format(R"({{"lines":{},"selected":{},"filters":[)", lines, selected);
    for (const asked_filter& one : filters_) {
      text += fmt::format(R"({}{{"filter":{},"maybe":{}}})", &one == filters_.data() ? "" : ",",
                          json_text(one.name), one.hits);
    }
    return text + "]}\n";
  }

 private:
  explicit checker(const check_options& options)
      : options_(options), format_(options.input.format()) {}

  // Lines that are neighbours in the block are copied in one piece, ends and all.
  void print_plain(std::span<const std::string_view> keys, output& out) const noexcept {
    std::string_view run;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!selected_[i]) continue;
      const std::string_view line = line_of(keys[i], format_);
      if (run.data() + run.size() == line.data()) {
        run = {run.data(), run.size() + line.size() + 1};
      } else {
        if (!run.empty()) out.append(run);
        run = {line.data(), line.size() + 1};
      }
    }
    if (!run.empty()) out.append(run);
  }

  void print_named(std::span<const std::string_view> keys, output& out) const noexcept {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!selected_[i]) continue;
      bool first = true;
      for (const asked_filter& one : filters_) {
        if (!one.answers[i]) continue;
        if (!first) out.append(',');
        first = false;
        out.append(one.name);
      }
      out.append('\t');
      out.append(line_of(keys[i], format_));
      out.append(format_.end);
    }
  }

  void print_json(const key_batch& batch, std::string_view file, output& out) const {
    for (std::size_t i = 0; i < batch.keys.size(); ++i) {
      if (!selected_[i]) continue;
      out.append("{");
      if (options_.input.names.size() > 1) {
        out.append(R"("file":)");
        out.append(json_text(file));
        out.append(',');
      }
      const fmt::format_int line(batch.first_line + i);
      out.append(R"("line":)");
      out.append({line.data(), line.size()});
      out.append(R"(,"key":)");
      out.append(json_text(batch.keys[i]));
      out.append(options_.invert ? R"(,"maybe":false,"filters":[)"
                                 : R"(,"maybe":true,"filters":[)");
      bool first = true;
      for (const asked_filter& one : filters_) {
        if (!one.answers[i]) continue;
        if (!first) out.append(',');
        first = false;
        out.append(json_text(one.name));
      }
      out.append("]}\n");
    }
  }

  const check_options& options_;
  key_format format_;
  std::vector<asked_filter> filters_;
  std::array<bool, key_reader::most_keys> selected_{};
};

result<status> check(check_options& options) {
  auto made = checker::make(options);
  if (!made) return fail(made.error());
  const bool prints = !options.quiet && !options.count;
  // Lines and a progress line on one terminal would spoil each other.
  if (prints && ::isatty(STDOUT_FILENO) != 0) options.input.no_progress = true;
  const auto opened = key_input::open(options.input);
  if (!opened) return fail(opened.error());
  key_input& input = **opened;
  output out;
  std::uint64_t selected = 0;
  for (;;) {
    if (input.would_wait()) {
      if (auto ok = out.flush(); !ok) return fail(ok.error());
    }
    const auto batch = input.next();
    if (!batch) return fail(batch.error());
    if (batch->keys.empty()) break;
    const std::size_t now = made->ask(batch->keys);
    selected += now;
    if (options.quiet && now != 0) return status::some;
    if (!prints || now == 0) continue;
    made->print(*batch, input.name(), out);
    if (auto ok = out.check(); !ok) return fail(ok.error());
  }
  input.quieten();
  if (options.count && !options.quiet) out.append(made->totals(input.keys(), selected));
  if (auto ok = out.flush(); !ok) return fail(ok.error());
  return selected != 0 ? status::some : status::none;
}

action define(CLI::App& app) {
  auto options = std::make_shared<check_options>();
  app.add_option("FILTER", options->filter, "a filter")->required();
  app.add_option("--filter", options->more_filters,
                 "one more filter to ask; each line is then printed with the names of those it may "
                 "be in and a tab before it")
      ->type_name("F")
      ->allow_extra_args(false);
  app.add_flag("-v,--invert-match", options->invert, "select the lines that surely are in none");
  app.add_flag("-c,--count", options->count, "print only the number of selected lines");
  app.add_flag("-q,--quiet", options->quiet, "print nothing, and stop at the first selected line");
  app.add_flag("--json", options->json, "print a JSON object for each selected line");
  app.add_flag("--verify", options->verify,
               "check the whole filter against its checksum first, also beyond 64 MiB");
  options->input.declare(app);
  return [options] { return check(*options); };
}

}  // namespace

command check_command() {
  return {
      "check", "print the lines that may be in a filter",
      "  bloomery check members.bloom visitors.txt\n"
      "  bloomery check -v seen.bloom today.txt.gz > new.txt\n"
      "  bloomery check jan.bloom --filter feb.bloom --filter mar.bloom names.txt\n"
      "  if echo alice@example.com | bloomery check -q members.bloom; then ...\n"
      "\n"
      "Exit 0 if some line is selected, 1 if none is, 2 on an error. A line that is not printed\n"
      "surely is not in the filter; one that is printed is a stranger with the filter's rate.\n",
      define};
}

}  // namespace bloomery::cli
