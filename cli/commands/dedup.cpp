#include <fmt/format.h>

#include <algorithm>
#include <bloomset/any_filter.hpp>
#include <bloomset/plan/units.hpp>
#include <optional>
#include <vector>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/flags.hpp"
#include "filters/lost_lines.hpp"
#include "filters/new_lines.hpp"
#include "filters/plan_options.hpp"
#include "input/blocks.hpp"
#include "input/key_input.hpp"
#include "memory/exact_lines.hpp"
#include "memory/key_set.hpp"
#include "memory/memory_limit.hpp"
#include "terminal/declare.hpp"
#include "terminal/output.hpp"

namespace bloomset::cli {
namespace {
namespace dedup {

constexpr std::string_view verb = "dedup";
// A false positive drops a new line, so the default is one in a million.
constexpr double dedup_fpr = 1e-6;
// Growth begins at some megabytes, so that few steps lead to any size.
constexpr std::uint64_t first_capacity = std::uint64_t{1} << 20;

struct dedup_options {
  plan_options plan;
  input_options input;
  bool exact = false;
};

/// The filter of the lines seen, of fixed size.
result<any_filter> make_seen(plan_request request, const memory_limit& memory) {
  if (request.fpr == 0 && (request.capacity == 0 || request.bits == 0)) request.fpr = dedup_fpr;
  const kind_info& kind = **find_kind("bloom");
  const auto plan = kind.plan(request);
  if (plan && memory.given && plan->bytes > memory.bytes) {
    return fail(errc::invalid_argument,
                fmt::format("--memory-limit: a filter of that size needs {}; raise the limit, or "
                            "leave --capacity and --memory out",
                            format_bytes(plan->bytes)));
  }
  return kind.create(request);
}

/// Prints the lines of a batch that have a key which is not in the filter, and lines without a key.
/// Inserts all keys. Returns the number of lines printed.
result<std::uint64_t> pass_new(any_filter& seen, lost_lines& lost, const key_batch& batch,
                               key_format format, flags& memory, const key_input& input,
                               output& out) {
  const auto added = memory.first(batch.keys.size());
  const auto done = seen.insert_absent(batch.keys, added);
  if (!done) return fail(done.error());
  lost.add(seen, done->inserted);
  std::uint64_t printed = 0;
  for (std::size_t i = 0; i < batch.lines.size(); ++i) {
    const auto [first, last] = batch.keys_of(i);
    if (last > done->done) {
      return no_room(input.position_of_line(batch, i), done->stopped_by,
                     "give a larger --capacity");
    }
    const auto flags_of_line = added.subspan(first, last - first);
    if (first != last && std::ranges::find(flags_of_line, true) == flags_of_line.end()) continue;
    if (std::ranges::binary_search(batch.skipped, i)) continue;
    out.append(line_of(batch.lines[i], format));
    out.append(format.end);
    ++printed;
  }
  if (auto ok = out.check(); !ok) return fail(ok.error());
  return printed;
}

void say_later(key_input& input, const memory_limit& memory, const std::string& folder) {
  input.quieten();
  say(verb, fmt::format("at line {} the memory limit of {} is reached; further new lines go to "
                        "temporary files in {} and are printed at the end",
                        format_count(input.lines()), format_bytes(memory.bytes), folder));
}

/// Lines of a pipe are printed before further ones are waited for.
result<void> flush_before_waiting(const key_input& input, output& out) {
  if (!input.total_bytes() && input.would_wait()) return out.flush();
  return {};
}

result<status> dedup_exact(const dedup_options& options, const memory_limit& memory,
                           key_input& input) {
  const auto secret = new_hash_key();  // so that nobody can choose lines whose hashes are equal
  if (!secret) return fail(secret.error());
  const filter_hasher hash{hash_seed(*secret)};
  const key_format format = options.input.format();
  key_set seen;
  output out;
  std::vector<hashed_key> fresh;
  std::optional<exact_lines> later;
  const auto read = in_batches(input, [&](const key_batch& batch) -> result<void> {
    if (!later && !memory.fits(seen.size_in_bytes())) {
      auto made = exact_lines::make(memory.for_waiting(), format.end);
      if (!made) return fail(made.error());
      later.emplace(std::move(*made));
      say_later(input, memory, later->folder());
    }
    for (std::size_t i = 0; i < batch.lines.size(); ++i) {
      const auto [first, last] = batch.keys_of(i);
      fresh.clear();
      for (const std::string_view key : batch.keys.subspan(first, last - first)) {
        const hash64 h = hash(std::as_bytes(std::span(key)));
        if (later ? !seen.contains(h, key) : seen.insert(h, key)) fresh.push_back({h, key});
      }
      if (fresh.empty() && first != last) continue;
      if (std::ranges::binary_search(batch.skipped, i)) continue;
      const std::string_view line = line_of(batch.lines[i], format);
      if (later) {
        if (auto ok = later->add(line, fresh); !ok) return ok;
      } else {
        out.append(line);
        out.append(format.end);
      }
    }
    if (auto ok = out.check(); !ok) return ok;
    return flush_before_waiting(input, out);
  });
  if (read) finish(input, verb);
  if (later) {  // after a failure, the lines before it are printed
    seen = {};  // its memory is needed
    if (auto ok = later->choose_new(memory.for_filter()); !ok) return fail(ok.error());
    if (auto ok = later->print(out); !ok) return fail(ok.error());
  }
  if (auto ok = out.flush(); !ok) return fail(ok.error());
  if (!read) return fail(read.error());
  return done;
}

/// With a filter of fixed size.
result<status> dedup_fixed(const dedup_options& options, const plan_request& request,
                           const memory_limit& memory, key_input& input) {
  auto seen = make_seen(request, memory);
  if (!seen) return fail(seen.error());
  output out;
  flags old;
  lost_lines lost;
  std::uint64_t lines = 0;
  std::uint64_t passed = 0;
  const auto read = in_batches(input, [&](const key_batch& batch) -> result<void> {
    lines += batch.lines.size() - batch.skipped.size();
    const auto now = pass_new(*seen, lost, batch, options.input.format(), old, input, out);
    if (!now) return fail(now.error());
    passed += *now;
    return flush_before_waiting(input, out);
  });
  if (!read) return fail(read.error());
  finish(input, verb);
  lost.read_rate(seen->current_fpr());
  if (auto ok = out.flush(); !ok) return fail(ok.error());
  if (const std::string text = overfull(*seen, "the lines seen"); !text.empty()) {
    say(verb, "warning: " + text);
  }
  if (const std::string text = lost.sentence(lines - passed); !text.empty()) say(verb, text);
  return done;
}

result<status> dedup(dedup_options& options) {
  auto request = options.plan.request();
  if (!request) return fail(request.error());
  const bool is_fixed = request->capacity != 0 || request->bits != 0;
  if (options.exact && (request->fpr != 0 || is_fixed)) {
    return fail(errc::invalid_argument,
                "--exact uses no filter; leave --fpr, --capacity and --memory out, or --exact");
  }
  const auto memory = options.input.memory.read();
  if (!memory) return fail(memory.error());
  options.input.print_lines();
  const auto opened = key_input::open(options.input);
  if (!opened) return fail(opened.error());
  key_input& input = **opened;
  if (options.exact) return dedup_exact(options, *memory, input);
  if (is_fixed) return dedup_fixed(options, *request, *memory, input);
  request->capacity = first_capacity;
  if (request->fpr == 0) request->fpr = dedup_fpr;
  output out;
  const auto lines = new_lines::make(input, *request, *memory, out);
  if (!lines) return fail(lines.error());
  const auto printed =
      (*lines)->print([&](const std::string& folder) { say_later(input, *memory, folder); });
  if (printed) finish(input, verb);
  // After a failure, the lines before it are printed.
  if (auto ok = (*lines)->print_waiting(); !ok) return fail(ok.error());
  if (auto ok = out.flush(); !ok) return fail(ok.error());
  if (!printed) return fail(printed.error());
  if (const std::string text = (*lines)->lost().sentence((*lines)->dropped()); !text.empty()) {
    say(verb, text);
  }
  return done;
}

action define(CLI::App& app) {
  auto options = std::make_shared<dedup_options>();
  option(app, "--fpr", options->plan.fpr,
         "probability that a line not seen before is dropped as a repeated one (default 1e-6)")
      .value("P");
  option(app, "--capacity", options->plan.capacity,
         "use a fixed amount of memory, enough for N distinct lines: 1000, 10M, 1e9")
      .value("N");
  option(app, "--memory", options->plan.memory, "use a fixed amount of memory: 120MB, 1GiB")
      .value("SIZE");
  flag(
      app, "--exact", options->exact,
      "compare the lines themselves, so that only repeated lines are dropped; needs memory for all "
      "distinct lines or, beyond --memory-limit, disk space");
  options->input.declare(app, keys::purpose::insert, false);
  find_declared(app, "INPUT")
      .meaning(
          "files of lines, plain or compressed with gzip, zstd, xz or bzip2; stdin is read if no "
          "file is given, or for -");
  find_declared(app, "--skip-bad").meaning(skip_bad_without_types);
  find_declared(app, "--skip-comments")
      .meaning("print lines that begin with # unchanged, even if they repeat");
  options->input.keys.is_blank.keep_empty = true;  // an empty line is printed once
  return [options] { return dedup(*options); };
}

}  // namespace dedup
}  // namespace

command dedup_command() {
  return {
      "dedup", "print each line only the first time it occurs, without sorting",
      "  bloomset dedup names.txt > unique.txt\n"
      "  zcat *.log.gz | bloomset dedup --memory 1GiB --fpr 1e-9\n"
      "  bloomset dedup --exact --memory-limit 2GB urls.txt > unique-urls.txt\n"
      "\n"
      "The output has the order of the input, and no line is printed twice. A filter of 4 to 6\n"
      "bytes per distinct line remembers the lines seen. With probability --fpr, it mistakes a\n"
      "new line for one of them, and dedup drops that line. At the end, dedup reports how many\n"
      "new lines may be missing. With --exact, it drops no new line, but keeps the lines\n"
      "themselves and 40 bytes for each.\n"
      "\n"
      "Without --capacity and --memory, the filter grows as needed, and up to 8 cores work on it.\n"
      "When it reaches three quarters of --memory-limit, further new lines wait in temporary\n"
      "files, and are printed at the end, in the order of the input. With --capacity or --memory,\n"
      "the filter's size is fixed, and beyond its capacity new lines are dropped more often.\n",
      dedup::define};
}

}  // namespace bloomset::cli
