#include <fmt/format.h>

#include "commands/all.hpp"
#include "parse_error.hpp"
#include "tree.hpp"

namespace bloomery::cli {
namespace {

action define(CLI::App& app) {
  auto verb = std::make_shared<std::string>();
  app.add_option("VERB", *verb, "one of the verbs");
  return [verb, &app]() -> result<status> {
    const CLI::App& all = *app.get_parent();
    if (verb->empty()) {
      // Not all.help(), which shows the verb that was parsed: this one.
      fmt::print("{}", help_text(shape_of(all)));
      return done;
    }
    std::vector<std::string> names;
    for (const CLI::App* each : all.get_subcommands({})) {
      if (each->get_name() == *verb) {
        fmt::print("{}", each->help());
        return done;
      }
      names.push_back(each->get_name());
    }
    return fail(errc::invalid_argument, no_verb(*verb, names) + "; see 'bloomery --help'");
  };
}

}  // namespace

command help_command() {
  return {"help", "show the verbs, or a verb's options and examples",
          "  bloomery help\n"
          "  bloomery help check\n",
          define};
}

}  // namespace bloomery::cli
