#include "secret_key.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "declare.hpp"

namespace bloomset::cli {

void secret_key_option::declare(CLI::App& app) {
  option(app, "--key-file", file,
         "a file with the secret key of the hash function (default: the variable BLOOMSET_KEY)")
      .value("FILE");
}

result<std::optional<hash_key>> secret_key_option::read() const {
  constexpr std::size_t key_digits = 2 * hash_key::size;
  std::string text;
  std::string source = "the variable BLOOMSET_KEY";
  if (!file.empty()) {
    source = file;
    std::ifstream in(file);
    text.resize(key_digits + 3);  // longer than a key and its line end
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (!in.is_open() || in.bad()) {
      return fail(errc::io, fmt::format("--key-file: cannot read {}: {}", file,
                                        std::generic_category().message(errno)));
    }
  } else if (const char* const given = std::getenv("BLOOMSET_KEY"); given != nullptr) {
    text = given;
  } else {
    return std::optional<hash_key>();
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (const auto key = hash_key::parse(text)) return key;
  return fail(errc::invalid_argument,
              fmt::format("{} holds no key; a key is {} hexadecimal digits, as 'bloomset key new' "
                          "makes them",
                          source, key_digits));
}

}  // namespace bloomset::cli
