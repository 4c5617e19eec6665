#include "valkeybloom/valkey_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/hash.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "commands/filter_key.hpp"
#include "commands/handlers.hpp"
#include "commands/reply.hpp"
#include "server/settings.hpp"
#include "valkeybloom/valkey_arguments.hpp"
#include "valkeybloom/valkey_rdb.hpp"
#include "values/item_batches.hpp"

namespace bloomset::server {
namespace {

constexpr const char* add_event = "bloom.add";
constexpr const char* reserve_event = "bloom.reserve";

/// The words after the key of the BF.INSERT that makes the same filter on a replica with other
/// settings. They are made before the filter, since afterwards nothing may fail.
class creation_words {
 public:
  explicit creation_words(const valkey_spec& spec) {
    add("CAPACITY");
    add(std::to_string(spec.capacity));
    add("ERROR");
    add(fmt::format("{}", spec.error_rate));
    add("TIGHTENING");
    add(fmt::format("{}", spec.tightening));
    add("SEED");
    add({reinterpret_cast<const char*>(spec.seed.data()), spec.seed.size()});
    if (spec.expansion == 0) {
      add("NONSCALING");
    } else {
      add("EXPANSION");
      add(std::to_string(spec.expansion));
    }
  }
  creation_words(const creation_words&) = delete;
  creation_words& operator=(const creation_words&) = delete;
  ~creation_words() {
    for (string* const word : words_) api.free_string(nullptr, word);
  }

  /// Replicates the creation and the items that were inserted.
  void replicate(const command_call& call, std::span<string*> items) noexcept {
    if (items.empty()) {
      api.replicate(call.ctx, "BF.INSERT", "sv", call.key(), words_.data(), words_.size());
    } else {
      api.replicate(call.ctx, "BF.INSERT", "svcv", call.key(), words_.data(), words_.size(),
                    "ITEMS", items.data(), items.size());
    }
  }

 private:
  void add(std::string_view word) {
    words_.reserve(words_.size() + 1);
    words_.push_back(api.create_string(nullptr, word.data(), word.size()));
  }

  std::vector<string*> words_;
};

sip_seed draw_seed() {
  sip_seed seed;
  for (std::size_t i = 0; i < seed.size(); i += hash_key::size) {
    const auto drawn = new_hash_key();
    if (!drawn) throw refusal("ERR " + drawn.error().message);
    std::ranges::copy(drawn->bytes(), seed.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return seed;
}

/// Throws refusal for a filter beyond valkey-bloom's own limit.
void require_valkey_size(const command_call& call, std::uint64_t size) {
  const auto limit = static_cast<std::uint64_t>(current_settings().bloom_memory_usage_limit);
  if (call.is_limited() && size > limit) throw refusal(valkey_size_error);
}

/// A new filter within the limits. Throws refusal.
std::unique_ptr<filter_object> new_valkey_filter(const command_call& call, valkey_request request) {
  valkey_spec& spec = request.spec;
  const std::uint64_t growth =
      valkey_sub_filter_bytes + valkey_bit_bytes(spec.capacity, spec.error_rate);
  require_valkey_size(call, valkey_object_bytes + valkey_pointer_bytes + growth);
  require_room(call, filter_engine::valkey, growth);
  if (request.draws_seed) spec.seed = draw_seed();
  auto filter = valkey_chain::make(spec);
  if (!filter) throw refusal(no_memory);
  return std::make_unique<filter_object>(std::move(*filter));
}

const valkey_chain& chain_of(const filter_object& object) noexcept {
  return static_cast<const valkey_chain&>(*object.filter);
}

/// The filter of a key, or null for an empty key. Nothing for a filter of another engine. Throws
/// refusal.
std::optional<filter_value*> find_valkey_filter(const filter_key& key) {
  if (key.is_empty()) return nullptr;
  const filter_object* const object = key.object();
  if (object == nullptr) throw refusal(wrong_type);
  if (!object->filter || object->spec().engine != filter_engine::valkey) return std::nullopt;
  return object->filter.get();
}

/// Whether a call is valkey-bloom's although the setting is another: by an option, or because a
/// primary with that engine repeats an insert, whose options RedisBloom may not accept.
bool is_from_valkey(const command_call& call) {
  if (has_valkey_words(call)) return true;
  if (call.is_limited()) return false;
  const filter_key key(call, open_read);
  const filter_object* const object = key.object();
  return object != nullptr && object->spec().engine == filter_engine::valkey;
}

/// Inserts the items and replies: an array, or for BF.ADD a number.
std::optional<int> insert_and_reply_valkey(const command_call& call,
                                           const valkey_insert_arguments& arguments,
                                           bool is_single) {
  const std::size_t first = arguments.first_item;
  const std::vector<std::string_view> items = call.words_from(first);
  const bool_list newly_inserted(items.size());
  filter_key key(call, open_read | open_write);
  const auto found = find_valkey_filter(key);
  if (!found) return std::nullopt;
  std::unique_ptr<filter_object> created;
  std::optional<creation_words> words;
  if (*found == nullptr) {
    if (!arguments.create) throw refusal(not_found);
    created = new_valkey_filter(call, arguments.request);
    words.emplace(chain_of(*created).spec());
  }
  filter_value& filter = created ? *created->filter : **found;
  const std::uint64_t items_before = filter.facts().items;
  const growth_limit limit = growth_limit_for(call, filter, items.size());
  const insert_result result =
      filter.insert(items, newly_inserted.span(), insert_mode::if_absent, limit);
  const bool has_changed = filter.facts().items != items_before;
  const bool is_created = created != nullptr;
  // Replicas get the items that are in the filter now, without those that were refused here.
  const auto inserted = call.argv.subspan(first, result.done);
  if (is_created) {
    key.set(std::move(created));
    words->replicate(call, inserted);
  } else if (has_changed && result.done == items.size() && first == 2) {
    // BF.ADD and BF.MADD have no options, which a server with other settings may refuse.
    api.replicate_verbatim(call.ctx);
  } else if (has_changed) {
    api.replicate(call.ctx, "BF.MADD", "sv", call.key(), inserted.data(), inserted.size());
  }
  if (has_changed) key.announce(add_event, event_generic);
  if (is_created) key.announce(reserve_event, event_generic);
  const wire_error error = stop_error(call.family, result.stopped_by, limit);
  if (!is_single) return reply_valkey(call.ctx, newly_inserted.span().first(result.done), error);
  if (error != nullptr) return api.reply_error(call.ctx, error);
  return api.reply_integer(call.ctx, newly_inserted.span()[0]);
}

struct valkey_figure {
  std::string_view word;
  const char* label;
  std::optional<std::uint64_t> number;
  std::optional<double> real;
};

int reply_figure(context* ctx, const valkey_figure& figure) noexcept {
  if (figure.real) return api.reply_real(ctx, *figure.real);
  return figure.number ? reply_number(ctx, *figure.number) : api.reply_null(ctx);
}

}  // namespace

bool speaks_valkey(const command_call& call) noexcept {
  return call.is_bloom() && current_settings().engine == filter_engine::valkey;
}

std::optional<int> valkey_reserve(const command_call& call) {
  if (!speaks_valkey(call) || has_own_words(call)) return std::nullopt;
  const auto request = parse_valkey_reserve(call);
  if (!request) return api.wrong_arity(call.ctx);
  filter_key key(call, open_read | open_write);
  if (!key.is_empty()) throw refusal(key.object() != nullptr ? "ERR item exists" : wrong_type);
  auto created = new_valkey_filter(call, *request);
  creation_words words(chain_of(*created).spec());
  key.set(std::move(created));
  words.replicate(call, {});
  key.announce(reserve_event, event_generic);
  return api.reply_simple(call.ctx, "OK");
}

std::optional<int> valkey_add(const command_call& call) {
  if (!speaks_valkey(call)) return std::nullopt;
  return insert_and_reply_valkey(call, {.request = default_valkey_request(), .first_item = 2},
                                 true);
}

std::optional<int> valkey_madd(const command_call& call) {
  if (!speaks_valkey(call)) return std::nullopt;
  return insert_and_reply_valkey(call, {.request = default_valkey_request(), .first_item = 2},
                                 false);
}

std::optional<int> valkey_insert(const command_call& call) {
  if (speaks_valkey(call) ? has_own_words(call) : !is_from_valkey(call)) return std::nullopt;
  const auto arguments = parse_valkey_insert(call);
  if (!arguments) return api.wrong_arity(call.ctx);
  return insert_and_reply_valkey(call, *arguments, false);
}

int bf_load(const command_call& call) {
  filter_key key(call, open_read | open_write);
  if (!key.is_empty()) {
    throw refusal(key.object() != nullptr ? "BUSYKEY Target key name already exists." : wrong_type);
  }
  auto filter = read_load_data(call.word(2));
  require_valkey_size(call, filter->facts().bytes);
  require_within_limits(call, *filter);
  key.set(std::make_unique<filter_object>(std::move(filter)));
  api.replicate_verbatim(call.ctx);
  key.announce(reserve_event, event_generic);
  return api.reply_simple(call.ctx, "OK");
}

int reply_valkey(context* ctx, std::span<const bool> values, wire_error error) noexcept {
  api.reply_array(ctx, static_cast<long>(values.size() + (error != nullptr ? 1 : 0)));
  for (const bool value : values) api.reply_integer(ctx, value ? 1 : 0);
  if (error != nullptr) api.reply_error(ctx, error);
  return ok;
}

int reply_valkey_info(const command_call& call, const filter_value& filter) {
  const filter_facts facts = filter.facts();
  const valkey_spec& spec = static_cast<const valkey_chain&>(filter).spec();
  std::vector<valkey_figure> figures = {{"CAPACITY", "Capacity", facts.capacity, {}},
                                        {"SIZE", "Size", facts.bytes, {}},
                                        {"FILTERS", "Number of filters", facts.filters, {}},
                                        {"ITEMS", "Number of items inserted", facts.items, {}},
                                        {"ERROR", "Error rate", {}, spec.error_rate},
                                        {"EXPANSION", "Expansion rate", {}, {}}};
  if (spec.expansion != 0) {
    figures.back().number = spec.expansion;
    figures.push_back({"TIGHTENING", "Tightening ratio", {}, spec.tightening});
    const bool shows_maximum =
        call.argv.size() == 2 || equal_words(call.word(2), "MAXSCALEDCAPACITY");
    if (shows_maximum) {
      const auto reached = simulate_growth(spec, std::numeric_limits<std::uint64_t>::max());
      if (reached.stopped_by == stop_reason::capacity_overflow) throw refusal("ERR bad capacity");
      figures.push_back({"MAXSCALEDCAPACITY", "Max scaled capacity", reached.capacity, {}});
    }
  }
  if (call.argv.size() > 2) {
    for (const valkey_figure& figure : figures) {
      if (equal_words(call.word(2), figure.word)) return reply_figure(call.ctx, figure);
    }
    throw refusal("ERR invalid information value");
  }
  api.reply_array(call.ctx, 2 * static_cast<long>(figures.size()));
  for (const valkey_figure& figure : figures) {
    api.reply_simple(call.ctx, figure.label);
    reply_figure(call.ctx, figure);
  }
  return ok;
}

}  // namespace bloomset::server
