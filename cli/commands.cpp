#include <array>

#include "command.hpp"
#include "commands/all.hpp"

namespace bloomery::cli {

std::span<const command> commands() noexcept {
  static const std::array table = {
      plan_command(),
      info_command(),
      explain_command(),
  };
  return table;
}

std::unique_ptr<CLI::App> make_app(action& chosen) {
  auto app = std::make_unique<CLI::App>(
      "Approximate sets: is x in a set too large to keep? Never a false \"no\".", "bloomery");
  app->set_version_flag("--version", "bloomery " BLOOMERY_VERSION);
  app->require_subcommand(1);
  app->fallthrough(false);
  for (const command& verb : commands()) {
    CLI::App* sub = app->add_subcommand(std::string(verb.name), std::string(verb.summary));
    sub->footer("Examples:\n" + std::string(verb.examples));
    sub->callback([run = verb.define(*sub), &chosen] { chosen = run; });
  }
  return app;
}

}  // namespace bloomery::cli
