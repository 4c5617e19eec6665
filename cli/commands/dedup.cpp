#include <fmt/format.h>

#include <algorithm>
#include <bloomset/any_filter.hpp>
#include <bloomset/plan/units.hpp>
#include <optional>
#include <vector>

#include "blocks.hpp"
#include "commands/all.hpp"
#include "declare.hpp"
#include "deferred_lines.hpp"
#include "filling.hpp"
#include "flags.hpp"
#include "key_input.hpp"
#include "memory_limit.hpp"
#include "output.hpp"
#include "plan_options.hpp"

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
};

/// The filter of the lines seen: of fixed size if one is given, else of a kind that grows.
result<any_filter> make_seen(plan_request request, const memory_limit& memory) {
  if (request.capacity != 0 || request.bits != 0) {
    if (request.fpr == 0 && (request.capacity == 0 || request.bits == 0)) {
      request.fpr = dedup_fpr;
    }
    const kind_info& kind = **find_kind("bloom");
    const auto plan = kind.plan(request);
    if (plan && memory.given && plan->bytes > memory.bytes) {
      return fail(errc::invalid_argument,
                  fmt::format("--memory-limit: a filter of that size has {}; raise the limit, or "
                              "leave --capacity and --memory out",
                              format_bytes(plan->bytes)));
    }
    return kind.create(request);
  }
  request.capacity = first_capacity;
  if (request.fpr == 0) request.fpr = dedup_fpr;
  const auto growing =
      std::ranges::find_if(kinds(), [](const kind_info& row) { return row.can.grow; });
  return growing->create(request);
}

/// Prints the lines of a batch that have a key which is not in the filter, and lines without a key.
/// Inserts all keys.
result<void> pass_new(any_filter& seen, const key_batch& batch, key_format format, flags& memory,
                      const key_input& input, output& out) {
  const auto added = memory.first(batch.keys.size());
  const auto done = seen.insert_absent(batch.keys, added);
  if (!done) return fail(done.error());
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
  }
  return out.check();
}

/// Passes the lines that may have a new key to `later`. The filter does not change.
result<void> defer_new(const any_filter& seen, const filter_hasher& hash, const key_batch& batch,
                       key_format format, flags& memory, deferred_lines& later) {
  const auto old = memory.first(batch.keys.size());
  seen.may_contain(batch.keys, old);
  std::vector<hash64> hashes;
  for (std::size_t i = 0; i < batch.lines.size(); ++i) {
    const auto [first, last] = batch.keys_of(i);
    hashes.clear();
    for (std::size_t key = first; key < last; ++key) {
      if (!old[key]) hashes.push_back(hash(std::as_bytes(std::span(batch.keys[key]))));
    }
    if (hashes.empty() && first != last) continue;
    if (std::ranges::binary_search(batch.skipped, i)) continue;
    if (auto ok = later.add(line_of(batch.lines[i], format), hashes); !ok) return ok;
  }
  return {};
}

result<status> dedup(const dedup_options& options) {
  const auto request = options.plan.request();
  if (!request) return fail(request.error());
  const auto memory = options.input.memory.read();
  if (!memory) return fail(memory.error());
  const auto opened = key_input::open(options.input);
  if (!opened) return fail(opened.error());
  key_input& input = **opened;
  auto seen = make_seen(*request, *memory);
  if (!seen) return fail(seen.error());
  output out;
  flags old;
  const key_format format = options.input.format();
  const filter_hasher hash(request->seed);
  std::optional<deferred_lines> later;
  const auto read = in_batches(input, [&](const key_batch& batch) -> result<void> {
    if (!later && seen->can().grow && !memory->fits(seen->size_in_bytes())) {
      auto made = deferred_lines::make(memory->for_waiting(), format.end);
      if (!made) return fail(made.error());
      later.emplace(std::move(*made));
      input.quieten();
      say(verb,
          fmt::format("at line {} the memory limit of {} is reached; further new lines go to "
                      "temporary files in {} and are printed at the end",
                      format_count(input.lines()), format_bytes(memory->bytes), later->folder()));
    }
    const auto ok = later ? defer_new(*seen, hash, batch, format, old, *later)
                          : pass_new(*seen, batch, format, old, input, out);
    if (ok && !input.total_bytes() && input.would_wait()) return out.flush();
    return ok;
  });
  if (!read) return fail(read.error());
  finish(input, verb);
  if (later) {
    *seen = any_filter(nullptr);  // its memory is needed
    if (auto ok = later->choose_new(); !ok) return fail(ok.error());
    if (auto ok = later->print(out); !ok) return fail(ok.error());
    if (auto ok = out.flush(); !ok) return fail(ok.error());
    return done;
  }
  if (auto ok = out.flush(); !ok) return fail(ok.error());
  if (const std::string text = overfull(*seen, "the lines seen"); !text.empty()) {
    say(verb, "warning: " + text + "; new lines may have been dropped");
  }
  return done;
}

action define(CLI::App& app) {
  auto options = std::make_shared<dedup_options>();
  option(app, "--fpr", options->plan.fpr,
         "probability that a new line is dropped as a repeated one (default 1e-6)")
      .value("P");
  option(app, "--capacity", options->plan.capacity,
         "use fixed memory for that many distinct lines: 1000, 10M, 1e9")
      .value("N");
  option(app, "--memory", options->plan.memory, "use fixed memory of that size: 120MB, 1GiB")
      .value("SIZE");
  options->input.declare(app, keys::purpose::insert, false);
  options->input.keys.is_blank.keep_empty = true;  // an empty line is printed once
  return [options] { return dedup(*options); };
}

}  // namespace dedup
}  // namespace

command dedup_command() {
  return {
      "dedup", "print each line the first time it is seen, without sorting",
      "  bloomset dedup names.txt > unique.txt\n"
      "  zcat *.log.gz | bloomset dedup --memory 1GiB --fpr 1e-9\n"
      "  find / -type f -print0 | bloomset dedup -0 | xargs -0 ls -l\n"
      "\n"
      "Needs 4 to 6 bytes of memory per distinct line. No line is printed twice. A new line is\n"
      "dropped with probability --fpr. Without --capacity and --memory the memory grows as\n"
      "needed. With one of them it is fixed, and beyond its capacity more new lines are dropped.\n"
      "At --memory-limit further new lines are kept in temporary files, and printed at the end.\n",
      dedup::define};
}

}  // namespace bloomset::cli
