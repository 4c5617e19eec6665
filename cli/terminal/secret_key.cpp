#include "terminal/secret_key.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "filters/filling.hpp"
#include "memory/wiped.hpp"
#include "terminal/declare.hpp"
#include "terminal/system.hpp"

namespace bloomset::cli {
namespace {

constexpr const char* variable = "BLOOMSET_KEY";
constexpr std::size_t key_digits = 2 * hash_key::size;

void warn_of_others(const std::string& file, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return;
  const bool writes = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (!writes && (status.st_mode & (S_IRGRP | S_IROTH)) == 0) return;
  note(
      fmt::format("bloomset: warning: {}: other users may {} this secret key; 'chmod 600' makes "
                  "it the owner's alone",
                  file, writes ? "change" : "read"));
}

/// The beginning of the file: more bytes than a key and its line end have, if there are more.
result<wiped_bytes> beginning_of(const std::string& file, struct stat& status) {
  const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) return system_failure("--key-file", "read " + file);
  wiped_bytes text(key_digits + 3);
  std::size_t size = 0;
  ssize_t got = 1;
  while (size < text.size() && got != 0) {
    got = ::read(opened, text.data() + size, text.size() - size);
    if (got < 0 && errno != EINTR) break;
    if (got > 0) size += static_cast<std::size_t>(got);
  }
  if (got < 0 || ::fstat(opened, &status) != 0) {
    const failure why = system_failure("--key-file", "read " + file);
    ::close(opened);
    return why;
  }
  ::close(opened);
  text.resize(size);
  return text;
}

}  // namespace

void secret_key_option::declare(CLI::App& app) {
  option(app, "--key-file", file,
         "a file with the secret key of the hash function (default: the key in the environment "
         "variable BLOOMSET_KEY, if it is set)")
      .value("FILE");
}

bool secret_key_option::is_given() const noexcept {
  return !file.empty() || (uses_variable && std::getenv(variable) != nullptr);
}

std::string secret_key_option::source() const {
  return file.empty() ? fmt::format("the variable {}", variable) : "--key-file";
}

result<std::optional<hash_key>> secret_key_option::read() const {
  if (!is_given()) return std::optional<hash_key>();
  wiped_bytes bytes;
  struct stat status{};
  std::string_view text;
  if (file.empty()) {
    text = std::getenv(variable);
  } else {
    auto read = beginning_of(file, status);
    if (!read) return fail(read.error());
    bytes = std::move(*read);
    text = {bytes.data(), bytes.size()};
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  auto key = hash_key::parse(text);
  if (!key) {
    return fail(errc::invalid_argument,
                fmt::format("{} does not hold a key; a key is {} hexadecimal digits, as 'bloomset "
                            "key new' makes them",
                            file.empty() ? source() : file, key_digits));
  }
  if (!file.empty()) warn_of_others(file, status);
  forbid_core_dumps();
  return key;
}

}  // namespace bloomset::cli
