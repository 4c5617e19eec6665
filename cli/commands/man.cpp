#include <fmt/format.h>

#include "commands/all.hpp"
#include "man_page.hpp"

namespace bloomery::cli {
namespace {
namespace man {

action define(CLI::App& app) {
  return [&app]() -> result<status> {
    fmt::print("{}", man_page(shape_of_whole(app), BLOOMERY_VERSION));
    return done;
  };
}

}  // namespace man
}  // namespace

command man_command() {
  return {"man", "print the man page",
          "  bloomery man | man -l -\n"
          "  bloomery man > /usr/local/share/man/man1/bloomery.1\n",
          man::define};
}

}  // namespace bloomery::cli
