#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "arguments.hpp"
#include "command.hpp"

namespace {

int run(int argc, char** argv) {
  using namespace bloomery::cli;
  action chosen;
  const auto app = make_app(chosen);
  try {
    app->parse(arguments(argc, argv));
  } catch (const CLI::Success& help) {
    app->exit(help);
    return 0;
  } catch (const CLI::ParseError& wrong) {
    fmt::print(stderr, "bloomery: {}; see 'bloomery --help'\n", wrong.what());
    return static_cast<int>(status::error);
  }
  const auto outcome = chosen();
  if (!outcome) {
    fmt::print(stderr, "bloomery {}: {}\n", app->get_subcommands().front()->get_name(),
               outcome.error().message);
    return static_cast<int>(status::error);
  }
  return static_cast<int>(*outcome);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("bloomery: out of memory\n", stderr);
  } catch (const std::exception& unexpected) {
    std::fprintf(stderr, "bloomery: %s\n", unexpected.what());
  }
  return 2;
}
