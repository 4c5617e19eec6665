// BF.EXISTS, BF.MEXISTS, BF.CARD, BF.INFO.

#include <array>
#include <memory>

#include "bf_commands.hpp"
#include "bf_type.hpp"
#include "reply.hpp"

namespace bloomery::server {
namespace {

/// The answers for a key; a key that is missing or of another type holds nothing. False after an
/// error reply.
bool ask(const request& in, std::span<const std::string_view> items, std::span<bool> answers) {
  const bf_key key(in, open_read);
  if (key.object() == nullptr) return true;
  wire_error why = nullptr;
  const bf_value* const filter = key.filter(why);
  if (filter == nullptr) {
    reply_error(in.ctx, why);
    return false;
  }
  filter->contains(items, answers);
  return true;
}

}  // namespace

int bf_exists(const request& in) {
  const std::array items = {in.word(2)};
  std::array<bool, 1> answers = {};
  return ask(in, items, answers) ? reply_bool(in.ctx, answers[0]) : ok;
}

int bf_mexists(const request& in) {
  const std::vector<std::string_view> items = in.words_from(2);
  const auto found = std::make_unique<bool[]>(items.size());
  const std::span<bool> answers(found.get(), items.size());
  return ask(in, items, answers) ? reply_bools(in.ctx, answers) : ok;
}

int bf_card(const request& in) {
  const bf_key key(in, open_read);
  if (key.is_empty()) return reply_number(in.ctx, 0);
  wire_error why = nullptr;
  const bf_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  return reply_number(in.ctx, filter->facts().items);
}

int bf_info(const request& in) {
  const bf_key key(in, open_read);
  wire_error why = nullptr;
  const bf_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  const bf_facts facts = filter->facts();
  std::optional<std::uint64_t> expansion;
  if (facts.expansion != 0) expansion = facts.expansion;
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
