#include "command_table.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::server {
namespace {

constexpr docs_version version_of_docs = {1, sizeof(history_docs), sizeof(key_docs),
                                          sizeof(argument_docs)};

bool document(context* ctx, const command_row& row) {
  command* const made = api.get_command(ctx, row.name);
  if (made == nullptr) return false;
  const auto range = [](std::uint64_t flags, int first, int last) {
    key_docs keys = {};
    keys.flags = flags;
    keys.begin_search = 2;
    keys.begin.index.position = first;
    keys.find_keys = 2;
    keys.range = {.last = last, .step = 1, .limit = 0};
    return keys;
  };
  std::array<key_docs, 3> keys = {range(row.key_use, 1, 0)};  // one of zeros ends the list
  if (row.has_sources) keys[1] = range(key_read_only | key_access, 2, -1);
  std::vector<argument_docs> arguments(row.arguments.begin(), row.arguments.end());
  arguments.push_back({});
  const command_docs docs = {.version = &version_of_docs,
                             .summary = row.summary,
                             .complexity = row.complexity,
                             .since = "0.1.0",
                             .history = nullptr,
                             .tips = nullptr,
                             .arity = row.arity,
                             .keys = keys.data(),
                             .arguments = arguments.data()};
  if (api.set_command_info(made, &docs) != ok) return false;
  if (api.set_command_acl_categories == nullptr) return true;
  // Flags alone do not put a module's command into the server's own categories.
  const std::string_view flags = row.flags;
  const auto has = [&](std::string_view flag) { return flags.find(flag) != flags.npos; };
  const std::string categories = fmt::format(
      "{} {} {}", row.category, has("write") ? "write" : "read", has("fast") ? "fast" : "slow");
  return api.set_command_acl_categories(made, categories.c_str()) == ok;
}

}  // namespace

bool create_commands(context* ctx, std::span<const command_row> rows) noexcept {
  try {
    for (const command_row& row : rows) {
      if (api.create_command(ctx, row.name, row.run, row.flags, 1, row.has_sources ? -1 : 1, 1) !=
          ok) {
        return false;
      }
      if (!document(ctx, row)) return false;
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace bloomery::server
