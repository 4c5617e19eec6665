#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bloomset/file.hpp>
#include <bloomset/patch.hpp>
#include <bloomset/plan/units.hpp>
#include <memory>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/target.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {
namespace diff {

struct arguments {
  std::string before;
  std::string after;
  std::string output;
  bool force = false;
  bool quiet = false;
};

std::string summary(const arguments& given, const patch_build& made, std::uint64_t new_size) {
  const std::string name = given.output == "-" ? "stdout" : given.output;
  if (made.is_whole) {
    return fmt::format("{}: {}, the whole of {}, because a patch of its changes is not smaller",
                       name, format_bytes(made.bytes.size()), given.after);
  }
  const std::uint64_t changed = made.changes.set + made.changes.cleared;
  return fmt::format("{}: {} instead of {}, for {} with an entropy of {}", name,
                     format_bytes(made.bytes.size()), format_bytes(new_size),
                     format_count(changed, "changed bit"),
                     format_bytes(static_cast<std::uint64_t>(made.changes.entropy() / 8)));
}

result<status> run(const arguments& given) {
  const std::array read = {given.before, given.after};
  if (auto ok = check_apart(given.output, read); !ok) return fail(std::move(ok.error()));
  if (auto ok = check_target(given.output, given.force); !ok) return fail(std::move(ok.error()));
  const auto before = map_bytes(given.before);
  if (!before) return fail(before.error());
  const auto after = map_bytes(given.after);
  if (!after) return fail(after.error());
  const auto made = make_patch(*before, given.before, *after, given.after);
  if (!made) return fail(made.error());
  const std::array pieces = {std::span<const std::byte>(made->bytes)};
  const auto written =
      given.output == "-"
          ? write_stream(byte_pieces(pieces), STDOUT_FILENO, "stdout")
          : replacing(given.output, [&] {
              return write_file(byte_pieces(pieces), given.output,
                                given.force ? if_exists::replace : if_exists::refuse);
            });
  if (!written) return fail(written.error());
  if (!given.quiet) note(summary(given, *made, after->bytes().size()));
  return done;
}

action define(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  option(app, "OLD", given->before, "the filter that others have").required();
  option(app, "NEW", given->after, "the filter that they need").required();
  option(app, "-o,--output", given->output, "the patch to write; - is stdout")
      .value("PATCH")
      .required();
  flag(app, "-q,--quiet", given->quiet, "no summary on stderr");
  flag(app, "--force", given->force, "replace the patch if it exists");
  return [given] { return run(*given); };
}

}  // namespace diff

namespace patch {

struct arguments {
  std::string file;
  std::string patch;
  std::string output;
  bool force = false;
  bool quiet = false;
};

result<owned_storage> patched(const arguments& given) {
  const auto before = map_bytes(given.file);
  if (!before) return fail(before.error());
  const auto changes = map_bytes(given.patch);
  if (!changes) return fail(changes.error());
  return apply_patch(*before, given.file, changes->bytes(), given.patch);
}

result<status> run(const arguments& given) {
  const bool in_place = given.output.empty();
  const std::string& target = in_place ? given.file : given.output;
  const std::array read = {in_place ? given.patch : given.file, given.patch};
  if (auto ok = check_apart(target, read); !ok) return fail(std::move(ok.error()));
  if (auto ok = check_target(target, given.force || in_place); !ok) return fail(ok.error());
  std::optional<file_lock> lock;
  if (in_place) {
    auto locked = file_lock::acquire(given.file);
    if (!locked) return fail(std::move(locked.error()));
    lock.emplace(std::move(*locked));
  }
  const auto made = patched(given);
  if (!made) return fail(made.error());
  const std::array pieces = {made->bytes()};
  const auto written =
      target == "-"
          ? write_stream(byte_pieces(pieces), STDOUT_FILENO, "stdout")
          : replacing(target, [&] {
              return write_file(byte_pieces(pieces), target,
                                given.force || in_place ? if_exists::replace : if_exists::refuse);
            });
  if (!written) return fail(written.error());
  if (!given.quiet) {
    note(fmt::format("{}: {}, patched by {}", target == "-" ? "stdout" : target,
                     format_bytes(made->bytes().size()), given.patch));
  }
  return done;
}

action define(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  option(app, "FILE", given->file, "the filter that the patch was made for").required();
  option(app, "PATCH", given->patch, "a patch that 'bloomset diff' wrote").required();
  option(app, "-o,--output", given->output,
         "the filter to write; - is stdout (default: replaces FILE)")
      .value("OUT");
  flag(app, "-q,--quiet", given->quiet, "no summary on stderr");
  flag(app, "--force", given->force, "replace OUT if it exists");
  return [given] { return run(*given); };
}

}  // namespace patch
}  // namespace

command diff_command() {
  return {"diff", "write the difference between two filters as a patch",
          "  bloomset diff monday.bloom tuesday.bloom -o tuesday.patch\n"
          "\n"
          "'bloomset patch monday.bloom tuesday.patch' then turns monday.bloom into "
          "tuesday.bloom, byte\n"
          "for byte. A patch is about as large as the entropy of the changed bits. A filter of a "
          "kind that\n"
          "is built once changes almost entirely, so its patch is about as large as the new "
          "filter.\n",
          diff::define};
}

command patch_command() {
  return {"patch", "apply a patch to an old filter, which makes the new one",
          "  bloomset patch members.bloom tuesday.patch\n"
          "  bloomset patch monday.bloom tuesday.patch -o tuesday.bloom\n"
          "\n"
          "Both the old and the new file are checked against their checksums.\n"
          "Without -o, the new file replaces the old one in one step.\n",
          patch::define};
}

}  // namespace bloomset::cli
