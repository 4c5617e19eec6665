#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bloomset/file.hpp>
#include <bloomset/layers.hpp>
#include <bloomset/patch.hpp>
#include <bloomset/plan/units.hpp>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/target.hpp"
#include "publish/kept_part.hpp"
#include "publish/manifest.hpp"
#include "publish/sha256.hpp"
#include "publish/source.hpp"
#include "remote/transfer_options.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {
namespace fetch {

using byte_vector = std::vector<std::byte>;

struct arguments {
  std::string source;
  std::string file;
  transfer_options transfer;
  bool quiet = false;
};

/// The manifest that was followed last, beside the file.
std::string manifest_of(const std::string& file) {
  return file + ".manifest.json";
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A source, and what was read from it for a target.
class reader {
 public:
  reader(published_source& source, std::string target)
      : source_(source), target_(std::move(target)) {}

  result<byte_vector> read_manifest() {
    byte_vector bytes;
    kept_part nothing;
    if (auto ok = append(manifest_name, manifest::max_bytes + 1, bytes, nothing); !ok) {
      return fail(std::move(ok.error()));
    }
    return bytes;
  }
  /// A file with the size and content that the manifest names. It continues where a run before was
  /// interrupted.
  result<byte_vector> read(const published_file& file) {
    std::optional<kept_part> part;
    if (source_.is_remote() && file.bytes >= min_kept_bytes) {
      part.emplace(target_, file.sha256);
    } else {
      part.emplace();
    }
    auto bytes = part->bytes(file.bytes);
    const bool had_bytes = !bytes.empty();
    auto arrived = append(file.name, file.bytes, bytes, *part);
    const bool is_other =
        arrived ? !is_content(bytes, file) : arrived.error().code == errc::incompatible;
    if (is_other && had_bytes) {
      // The bytes before may be damaged.
      part->clear();
      bytes.clear();
      arrived = append(file.name, file.bytes, bytes, *part);
    }
    if (!arrived) return fail(std::move(arrived.error()));
    if (!is_content(bytes, file)) {
      part->clear();
      return fail(errc::corrupt, fmt::format("{}: the file is not the one that the manifest names; "
                                             "fetch again later, or tell the publisher",
                                             source_.shown(file.name)));
    }
    return bytes;
  }
  std::string shown(const std::string& name) const { return source_.shown(name); }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  // Smaller files are read again.
  static constexpr std::uint64_t min_kept_bytes = std::uint64_t{64} << 10;

  static bool is_content(std::span<const std::byte> bytes, const published_file& file) {
    return bytes.size() == file.bytes && sha256_of(bytes) == file.sha256;
  }

  /// Appends the rest of a file up to byte `end` to the bytes before.
  result<void> append(const std::string& name, std::uint64_t end, byte_vector& bytes,
                      kept_part& part) {
    if (bytes.size() >= end) return {};
    return source_.read(name, bytes.size(), end, [&](std::span<const std::byte> some) {
      bytes.insert(bytes.end(), some.begin(), some.end());
      part.append(some);
      bytes_ += some.size();
      return result<void>();
    });
  }

  published_source& source_;
  std::string target_;
  std::uint64_t bytes_ = 0;
};

/// The filter that is here already: its base, as it was published, and its layers by their SHA-256.
struct present_filter {
  mapped_storage base;
  std::string sha256;
  std::vector<byte_vector> layers;
  std::map<std::string, std::size_t> places;  // in layers, by SHA-256
};

/// The file, or nothing if there is none or a damaged one. Another file than a filter is a failure.
result<std::optional<present_filter>> look_at(const std::string& name) {
  const auto bytes = map_bytes(name);
  if (!bytes) {
    if (bytes.error().code == errc::not_found) return std::optional<present_filter>();
    return fail(bytes.error());
  }
  auto stored = read_stored(*bytes, verification::always, name);
  if (!stored) {
    if (has_signature(bytes->bytes())) return std::optional<present_filter>();
    return fail(errc::exists,
                name + ": this is not a filter, and would be replaced; give another name");
  }
  present_filter present;
  present.layers = stored->header.layers.all();
  for (std::size_t i = 0; i < present.layers.size(); ++i) {
    present.places.emplace(sha256_of(present.layers[i]), i);
  }
  if (stored->header.layers.empty()) {
    present.base = *bytes;
  } else {
    stored->header.layers = {};
    auto base = std::make_shared<byte_vector>(
        serialize({stored->header, stored->parameters, {stored->payload.bytes()}}));
    present.base = mapped_storage(base, *base);
  }
  present.sha256 = sha256_of(present.base.bytes());
  return std::optional(std::move(present));
}

/// Refuses a manifest that is older than the one followed last.
result<void> check_order(const arguments& given, const manifest& now, std::string_view text,
                         const std::string& name) {
  const std::string last_name = manifest_of(given.file);
  const auto bytes = map_bytes(last_name);
  if (!bytes) {
    if (bytes.error().code == errc::not_found) return {};
    return fail(bytes.error());
  }
  const auto last = manifest::read(text_of(bytes->bytes()), last_name);
  if (!last) return fail(last.error());
  if (now.sequence < last->sequence) {
    return fail(errc::incompatible,
                fmt::format("{}: it has the number {}, but {} was here already; an old publication "
                            "is shown again, so nothing was changed. If the publisher began anew, "
                            "remove {}",
                            name, now.sequence, last->sequence, last_name));
  }
  if (now.sequence == last->sequence && text != text_of(bytes->bytes())) {
    return fail(errc::incompatible,
                fmt::format("{}: it has the number {} of the one that was here, but other content; "
                            "nothing was changed. If the publisher began anew, remove {}",
                            name, now.sequence, last_name));
  }
  return {};
}

/// The steps of a fetch, for the summary.
struct steps {
  std::size_t patches = 0;
  std::size_t layers = 0;
  bool whole = false;
  bool changed() const noexcept { return patches != 0 || layers != 0 || whole; }
};

result<mapped_storage> whole_base(reader& from, const manifest& now, steps& did) {
  auto bytes = from.read(now.base);
  if (!bytes) return fail(std::move(bytes.error()));
  did.whole = true;
  auto owner = std::make_shared<byte_vector>(std::move(*bytes));
  return mapped_storage(owner, *owner);
}

/// The base of the manifest: the present one, that one with patches, or the whole file.
result<mapped_storage> get_base(const arguments& given, reader& from, const manifest& now,
                                const std::optional<present_filter>& present, steps& did) {
  if (present && present->sha256 == now.base.sha256) return present->base;
  const auto patches = present ? now.patches_from(present->sha256) : std::vector<published_patch>();
  std::uint64_t sum = 0;
  for (const published_patch& patch : patches) sum += patch.file.bytes;
  if (patches.empty() || sum >= now.base.bytes) return whole_base(from, now, did);
  // A chain of short patches could otherwise make a file of any size: one patch makes a file at
  // most this large, and a base that has grown further is read whole.
  const std::uint64_t most = 4 * std::uint64_t{present->base.bytes().size()} + (1 << 16);
  mapped_storage base = present->base;
  for (const published_patch& patch : patches) {
    if (base.bytes().size() > most) {
      did.patches = 0;
      return whole_base(from, now, did);
    }
    const auto bytes = from.read(patch.file);
    if (!bytes) return fail(bytes.error());
    auto made = apply_patch(base, given.file, *bytes, from.shown(patch.file.name));
    if (!made) return fail(std::move(made.error()));
    auto owner = std::make_shared<owned_storage>(std::move(*made));
    base = mapped_storage(owner, owner->bytes());
    ++did.patches;
  }
  if (sha256_of(base.bytes()) != now.base.sha256) {
    return fail(errc::corrupt,
                fmt::format("{}: its patches do not make its base; tell the publisher",
                            from.shown(manifest_name)));
  }
  return base;
}

result<layer_list> get_layers(reader& from, const manifest& now,
                              const std::optional<present_filter>& present,
                              const mapped_storage& base, steps& did) {
  std::vector<byte_vector> layers;
  for (const published_layer& layer : now.layers) {
    if (present) {
      const auto at = present->places.find(layer.file.sha256);
      if (at != present->places.end()) {
        layers.push_back(present->layers[at->second]);
        continue;
      }
    }
    auto bytes = from.read(layer.file);
    if (!bytes) return fail(std::move(bytes.error()));
    layers.push_back(std::move(*bytes));
    ++did.layers;
  }
  return named(from.shown(manifest_name),
               layer_list::of(std::move(layers), layer_base_of(base.bytes())));
}

result<status> follow(const arguments& given, reader& from) {
  const auto text = from.read_manifest();
  if (!text) return fail(text.error());
  const std::string name = from.shown(manifest_name);
  const auto now = manifest::read(text_of(*text), name);
  if (!now) return fail(now.error());
  if (!now->valid_until.empty() && now->valid_until < time_text(0)) {
    return fail(errc::incompatible,
                fmt::format("{}: it was valid until {}; fetch again when there is a new one", name,
                            now->valid_until));
  }
  if (auto ok = check_order(given, *now, text_of(*text), name); !ok) return fail(ok.error());

  const auto present = look_at(given.file);
  if (!present) return fail(present.error());
  steps did;
  const auto base = get_base(given, from, *now, *present, did);
  if (!base) return fail(base.error());
  auto stored = read_stored(*base, verification::always, from.shown(now->base.name));
  if (!stored) return fail(stored.error());
  auto layers = get_layers(from, *now, *present, *base, did);
  if (!layers) return fail(std::move(layers.error()));
  const bool has_other_layers = *present && (*present)->layers != layers->all();
  if (!layers->all().empty() && !filter_hasher::is_one(stored->header.hash)) {
    return fail(errc::corrupt, from.shown(now->base.name) +
                                   ": its layers need hashes of 64 bits; tell the publisher");
  }
  if (did.changed() || has_other_layers) {
    stored->header.layers = std::move(*layers);
    const filter_image image{stored->header, stored->parameters, {stored->payload.bytes()}};
    if (auto ok = replacing(given.file, [&] { return write_file(image, given.file); }); !ok) {
      return fail(std::move(ok.error()));
    }
  }
  const std::array pieces = {std::span<const std::byte>(*text)};
  if (auto ok = write_file(byte_pieces(pieces), manifest_of(given.file)); !ok) {
    return fail(std::move(ok.error()));
  }
  kept_part::remove_all(given.file);
  if (!given.quiet) {
    std::vector<std::string> how;
    if (did.whole) how.emplace_back("the whole filter");
    if (did.patches != 0) {
      how.push_back(did.patches == 1 ? "1 patch" : fmt::format("{} patches", did.patches));
    }
    if (did.layers != 0) how.push_back(format_count(did.layers, "layer"));
    note(fmt::format(
        "{}: number {}, {}; read {} instead of {}", given.file, now->sequence,
        how.empty() ? "which was here already" : fmt::format("by {}", fmt::join(how, " and ")),
        format_bytes(from.bytes()), format_bytes(now->base.bytes)));
  }
  return done;
}

result<status> run(const arguments& given) {
  const auto limits = given.transfer.read();
  if (!limits) return fail(limits.error());
  const auto source = open_source(given.source, *limits);
  if (!source) return fail(source.error());
  if (given.file == "-") {
    return fail(errc::invalid_argument,
                "-o -: fetch keeps the manifest beside the filter; give a file's name");
  }
  if (auto ok = check_target(given.file, true); !ok) return fail(std::move(ok.error()));
  std::optional<file_lock> lock;
  if (auto locked = file_lock::acquire(given.file)) lock.emplace(std::move(*locked));
  reader from(**source, given.file);
  // A publisher may have replaced the files of a manifest that was just read.
  auto outcome = follow(given, from);
  for (int again = 0; again < 2 && !outcome && outcome.error().code == errc::not_found; ++again) {
    outcome = follow(given, from);
  }
  return outcome;
}

action define(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  option(app, "DIR", given->source,
         "a folder that 'bloomset publish' wrote, or its URL on a web server")
      .required();
  option(app, "-o,--output", given->file, "the filter to write, or to bring up to date")
      .value("FILE")
      .required();
  flag(app, "-q,--quiet", given->quiet, "no summary on stderr");
  given->transfer.declare(app);
  for (const char* name : {"--max-bytes", "--timeout"}) find_declared(app, name).under("Options");
  return [given] { return run(*given); };
}

}  // namespace fetch
}  // namespace

command fetch_command() {
  return {
      "fetch", "download a published filter, or bring a copy of it up to date",
      "  bloomset fetch https://example.org/members/ -o members.bloom\n"
      "  bloomset fetch /srv/public -o members.bloom\n"
      "\n"
      "fetch reads manifest.json, and then only the changes that FILE lacks, which are patches "
      "and layers\n"
      "of new keys. If the whole filter is smaller than the patches, fetch reads the filter "
      "instead. It\n"
      "compares the SHA-256 digest of each file with the manifest, and replaces FILE in one step. "
      "It\n"
      "keeps the manifest in FILE.manifest.json, so that it can refuse an older one. A transfer "
      "that was\n"
      "interrupted continues in the next run, from the bytes in FILE.*.part.\n",
      fetch::define};
}

}  // namespace bloomset::cli
