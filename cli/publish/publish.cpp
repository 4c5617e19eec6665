#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bloomset/any_filter.hpp>
#include <bloomset/file.hpp>
#include <bloomset/layers.hpp>
#include <bloomset/plan/units.hpp>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <utility>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/flags.hpp"
#include "filters/hashing.hpp"
#include "filters/opened.hpp"
#include "filters/target.hpp"
#include "input/key_input.hpp"
#include "input/stored_reader.hpp"
#include "publish/base.hpp"
#include "publish/folder.hpp"
#include "publish/sha256.hpp"
#include "terminal/declare.hpp"
#include "terminal/secret_key.hpp"
#include "terminal/system.hpp"

namespace bloomset::cli {
namespace {
namespace publish {

constexpr std::string_view verb = "publish";
// A base at its planned rate and this many layers have twice that rate together.
constexpr double layers_to_double = 40;

/// The rate of a layer, within the range that make_layer() has.
double layer_rate(double planned) noexcept {
  return std::clamp(planned / layers_to_double, 1e-9, 1.0 / 64);
}

using byte_vector = std::vector<std::byte>;

struct arguments {
  std::string folder;
  std::string filter;
  std::vector<std::string> layer;
  std::vector<std::string> removed;
  std::string fpr;
  std::string layer_fpr;
  std::string valid_for;
  secret_key_option key;
  input_options input;
  bool strict = false;
  bool quiet = false;

  bool has_changes() const noexcept { return !layer.empty() || !removed.empty(); }
};

/// Seconds of "90m", "2h" or "7d".
result<std::int64_t> parse_duration(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::int64_t factor = unit == "m" ? 60 : unit == "h" ? 3600 : unit == "d" ? 86400 : 0;
  if (wrong != std::errc() || factor == 0 || number <= 0 || number > 100'000) {
    return fail(errc::invalid_argument,
                fmt::format("'{}' is not a time such as 90m, 2h or 7d", text));
  }
  return number * factor;
}

/// The hashes of keys, ascending, as the base hashes them.
result<std::vector<hash64>> read_keys(arguments& given, const base_filter& base,
                                      const std::string& name,
                                      const std::vector<std::string>& names) {
  if (names.empty()) return std::vector<hash64>();
  const label_list& labels = base.filter.labels();
  const std::array filters = {labelled_filter{name, &labels}};
  input_options asked = given.input;  // the reader that it gets is this base's
  asked.names = names;
  const auto opened = open_keys(asked, filters, verb, given.strict);
  if (!opened) return fail(opened.error());
  key_input& input = **opened;
  const hash_seed seed = base.filter.image().header.seed;
  std::vector<hash64> hashes;
  const auto read = hash_all(input, {&seed, 1}, [&](hash_lists lists) -> result<void> {
    hashes.insert(hashes.end(), lists.front().begin(), lists.front().end());
    return {};
  });
  if (!read) return fail(read.error());
  finish(input, verb);
  std::ranges::sort(hashes);
  return hashes;
}

/// The keys of --layer and --removed, as hashes.
struct changed_keys {
  std::vector<hash64> added;
  std::vector<hash64> removed;
  hash_seed seed;
  label_list labels;  ///< of the base, which name the reader
};

/// Reads the keys. Fails with invalid_argument if one is in both lists.
result<changed_keys> read_changes(arguments& given, const base_filter& base,
                                  const std::string& name) {
  auto added = read_keys(given, base, name, given.layer);
  if (!added) return fail(std::move(added.error()));
  auto removed = read_keys(given, base, name, given.removed);
  if (!removed) return fail(std::move(removed.error()));
  std::vector<hash64> both;
  std::ranges::set_intersection(*added, *removed, std::back_inserter(both));
  if (!both.empty()) {
    return fail(
        errc::invalid_argument,
        fmt::format("--removed: {} also in --layer; give each key to one of both",
                    both.size() == 1 ? "1 key is" : fmt::format("{} keys are", both.size())));
  }
  return changed_keys{std::move(*added), std::move(*removed), base.filter.image().header.seed,
                      base.filter.labels()};
}

/// How many of the hashes the filter may contain.
result<std::uint64_t> count_found(const any_filter& filter, const std::vector<hash64>& hashes) {
  flags answers;
  const std::span<bool> all = answers.first(hashes.size());
  if (auto ok = filter.may_contain(hashes, all); !ok) return fail(std::move(ok.error()));
  return static_cast<std::uint64_t>(std::ranges::count(all, true));
}

/// Fails if the filter, as the base, would lose members: it lacks those of --layer, or it is the
/// present base, which lacks those of its layers. Warns if it still has the keys of --removed.
result<void> check_new_base(arguments& given, const folder_change& change,
                            const mapped_storage& bytes, const base_filter& base,
                            const std::optional<changed_keys>& read) {
  if (change.before && !change.before->layers.empty()) {
    const auto old = published_bytes(change, change.before->base);
    if (!old) return fail(old.error());
    if (layer_base_of(old->bytes()) == layer_base_of(bytes.bytes())) {
      return fail(errc::invalid_argument,
                  fmt::format("{}: this is the present base, which lacks the keys of {}; add them "
                              "to it first",
                              given.filter, format_count(change.before->layers.size(), "layer")));
    }
  }
  if (!given.has_changes()) return {};
  std::optional<changed_keys> anew;
  const bool has_reader = !given.input.keys.reader.empty();
  const bool is_read = read && read->seed == base.filter.image().header.seed &&
                       (has_reader || have_one_reader(read->labels, base.filter.labels()));
  if (!is_read) {
    // Input that was read before has to be a file, so that it can be read again.
    const auto is_file = [](const std::string& name) {
      std::error_code wrong;
      return std::filesystem::is_regular_file(name, wrong);
    };
    if (read && !(std::ranges::all_of(given.layer, is_file) &&
                  std::ranges::all_of(given.removed, is_file))) {
      return fail(
          errc::invalid_argument,
          given.filter +
              ": its hash function or reader is not that of the present base, so the keys are "
              "needed twice; give --layer and --removed files, not streams");
    }
    auto keys = read_changes(given, base, given.filter);
    if (!keys) return fail(std::move(keys.error()));
    anew = std::move(*keys);
  }
  const changed_keys& keys = anew ? *anew : *read;
  const auto added = count_found(base.filter, keys.added);
  if (!added) return fail(added.error());
  if (const std::uint64_t lacking = keys.added.size() - *added; lacking != 0) {
    return fail(
        errc::invalid_argument,
        fmt::format("{}: it becomes the base, and lacks {} of --layer; add them to it first",
                    given.filter, format_count(lacking, "key")));
  }
  const auto removed = count_found(base.filter, keys.removed);
  if (!removed) return fail(removed.error());
  // Fewer are false positives, as a rule.
  if (*removed > keys.removed.size() / 2) {
    say(verb, fmt::format("{}: it becomes the base, and answers yes for {} of the {} of --removed; "
                          "'bloomset except' or 'remove' removes them from it",
                          given.filter, *removed, format_count(keys.removed.size(), "key")));
  }
  return {};
}

/// Makes the filter the base. The old one gets a patch to it.
result<void> publish_base(arguments& given, folder_change& change,
                          const std::optional<hash_key>& key, const std::string& why,
                          const std::optional<changed_keys>& read) {
  const auto bytes = map_bytes(given.filter);
  if (!bytes) return fail(bytes.error());
  const auto base = given.has_changes() ? open_for_changes(*bytes, given.filter, key)
                                        : open_base(*bytes, given.filter, key);
  if (!base) return fail(base.error());
  if (auto ok = check_new_base(given, change, *bytes, *base, read); !ok) return ok;
  manifest& after = change.after;
  const double planned = base->filter.info().plan.planned_fpr;
  after.max_fpr = std::min(0.5, planned + layers_to_double * layer_rate(planned));
  if (auto ok = read_option("--fpr", given.fpr, parse_rate, after.max_fpr); !ok) {
    return fail(std::move(ok.error()));
  }
  for (const auto& [label, value] : base->filter.labels().all()) {
    after.labels.emplace_back(label, value);
  }
  change.summary = {why.empty() ? "" : fmt::format("a new base, because {}; ", why)};
  change.summary.front() += format_bytes(bytes->bytes().size());
  return replace_base(change, *bytes, given.filter);
}

/// The present base with its layers, and the changes to both.
class present_filter {
 public:
  static result<present_filter> open(folder_change& change, const std::optional<hash_key>& key) {
    const manifest& before = *change.before;
    auto bytes = published_bytes(change, before.base);
    if (!bytes) return fail(std::move(bytes.error()));
    auto base = open_for_changes(*bytes, change.path(before.base.name), key);
    if (!base) return fail(std::move(base.error()));
    present_filter made(change, std::move(*base), layer_base_of(bytes->bytes()));
    for (const published_layer& old : before.layers) {
      const auto old_bytes = published_bytes(change, old.file);
      if (!old_bytes) return fail(old_bytes.error());
      made.layers_.emplace_back(old_bytes->bytes().begin(), old_bytes->bytes().end());
    }
    return made;
  }

  const base_filter& base() const noexcept { return base_; }

  /// Adds a layer of new keys, whose exceptions end. Returns why there should be a new base
  /// instead, or nothing.
  result<std::string> add_layer(const arguments& given, const std::vector<hash64>& hashes) {
    manifest& after = change_.after;
    double rate = layer_rate(base_.filter.info().plan.planned_fpr);
    if (auto ok = read_option("--layer-fpr", given.layer_fpr, parse_rate, rate); !ok) {
      return fail(std::move(ok.error()));
    }
    if (hashes.empty()) {
      return fail(errc::invalid_argument, "--layer: there is no key; give the new keys");
    }
    const auto layer = named("--layer-fpr", make_layer(hashes, rate, number_));
    if (!layer) return fail(layer.error());
    layers_.push_back(*layer);
    const auto list = layer_list::of(layers_, number_);
    if (!list) return fail(list.error());
    const double total = 1 - (1 - base_.filter.current_fpr()) * (1 - list->fpr());
    const std::string layers = format_count(layers_.size(), "layer");
    if (layers_.size() > manifest::max_layers) {
      return fmt::format("there would be more than {}",
                         format_count(manifest::max_layers, "layer"));
    }
    if (total > after.max_fpr) {
      return fmt::format("with {} the rate would be {}, above {}", layers, format_rate(total),
                         format_rate(after.max_fpr));
    }
    std::uint64_t sum = 0;
    for (const byte_vector& each : layers_) sum += each.size();
    if (sum > after.base.bytes / 2) {
      return fmt::format("{} would have {}, more than half of the base's {}", layers,
                         format_bytes(sum), format_bytes(after.base.bytes));
    }
    new_keys_ = hashes.size();
    for (const hash64 h : hashes) exceptions_.remove(h);
    change_.summary.push_back(fmt::format(
        "{} in a layer of {}; {}, rate {} of at most {}", format_count(hashes.size(), "key"),
        format_bytes(layer->size()), layers, format_rate(total), format_rate(after.max_fpr)));
    return std::string();
  }

  /// Makes exceptions of the removed keys that base or layers have. Returns why there should be a
  /// new base instead, or nothing.
  result<std::string> remove(const std::vector<hash64>& hashes) {
    const auto list = layer_list::of(layers_, number_);
    if (!list) return fail(list.error());
    flags memory;
    const std::span<bool> answers = memory.first(hashes.size());
    if (auto ok = base_.filter.may_contain(hashes, answers); !ok) {
      return fail(std::move(ok.error()));
    }
    std::uint64_t added = 0;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const bool passes = answers[i] || list->contains(hashes[i]);
      if (!passes || exceptions_.contains(hashes[i])) continue;
      if (exceptions_.size() == exception_list::max_size) {
        return fmt::format("there would be more than {} exceptions",
                           format_count(exception_list::max_size));
      }
      exceptions_.add(hashes[i]);
      ++added;
    }
    change_.summary.push_back(fmt::format(
        "{} removed, {} of at most {}", format_count(added, "key"),
        format_count(exceptions_.size(), "exception"), format_count(exception_list::max_size)));
    return std::string();
  }

  /// Writes the new layer, and the base anew if its exceptions have changed.
  result<void> write() {
    if (new_keys_ != 0) {
      const byte_vector& layer = layers_.back();
      auto file = add_file(change_, layer, short_name(sha256_of(layer)) + ".layer");
      if (!file) return fail(std::move(file.error()));
      change_.after.layers.push_back({std::move(*file), new_keys_});
    }
    stored_filter& stored = base_.stored;
    if (stored.header.exceptions == exceptions_) return {};
    stored.header.exceptions = exceptions_;
    const auto bytes = std::make_shared<byte_vector>(
        serialize({stored.header, stored.parameters, {stored.payload.bytes()}}));
    return replace_base(change_, mapped_storage(bytes, *bytes), change_.folder.string());
  }

 private:
  present_filter(folder_change& change, base_filter base, std::uint64_t number)
      : change_(change),
        base_(std::move(base)),
        number_(number),
        exceptions_(base_.filter.exceptions()) {}

  folder_change& change_;
  base_filter base_;
  std::uint64_t number_;  // layer_base_of() the base
  exception_list exceptions_;
  std::vector<byte_vector> layers_;  // the last one is new if new_keys_ > 0
  std::uint64_t new_keys_ = 0;
};

/// Whether stdin or a file is in both lists.
bool have_common_name(const std::vector<std::string>& some,
                      const std::vector<std::string>& others) {
  return std::ranges::any_of(some, [&](const std::string& name) {
    return std::ranges::find(others, name) != others.end();
  });
}

/// Publishes added and removed keys on top of the present base. Returns why there should be a new
/// base instead, or nothing. `keys` are the keys that it read.
result<std::string> publish_changes(arguments& given, folder_change& change,
                                    const std::optional<hash_key>& key,
                                    std::optional<changed_keys>& keys) {
  auto present = present_filter::open(change, key);
  if (!present) return fail(std::move(present.error()));
  change.after = *change.before;
  if (auto ok = read_option("--fpr", given.fpr, parse_rate, change.after.max_fpr); !ok) {
    return fail(std::move(ok.error()));
  }
  auto read = read_changes(given, present->base(), given.folder);
  if (!read) return fail(std::move(read.error()));
  keys = std::move(*read);
  if (!given.layer.empty()) {
    auto why = present->add_layer(given, keys->added);
    if (!why || !why->empty()) return why;
  }
  if (!given.removed.empty()) {
    auto why = present->remove(keys->removed);
    if (!why || !why->empty()) return why;
  }
  if (auto ok = present->write(); !ok) return fail(std::move(ok.error()));
  return std::string();
}

result<status> run(arguments& given) {
  const bool renews = given.filter.empty() && !given.has_changes();
  if (renews && given.valid_for.empty()) {
    return fail(errc::invalid_argument,
                "there is nothing to publish; give a FILTER, or --layer with new keys");
  }
  if (have_common_name(given.layer, given.removed)) {
    return fail(errc::invalid_argument,
                "--layer and --removed name the same file; give each key to one of both");
  }
  std::int64_t valid_seconds = 0;
  if (auto ok = read_option("--valid-for", given.valid_for, parse_duration, valid_seconds); !ok) {
    return fail(ok.error());
  }
  double layer_fpr = 0;  // an error of it is told even if no layer is made
  if (auto ok = read_option("--layer-fpr", given.layer_fpr, parse_rate, layer_fpr); !ok) {
    return fail(ok.error());
  }
  const auto key = given.key.read();
  if (!key) return fail(key.error());
  if (auto ok = make_folder(given.folder); !ok) return fail(std::move(ok.error()));
  const auto lock = file_lock::acquire(given.folder);
  if (!lock) return fail(lock.error());
  auto opened = open_folder(given.folder);
  if (!opened) return fail(opened.error());
  folder_change& change = *opened;

  std::string why;
  std::optional<changed_keys> keys;
  bool is_base = !change.before || (!given.has_changes() && !renews);
  if (is_base && given.filter.empty()) {
    return fail(errc::not_found,
                given.folder + ": there is no base yet; give the whole filter, too");
  }
  if (renews) {
    change.after = *change.before;
  } else if (!is_base) {
    auto reason = publish_changes(given, change, *key, keys);
    if (!reason) return fail(std::move(reason.error()));
    why = std::move(*reason);
    is_base = !why.empty();
    if (is_base && given.filter.empty()) {
      return fail(errc::full, fmt::format("{}: {}; give the whole filter, which replaces base and "
                                          "layers",
                                          given.folder, why));
    }
  }
  if (is_base) {
    change.after = {};
    if (auto ok = publish_base(given, change, *key, why, keys); !ok) {
      return fail(std::move(ok.error()));
    }
  }
  manifest& after = change.after;
  after.sequence = change.before ? change.before->sequence + 1 : 1;
  after.published = time_text(0);
  after.valid_until = valid_seconds == 0 ? std::string() : time_text(valid_seconds);
  if (renews) change.summary.push_back("valid until " + after.valid_until);
  if (auto ok = write_manifest(change); !ok) return fail(std::move(ok.error()));
  if (!given.quiet) {
    note(fmt::format("{}: number {}, {}", given.folder, after.sequence,
                     fmt::join(change.summary, ", ")));
  }
  return done;
}

action define(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  option(app, "DIR", given->folder, "the folder that a web server serves").required();
  option(app, "FILTER", given->filter,
         "the whole filter, which becomes the base of later layers; with --layer or --removed, it "
         "is published only if there is no base yet, or if these changes would make the rate too "
         "high, the layers too large or the exceptions too many");
  option(app, "--layer", given->layer, "files of the keys that are new since the last publication")
      .value("KEYS")
      .one_value_per_use()
      .under(headings::input);
  option(app, "--removed", given->removed,
         "files of keys that are no longer members: they become exceptions, up to 4096 in all")
      .value("KEYS")
      .one_value_per_use()
      .under(headings::input);
  option(app, "--fpr", given->fpr,
         "the highest rate of base and layers together (default: twice the planned rate of the "
         "base)")
      .value("P")
      .under(headings::size);
  option(app, "--layer-fpr", given->layer_fpr,
         "the rate that a layer adds (default: a fortieth of the planned rate of the base)")
      .value("P")
      .under(headings::size);
  option(app, "--valid-for", given->valid_for,
         "the time after which 'fetch' refuses this publication, such as 90m, 2h or 7d")
      .value("TIME")
      .under(headings::output);
  flag(app, "--strict", given->strict, "fail if --keys is not the reader that made the base's keys")
      .under(headings::input);
  flag(app, "-q,--quiet", given->quiet, "no summary on stderr").under(headings::output);
  given->input.declare_reading(app, keys::purpose::insert, true);
  given->key.declare(app);
  find_declared(app, "--key-file").under(headings::filter);
  return [given] { return run(*given); };
}

}  // namespace publish
}  // namespace

command publish_command() {
  return {"publish", "put a filter, and its later changes, into a folder for a web server",
          "  bloomset publish public members.bloom\n"
          "  bloomset publish public --layer new-keys.txt\n"
          "  bloomset publish public --layer new-keys.txt --removed gone.txt\n"
          "  bloomset publish public members.bloom --layer new-keys.txt --fpr 2%\n"
          "\n"
          "The folder holds the filter, patches from earlier filters, layers of new keys, and "
          "manifest.json,\n"
          "which names them all. Keys that are removed get a \"no\". At every moment, clients see "
          "either the old\n"
          "publication or the new one. They download the filter, and later its changes, with "
          "'bloomset fetch'.\n",
          publish::define};
}

}  // namespace bloomset::cli
