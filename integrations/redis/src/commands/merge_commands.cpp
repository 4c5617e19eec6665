// BF.MERGE and CF.MERGE. The union is a new filter that replaces the key's, so an error changes
// nothing.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "commands/filter_key.hpp"
#include "commands/handlers.hpp"
#include "commands/reply.hpp"

namespace bloomset::server {
namespace {

struct source {
  const filter_value* filter;
  std::size_t argument;
};

[[noreturn]] void refuse(const source& source, std::string_view reason) {
  throw refusal(
      fmt::format("ERR key {} of this command cannot be merged: {}", source.argument, reason));
}

/// The filters of all keys of the command, each once, in order. Missing keys are empty filters.
/// Throws refusal if all are missing.
std::vector<source> find_sources(const command_call& call) {
  std::vector<std::size_t> arguments(call.argv.size() - 1);
  std::iota(arguments.begin(), arguments.end(), std::size_t{1});
  std::vector<source> sources;
  // Subscribers to the event of a missing or expired key may delete other keys. The keys are
  // therefore looked up again until none is missing: no filter that was found can then be gone.
  for (bool is_complete = false; !is_complete;) {
    sources.clear();
    std::vector<std::size_t> found;
    for (const std::size_t argument : arguments) {
      const filter_key key(call, open_read, argument);
      if (key.is_empty()) continue;
      found.push_back(argument);
      const filter_value* const filter = &key.filter();
      if (std::ranges::none_of(sources, [&](const source& s) { return s.filter == filter; })) {
        sources.push_back({filter, argument});
      }
    }
    is_complete = found.size() == arguments.size();
    arguments = std::move(found);
  }
  if (sources.empty()) throw refusal(not_found);
  return sources;
}

}  // namespace

int merge(const command_call& call) {
  const std::vector<source> sources = find_sources(call);
  const source& first = sources.front();
  const filter_spec spec = first.filter->facts().spec;
  if (spec.engine == filter_engine::valkey) {
    refuse(first, "it is a filter of engine valkey, and valkey-bloom has no BF.MERGE");
  }
  for (const source& source : sources) {
    const std::string obstacle = merge_obstacle(source.filter->facts().spec, spec);
    if (!obstacle.empty()) refuse(source, obstacle);
  }
  const std::span others = std::span(sources).subspan(1);
  if (first.argument == 1 && others.empty()) return api.reply_simple(call.ctx, "OK");
  std::uint64_t bytes = first.filter->bytes();
  for (const source& source : others) {
    if (source.filter->grows_in_steps()) bytes += source.filter->bytes();
  }
  require_room(call, spec.engine, bytes);
  auto merged = first.filter->copy();
  if (merged == nullptr) throw refusal(no_memory);
  for (const source& source : others) {
    if (const auto reason = merged->merge(*source.filter)) refuse(source, *reason);
  }
  // The union's table of counted copies may be larger than all sources together.
  require_within_limits(call, *merged);
  filter_key key(call, open_read | open_write);
  if (key.is_empty()) {
    key.set(std::make_unique<filter_object>(std::move(merged)));
  } else {
    key.object()->filter.swap(merged);
    free_later(std::move(merged));
  }
  api.replicate_verbatim(call.ctx);
  key.announce(call.is_bloom() ? "bf.merge" : "cf.merge");
  return api.reply_simple(call.ctx, "OK");
}

}  // namespace bloomset::server
