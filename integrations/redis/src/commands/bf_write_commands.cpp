// BF.RESERVE, BF.ADD, BF.MADD, BF.INSERT.

#include <algorithm>
#include <array>

#include "commands/arguments.hpp"
#include "commands/creation.hpp"
#include "commands/handlers.hpp"
#include "commands/reply.hpp"
#include "valkeybloom/valkey_commands.hpp"
#include "values/item_batches.hpp"

namespace bloomset::server {
namespace {

struct insert_outcome {
  std::size_t done;
  wire_error error;  ///< of the item after them
};

/// Inserts items, which are the arguments from `first` on, and replicates them.
insert_outcome insert_items(const command_call& call, const insert_arguments& arguments,
                            std::size_t first, item_span items, std::span<bool> newly_inserted) {
  const auto now = static_cast<std::uint64_t>(api.milliseconds());
  const bool has_time = arguments.time != 0;
  constexpr std::size_t first_of_adds = 2;  // BF.ADD and BF.MADD have nothing before their items
  constexpr wire_error no_window = "ERR AT needs a filter with a WINDOW";
  if (arguments.time > now && call.is_limited()) throw refusal("ERR AT is in the future");
  filter_key key(call, open_read | open_write);
  if (has_time && key.is_empty() && arguments.create && arguments.spec.window == 0) {
    throw refusal(no_window);
  }
  const auto [filter, created] = open_or_create(call, key, arguments.spec, arguments.create);
  const filter_facts before = filter.facts();
  const bool is_windowed = before.spec.window != 0;
  if (has_time && !is_windowed) throw refusal(no_window);
  // If the clock was set back, items are inserted at the latest time that the filter knows.
  const std::uint64_t clock = std::max(now, filter.latest_time());
  // Items that are too old by now are refused even by a filter without newer ones.
  const bool has_advanced = has_time && call.is_limited() && filter.advance(clock);
  if (has_advanced) {
    api.replicate(call.ctx, "BF.INSERT", "scl", call.key(), "AT", static_cast<long long>(clock));
  }
  const std::uint64_t time = has_time ? arguments.time : clock;
  const bool has_forgotten = is_windowed && filter.advance(time);
  const growth_limit limit = growth_limit_for(call, filter, items.size());
  const insert_result result =
      filter.insert(items, newly_inserted,
                    before.spec.deletable ? insert_mode::counted : insert_mode::if_absent, limit);
  string** const strings = call.argv.data() + first;
  bool has_changed = true;
  if (is_windowed) {
    // Replicas use the time of this server's clock.
    const auto replicated_time = static_cast<long long>(time);
    if (result.done != 0 && result.changed) {
      api.replicate(call.ctx, "BF.INSERT", "sclcv", call.key(), "AT", replicated_time, "ITEMS",
                    strings, result.done);
    } else if (has_forgotten) {
      api.replicate(call.ctx, "BF.INSERT", "scl", call.key(), "AT", replicated_time);
    } else {
      has_changed = has_advanced;
    }
  } else if (before.spec.deletable
                 ? result.done == 0
                 : std::ranges::count(newly_inserted.first(result.done), true) == 0) {
    has_changed = false;
  } else if (result.stopped_by == stop_reason::none && !created && first == first_of_adds) {
    api.replicate_verbatim(call.ctx);
  } else {
    // Without the items that were refused here, and without options, which a server with other
    // settings may refuse.
    api.replicate(call.ctx, "BF.MADD", "sv", call.key(), strings, result.done);
  }
  if (created) key.announce("bf.reserve");
  if (has_changed) key.announce("bf.add");
  return {result.done, stop_error(call.family, result.stopped_by, limit)};
}

int insert_and_reply(const command_call& call, const insert_arguments& arguments,
                     std::size_t first) {
  const std::vector<std::string_view> items = call.words_from(first);
  const bool_list newly_inserted(items.size());
  const auto [done, error] = insert_items(call, arguments, first, items, newly_inserted.span());
  return reply_bools(call.ctx, newly_inserted.span().first(done), error);
}

}  // namespace

int bf_reserve(const command_call& call) {
  if (const auto status = valkey_reserve(call)) return *status;
  auto [spec, budget] = parse_bf_reserve(call);
  // RedisBloom's limit on the number of words.
  constexpr std::size_t max_words = 7;
  const bool has_native_options = spec.deletable || spec.window != 0 || budget.bytes != 0;
  if (call.argv.size() > max_words && !has_native_options && !call.find("ENGINE", 4) &&
      !call.find("HASH", 4)) {
    return api.wrong_arity(call.ctx);
  }
  fit_budget(budget, spec);
  return reserve(call, spec);
}

int bf_add(const command_call& call) {
  if (const auto status = valkey_add(call)) return *status;
  const std::array items = {call.word(2)};
  std::array<bool, 1> newly_inserted = {};
  const insert_outcome outcome =
      insert_items(call, {.spec = default_bf_spec()}, 2, items, newly_inserted);
  if (outcome.error != nullptr) return api.reply_error(call.ctx, outcome.error);
  return api.reply_bool(call.ctx, newly_inserted[0]);
}

int bf_madd(const command_call& call) {
  if (const auto status = valkey_madd(call)) return *status;
  return insert_and_reply(call, {.spec = default_bf_spec()}, 2);
}

int bf_insert(const command_call& call) {
  if (const auto status = valkey_insert(call)) return *status;
  constexpr std::size_t min_words = 4;
  if (call.argv.size() < min_words) return api.wrong_arity(call.ctx);
  const insert_arguments arguments = parse_bf_insert(call);
  if (arguments.first_item != 0) return insert_and_reply(call, arguments, arguments.first_item);
  // AT without items forgets what is older than the window at that time.
  if (arguments.time != 0) return insert_and_reply(call, arguments, call.argv.size());
  return api.wrong_arity(call.ctx);
}

}  // namespace bloomset::server
