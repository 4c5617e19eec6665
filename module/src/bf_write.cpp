// BF.RESERVE, BF.ADD, BF.MADD, BF.INSERT, BF.DEL.

#include <algorithm>
#include <array>

#include "bf_commands.hpp"
#include "bool_list.hpp"
#include "creation.hpp"
#include "fit.hpp"
#include "reply.hpp"

namespace bloomery::server {
namespace {

wire_error text_of(stop why, const growth_limit& limit) noexcept {
  switch (why) {
    case stop::none:
      return nullptr;
    case stop::full:
      return "ERR non scaling filter is full";
    case stop::limit:
      return limit.is_of_all
                 ? "ERR problem inserting into filter: all have reached bf.max-memory"
                 : "ERR problem inserting into filter: it has reached bf.max-filter-size";
    case stop::maxmemory:
      return "ERR problem inserting into filter: the server's maxmemory leaves it no room to grow";
    case stop::memory:
      break;
  }
  return "ERR problem inserting into filter";
}

bool refuse(const request& in, wire_error why) noexcept {
  reply_error(in.ctx, why);
  return false;
}

/// The items from `first` on into the filter of the key. Replies only errors that concern the
/// whole: then it is false. `why` is that of an item which was not added.
bool add_items(const request& in, const insert_options& options, std::size_t first,
               std::span<const std::string_view> items, std::span<bool> fresh, added_items& added,
               wire_error& why) {
  const auto now = static_cast<std::uint64_t>(api.milliseconds());
  if (options.at > now && in.is_limited()) return refuse(in, "ERR AT is a time to come");
  filter_key key(in, filter_family::bloom, open_read | open_write);
  constexpr wire_error no_window = "ERR AT takes a filter with a WINDOW";
  if (options.at != 0 && key.is_empty() && options.spec.window == 0) return refuse(in, no_window);
  const auto [filter, made] = open_to_add(in, key, options.spec, options.create);
  if (filter == nullptr) return false;
  const filter_facts before = filter->facts();
  const bool forgets = before.spec.window != 0;
  if (options.at != 0 && !forgets) return refuse(in, no_window);
  // A clock that was set back does not make old what comes now.
  const std::uint64_t clock = std::max(now, filter->latest());
  // What is older than the window by now is refused, also by a filter that has nothing newer yet.
  if (options.at != 0 && in.is_limited() && filter->advance(clock)) {
    api.replicate(in.ctx, "BF.INSERT", "scl", in.key(), "AT", static_cast<long long>(clock));
  }
  const std::uint64_t at = options.at != 0 ? options.at : clock;
  const bool has_forgotten = forgets && filter->advance(at);
  const adding how = before.spec.deletable ? adding::counted : adding::absent;
  const growth_limit limit = limit_for(in, *filter, items.size());
  added = filter->add(items, fresh, how, limit);
  why = text_of(added.stopped_by, limit);
  const auto said = in.argv.data() + first;
  bool has_changed = true;
  if (forgets) {
    // Replicas put them where this server's clock does.
    const auto when = static_cast<long long>(at);
    if (added.done != 0) {
      api.replicate(in.ctx, "BF.INSERT", "sclcv", in.key(), "AT", when, "ITEMS", said, added.done);
    } else if (has_forgotten) {
      api.replicate(in.ctx, "BF.INSERT", "scl", in.key(), "AT", when);
    } else {
      has_changed = false;
    }
  } else if (filter->facts().items == before.items) {
    has_changed = false;
  } else if (added.stopped_by == stop::none && !made) {
    // What was refused here is not offered to replicas.
    api.replicate_verbatim(in.ctx);
  } else {
    api.replicate(in.ctx, "BF.MADD", "sv", in.key(), said, added.done);
  }
  if (made) announce(in, key, "bf.reserve");
  if (has_changed) announce(in, key, "bf.add");
  return true;
}

int add_many(const request& in, const insert_options& options, std::size_t first) {
  const std::vector<std::string_view> items = in.words_from(first);
  const bool_list list(items.size());
  const std::span<bool> answers = list.all();
  added_items added;
  wire_error why = nullptr;
  if (!add_items(in, options, first, items, answers, added, why)) return ok;
  return reply_bools(in.ctx, answers.first(added.done), why);
}

}  // namespace

int bf_reserve(const request& in) {
  filter_spec spec;
  memory_request memory;
  if (const auto why = parse_bf_reserve(in, spec, memory)) return reply_error(in.ctx, why);
  // Clients that do not know the last options know fewer words.
  constexpr std::size_t max_words = 7;
  const bool has_more =
      spec.deletable || spec.window != 0 || memory.bytes != 0 || in.find("ENGINE", 4).has_value();
  if (in.argv.size() > max_words && !has_more) return api.wrong_arity(in.ctx);
  if (const auto why = fit_into(memory, spec)) return reply_error(in.ctx, why);
  return reserve(in, spec, "bf.reserve");
}

int bf_add(const request& in) {
  const std::array items = {in.word(2)};
  std::array<bool, 1> fresh = {};
  added_items added;
  wire_error why = nullptr;
  if (!add_items(in, {.spec = default_bf_spec()}, 2, items, fresh, added, why)) return ok;
  if (why != nullptr) return reply_error(in.ctx, why);
  return reply_bool(in.ctx, fresh[0]);
}

int bf_madd(const request& in) {
  return add_many(in, {.spec = default_bf_spec()}, 2);
}

int bf_del(const request& in) {
  filter_key key(in, filter_family::bloom, open_read | open_write);
  wire_error why = nullptr;
  filter_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  if (!filter->facts().spec.deletable) return reply_error(in.ctx, not_deletable);
  if (!filter->erase(in.word(2))) return reply_bool(in.ctx, false);
  api.replicate_verbatim(in.ctx);
  announce(in, key, "bf.del");
  return reply_bool(in.ctx, true);
}

int bf_insert(const request& in) {
  insert_options options;
  if (const auto why = parse_bf_insert(in, options)) return reply_error(in.ctx, why);
  if (options.items == 0) {
    if (options.at == 0) return api.wrong_arity(in.ctx);
    options.items = in.argv.size();  // AT without items: only forgets what is too old then
  }
  return add_many(in, options, options.items);
}

}  // namespace bloomery::server
