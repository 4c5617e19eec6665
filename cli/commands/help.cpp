#include <fmt/format.h>

#include "commands/all.hpp"
#include "terminal/declare.hpp"
#include "terminal/parse_error.hpp"
#include "terminal/tree.hpp"

namespace bloomset::cli {
namespace {
namespace help {

action define(CLI::App& app) {
  auto verb = std::make_shared<std::string>();
  option(app, "VERB", *verb, "a verb");
  return [verb, &app]() -> result<status> {
    const tree_shape all = shape_of_whole(app);
    if (verb->empty()) {
      fmt::print("{}", help_text(all));
      return done;
    }
    std::vector<std::string> names;
    for (const verb_shape& each : all.verbs) {
      if (each.name == *verb) {
        fmt::print("{}", help_text(each));
        return done;
      }
      names.push_back(each.name);
    }
    return fail(errc::invalid_argument, no_verb(*verb, names) + "; see 'bloomset --help'");
  };
}

}  // namespace help
}  // namespace

command help_command() {
  return {"help", "show the verbs, or a verb's options and examples",
          "  bloomset help\n"
          "  bloomset help check\n",
          help::define};
}

}  // namespace bloomset::cli
