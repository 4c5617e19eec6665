#include <fmt/format.h>

#include <algorithm>
#include <bloomset/plan/units.hpp>
#include <filesystem>
#include <optional>
#include <utility>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/key_part.hpp"
#include "filters/opened.hpp"
#include "filters/target.hpp"
#include "input/stored_reader.hpp"
#include "memory/file_memory.hpp"
#include "memory/memory_limit.hpp"
#include "memory/temporary_file.hpp"
#include "report/report.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {
namespace merge {

struct arguments {
  std::string output;
  std::vector<std::string> files;
  format_options format;
  std::string fpr;
  memory_limit_option memory;
  bool force = false;
};

/// One of the two ways to combine filters.
struct way {
  std::string_view verb;
  bool abilities::* able;
  result<void> (*combine)(any_filter&, const any_filter&);
};

result<void> intersect(any_filter& filter, const any_filter& other) {
  return filter.intersect(other);
}

/// At any rate: it is known when all filters are merged.
result<void> merge_any_size(any_filter& filter, const any_filter& other) {
  return merge_folded(filter, other, 1);
}

constexpr way merging = {"merge", &abilities::merge, merge_any_size};
constexpr way intersecting = {"intersect", &abilities::intersect, intersect};

result<void> check_able(const std::string& file, const opened_filter& filter, const way& by) {
  if (const auto* ours = std::get_if<any_filter>(&filter)) {
    if (ours->can().*by.able) return {};
    return fail(errc::unsupported,
                fmt::format("{}: a filter of kind {} cannot {}; the kinds that can: {}", file,
                            ours->info().kind_name, by.verb, kinds_that(by.able)));
  }
  if (by.able == &abilities::merge) return {};
  return fail(errc::unsupported,
              fmt::format("{}: filters of other programs can be merged, not intersected", file));
}

result<void> combine(opened_filter& filter, const opened_filter& other, const way& by) {
  if (filter.index() != other.index()) {
    return fail(errc::incompatible,
                "one is a Bloomset filter, the other a filter of another program; give filters of "
                "one program");
  }
  if (auto* ours = std::get_if<any_filter>(&filter)) {
    return by.combine(*ours, std::get<any_filter>(other));
  }
  return std::get<dialects::foreign_filter>(filter).merge(
      std::get<dialects::foreign_filter>(other));
}

/// A filter of the first one's kind with the requested rate and the first one's keys.
result<any_filter> at_rate(const any_filter& first, const std::string& rate) {
  const filter_info info = first.info();
  const auto fpr = named("--fpr", parse_rate(rate));
  if (!fpr) return fail(fpr.error());
  if (!first.can().merge || !first.can().grow) {
    return fail(
        errc::unsupported,
        fmt::format("--fpr: a filter of kind {} keeps its rate; leave out --fpr", info.kind_name));
  }
  // The count includes copies, so it may exceed the capacity.
  const std::uint64_t keys = std::min(info.count, info.plan.capacity);
  auto made = find_kind(info.kind)->create({.capacity = std::max<std::uint64_t>(1, keys),
                                            .fpr = *fpr,
                                            .seed = first.image().header.seed});
  if (!made) return made;
  if (auto ok = made->merge(first); !ok) return fail(std::move(ok.error()));
  return made;
}

/// Filters do not live in memory from now on if the first one does not fit the limit.
result<void> limit_memory(const arguments& given, const way& by) {
  const auto memory = given.memory.read();
  if (!memory) return fail(memory.error());
  std::error_code error;
  const auto size = std::filesystem::file_size(given.files.front(), error);
  if (error || memory->fits(size)) return {};
  if (auto ok = temporary_file::check_space(size); !ok) return ok;
  use_file_memory();
  say(by.verb, fmt::format("{} of {} does not fit the memory limit of {}; the result is made in a "
                           "temporary file",
                           given.files.front(), format_bytes(size), format_bytes(memory->bytes)));
  return {};
}

label_list labels_of(const opened_filter& filter) {
  const auto* const ours = std::get_if<any_filter>(&filter);
  return ours == nullptr ? label_list() : ours->labels();
}

/// Two sizes of filters that were merged by folding, and the highest planned rate of all.
struct folded_sizes {
  std::string file;  ///< empty: no filter was folded
  std::uint64_t first = 0;
  std::uint64_t other = 0;
  double planned_fpr = 0;  ///< 0 while the parameters of all are equal
};

void note_sizes(folded_sizes& sizes, const opened_filter& filter, const opened_filter& other,
                const std::string& file) {
  const auto* const ours = std::get_if<any_filter>(&filter);
  const auto* const theirs = std::get_if<any_filter>(&other);
  if (ours == nullptr || theirs == nullptr || !ours->can().fold) return;
  // The union with an empty filter is the other one.
  if (ours->size() == 0 || theirs->size() == 0) return;
  // O(1), and enough for equal filters.
  if (ours->image().parameters == theirs->image().parameters) return;
  const plan_report plan = ours->info().plan;
  const plan_report their_plan = theirs->info().plan;
  // Until a filter is folded, the first one's plan is that of the union.
  if (sizes.planned_fpr == 0) sizes.planned_fpr = plan.planned_fpr;
  sizes.planned_fpr = std::max(sizes.planned_fpr, their_plan.planned_fpr);
  if (plan.bits == their_plan.bits) return;
  if (sizes.file.empty()) sizes.first = plan.bits;
  sizes.file = file;
  sizes.other = their_plan.bits;
}

/// Fails if folding has raised the rate above the planned one. It is checked at the end, so that
/// the order of the filters does not matter.
result<void> check_rate(const std::string& first, const any_filter& merged,
                        const folded_sizes& sizes) {
  const filter_info info = merged.info();
  if (info.current_fpr <= sizes.planned_fpr) return {};
  return fail(errc::incompatible,
              fmt::format("{} and {}: the filters have {} and {} bits; folded to {} bits, the "
                          "largest size that divides all sizes, the union would have a rate of {}, "
                          "above the planned {}; make filters that are to be merged with the same "
                          "capacity, or with sizes that divide each other",
                          first, sizes.file, sizes.first, sizes.other, info.plan.bits,
                          format_rate(info.current_fpr), format_rate(sizes.planned_fpr)));
}

result<status> run(const arguments& given, const way& by) {
  std::vector<std::string> read = given.files;
  read.push_back(given.format.key.file);
  if (auto ok = check_apart(given.output, read); !ok) return fail(std::move(ok.error()));
  if (auto ok = check_target(given.output, given.force); !ok) return fail(std::move(ok.error()));

  const std::string& first = given.files.front();
  auto opener = filter_opener::make(given.format);
  if (!opener) return fail(std::move(opener.error()));
  if (auto ok = limit_memory(given, by); !ok) return fail(ok.error());
  key_parts parts;
  key_parts more;
  const bool takes_parts = &by == &merging;
  auto combined =
      opener->open(first, access::writable, verification::always, takes_parts ? &parts : nullptr);
  if (!combined) return fail(file_memory_failure(combined.error()));
  if (auto ok = check_able(first, *combined, by); !ok) return fail(std::move(ok.error()));
  if (!given.fpr.empty()) {
    const auto* const ours = std::get_if<any_filter>(&*combined);
    if (ours == nullptr) {
      return fail(
          errc::unsupported,
          fmt::format("{}: filters of other programs keep their rate; leave out --fpr", first));
    }
    auto made = named(first, at_rate(*ours, given.fpr));
    if (!made) return fail(std::move(made.error()));
    combined = std::move(*made);
  }
  const auto first_labels = labels_of(*combined);
  folded_sizes sizes;
  for (std::size_t i = 1; i < given.files.size(); ++i) {
    const std::string& file = given.files[i];
    const auto other =
        opener->open(file, access::read_only, verification::always, takes_parts ? &more : nullptr);
    if (!other) return fail(other.error());
    note_sizes(sizes, *combined, *other, file);
    warn_of_readers({first, &first_labels}, labelled(file, *other), by.verb);
    const auto both = add_parts(parts, std::exchange(more, {}));
    if (auto ok = both ? combine(*combined, *other, by) : both; !ok) {
      const failure why = file_memory_failure(ok.error());
      return fail(why.code, fmt::format("{} and {}: {}", first, file, why.message));
    }
    release_file_pages();
  }
  if (auto ok = opener->all_used(); !ok) return fail(std::move(ok.error()));
  auto* const ours = std::get_if<any_filter>(&*combined);
  if (!sizes.file.empty()) {
    if (auto ok = check_rate(first, *ours, sizes); !ok) return fail(ok.error());
  }
  if (ours != nullptr) ours->settle_count();
  if (lacks_none(parts)) parts = {};
  auto saved = ours != nullptr ? write_filter(*ours, given.output, given.force, parts)
                               : write_filter(std::get<dialects::foreign_filter>(*combined),
                                              given.output, given.force);
  if (!saved) return fail(std::move(saved.error()));
  if (ours == nullptr) return done;
  const std::string name = given.output == "-" ? "stdout" : given.output;
  if (parts.of != 0) {
    say(by.verb,
        fmt::format(
            "{} lacks the keys of part {}; only 'merge' accepts it until all parts are in it", name,
            list_parts(parts, false)));
  }
  if (const filter_info info = ours->info(); info.overfilled) {
    say(by.verb,
        fmt::format("warning: {} is overfilled: its rate is {}, above the planned {}", name,
                    format_rate(info.current_fpr), format_rate(info.plan.planned_fpr)));
  }
  return done;
}

template <const way& By>
action define(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  option(app, "-o,--output", given->output, "the filter to write; - is stdout")
      .value("FILE")
      .required();
  if constexpr (&By == &merging) {
    option(app, "--fpr", given->fpr,
           "rate of the union, for kinds that grow (default: the rate of the first filter)")
        .value("P");
  }
  given->memory.declare(app);
  find_declared(app, "--memory-limit")
      .meaning(
          "combine the filters in a temporary file in $TMPDIR if the first one is larger than "
          "three quarters of SIZE (default: half of the free memory)");
  flag(app, "--force", given->force, "replace the file if it exists");
  option(
      app, "FILE", given->files,
      &By == &merging
          ? fmt::format(
                "two or more filters of the same kind and seed; {} filters cannot be merged; {} "
                "filters of different sizes are folded to the largest size that divides the sizes "
                "of all; {} filters may have any size; filters of other kinds must have the same "
                "size; - is stdin",
                kinds_that([](const kind_info& kind) { return !kind.can.merge; }, " and "),
                kinds_that(&abilities::fold, " and "),
                kinds_that([](const kind_info& kind) { return kind.can.merge && kind.can.grow; }))
          : fmt::format("two or more {} filters of the same kind, size and seed; - is stdin",
                        kinds_that(&abilities::intersect, " or ")))
      .required()
      .at_least(2);
  given->format.declare(app);
  return [given] { return run(*given, By); };
}

}  // namespace merge
}  // namespace

command merge_command() {
  return {"merge", "write the union of several filters",
          "  bloomset merge -o week.bloom monday.bloom tuesday.bloom\n"
          "  bloomset merge -o new.bloom all.bloom today.bloom && mv new.bloom all.bloom\n"
          "  bloomset merge --fpr 2% -o both.bloom seen-here.bloom seen-there.bloom\n",
          merge::define<merge::merging>};
}

command intersect_command() {
  return {"intersect", "write the intersection of several filters",
          "  bloomset intersect -o both.bloom ours.bloom theirs.bloom\n",
          merge::define<merge::intersecting>};
}

}  // namespace bloomset::cli
