#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

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
    (void)std::fputs(app->help().c_str(), stdout);
    return static_cast<int>(done);
  }
  const auto outcome = chosen();
  // What was printed may still be in the buffer, and a full disk be met only now.
  if (outcome && std::fflush(stdout) != 0) {
    fmt::print(stderr, "bloomery {}: cannot write to stdout: {}\n",
               app->get_subcommands().front()->get_name(), std::generic_category().message(errno));
    return static_cast<int>(status::error);
  }
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
    (void)std::fputs("bloomery: out of memory\n", stderr);
  } catch (const std::exception& unexpected) {
    (void)std::fprintf(stderr, "bloomery: %s\n", unexpected.what());
  }
  return 2;
}
