#include <fmt/format.h>

#include <array>
#include <bloomset/plan/units.hpp>

#include "commands/all.hpp"
#include "filters/filling.hpp"
#include "filters/opened.hpp"
#include "filters/target.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {
namespace fold {

struct arguments {
  std::string file;
  std::string output;
  std::string fpr;
  std::string factor;
  format_options format;
  bool force = false;
  bool quiet = false;
};

double planned_rate(const any_filter& filter) {
  return filter.info().plan.planned_fpr;
}
double planned_rate(const dialects::foreign_filter&) {
  return 0;
}

std::string summary(const std::string& name, std::uint64_t before, std::uint64_t after,
                    double rate) {
  return fmt::format("{}: {} instead of {}, rate {}", name, format_bytes(after),
                     format_bytes(before), format_rate(rate));
}
std::string summary(const std::string& name, const any_filter& before, const any_filter& after) {
  return summary(name, before.size_in_bytes(), after.size_in_bytes(), after.current_fpr());
}
std::string summary(const std::string& name, const dialects::foreign_filter& before,
                    const dialects::foreign_filter& after) {
  const dialects::foreign_info info = after.info();
  return summary(name, before.info().bits / 8, info.bits / 8, info.current_fpr.value_or(0));
}

result<status> run(const arguments& given) {
  const std::array read = {given.file, given.format.key.file};
  if (auto ok = check_apart(given.output, read); !ok) return fail(std::move(ok.error()));
  if (auto ok = check_target(given.output, given.force); !ok) return fail(std::move(ok.error()));
  if (!given.fpr.empty() && !given.factor.empty()) {
    return fail(errc::invalid_argument, "--fpr and --factor contradict each other; give one");
  }
  std::uint64_t factor = 0;
  if (auto ok = read_option("--factor", given.factor, parse_count, factor); !ok) {
    return fail(ok.error());
  }
  double fpr = 0;
  if (auto ok = read_option("--fpr", given.fpr, parse_rate, fpr); !ok) return fail(ok.error());
  const auto opened = open_filter(given.file, given.format, verification::always);
  if (!opened) return fail(opened.error());
  return std::visit(
      [&](const auto& filter) -> result<status> {
        if (fpr == 0 && factor == 0) fpr = planned_rate(filter);
        if (fpr == 0 && factor == 0) {
          return fail(errc::invalid_argument,
                      fmt::format("{}: its format does not store a rate; give --fpr or --factor",
                                  given.file));
        }
        auto small = named(given.file, factor != 0 ? filter.fold(factor) : filter.fold_to(fpr));
        if (!small) return fail(std::move(small.error()));
        using filter_type = std::remove_cvref_t<decltype(filter)>;
        if constexpr (std::same_as<filter_type, any_filter>) small->settle_count();
        auto saved = write_filter(*small, given.output, given.force);
        if (!saved) return fail(std::move(saved.error()));
        const std::string name = given.output == "-" ? "stdout" : given.output;
        if (!given.quiet) note(summary(name, filter, *small));
        return done;
      },
      *opened);
}

action define(CLI::App& app) {
  auto given = std::make_shared<arguments>();
  option(app, "FILE", given->file,
         "a filter of kind " + kinds_that(&abilities::fold, " or ") + ", or a Parquet filter")
      .required();
  option(app, "-o,--output", given->output, "the filter to write; - is stdout")
      .value("FILE")
      .required();
  option(app, "--fpr", given->fpr,
         "the highest rate that the smaller filter may have (default: the rate that FILE was "
         "planned for)")
      .value("P");
  option(app, "--factor", given->factor,
         "the factor by which the filter shrinks; must divide its size")
      .value("N");
  flag(app, "-q,--quiet", given->quiet, "no summary on stderr");
  flag(app, "--force", given->force, "replace the file if it exists");
  given->format.declare(app);
  return [given] { return run(*given); };
}

}  // namespace fold
}  // namespace

command fold_command() {
  return {"fold", "shrink a filter that was planned for more keys than it holds",
          "  bloomset fold -o small.bloom large.bloom\n"
          "  bloomset fold -o small.bloom --fpr 1% large.bloom\n"
          "\n"
          "The smaller filter is the same as one that was built at that size from the same keys. "
          "A filter\n"
          "can be folded only to a size that divides its own, so build it with '--with "
          "foldable=yes', which\n"
          "chooses a size that has many divisors.\n",
          fold::define};
}

}  // namespace bloomset::cli
