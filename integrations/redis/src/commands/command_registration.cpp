#include "commands/command_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "server/settings.hpp"

namespace bloomset::server {
namespace {

key_docs key_range(std::uint64_t flags, int first, int last) {
  key_docs keys = {};
  keys.flags = flags;
  keys.begin_search = 2;
  keys.begin.index.position = first;
  keys.find_keys = 2;
  keys.range = {.last = last, .step = 1, .limit = 0};
  return keys;
}

/// While the engine of the settings is valkey-bloom's, its commands have the properties that they
/// have there: those that insert are fast, and each checks its arity itself.
struct command_properties {
  std::string flags;
  int arity;
};
command_properties properties_of(const command_row& row, const command_family& family) {
  constexpr std::array<std::string_view, 4> inserting = {"ADD", "MADD", "INSERT", "RESERVE"};
  constexpr std::array<std::string_view, 5> other = {"EXISTS", "MEXISTS", "CARD", "INFO", "LOAD"};
  const auto is_among = [&](const auto& names) {
    return std::ranges::find(names, row.name) != names.end();
  };
  const bool is_valkey = std::string_view(family.category) == "bloom" &&
                         current_settings().engine == filter_engine::valkey;
  if (is_valkey && is_among(inserting)) return {fmt::format("{} fast", row.flags), -1};
  return {row.flags, is_valkey && is_among(other) ? -1 : row.entry.arity};
}

bool create_command(context* ctx, const command_row& row, const command_family& family) {
  const std::string name = std::string(family.prefix) + row.name;
  const auto [flags, arity] = properties_of(row, family);
  const int last_key = row.has_sources ? -1 : 1;
  if (api.create_command(ctx, name.c_str(), row.entry.run, flags.c_str(), 1, last_key, 1) != ok)
    return false;
  command* const created = api.get_command(ctx, name.c_str());
  if (created == nullptr) return false;
  // Zeros end both lists.
  std::array<key_docs, 3> keys = {key_range(row.key_use, 1, 0)};
  if (row.has_sources) keys[1] = key_range(key_read_only | key_access, 2, -1);
  std::vector<argument_docs> arguments(row.arguments.begin(), row.arguments.end());
  arguments.push_back({});
  static constexpr docs_version version = {1, sizeof(history_docs), sizeof(key_docs),
                                           sizeof(argument_docs)};
  const command_docs docs = {.version = &version,
                             .summary = row.summary,
                             .complexity = row.complexity,
                             .since = "0.1.0",
                             .arity = arity,
                             .keys = keys.data(),
                             .arguments = arguments.data()};
  if (api.set_command_info(created, &docs) != ok) return false;
  if (api.set_command_acl_categories == nullptr) return true;
  // Flags do not put a module's command into the server's own categories.
  const std::string categories =
      fmt::format("{} {} {}", family.category, flags.starts_with("write") ? "write" : "read",
                  flags.ends_with("fast") ? "fast" : "slow");
  return api.set_command_acl_categories(created, categories.c_str()) == ok;
}

}  // namespace

bool create_commands(context* ctx) {
  for (const command_family& family : command_families()) {
    if (api.add_acl_category != nullptr && api.add_acl_category(ctx, family.category) != ok) {
      return false;
    }
    for (const auto rows : {family.common, family.own}) {
      for (const command_row& row : rows) {
        if (!create_command(ctx, row, family)) return false;
      }
    }
  }
  return true;
}

}  // namespace bloomset::server
