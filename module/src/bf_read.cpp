// BF.EXISTS, BF.MEXISTS, BF.CARD, BF.COUNT, BF.INFO, BF.STATS, BF.DEBUG.

#include <array>

#include "bf_commands.hpp"
#include "filter_type.hpp"
#include "membership.hpp"
#include "reply.hpp"

namespace bloomery::server {
int bf_exists(const request& in) {
  return reply_contained(in, filter_family::bloom);
}

int bf_mexists(const request& in) {
  return reply_all_contained(in, filter_family::bloom);
}

int bf_card(const request& in) {
  const filter_key key(in, filter_family::bloom, open_read);
  if (key.is_empty()) return reply_number(in.ctx, 0);
  wire_error why = nullptr;
  const filter_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  return reply_number(in.ctx, filter->facts().items);
}

int bf_count(const request& in) {
  const filter_key key(in, filter_family::bloom, open_read);
  if (key.is_empty()) return reply_number(in.ctx, 0);
  wire_error why = nullptr;
  const filter_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  if (!filter->facts().spec.deletable) return reply_error(in.ctx, not_deletable);
  return reply_number(in.ctx, filter->count(in.word(2)));
}

int bf_stats(const request& in) {
  return reply_state(in, filter_family::bloom);
}

int bf_debug(const request& in) {
  const filter_key key(in, filter_family::bloom, open_read);
  wire_error why = nullptr;
  const filter_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  const std::vector<std::string> lines = filter->debug_lines();
  if (lines.empty()) return reply_error(in.ctx, "ERR not a compatible filter; see BF.STATS");
  api.reply_array(in.ctx, static_cast<long>(lines.size()));
  for (const std::string& each : lines) api.reply_bytes(in.ctx, each.data(), each.size());
  return ok;
}

int bf_info(const request& in) {
  const filter_key key(in, filter_family::bloom, open_read);
  wire_error why = nullptr;
  const filter_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  const filter_facts facts = filter->facts();
  std::optional<std::uint64_t> expansion;
  if (facts.spec.expansion != 0) expansion = facts.spec.expansion;
  const std::array fields = {field{"CAPACITY", "Capacity", facts.capacity},
                             field{"SIZE", "Size", facts.bytes},
                             field{"FILTERS", "Number of filters", facts.filters},
                             field{"ITEMS", "Number of items inserted", facts.items},
                             field{"EXPANSION", "Expansion rate", expansion}};
  if (in.argv.size() == 2) return reply_fields(in.ctx, fields);
  for (const field& each : fields) {
    if (equal_words(in.word(2), each.word)) return reply_field(in.ctx, each);
  }
  return reply_error(in.ctx, "Invalid information value");
}

}  // namespace bloomery::server
