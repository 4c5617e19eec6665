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

int reply_state(const request& in, filter_family family) {
  const filter_key key(in, family, open_read);
  wire_error why = nullptr;
  const filter_value* const filter = key.filter(why);
  if (filter == nullptr) return reply_error(in.ctx, why);
  const filter_facts facts = filter->facts();
  const filter_state state = filter->state();
  const double bits = 8 * static_cast<double>(facts.bytes);
  struct row {
    const char* label;
    double value;
  };
  std::vector rows = {
      row{"Error rate requested", facts.spec.error_rate}, row{"Error rate now", state.error_rate},
      row{"Number of items estimated", state.items},
      row{"Bits per item", facts.items != 0 ? bits / static_cast<double>(facts.items) : 0}};
  if (facts.spec.window != 0) {
    rows.push_back({"Window in seconds", static_cast<double>(facts.spec.window)});
    rows.push_back({"Generations", static_cast<double>(facts.spec.generations)});
  }
  api.reply_map(in.ctx, static_cast<long>(rows.size()));
  for (const row& each : rows) {
    api.reply_simple(in.ctx, each.label);
    api.reply_real(in.ctx, each.value);
  }
  return ok;
}

}  // namespace bloomery::server
