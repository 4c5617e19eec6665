// CF.RESERVE, CF.ADD, CF.ADDNX, CF.INSERT, CF.INSERTNX, CF.DEL, CF.COMPACT.

#include <algorithm>
#include <array>

#include "bool_list.hpp"
#include "cf_commands.hpp"
#include "creation.hpp"
#include "reply.hpp"
#include "settings.hpp"

namespace bloomery::server {
namespace {

wire_error text_of(stop why, const growth_limit& limit) noexcept {
  switch (why) {
    case stop::none:
      return nullptr;
    case stop::full:
      return "Filter is full";
    case stop::limit:
      return limit.is_of_all
                 ? "Maximum expansions reached: all filters have reached bf.max-memory"
                 : "Maximum expansions reached: the filter has reached bf.max-filter-size";
    case stop::maxmemory:
      return "ERR Insufficient memory: the server's maxmemory leaves the filter no room to grow";
    case stop::memory:
      break;
  }
  return no_memory;
}

// What became of an item.
enum class outcome : std::int8_t { refused = -1, present = 0, added = 1 };

/// Whether it is one that takes nothing more at its number of sub-filters: each question asks all.
bool is_at_most_expansions(const request& in, const filter_value& filter) noexcept {
  const filter_facts facts = filter.facts();
  const auto most = static_cast<std::uint64_t>(current_settings().cf_max_expansions);
  return facts.spec.engine == filter_engine::compatible && facts.filters >= most && in.is_limited();
}

/// Adds every item that finds room; false after an error reply that concerns the whole. `why` is
/// that of the last refusal.
bool add_items(const request& in, const insert_options& options, adding how, std::size_t first,
               std::span<outcome> outcomes, wire_error& why) {
  const std::vector<std::string_view> items = in.words_from(first);
  const bool_list fresh(items.size());
  // What replicas are told. Nothing is allocated once the filter has changed.
  std::vector<string*> changed;
  changed.reserve(items.size());
  filter_key key(in, filter_family::cuckoo, open_read | open_write);
  const auto [filter, made] = open_to_add(in, key, options.spec, options.create);
  if (filter == nullptr) return false;
  if (is_at_most_expansions(in, *filter)) {
    if (made) announce(in, key, "cf.reserve");
    reply_error(in.ctx, "Maximum expansions reached");
    return false;
  }
  const growth_limit limit = limit_for(in, *filter, items.size());
  // Behind an item that was refused few at a time: each try looks at all that it is given.
  std::size_t most = items.size();
  for (std::size_t at = 0; at < items.size();) {
    const std::size_t n = std::min(most, items.size() - at);
    const std::span<bool> answers = fresh.all().subspan(at, n);
    const added_items part = filter->add(std::span(items).subspan(at, n), answers, how, limit);
    for (std::size_t i = 0; i < part.done; ++i) {
      outcomes[at + i] = answers[i] ? outcome::added : outcome::present;
      if (answers[i]) changed.push_back(in.argv[first + at + i]);
    }
    at += part.done;
    most = part.stopped_by == stop::none ? std::min(2 * n, items.size()) : 1;
    if (part.stopped_by == stop::none) continue;
    why = text_of(part.stopped_by, limit);
    outcomes[at++] = outcome::refused;
  }
  if (!changed.empty()) {
    api.replicate(in.ctx, "CF.INSERT", "scv", in.key(), "ITEMS", changed.data(), changed.size());
  }
  if (made) announce(in, key, "cf.reserve");
  if (!changed.empty()) announce(in, key, "cf.add");
  return true;
}

int add_one(const request& in, adding how) {
  std::array outcomes = {outcome::refused};
  wire_error why = nullptr;
  if (!add_items(in, {.spec = default_cf_spec()}, how, 2, outcomes, why)) return ok;
  if (why != nullptr) return reply_error(in.ctx, why);
  return reply_bool(in.ctx, outcomes[0] == outcome::added);
}

int insert(const request& in, adding how) {
  insert_options options;
  if (const auto why = parse_cf_insert(in, options)) return reply_error(in.ctx, why);
  if (options.items == 0) return api.wrong_arity(in.ctx);
  std::vector<outcome> outcomes(in.argv.size() - options.items, outcome::refused);
  wire_error why = nullptr;
  if (!add_items(in, options, how, options.items, outcomes, why)) return ok;
  // Clients know numbers; but in RESP3 CF.INSERT answers with booleans.
  const bool as_bools = how == adding::copies && (api.context_flags(in.ctx) & is_resp3) != 0;
  api.reply_array(in.ctx, static_cast<long>(outcomes.size()));
  for (const outcome each : outcomes) {
    if (as_bools) {
      reply_bool(in.ctx, each == outcome::added);
    } else {
      api.reply_integer(in.ctx, static_cast<long long>(each));
    }
  }
  return ok;
}

}  // namespace

int cf_reserve(const request& in) {
  if (in.argv.size() % 2 == 0) return api.wrong_arity(in.ctx);
  filter_spec spec;
  if (const auto why = parse_cf_reserve(in, spec)) return reply_error(in.ctx, why);
  return reserve(in, spec, "cf.reserve");
}

int cf_add(const request& in) {
  return add_one(in, adding::copies);
}
int cf_addnx(const request& in) {
  return add_one(in, adding::absent);
}
int cf_insert(const request& in) {
  return insert(in, adding::copies);
}
int cf_insertnx(const request& in) {
  return insert(in, adding::absent);
}

int cf_del(const request& in) {
  filter_key key(in, filter_family::cuckoo, open_read | open_write);
  if (key.object() == nullptr) return reply_error(in.ctx, "Not found");
  wire_error why = nullptr;
  filter_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  if (!filter->erase(in.word(2))) return reply_bool(in.ctx, false);
  api.replicate_verbatim(in.ctx);
  announce(in, key, "cf.del");
  return reply_bool(in.ctx, true);
}

// Of native filters nothing is left to compact: a delete gives room back at once.
int cf_compact(const request& in) {
  filter_key key(in, filter_family::cuckoo, open_read | open_write);
  wire_error why = nullptr;
  if (key.object() == nullptr) {
    return reply_error(in.ctx, key.is_empty() ? "Cuckoo filter was not found" : wrong_type);
  }
  filter_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  if (filter->compact()) {
    api.replicate_verbatim(in.ctx);
    announce(in, key, "cf.compact");
  }
  return reply_ok(in.ctx);
}

}  // namespace bloomery::server
