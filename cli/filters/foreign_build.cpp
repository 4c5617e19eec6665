#include "filters/foreign_build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/plan/units.hpp>
#include <string>
#include <vector>

#include "filters/filling.hpp"
#include "filters/opened.hpp"
#include "filters/target.hpp"
#include "input/blocks.hpp"
#include "input/stored_reader.hpp"

namespace bloomset::cli {
namespace {

/// Counts the keys in one pass over the inputs.
result<std::uint64_t> count_all(const input_options& options) {
  const auto opened = key_input::open(options);
  if (!opened) return fail(opened.error());
  if (!(*opened)->can_be_read_again()) {
    return fail(errc::invalid_argument,
                "the size of the filter depends on the number of keys, but stdin and pipes can be "
                "read only once; give --capacity, or names of files");
  }
  return count_keys(**opened);
}

result<void> insert_keys(dialects::foreign_filter& filter, key_input& input) {
  return in_batches(input, [&](const key_batch& batch) -> result<void> {
    const auto inserted = filter.insert(batch.keys);
    if (!inserted) return fail(inserted.error());
    if (inserted->done == batch.keys.size()) return {};
    const std::size_t line = batch.line_of_key(inserted->done);
    return fail(errc::full, fmt::format("{}: no room", input.position_of_line(batch, line)));
  });
}

/// Keys in memory of their own.
class kept_keys {
 public:
  result<void> read(key_input& input) {
    return in_batches(input, [&](const key_batch& batch) -> result<void> {
      for (const std::string_view key : batch.keys) {
        text_ += key;
        ends_.push_back(text_.size());
      }
      return {};
    });
  }
  std::vector<std::string_view> views() const {
    std::vector<std::string_view> all;
    all.reserve(ends_.size());
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      all.push_back(std::string_view(text_).substr(begin, end - begin));
      begin = end;
    }
    return all;
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

/// Reads the keys of one side.
result<kept_keys> keep_keys(const input_options& options) {
  const auto opened = key_input::open(options);
  if (!opened) return fail(opened.error());
  kept_keys keys;
  if (auto ok = keys.read(**opened); !ok) return fail(ok.error());
  finish(**opened, "build");
  return keys;
}

/// A filter that is built once, from the members in the inputs and the universe.
result<status> build_static(const dialects::dialect& format, const foreign_build& how,
                            const plan_request& request, input_options options) {
  if (how.universe.empty()) {
    return fail(errc::invalid_argument,
                fmt::format("--format {}: its filters are exact for a universe of keys; give a "
                            "file of all keys that will be queried with --universe",
                            format.name));
  }
  auto all = input_of_universe(options, how.universe);
  if (!all) return fail(std::move(all.error()));
  // Wrong options fail before any key is read.
  const auto trial = dialects::build(format, request, {});
  if (!trial) return fail(trial.error());
  if (!trial->takes_any_key()) {
    options.keys.accepts = [&trial](std::string_view key) { return trial->accepts(key); };
    all->keys.accepts = options.keys.accepts;
  }
  const auto members = keep_keys(options);
  if (!members) return fail(members.error());
  const auto universe = keep_keys(*all);
  if (!universe) return fail(universe.error());
  const auto member_views = members->views();
  const auto universe_views = universe->views();
  const auto filter =
      dialects::build(format, request, {.members = member_views, .universe = universe_views});
  if (!filter) return fail(filter.error());
  const auto written = write_filter(*filter, how.target, how.force);
  if (!written) return fail(written.error());
  if (!how.quiet) {
    note(fmt::format("{}: {} in a universe of {}, format {}, {}",
                     how.target == "-" ? "stdout" : how.target,
                     format_count(member_views.size(), "key"), format_count(universe_views.size()),
                     format.name, format_bytes(filter->image()->bytes().size())));
  }
  return done;
}

}  // namespace

result<status> build_foreign(const foreign_build& how, plan_request request,
                             input_options options) {
  const auto format = find_format(how.format);
  if (!format) return fail(format.error());
  if (auto ok = check_target(how.target, how.force); !ok) return fail(ok.error());
  auto settled = dialects::options_for(**format, how.target, std::move(request.options));
  if (!settled) return fail(settled.error());
  request.options = std::move(*settled);
  if ((*format)->is_static()) return build_static(**format, how, request, std::move(options));
  if (!how.universe.empty()) {
    return fail(errc::invalid_argument,
                fmt::format("--universe: a filter of format {} is made of its members only; leave "
                            "it out",
                            how.format));
  }
  const std::uint64_t said = request.capacity;
  // Wrong options fail before any key is read.
  plan_request trial = request;
  trial.capacity = std::max<std::uint64_t>(1, said);
  auto filter = dialects::create(**format, trial);
  if (!filter) return fail(filter.error());
  if (auto ok = filter->askable(); !ok) return fail(ok.error());
  if (!filter->key_reader().empty()) {
    const std::array built = {labelled_filter{how.target, nullptr, filter->key_reader()}};
    if (auto ok = choose_reader(options, built, "build", how.strict); !ok) return fail(ok.error());
  }
  if (!filter->takes_any_key()) {
    options.keys.accepts = [&filter](std::string_view key) { return filter->accepts(key); };
  }
  const bool sized =
      request.bits != 0 || std::any_of(request.options.begin(), request.options.end(),
                                       [](const auto& option) { return option.first == "blocks"; });
  if (said == 0 && !sized) {
    const auto keys = count_all(options);
    if (!keys) return fail(keys.error());
    request.capacity = std::max<std::uint64_t>(1, *keys);
    filter = dialects::create(**format, request);
    if (!filter) return fail(filter.error());
  }

  const auto opened = key_input::open(options);
  if (!opened) return fail(opened.error());
  key_input& input = **opened;
  if (auto ok = insert_keys(*filter, input); !ok) return fail(ok.error());
  finish(input, "build");

  const std::string name = how.target == "-" ? "stdout" : how.target;
  if (said != 0 && input.keys() > said) {
    const std::string text = fmt::format("{}: {} were read, more than the --capacity of {}", name,
                                         format_count(input.keys(), "key"), format_count(said));
    if (how.strict) return fail(errc::full, text + " (--strict: nothing was written)");
    say("build", "warning: " + text + "; the filter is overfull");
  }
  const auto written = write_filter(*filter, how.target, how.force);
  if (!written) return fail(written.error());
  if (!how.quiet) {
    const auto info = filter->info();
    const std::string hashes =
        info.hashes ? format_count(*info.hashes, "hash function") + ", " : std::string();
    note(fmt::format("{}: {}, format {}, {}, {}rate {}", name, format_count(input.keys(), "key"),
                     info.format, format_bytes(info.bytes()), hashes,
                     format_rate(info.current_fpr.value_or(0))));
  }
  return done;
}

}  // namespace bloomset::cli
