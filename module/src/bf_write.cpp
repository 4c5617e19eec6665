// BF.RESERVE, BF.ADD, BF.MADD, BF.INSERT, BF.DEL.

#include <array>

#include "bf_commands.hpp"
#include "bool_list.hpp"
#include "creation.hpp"
#include "reply.hpp"

namespace bloomery::server {
namespace {

wire_error text_of(stop why) noexcept {
  switch (why) {
    case stop::none:
      return nullptr;
    case stop::full:
      return "ERR non scaling filter is full";
    case stop::limit:
      return "ERR problem inserting into filter: it has reached bf.max-filter-size";
    case stop::memory:
      break;
  }
  return "ERR problem inserting into filter";
}

/// The items from `first` on into the filter of the key. Replies only errors that concern the
/// whole: then it is false.
bool add_items(const request& in, const insert_options& options, std::size_t first,
               std::span<const std::string_view> items, std::span<bool> fresh, added_items& added) {
  filter_key key(in, filter_family::bloom, open_read | open_write);
  const auto [filter, made] = open_to_add(in, key, options.spec, options.create, "bf.reserve");
  if (filter == nullptr) return false;
  const std::uint64_t before = filter->facts().items;
  const adding how = filter->facts().spec.deletable ? adding::counted : adding::absent;
  added = filter->add(items, fresh, how, most_bytes_for(in, *filter, items.size()));
  if (filter->facts().items == before) return true;
  // What was refused here is not offered to replicas.
  if (added.stopped_by == stop::none && !made) {
    api.replicate_verbatim(in.ctx);
  } else {
    api.replicate(in.ctx, "BF.MADD", "sv", in.key(), in.argv.data() + first, added.done);
  }
  announce(in, "bf.add");
  return true;
}

int add_many(const request& in, const insert_options& options, std::size_t first) {
  const std::vector<std::string_view> items = in.words_from(first);
  const bool_list list(items.size());
  const std::span<bool> answers = list.all();
  added_items added;
  if (!add_items(in, options, first, items, answers, added)) return ok;
  return reply_bools(in.ctx, answers.first(added.done), text_of(added.stopped_by));
}

}  // namespace

int bf_reserve(const request& in) {
  filter_spec spec;
  if (const auto why = parse_bf_reserve(in, spec)) return reply_error(in.ctx, why);
  // Clients that do not know the last option know fewer words.
  constexpr std::size_t most_words = 7;
  if (in.argv.size() > most_words && !spec.deletable) return api.wrong_arity(in.ctx);
  return reserve(in, spec, "bf.reserve");
}

int bf_add(const request& in) {
  const std::array items = {in.word(2)};
  std::array<bool, 1> fresh = {};
  added_items added;
  if (!add_items(in, {.spec = default_bf_spec()}, 2, items, fresh, added)) return ok;
  if (const auto why = text_of(added.stopped_by)) return reply_error(in.ctx, why);
  return reply_bool(in.ctx, fresh[0]);
}

int bf_madd(const request& in) {
  return add_many(in, {.spec = default_bf_spec()}, 2);
}

int bf_del(const request& in) {
  const filter_key key(in, filter_family::bloom, open_read | open_write);
  wire_error why = nullptr;
  filter_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  if (!filter->facts().spec.deletable) return reply_error(in.ctx, not_deletable);
  if (!filter->erase(in.word(2))) return reply_bool(in.ctx, false);
  api.replicate_verbatim(in.ctx);
  announce(in, "bf.del");
  return reply_bool(in.ctx, true);
}

int bf_insert(const request& in) {
  insert_options options;
  if (const auto why = parse_bf_insert(in, options)) return reply_error(in.ctx, why);
  if (options.items == 0) return api.wrong_arity(in.ctx);
  return add_many(in, options, options.items);
}

}  // namespace bloomery::server
