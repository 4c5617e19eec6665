#include "membership.hpp"

#include <array>

#include "bool_list.hpp"
#include "filter_type.hpp"
#include "reply.hpp"

namespace bloomery::server {
namespace {

/// False after an error reply.
bool ask(const request& in, filter_family family, std::span<const std::string_view> items,
         std::span<bool> answers) {
  const filter_key key(in, family, open_read);
  if (key.object() == nullptr) return true;
  wire_error why = nullptr;
  const filter_value* const filter = key.filter(why);
  if (filter == nullptr) {
    reply_error(in.ctx, why);
    return false;
  }
  filter->contains(items, answers);
  return true;
}

}  // namespace

int reply_contained(const request& in, filter_family family) {
  const std::array items = {in.word(2)};
  std::array<bool, 1> answers = {};
  return ask(in, family, items, answers) ? reply_bool(in.ctx, answers[0]) : ok;
}

int reply_all_contained(const request& in, filter_family family) {
  const std::vector<std::string_view> items = in.words_from(2);
  const bool_list answers(items.size());
  return ask(in, family, items, answers.all()) ? reply_bools(in.ctx, answers.all()) : ok;
}

}  // namespace bloomery::server
