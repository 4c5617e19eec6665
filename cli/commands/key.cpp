#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bloomset/hash.hpp>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>

#include "commands/all.hpp"
#include "memory/wiped.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {
namespace key {

struct key_options {
  std::string action;
  std::string file;
};

/// The digits, which are wiped, and a line end.
wiped_bytes with_line_end(std::string& digits) {
  wiped_bytes line(digits.begin(), digits.end());
  line.push_back('\n');
  wipe(digits.data(), digits.size());
  return line;
}

/// Writes a new key to a new file that only its owner may read.
result<status> make(const std::string& name) {
  const auto key = new_hash_key();
  if (!key) return fail(key.error());
  std::string digits = key->digits();
  const wiped_bytes line = with_line_end(digits);
  const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool written =
      file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int error = errno;
  if (file >= 0) written = ::fsync(file) == 0 && ::close(file) == 0 && written;
  if (written) return done;
  if (file < 0 && error == EEXIST) {
    return fail(
        errc::exists,
        fmt::format(
            "{}: the file exists, and an overwritten key is lost for ever; give another name",
            name));
  }
  if (file >= 0) ::unlink(name.c_str());
  return fail(errc::io,
              fmt::format("{}: cannot write: {}", name, std::generic_category().message(error)));
}

action define(CLI::App& app) {
  auto options = std::make_shared<key_options>();
  option(app, "ACTION", options->action, "new: draw a random key").required().one_of({"new"});
  option(app, "FILE", options->file, "the new file").required();
  return [options] { return make(options->file); };
}

}  // namespace key
}  // namespace

command key_command() {
  return {"key", "make a secret key, so that nobody can cause false positives at will",
          "  bloomset key new members.key\n"
          "  bloomset build -o members.bloom --key-file members.key members.txt\n"
          "  bloomset check --key-file members.key members.bloom visitors.txt\n",
          key::define};
}

}  // namespace bloomset::cli
