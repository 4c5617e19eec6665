#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "commands/all.hpp"
#include "terminal/declare.hpp"

extern "C" char** environ;  // NOLINT(readability-redundant-declaration): not on all systems

namespace bloomset::cli {
namespace {
namespace explore {

namespace fs = std::filesystem;

/// The page: beside the program in a build tree, in the data folder of an installation.
result<fs::path> page() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) program = BLOOMSET_BINDIR "/bloomset";  // without /proc, as on other systems
  const std::array candidates = {
      program.parent_path() / "explorer" / "index.html",
      program.parent_path().parent_path() / BLOOMSET_DATADIR / "bloomset/explorer/index.html"};
  for (const fs::path& each : candidates) {
    if (fs::is_regular_file(each, error)) return each;
  }
  return fail(errc::not_found,
              fmt::format("the explorer page is not installed with this program ({} is missing); "
                          "Debian's package bloomset-explorer contains it, and in a checkout of "
                          "Bloomset './quickstart.sh --explorer' builds it",
                          candidates.back().string()));
}

/// Whether the program opened the page. What a `quiet` one writes is not shown: desktop openers
/// report on browsers that they tried in vain.
bool opens(const std::string& program, const std::string& path, bool quiet) {
  std::vector<std::string> words = {program, path};
  std::array<char*, 3> argv = {words[0].data(), words[1].data(), nullptr};
  pid_t child = 0;
  posix_spawn_file_actions_t actions{};
  if (::posix_spawn_file_actions_init(&actions) != 0) return false;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    if (quiet) ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  }
  const int failed = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return false;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

result<status> run(bool only_print) {
  const auto found = page();
  if (!found) return fail(found.error());
  const std::string path = found->string();
  if (only_print) {
    fmt::print("{}\n", path);
    return done;
  }
  const char* const browser = std::getenv("BROWSER");  // NOLINT(concurrency-mt-unsafe)
  if (browser != nullptr && *browser != '\0' && opens(browser, path, false)) return done;
  for (const char* const opener : {"xdg-open", "open"}) {
    if (opens(opener, path, true)) return done;
  }
  return fail(
      errc::unsupported,
      fmt::format("no browser could be started; open {} in one, or name one in BROWSER", path));
}

action define(CLI::App& app) {
  auto print = std::make_shared<bool>(false);
  flag(app, "--print", *print, "print the path of the page and open nothing");
  return [print] { return run(*print); };
}

}  // namespace explore
}  // namespace

command explore_command() {
  return {"explore", "open a web page that shows filters at work, step by step",
          "  bloomset explore\n"
          "  bloomset explore --print\n",
          explore::define};
}

}  // namespace bloomset::cli
