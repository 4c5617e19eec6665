// BF.MERGE and CF.MERGE: a key becomes the union of itself and others. The union is made beside it,
// so that an error has changed nothing.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "bf_commands.hpp"
#include "cf_commands.hpp"
#include "creation.hpp"
#include "reply.hpp"

namespace bloomery::server {
namespace {

/// What two filters were reserved with that is never merged; empty: whether their rates and
/// capacities can be is theirs to say.
std::string difference(const filter_spec& its, const filter_spec& wanted) {
  const auto yes_or_no = [](bool value) { return value ? "set" : "unset"; };
  if (its.deletable != wanted.deletable) {
    return reserved_otherwise("DELETABLE", yes_or_no(its.deletable), yes_or_no(wanted.deletable));
  }
  if (its.window != wanted.window) return "it has a WINDOW, and filters that forget are not";
  if (its.engine != wanted.engine) {
    return reserved_otherwise("engine",
                              its.engine == filter_engine::native ? "native" : "compatible",
                              wanted.engine == filter_engine::native ? "native" : "compatible");
  }
  const bool grows = its.expansion != 0;
  if (grows != (wanted.expansion != 0)) {
    return reserved_otherwise("NONSCALING", yes_or_no(!grows), yes_or_no(grows));
  }
  return {};
}

int reply_refusal(const request& in, std::size_t argument, std::string_view why) {
  const std::string text =
      fmt::format("ERR key {} of this command cannot be merged: {}", argument, why);
  return reply_error(in.ctx, text.c_str());
}

struct source {
  const filter_value* filter;
  std::size_t argument;
};

/// The filters of all keys, the first if it is there in front, each once. Null, or an error.
wire_error find_sources(const request& in, filter_family family, std::vector<source>& out) {
  std::vector<std::size_t> there(in.argv.size() - 1);
  std::iota(there.begin(), there.end(), std::size_t{1});
  // A subscriber who hears that a key is missing or has expired may delete others. So all are
  // looked up again until none is missing, and no filter that was found can be gone.
  for (std::size_t wanted = 0; wanted != there.size();) {
    wanted = there.size();
    out.clear();
    std::vector<std::size_t> found;
    for (const std::size_t i : there) {
      const filter_key key(in, i, family, open_read);
      if (key.is_empty()) continue;  // as an empty filter
      found.push_back(i);
      wire_error why = nullptr;
      const filter_value* const filter = key.filter(why);
      if (filter == nullptr) return why;
      if (std::ranges::none_of(out, [&](const source& s) { return s.filter == filter; })) {
        out.push_back({filter, i});
      }
    }
    there = std::move(found);
  }
  return out.empty() ? not_found : nullptr;
}

int merge(const request& in, filter_family family, const char* event) {
  std::vector<source> sources;
  if (const auto why = find_sources(in, family, sources)) return reply_error(in.ctx, why);
  const source& first = sources.front();
  const filter_spec spec = first.filter->facts().spec;
  if (spec.window != 0) {
    return reply_refusal(in, first.argument, "it has a WINDOW, and filters that forget are not");
  }
  for (const source& each : sources) {
    const std::string why = difference(each.filter->facts().spec, spec);
    if (!why.empty()) return reply_refusal(in, each.argument, why);
  }
  if (first.argument == 1 && sources.size() == 1) return reply_ok(in.ctx);
  std::uint64_t bytes = first.filter->bytes();
  for (std::size_t i = 1; i < sources.size(); ++i) {
    if (sources[i].filter->grows_in_steps()) bytes += sources[i].filter->bytes();
  }
  if (const auto why = refusal(in, spec.engine, bytes)) return reply_error(in.ctx, why);
  auto merged = first.filter->copy();
  if (merged == nullptr) return reply_error(in.ctx, no_memory);
  for (std::size_t i = 1; i < sources.size(); ++i) {
    if (const auto why = merged->merge(*sources[i].filter)) {
      return reply_refusal(in, sources[i].argument, *why);
    }
  }
  // Copies may have taken more than all sources had.
  if (const auto why = refusal(in, *merged)) return reply_error(in.ctx, why);
  filter_key key(in, family, open_read | open_write);
  if (key.is_empty()) {
    key.set(std::make_unique<filter_object>(std::move(merged)));
  } else {
    key.object()->filter.swap(merged);
    free_later(std::move(merged));
  }
  api.replicate_verbatim(in.ctx);
  announce(in, key, event);
  return reply_ok(in.ctx);
}

}  // namespace

int bf_merge(const request& in) {
  return merge(in, filter_family::bloom, "bf.merge");
}
int cf_merge(const request& in) {
  return merge(in, filter_family::cuckoo, "cf.merge");
}

}  // namespace bloomery::server
