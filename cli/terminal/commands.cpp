#include <CLI/CLI.hpp>
#include <array>

#include "commands/all.hpp"
#include "terminal/command.hpp"
#include "terminal/tree.hpp"

namespace bloomset::cli {

std::span<const command> commands() noexcept {
  // clang-format off
  static const std::array table = {  // one per line
      plan_command(),
      bench_command(),
      build_command(),
      add_command(),
      remove_command(),
      except_command(),
      check_command(),
      count_command(),
      index_command(),
      which_command(),
      info_command(),
      verify_command(),
      merge_command(),
      intersect_command(),
      fold_command(),
      convert_command(),
      diff_command(),
      patch_command(),
      publish_command(),
      fetch_command(),
      parquet_command(),
      dedup_command(),
      key_command(),
      explain_command(),
      explore_command(),
      help_command(),
      completion_command(),
      man_command(),
  };
  // clang-format on
  return table;
}

std::unique_ptr<CLI::App> make_app(action& chosen) {
  auto app = std::make_unique<CLI::App>(
      "Small filters for large sets: is x in the set? A \"no\" is always right, but a \"yes\" "
      "may be wrong.",
      "bloomset");
  app->set_version_flag("-V,--version", "bloomset " BLOOMSET_VERSION, "show the version");
  app->require_subcommand(0, 1);
  app->fallthrough(false);
  app->set_help_flag("-h,--help", "show this help");
  app->formatter_fn([](const CLI::App* shown, const std::string&, CLI::AppFormatMode) {
    return shown->get_parent() == nullptr ? help_text(shape_of(*shown))
                                          : help_text(shape_of_verb(*shown));
  });
  for (const command& verb : commands()) {
    CLI::App* sub = app->add_subcommand(std::string(verb.name), std::string(verb.summary));
    sub->footer(std::string(verb.examples));
    sub->callback([run = verb.define(*sub), &chosen] { chosen = run; });
  }
  return app;
}

}  // namespace bloomset::cli
