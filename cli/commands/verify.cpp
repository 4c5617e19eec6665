#include <fmt/format.h>

#include <bloomset/any_filter.hpp>

#include "commands/all.hpp"
#include "filters/opened.hpp"
#include "terminal/declare.hpp"
#include "terminal/parse_error.hpp"

namespace bloomset::cli {
namespace {
namespace verify {

result<void> verify(const std::string& file) {
  auto stored = map_file(path_of_filter(file), verification::always);
  if (!stored) return fail(not_ours(stored.error(), "verify", file));
  // Opening also checks the parameters and the structure of the kind. No secret key is needed.
  stored->header.parts = {};
  const auto info = info_of(std::move(*stored), file);
  if (!info) return fail(info.error());
  return {};
}

action define(CLI::App& app) {
  auto files = std::make_shared<std::vector<std::string>>();
  option(app, "FILE", *files, "filters").required();
  return [files]() -> result<status> {
    status outcome = done;
    for (const std::string& file : *files) {
      if (const auto sound = verify(file); sound) {
        fmt::print("{}: ok\n", one_line(file));
      } else {
        fmt::print(stderr, "bloomset verify: {}\n", one_line(sound.error().message));
        outcome = status::error;
      }
    }
    return outcome;
  };
}

}  // namespace verify
}  // namespace

command verify_command() {
  return {"verify", "check every byte of filters against their checksums",
          "  bloomset verify members.bloom\n"
          "  bloomset verify *.bloom && echo all whole\n",
          verify::define};
}

}  // namespace bloomset::cli
