#include "terminal/completion.hpp"

#include <fmt/format.h>

#include "commands/all.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {
namespace completion {

action define(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  option(app, "SHELL", *shell, "the shell").required().one_of({shells.begin(), shells.end()});
  return [shell, &app]() -> result<status> {
    const tree_shape tree = shape_of_whole(app);
    fmt::print("{}", *shell == "bash"  ? bash_completion(tree)
                     : *shell == "zsh" ? zsh_completion(tree)
                                       : fish_completion(tree));
    return done;
  };
}

}  // namespace completion
}  // namespace

command completion_command() {
  return {"completion", "print a script that completes this command line in a shell",
          "  source <(bloomset completion bash)\n"
          "  bloomset completion zsh > ~/.zfunc/_bloomset\n"
          "  bloomset completion fish > ~/.config/fish/completions/bloomset.fish\n",
          completion::define};
}

}  // namespace bloomset::cli
