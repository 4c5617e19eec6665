#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bloomset/any_filter.hpp>
#include <bloomset/file.hpp>
#include <bloomset/layers.hpp>
#include <bloomset/patch.hpp>
#include <bloomset/plan/units.hpp>
#include <charconv>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/hashing.hpp"
#include "filters/opened.hpp"
#include "filters/target.hpp"
#include "input/key_input.hpp"
#include "input/stored_reader.hpp"
#include "publish/manifest.hpp"
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

namespace fs = std::filesystem;
using byte_span = std::span<const std::byte>;

struct arguments {
  std::string folder;
  std::string filter;
  std::vector<std::string> layer;
  std::string fpr;
  std::string layer_fpr;
  std::string valid_for;
  secret_key_option key;
  input_options input;
  bool strict = false;
  bool quiet = false;
};

/// The folder, the manifest that is in it, and the one that is being made.
struct folder_change {
  fs::path folder;
  std::optional<manifest> before;
  manifest after;
  std::string summary;

  std::string path(const std::string& name) const { return (folder / name).string(); }
};

/// Writes a file of the folder. A file of the same name has the same content.
result<published_file> add_file(const folder_change& change, byte_span bytes, std::string name) {
  const std::array pieces = {bytes};
  const std::string path = change.path(name);
  if (auto ok = write_file(byte_pieces(pieces), path); !ok) return fail(std::move(ok.error()));
  return published_file{std::move(name), bytes.size(), sha256_of(bytes)};
}

/// A file of the folder, which nobody may have changed.
result<mapped_storage> published_bytes(const folder_change& change, const published_file& file) {
  const std::string path = change.path(file.name);
  auto bytes = map_bytes(path);
  if (!bytes) return fail(std::move(bytes.error()));
  if (bytes->bytes().size() != file.bytes || sha256_of(bytes->bytes()) != file.sha256) {
    return fail(errc::corrupt,
                path + ": the file is not the one of the manifest; publish into a new folder");
  }
  return bytes;
}

result<folder_change> open_folder(const std::string& name) {
  folder_change change;
  change.folder = name;
  std::error_code wrong;
  fs::create_directory(name, wrong);
  if (!fs::is_directory(name)) {
    return fail(errc::io,
                name + ": the folder cannot be created; name one in a folder that exists");
  }
  const std::string path = change.path(manifest_name);
  const auto text = map_bytes(path);
  if (!text) {
    if (text.error().code == errc::not_found) return change;
    return fail(text.error());
  }
  const byte_span bytes = text->bytes();
  auto before = manifest::read({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  if (!before) return fail(std::move(before.error()));
  change.before = std::move(*before);
  return change;
}

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

/// The planned rate and labels of a filter without layers.
struct base_filter {
  any_filter filter;
  std::uint64_t checksum;
};

result<base_filter> open_base(const mapped_storage& bytes, const std::string& name,
                              const std::optional<hash_key>& key) {
  auto stored = read_stored(bytes, verification::always, name);
  if (!stored) return fail(stored.error());
  if (key || !stored->header.seed.is_locked()) {
    if (auto ok = unlock(*stored, key, name); !ok) return fail(std::move(ok.error()));
  } else {
    stored->header.seed = hash_seed(stored->header.seed.value());  // to show its figures
  }
  if (!stored->header.layers.empty()) {
    return fail(errc::invalid_argument,
                name + ": the filter has layers already; publish the one without");
  }
  auto filter = open_any(*stored, access::read_only, name);
  if (!filter) return fail(std::move(filter.error()));
  return base_filter{std::move(*filter), header_checksum(bytes.bytes())};
}

/// Makes the filter the base. The old one gets a patch to it.
result<void> publish_base(const arguments& given, folder_change& change,
                          const std::optional<hash_key>& key, const std::string& why) {
  const auto bytes = map_bytes(given.filter);
  if (!bytes) return fail(bytes.error());
  const auto base = open_base(*bytes, given.filter, key);
  if (!base) return fail(base.error());
  manifest& after = change.after;
  const std::string sha256 = sha256_of(bytes->bytes());
  auto file = add_file(change, bytes->bytes(), short_name(sha256) + ".bloom");
  if (!file) return fail(std::move(file.error()));
  after.base = std::move(*file);
  const double planned = base->filter.info().plan.planned_fpr;
  after.max_fpr = std::min(0.5, planned + layers_to_double * layer_rate(planned));
  if (auto ok = read_option("--fpr", given.fpr, parse_rate, after.max_fpr); !ok) {
    return fail(std::move(ok.error()));
  }
  for (const auto& [label, value] : base->filter.labels().all()) {
    after.labels.emplace_back(label, value);
  }
  change.summary =
      fmt::format("{}{}", why.empty() ? "" : why + "; ", format_bytes(after.base.bytes));
  if (!change.before) return {};
  const manifest& before = *change.before;
  after.patches = before.patches;
  if (before.base.sha256 == after.base.sha256) {
    change.summary += ", as before";
    return {};
  }
  const auto old = published_bytes(change, before.base);
  if (!old) return fail(old.error());
  const auto patch = make_patch(*old, change.path(before.base.name), *bytes, given.filter);
  if (!patch) return fail(patch.error());
  if (patch->is_whole) {
    after.patches.clear();
    change.summary += ", without a patch, because it would not be smaller";
    return {};
  }
  const std::string from = short_name(before.base.sha256);
  auto patch_file =
      add_file(change, patch->bytes, fmt::format("{}-{}.patch", from, short_name(sha256)));
  if (!patch_file) return fail(std::move(patch_file.error()));
  change.summary += fmt::format(", by a patch of {}", format_bytes(patch_file->bytes));
  after.patches.push_back({std::move(*patch_file), from});
  // A way that is not shorter than the whole file helps nobody.
  std::uint64_t sum = 0;
  std::size_t keep = 0;
  while (keep < std::min(after.patches.size(), manifest::max_patches)) {
    sum += after.patches[after.patches.size() - 1 - keep].file.bytes;
    if (sum >= after.base.bytes) break;
    ++keep;
  }
  after.patches.erase(after.patches.begin(),
                      after.patches.end() - static_cast<std::ptrdiff_t>(keep));
  return {};
}

/// The hashes of the layer's keys.
result<std::vector<hash64>> read_keys(arguments& given, const base_filter& base) {
  const label_list& labels = base.filter.labels();
  const std::array filters = {labelled_filter{given.folder, &labels}};
  given.input.names = given.layer;
  const auto opened = open_keys(given.input, filters, verb, given.strict);
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
  return hashes;
}

/// Adds a layer to the present base. Returns why there should be a new base instead, or nothing.
result<std::string> publish_layer(arguments& given, folder_change& change,
                                  const std::optional<hash_key>& key) {
  const manifest& before = *change.before;
  manifest& after = change.after;
  const auto bytes = published_bytes(change, before.base);
  if (!bytes) return fail(bytes.error());
  const std::string base_name = change.path(before.base.name);
  if (auto stored = read_stored(*bytes, verification::header, base_name);
      stored && stored->header.seed.is_locked() && !key) {
    return unlock(*stored, key, base_name).error();
  }
  auto base = open_base(*bytes, base_name, key);
  if (!base) return fail(std::move(base.error()));
  if (!base->filter.halves().empty()) {
    return fail(errc::unsupported,
                base_name +
                    ": layers need hashes of 64 bits, and this filter has 128; publish the "
                    "whole filter instead");
  }
  const double planned = base->filter.info().plan.planned_fpr;
  double rate = layer_rate(planned);
  if (auto ok = read_option("--layer-fpr", given.layer_fpr, parse_rate, rate); !ok) {
    return fail(std::move(ok.error()));
  }
  const auto hashes = read_keys(given, *base);
  if (!hashes) return fail(hashes.error());
  if (hashes->empty()) {
    return fail(errc::invalid_argument, "--layer: there is no key; give the new keys");
  }
  const auto layer = named("--layer-fpr", make_layer(*hashes, rate, base->checksum));
  if (!layer) return fail(layer.error());

  std::vector<std::vector<std::byte>> all;
  std::uint64_t sum = layer->size();
  for (const published_layer& old : before.layers) {
    const auto old_bytes = published_bytes(change, old.file);
    if (!old_bytes) return fail(old_bytes.error());
    all.emplace_back(old_bytes->bytes().begin(), old_bytes->bytes().end());
    sum += old.file.bytes;
  }
  all.push_back(*layer);
  const auto list = layer_list::of(std::move(all), base->checksum);
  if (!list) return fail(list.error());
  after.max_fpr = before.max_fpr;
  if (auto ok = read_option("--fpr", given.fpr, parse_rate, after.max_fpr); !ok) {
    return fail(std::move(ok.error()));
  }
  const double own = base->filter.current_fpr();
  const double total = 1 - (1 - own) * (1 - list->fpr());
  const std::string layers = format_count(before.layers.size() + 1, "layer");
  if (total > after.max_fpr) {
    return fmt::format("with {} the rate would be {}, above {}", layers, format_rate(total),
                       format_rate(after.max_fpr));
  }
  if (sum > before.base.bytes / 2) {
    return fmt::format("{} would have {}, more than half of the base's {}", layers,
                       format_bytes(sum), format_bytes(before.base.bytes));
  }
  auto file = add_file(change, *layer, short_name(sha256_of(*layer)) + ".layer");
  if (!file) return fail(std::move(file.error()));
  after.labels = before.labels;
  after.base = before.base;
  after.patches = before.patches;
  after.layers = before.layers;
  after.layers.push_back({std::move(*file), hashes->size()});
  change.summary = fmt::format("{} in a layer of {}; {}, rate {} of at most {}",
                               format_count(hashes->size(), "key"), format_bytes(layer->size()),
                               layers, format_rate(total), format_rate(after.max_fpr));
  return std::string();
}

std::set<std::string> names_of(const manifest& all) {
  std::set<std::string> names = {all.base.name};
  for (const auto& patch : all.patches) names.insert(patch.file.name);
  for (const auto& layer : all.layers) names.insert(layer.file.name);
  return names;
}

/// Removes published files that neither this manifest nor the one before names. Who reads the one
/// before still finds its files.
void remove_others(const folder_change& change) {
  auto keep = names_of(change.after);
  if (change.before) keep.merge(names_of(*change.before));
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(change.folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool is_ours =
        name.find_first_not_of("0123456789abcdef-") == name.find('.') &&
        (name.ends_with(".bloom") || name.ends_with(".patch") || name.ends_with(".layer"));
    if (is_ours && !keep.contains(name)) fs::remove(entry.path(), ignored);
  }
}

result<status> run(arguments& given) {
  if (given.filter.empty() && given.layer.empty()) {
    return fail(errc::invalid_argument,
                "there is nothing to publish; give a FILTER, or --layer with new keys");
  }
  std::int64_t valid_seconds = 0;
  if (auto ok = read_option("--valid-for", given.valid_for, parse_duration, valid_seconds); !ok) {
    return fail(ok.error());
  }
  const auto key = given.key.read();
  if (!key) return fail(key.error());
  std::error_code ignored;
  fs::create_directory(given.folder, ignored);
  const auto lock = file_lock::acquire(given.folder);
  if (!lock) return fail(lock.error());
  auto opened = open_folder(given.folder);
  if (!opened) return fail(opened.error());
  folder_change& change = *opened;

  std::string why;
  bool is_base = given.layer.empty();
  if (!is_base && !change.before) {
    if (given.filter.empty()) {
      return fail(errc::not_found,
                  given.folder + ": there is no base yet; give the whole filter, too");
    }
    is_base = true;
  } else if (!is_base) {
    auto reason = publish_layer(given, change, *key);
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
    if (!why.empty()) why = "a new base, because " + why;
    if (auto ok = publish_base(given, change, *key, why); !ok) return fail(std::move(ok.error()));
  }
  manifest& after = change.after;
  after.sequence = change.before ? change.before->sequence + 1 : 1;
  after.published = time_text(0);
  if (valid_seconds != 0) after.valid_until = time_text(valid_seconds);
  const std::string text = after.text();
  const std::array pieces = {std::as_bytes(std::span(text))};
  auto written = write_file(byte_pieces(pieces), change.path(manifest_name));
  if (!written) return fail(std::move(written.error()));
  remove_others(change);
  if (!given.quiet) {
    note(fmt::format("{}: number {}, {}", given.folder, after.sequence, change.summary));
  }
  return done;
}

action define(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  option(app, "DIR", given->folder, "the folder that a web server serves").required();
  option(app, "FILTER", given->filter,
         "the whole filter, the base of later layers; with --layer, it is published only if the "
         "layers would have too high a rate or too large a size");
  option(app, "--layer", given->layer, "files of the keys that are new since the last publication")
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
          "  bloomset publish public members.bloom --layer new-keys.txt --fpr 2%\n"
          "\n"
          "The folder holds the filter, patches from earlier filters, layers of new keys, and "
          "manifest.json,\n"
          "which names them all. At every moment, clients see either the old publication or the "
          "new one.\n"
          "They download the filter, and later its changes, with 'bloomset fetch'.\n",
          publish::define};
}

}  // namespace bloomset::cli
