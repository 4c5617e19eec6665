#include "filters/foreign_build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/plan/units.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "filters/filling.hpp"
#include "filters/opened.hpp"
#include "filters/target.hpp"
#include "input/blocks.hpp"
#include "input/stored_reader.hpp"
#include "memory/key_text_spool.hpp"
#include "memory/spool.hpp"

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

/// Returns the number of keys that were certainly new.
result<std::uint64_t> insert_keys(dialects::foreign_filter& filter, key_input& input) {
  std::uint64_t all = 0;
  const auto done = in_batches(input, [&](const key_batch& batch) -> result<void> {
    const auto inserted = filter.insert(batch.keys);
    if (!inserted) return fail(inserted.error());
    all += inserted->inserted;
    if (inserted->done == batch.keys.size()) return {};
    const std::size_t line = batch.line_of_key(inserted->done);
    return fail(errc::full,
                fmt::format("{}: the filter is full and cannot store this key; give a larger "
                            "--capacity",
                            input.position_of_line(batch, line)));
  });
  if (!done) return fail(done.error());
  return all;
}

/// The members, or the universe, which a build may read several times: files are read again, and
/// the keys of a stream are kept.
class side_of_build {
 public:
  side_of_build(input_options options, bool is_repeated)
      : options_(std::move(options)),
        is_repeated_(is_repeated),
        kept_(
            [this](const std::string& sentence) {
              input_->quieten();
              say("build", sentence);
            },
            key_spool::default_limit()) {}

  result<void> open() {
    auto opened = key_input::open(options_);
    if (!opened) return fail(std::move(opened.error()));
    input_ = std::move(*opened);
    return {};
  }

  dialects::key_source source() {
    return {[this](const dialects::key_source::sink& use) { return read(use); }};
  }
  std::uint64_t keys() const noexcept { return keys_; }  ///< of the first time

 private:
  result<void> read(const dialects::key_source::sink& use) {
    if (std::exchange(was_read_, true)) return read_again(use);
    const bool keeps = is_repeated_ && !input_->can_be_read_again();
    auto ok = in_batches(*input_, [&](const key_batch& batch) -> result<void> {
      if (keeps) {
        if (auto kept = kept_.add(batch.keys); !kept) return kept;
      }
      return use(batch.keys);
    });
    if (!ok) return ok;
    keys_ = input_->keys();
    finish(*input_, "build");
    return {};
  }
  result<void> read_again(const dialects::key_source::sink& use) {
    if (!input_->can_be_read_again()) return kept_.for_each(use);
    if (auto ok = open(); !ok) return ok;
    auto ok = in_batches(*input_, [&](const key_batch& batch) { return use(batch.keys); });
    input_->quieten();
    return ok;
  }

  input_options options_;
  bool is_repeated_;
  std::unique_ptr<key_input> input_;
  key_text_spool kept_;
  std::uint64_t keys_ = 0;
  bool was_read_ = false;
};

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
  side_of_build members(options, false);
  if (auto ok = members.open(); !ok) return fail(std::move(ok.error()));
  side_of_build universe(std::move(*all), true);
  if (auto ok = universe.open(); !ok) return fail(std::move(ok.error()));
  const auto filter = dialects::build(format, request,
                                      {.members = members.source(), .universe = universe.source()});
  if (!filter) return fail(filter.error());
  const auto written = write_filter(*filter, how.target, how.force);
  if (!written) return fail(written.error());
  if (!how.quiet) {
    note(fmt::format("{}: {} in a universe of {}, format {}, {}",
                     how.target == "-" ? "stdout" : how.target, format_count(members.keys(), "key"),
                     format_count(universe.keys()), format.name,
                     format_bytes(filter->image()->bytes().size())));
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
  const auto inserted = insert_keys(*filter, input);
  if (!inserted) return fail(inserted.error());
  finish(input, "build");

  const std::string name = how.target == "-" ? "stdout" : how.target;
  if (said != 0 && *inserted > said) {
    const std::string text =
        fmt::format("{}: {} were inserted, more than the --capacity of {}", name,
                    format_count(*inserted, "different key"), format_count(said));
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
