#include "memory/memory_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/plan/units.hpp>
#include <fstream>
#include <limits>
#include <string_view>

#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {

namespace fs = std::filesystem;

// The program needs some megabytes itself, and more with each thread that reads.
constexpr std::uint64_t min_limit = std::uint64_t{16} << 20;
constexpr std::uint64_t min_default = std::uint64_t{64} << 20;

/// The number after `name` in a file of "NAME NUMBER" lines, or in a file of one number if `name`
/// is empty. Empty if there is none, as for the limit "max".
std::optional<std::uint64_t> number_in(const fs::path& file, std::string_view name) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  if (name.empty()) return in >> number ? std::optional(number) : std::nullopt;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name)) continue;
    const char* const digits = line.c_str() + name.size();
    number = std::strtoull(digits, nullptr, 10);
    return number;
  }
  return std::nullopt;
}

/// The files of a memory controller.
struct controller {
  std::string_view folder;  // where it is mounted
  std::string_view limit, usage, reclaimable;
};
constexpr controller version_2 = {"sys/fs/cgroup", "memory.max", "memory.current",
                                  "inactive_file "};
constexpr controller version_1 = {"sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                  "memory.usage_in_bytes", "total_inactive_file "};

/// The memory that a group and the groups above it leave. In a container the path may be the
/// host's; then only the container's own files, at the mount, are found.
std::uint64_t left_in(const fs::path& root, const controller& by, fs::path group) {
  std::uint64_t left = std::numeric_limits<std::uint64_t>::max();
  for (group = group.relative_path();; group = group.parent_path()) {
    const fs::path folder = root / by.folder / group;
    const auto limit = number_in(folder / by.limit, "");
    const auto used = number_in(folder / by.usage, "");
    if (limit && used) {
      // Pages of files that were not read for a while are given back at once.
      const auto cache = number_in(folder / "memory.stat", by.reclaimable).value_or(0);
      const std::uint64_t needed = *used - std::min(*used, cache);
      left = std::min(left, *limit - std::min(*limit, needed));
    }
    if (group.empty()) return left;
  }
}

}  // namespace

std::optional<std::uint64_t> free_memory(const fs::path& root) {
  constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t left = unknown;
  if (const auto kib = number_in(root / "proc/meminfo", "MemAvailable:")) left = *kib * 1024;
  // Lines such as "0::/user.slice" and "4:memory:/docker/1234".
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const fs::path group = line.substr(second + 1);
    if (names == ",,") left = std::min(left, left_in(root, version_2, group));
    if (names.find(",memory,") != std::string::npos) {
      left = std::min(left, left_in(root, version_1, group));
    }
  }
  return left == unknown ? std::nullopt : std::optional(left);
}

void memory_limit_option::declare(CLI::App& app) {
  option(app, "--memory-limit", text,
         "memory for filters, hashes and lines (default: half of the free memory); those that "
         "do not fit go to temporary files in $TMPDIR where possible; a line longer than SIZE is "
         "an error")
      .value("SIZE")
      .under(headings::limits);
}

result<memory_limit> memory_limit_option::read() const {
  if (text.empty()) {
    const auto left = free_memory();
    return memory_limit{
        left ? std::max(*left / 2, min_default) : std::numeric_limits<std::uint64_t>::max(), false};
  }
  const auto size = named("--memory-limit", parse_bytes(text));
  if (!size) return fail(size.error());
  if (*size < min_limit) {
    return fail(errc::invalid_argument,
                fmt::format("--memory-limit: {} is too little to work with; give at least {}", text,
                            format_bytes(min_limit)));
  }
  return memory_limit{*size, true};
}

}  // namespace bloomset::cli
