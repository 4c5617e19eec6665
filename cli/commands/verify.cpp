#include <fmt/format.h>

#include <bloomset/any_filter.hpp>
#include <bloomset/file_index.hpp>
#include <optional>

#include "commands/all.hpp"
#include "filters/opened.hpp"
#include "signing/minisign.hpp"
#include "terminal/declare.hpp"
#include "terminal/parse_error.hpp"

namespace bloomset::cli {
namespace {
namespace verify {

result<void> verify(const std::string& file, bool takes_indexes) {
  auto stored = map_file(path_of_filter(file), verification::always);
  if (!stored) return fail(not_ours(stored.error(), "verify", file));
  if (takes_indexes && stored->header.kind == file_index::kind) {
    // The structure needs no key.
    stored->header.seed = hash_seed(stored->header.seed.value());
    const auto index = named(file, file_index::open(*stored));
    return index ? result<void>() : fail(index.error());
  }
  // Opening also checks the parameters and the structure of the kind. No secret key is needed.
  stored->header.parts = {};
  const auto info = info_of(std::move(*stored), file);
  if (!info) return fail(info.error());
  return {};
}

/// The line for a file whose signature is right. Filters are verified, too.
result<std::string> verify_signed(const minisign_key& key, const std::string& file) {
  if (file == "-") {
    return fail(errc::invalid_argument,
                "-: a signature is beside its file; give the name of the file");
  }
  const auto comment = verify_minisign(key, file);
  if (!comment) return fail(comment.error());
  const auto bytes = map_bytes(file);
  if (bytes && has_signature(bytes->bytes())) {
    if (auto sound = verify(file, true); !sound) return fail(std::move(sound.error()));
  }
  return fmt::format("{}: ok, signed: {}\n", one_line(file), one_line(*comment));
}

struct verify_options {
  std::vector<std::string> files;
  std::string public_key;
};

result<status> verify_all(const verify_options& options) {
  std::optional<minisign_key> key;
  if (!options.public_key.empty()) {
    const auto read = named("--public-key", read_minisign_key(options.public_key));
    if (!read) return fail(read.error());
    key = *read;
  }
  status outcome = done;
  for (const std::string& file : options.files) {
    auto line = key ? verify_signed(*key, file) : [&]() -> result<std::string> {
      if (auto sound = verify(file, false); !sound) return fail(std::move(sound.error()));
      return one_line(file) + ": ok\n";
    }();
    if (line) {
      fmt::print("{}", *line);
    } else {
      fmt::print(stderr, "bloomset verify: {}\n", one_line(line.error().message));
      outcome = status::error;
    }
  }
  return outcome;
}

action define(CLI::App& app) {
  auto options = std::make_shared<verify_options>();
  option(app, "FILE", options->files, "filters, or with --public-key any files").required();
  option(app, "--public-key", options->public_key,
         "check each FILE against its signature in FILE.minisig; KEY is a minisign public key, "
         "either its .pub file or the 56 characters in it")
      .value("KEY");
  return [options] { return verify_all(*options); };
}

}  // namespace verify
}  // namespace

command verify_command() {
  return {"verify", "check filters for damage, and files for the signature of their publisher",
          "  bloomset verify members.bloom\n"
          "  bloomset verify *.bloom && echo all whole\n"
          "  bloomset verify --public-key publisher.pub manifest.json members.bloom\n"
          "\n"
          "A checksum shows that a filter is not damaged. A signature, which 'minisign -S -m "
          "FILE' makes,\n"
          "shows that the owner of the secret key signed these bytes. It does not show that the "
          "file is the\n"
          "newest one, or still has its original name. But it includes a comment, which verify "
          "prints, and\n"
          "which may state the time and the name.\n",
          verify::define};
}

}  // namespace bloomset::cli
