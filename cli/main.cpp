#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "arguments.hpp"
#include "command.hpp"
#include "parse_error.hpp"

namespace {

int run(int argc, char** argv) {
  using namespace bloomery::cli;
  action chosen;
  const auto app = make_app(chosen);
  try {
    app->parse(arguments(argc, argv));
  } catch (const CLI::Success& help) {
    app->exit(help);
    return static_cast<int>(done);
  } catch (const CLI::ParseError& wrong) {
    fmt::print(stderr, "{}\n", one_line(parse_sentence(*app, wrong)));
    return static_cast<int>(status::error);
  }
  if (!chosen) {  // 'bloomery' alone
    std::fputs(app->help().c_str(), stdout);
    return static_cast<int>(done);
  }
  const auto outcome = chosen();
  if (!outcome) {
    fmt::print(stderr, "bloomery {}: {}\n", app->get_subcommands().front()->get_name(),
               one_line(outcome.error().message));
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
