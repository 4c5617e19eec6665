#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bloomset/defaults.hpp>
#include <bloomset/dialects/parquet.hpp>
#include <bloomset/file.hpp>
#include <bloomset/plan/units.hpp>
#include <filesystem>
#include <optional>
#include <span>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/target.hpp"
#include "input/page_codecs.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {
namespace parquet {

struct arguments {
  std::string action;
  std::string file;
  std::string output;
  std::vector<std::string> columns;
  std::string fpr;
  bool replace = false;
  bool force = false;
  bool quiet = false;
};

/// Hadoop's local file system keeps the checksums of a file beside it, and refuses a file that does
/// not fit them.
result<void> check_hadoop(const std::filesystem::path& target) {
  const auto sums = target.parent_path() / fmt::format(".{}.crc", target.filename().string());
  std::error_code error;
  if (!std::filesystem::exists(sums, error)) return {};
  return fail(
      errc::exists,
      fmt::format("{}: {} has checksums of the old file, so Spark would refuse the new one; "
                  "remove it, or give -o FILE with another name",
                  target.string(), sums.string()));
}

result<status> attach(const arguments& given) {
  dialects::parquet_attach_request request{.columns = given.columns,
                                           .fpr = default_fpr,
                                           .replace = given.replace,
                                           .unpack = unpack_page};
  if (auto ok = read_option("--fpr", given.fpr, parse_rate, request.fpr); !ok) {
    return fail(std::move(ok.error()));
  }
  const bool in_place = given.output.empty();
  if (auto ok = check_hadoop(in_place ? given.file : given.output); !ok) {
    return fail(std::move(ok.error()));
  }
  std::optional<file_lock> lock;
  std::error_code error;
  if (!in_place) {
    if (auto ok = check_apart(given.output, std::span(&given.file, 1)); !ok) {
      return fail(ok.error().code,
                  ok.error().message + ", or leave -o out to change the file in place");
    }
    if (auto ok = check_target(given.output, given.force); !ok) return fail(std::move(ok.error()));
  } else if (std::filesystem::is_regular_file(given.file, error)) {
    auto locked = file_lock::acquire(given.file);
    if (!locked) return fail(std::move(locked.error()));
    lock = std::move(*locked);
  } else if (std::filesystem::exists(given.file, error)) {
    return fail(errc::invalid_argument,
                given.file + ": only a regular file can be changed in place; give -o FILE");
  }
  const auto file = map_bytes(given.file);
  if (!file) return fail(file.error());
  const auto made = named(given.file, dialects::attach_parquet_filters(file->bytes(), request));
  if (!made) return fail(made.error());
  const std::array<std::span<const std::byte>, 2> pieces = {file->bytes().first(made->kept),
                                                            made->appended};
  const std::string& target = in_place ? given.file : given.output;
  auto saved =
      target == "-" && !in_place
          ? write_stream(pieces, STDOUT_FILENO, "stdout")
          : replacing(target, [&] {
              return write_file(byte_pieces(pieces), target,
                                in_place || given.force ? if_exists::replace : if_exists::refuse);
            });
  if (!saved) return fail(std::move(saved.error()));
  if (given.quiet) return done;
  for (const auto& each : made->columns) {
    note(fmt::format("{}: column {}: {} {} for {} distinct values, {}, rate {}",
                     target == "-" ? "stdout" : target, each.column, each.row_groups,
                     each.row_groups == 1 ? "filter" : "filters", format_count(each.values),
                     format_bytes(each.bytes), format_rate(each.max_fpr)));
  }
  return done;
}

action define(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  option(app, "ACTION", given->action, "attach: add filters to columns")
      .required()
      .one_of({"attach"});
  option(app, "FILE", given->file, "a Parquet file").required();
  option(app, "--column", given->columns,
         "a column to make filters for: its path in the schema, with dots")
      .value("COLUMN")
      .one_value_per_use()
      .required();
  option(app, "--fpr", given->fpr,
         "the rate that each row group's filter is sized for (default 1%)")
      .value("P");
  option(app, "-o,--output", given->output,
         "write another file, and leave FILE as it is; - is stdout")
      .value("FILE");
  flag(app, "--replace", given->replace, "replace the filters that the columns already have");
  flag(app, "--force", given->force, "replace the file of -o if it exists");
  flag(app, "-q,--quiet", given->quiet, "no summary on stderr");
  return [given] { return attach(*given); };
}

}  // namespace parquet
}  // namespace

command parquet_command() {
  return {"parquet", "add Bloom filters to a Parquet file that was written without them",
          "  bloomset parquet attach events.parquet --column user --fpr 1%\n"
          "  bloomset parquet attach in.parquet -o out.parquet --column user --column item.sku\n"
          "  bloomset check --column user events.parquet users.txt\n"
          "\n"
          "Each row group gets a filter of its distinct values. The pages of data do not change. "
          "FILE is\n"
          "replaced in one step, so that readers see either the old file or the new one.\n",
          parquet::define};
}

}  // namespace bloomset::cli
