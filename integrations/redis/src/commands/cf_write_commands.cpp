// CF.RESERVE, CF.ADD, CF.ADDNX, CF.INSERT, CF.INSERTNX, CF.COMPACT.

#include <algorithm>
#include <array>

#include "commands/arguments.hpp"
#include "commands/creation.hpp"
#include "commands/handlers.hpp"
#include "commands/reply.hpp"
#include "server/settings.hpp"
#include "values/item_batches.hpp"

namespace bloomset::server {
namespace {

enum class item_outcome : std::int8_t { refused = -1, present = 0, inserted = 1 };

/// Whether bf.cf-max-expansions stops a filter: a query asks all sub-filters.
bool has_max_sub_filters(const command_call& call, const filter_value& filter) noexcept {
  const filter_facts facts = filter.facts();
  const auto max = static_cast<std::uint64_t>(current_settings().cf_max_expansions);
  return facts.spec.engine == filter_engine::compatible && facts.filters >= max &&
         call.is_limited();
}

/// Inserts every item that fits; the items are the arguments from `first` on. Returns the error of
/// the last item that did not fit, or null.
wire_error insert_items(const command_call& call, const insert_arguments& arguments,
                        insert_mode mode, std::size_t first, std::span<item_outcome> outcomes) {
  // All memory for the reply and for replicas is allocated before the filter changes.
  const std::vector<std::string_view> items = call.words_from(first);
  const bool_list newly_inserted(items.size());
  std::vector<string*> inserted;
  inserted.reserve(items.size());
  filter_key key(call, open_read | open_write);
  const auto [filter, created] = open_or_create(call, key, arguments.spec, arguments.create);
  if (has_max_sub_filters(call, filter)) {
    if (created) key.announce("cf.reserve");
    throw refusal("Maximum expansions reached");
  }
  const growth_limit limit = growth_limit_for(call, filter, items.size());
  wire_error error = nullptr;
  // After a refused item the batches start small again: each attempt prepares all of its items.
  std::size_t max_batch = items.size();
  for (std::size_t i = 0; i < items.size();) {
    const std::size_t n = std::min(max_batch, items.size() - i);
    const std::span<bool> answers = newly_inserted.span().subspan(i, n);
    const insert_result result =
        filter.insert(item_span(items).subspan(i, n), answers, mode, limit);
    for (std::size_t k = 0; k < result.done; ++k) {
      outcomes[i + k] = answers[k] ? item_outcome::inserted : item_outcome::present;
      if (answers[k]) inserted.push_back(call.argv[first + i + k]);
    }
    i += result.done;
    const bool is_refused = result.stopped_by != stop_reason::none;
    max_batch = is_refused ? 1 : std::min(2 * n, items.size());
    if (!is_refused) continue;
    error = stop_error(call.family, result.stopped_by, limit);
    outcomes[i++] = item_outcome::refused;
  }
  if (!inserted.empty()) {
    api.replicate(call.ctx, "CF.INSERT", "scv", call.key(), "ITEMS", inserted.data(),
                  inserted.size());
  }
  if (created) key.announce("cf.reserve");
  if (!inserted.empty()) key.announce("cf.add");
  return error;
}

int insert_one(const command_call& call, insert_mode mode) {
  std::array outcomes = {item_outcome::refused};
  const wire_error error = insert_items(call, {.spec = default_cf_spec()}, mode, 2, outcomes);
  if (error != nullptr) return api.reply_error(call.ctx, error);
  return api.reply_bool(call.ctx, outcomes[0] == item_outcome::inserted);
}

int insert_many(const command_call& call, insert_mode mode) {
  const insert_arguments arguments = parse_cf_insert(call);
  if (arguments.first_item == 0) return api.wrong_arity(call.ctx);
  std::vector<item_outcome> outcomes(call.argv.size() - arguments.first_item);
  insert_items(call, arguments, mode, arguments.first_item, outcomes);
  // As RedisBloom: numbers, except for CF.INSERT in RESP3.
  const bool as_bools =
      mode == insert_mode::copies && (api.context_flags(call.ctx) & is_resp3) != 0;
  api.reply_array(call.ctx, static_cast<long>(outcomes.size()));
  for (const item_outcome outcome : outcomes) {
    if (as_bools) {
      api.reply_bool(call.ctx, outcome == item_outcome::inserted);
    } else {
      api.reply_integer(call.ctx, static_cast<long long>(outcome));
    }
  }
  return ok;
}

}  // namespace

int cf_reserve(const command_call& call) {
  if (call.argv.size() % 2 == 0) return api.wrong_arity(call.ctx);
  return reserve(call, parse_cf_reserve(call));
}

int cf_add(const command_call& call) {
  return insert_one(call, insert_mode::copies);
}
int cf_addnx(const command_call& call) {
  return insert_one(call, insert_mode::if_absent);
}
int cf_insert(const command_call& call) {
  return insert_many(call, insert_mode::copies);
}
int cf_insertnx(const command_call& call) {
  return insert_many(call, insert_mode::if_absent);
}

// Native filters have nothing to compact: a delete frees its space at once.
int cf_compact(const command_call& call) {
  filter_key key(call, open_read | open_write);
  if (key.is_empty()) throw refusal("Cuckoo filter was not found");
  if (key.filter().compact()) {
    api.replicate_verbatim(call.ctx);
    key.announce("cf.compact");
  }
  return api.reply_simple(call.ctx, "OK");
}

}  // namespace bloomset::server
