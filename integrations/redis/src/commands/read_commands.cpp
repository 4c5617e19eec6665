// The commands that read a filter, except SCANDUMP.

#include <array>

#include "commands/filter_key.hpp"
#include "commands/handlers.hpp"
#include "commands/reply.hpp"
#include "valkeybloom/valkey_commands.hpp"
#include "values/item_batches.hpp"

namespace bloomset::server {
namespace {

/// Fills `answers`, which are false, for the items of a filter. Other keys hold no items, and are
/// an error in valkey-bloom's commands.
void find_items(const command_call& call, item_span items, std::span<bool> answers) {
  const filter_key key(call, open_read);
  if (key.object() != nullptr) {
    key.filter().contains(items, answers);
  } else if (speaks_valkey(call) && !key.is_empty()) {
    throw refusal(wrong_type);
  }
}

}  // namespace

int exists(const command_call& call) {
  const std::array items = {call.word(2)};
  std::array<bool, 1> answers = {};
  find_items(call, items, answers);
  if (speaks_valkey(call)) return api.reply_integer(call.ctx, answers[0]);
  return api.reply_bool(call.ctx, answers[0]);
}

int mexists(const command_call& call) {
  const std::vector<std::string_view> items = call.words_from(2);
  const bool_list answers(items.size());
  find_items(call, items, answers.span());
  if (speaks_valkey(call)) return reply_valkey(call.ctx, answers.span());
  return reply_bools(call.ctx, answers.span());
}

int bf_card(const command_call& call) {
  const filter_key key(call, open_read);
  return reply_number(call.ctx, key.is_empty() ? 0 : key.filter().facts().items);
}

int bf_count(const command_call& call) {
  const filter_key key(call, open_read);
  if (key.is_empty()) return reply_number(call.ctx, 0);
  const filter_value& filter = key.filter();
  if (!filter.facts().spec.deletable) throw refusal(not_deletable);
  return reply_number(call.ctx, filter.count(call.word(2)));
}

int cf_count(const command_call& call) {
  const filter_key key(call, open_read);
  if (key.object() == nullptr) return reply_number(call.ctx, 0);
  return reply_number(call.ctx, key.filter().count(call.word(2)));
}

int bf_info(const command_call& call) {
  const filter_key key(call, open_read);
  const filter_value& filter = key.filter();
  const filter_facts facts = filter.facts();
  if (speaks_valkey(call) && facts.spec.engine == filter_engine::valkey) {
    return reply_valkey_info(call, filter);
  }
  std::optional<std::uint64_t> expansion;
  if (facts.spec.expansion != 0) expansion = facts.spec.expansion;
  const std::array fields = {info_field{"CAPACITY", "Capacity", facts.capacity},
                             info_field{"SIZE", "Size", facts.bytes},
                             info_field{"FILTERS", "Number of filters", facts.filters},
                             info_field{"ITEMS", "Number of items inserted", facts.items},
                             info_field{"EXPANSION", "Expansion rate", expansion}};
  if (call.argv.size() == 2) return reply_fields(call.ctx, fields);
  for (const info_field& field : fields) {
    if (equal_words(call.word(2), field.word)) return reply_field(call.ctx, field);
  }
  throw refusal("Invalid information value");
}

int cf_info(const command_call& call) {
  const filter_key key(call, open_read);
  const filter_facts facts = key.filter().facts();
  const filter_spec& spec = facts.spec;
  const std::uint64_t buckets = facts.buckets != 0
                                    ? facts.buckets
                                    : (facts.capacity + spec.bucket_size - 1) / spec.bucket_size;
  const std::array fields = {info_field{"", "Size", facts.bytes},
                             info_field{"", "Number of buckets", buckets},
                             info_field{"", "Number of filters", facts.filters},
                             info_field{"", "Number of items inserted", facts.items},
                             info_field{"", "Number of items deleted", facts.deleted},
                             info_field{"", "Bucket size", spec.bucket_size},
                             info_field{"", "Expansion rate", spec.expansion},
                             info_field{"", "Max iterations", spec.max_iterations}};
  return reply_fields(call.ctx, fields);
}

int stats(const command_call& call) {
  const filter_key key(call, open_read);
  const filter_value& filter = key.filter();
  const filter_facts facts = filter.facts();
  const filter_state state = filter.state();
  const auto items = static_cast<double>(facts.items);
  struct row {
    const char* label;
    double value;
  };
  std::vector rows = {
      row{"Error rate requested", facts.spec.error_rate}, row{"Error rate now", state.error_rate},
      row{"Number of items estimated", state.items},
      row{"Bits per item", items != 0 ? 8 * static_cast<double>(facts.bytes) / items : 0}};
  if (facts.spec.window != 0) {
    rows.push_back({"Window in seconds", static_cast<double>(facts.spec.window)});
    rows.push_back({"Generations", static_cast<double>(facts.spec.generations)});
  }
  const bool is_native = facts.spec.engine == filter_engine::native;
  api.reply_map(call.ctx, static_cast<long>(rows.size()) + is_native);
  for (const row& figure : rows) {
    api.reply_simple(call.ctx, figure.label);
    api.reply_real(call.ctx, figure.value);
  }
  if (is_native) {
    api.reply_simple(call.ctx, "Hash");
    api.reply_simple(call.ctx, facts.spec.seed.is_keyed() ? "siphash" : "xxh3");
  }
  return ok;
}

int debug(const command_call& call) {
  const filter_key key(call, open_read);
  const std::vector<std::string> lines = key.filter().debug_lines();
  if (lines.empty()) {
    throw refusal(call.is_bloom() ? "ERR not a compatible filter; see BF.STATS"
                                  : "ERR not a compatible filter; see CF.STATS");
  }
  if (call.is_bloom()) api.reply_array(call.ctx, static_cast<long>(lines.size()));
  for (const std::string& line : lines) api.reply_bytes(call.ctx, line.data(), line.size());
  return ok;
}

}  // namespace bloomset::server
