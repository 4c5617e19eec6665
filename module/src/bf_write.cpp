// BF.RESERVE, BF.ADD, BF.MADD, BF.INSERT.

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "bf_commands.hpp"
#include "bf_type.hpp"
#include "memory.hpp"
#include "native_value.hpp"
#include "reply.hpp"
#include "settings.hpp"

namespace bloomery::server {
namespace {

constexpr wire_error no_memory = "ERR Insufficient memory to create filter";

std::string sentence_of(const failure& why) {
  return why.code == errc::out_of_memory ? no_memory : "ERR " + why.message;
}

/// A new filter, or null after the error reply.
std::unique_ptr<bf_object> make_or_reply(const request& in, const bf_spec& spec) {
  if (in.is_limited()) {
    const auto planned = planned_native_bytes(spec);
    if (!planned) {
      reply_error(in.ctx, sentence_of(planned.error()).c_str());
      return nullptr;
    }
    const auto most = static_cast<std::uint64_t>(current_settings().max_filter_size);
    if (*planned > most || !server_has_room(in.ctx, *planned)) {
      reply_error(in.ctx, no_memory);
      return nullptr;
    }
  }
  auto made = make_native(spec);
  if (!made) {
    reply_error(in.ctx, sentence_of(made.error()).c_str());
    return nullptr;
  }
  return std::make_unique<bf_object>(std::move(*made));
}

/// Tells replicas and the append-only file of a new filter with all that this server's settings
/// decided, so that theirs is the same bit for bit.
void replicate_creation(const request& in, const bf_spec& spec) {
  const std::string rate = fmt::format("{:.17g}", spec.error_rate);
  const auto capacity = static_cast<long long>(spec.capacity);
  if (spec.expansion == 0) {
    api.replicate(in.ctx, "BF.RESERVE", "sclc", in.key(), rate.c_str(), capacity, "NONSCALING");
  } else {
    api.replicate(in.ctx, "BF.RESERVE", "sclcl", in.key(), rate.c_str(), capacity, "EXPANSION",
                  static_cast<long long>(spec.expansion));
  }
}

void announce(const request& in, const char* event) noexcept {
  api.signal_modified(in.ctx, in.key());
  api.notify(in.ctx, event_of_module, event, in.key());
}

/// The most bytes that a filter may grow to by these items. Replicas take what the primary took.
std::uint64_t most_bytes_for(const request& in, const bf_value& filter,
                             std::size_t items) noexcept {
  const auto most = static_cast<std::uint64_t>(current_settings().max_filter_size);
  constexpr std::uint64_t bytes_of_item = 64;
  const bool near = filter.bytes() + items * bytes_of_item + (std::uint64_t{1} << 20) > most;
  return near && in.is_limited() ? most : std::numeric_limits<std::uint64_t>::max();
}

/// The items from `first` on into the filter of the key, which is made of `spec` if there is none
/// and `create` allows it. Replies only errors that concern the whole: then it is false.
bool add_items(const request& in, const bf_spec& spec, bool create, std::size_t first,
               std::span<const std::string_view> items, std::span<bool> fresh, bf_added& added) {
  bf_key key(in, open_read | open_write);
  bf_value* filter = nullptr;
  const bool made = key.is_empty() && create;
  if (made) {
    auto object = make_or_reply(in, spec);
    if (object == nullptr) return false;
    filter = object->filter.get();
    key.set(std::move(object));
    replicate_creation(in, spec);
    announce(in, "bf.reserve");
  } else {
    wire_error why = nullptr;
    filter = key.filter(why);
    if (filter == nullptr) {
      reply_error(in.ctx, why);
      return false;
    }
  }
  const std::uint64_t before = filter->facts().items;
  added = filter->add(items, fresh, most_bytes_for(in, *filter, items.size()));
  if (filter->facts().items == before) return true;
  // What was refused here is not offered to replicas.
  if (added.error == nullptr && !made) {
    api.replicate_verbatim(in.ctx);
  } else {
    api.replicate(in.ctx, "BF.MADD", "sv", in.key(), in.argv.data() + first, added.done);
  }
  announce(in, "bf.add");
  return true;
}

int reply_added(const request& in, const bf_added& added, std::span<const bool> fresh) noexcept {
  return reply_bools(in.ctx, fresh.first(added.done), added.error);
}

int add_many(const request& in, const bf_spec& spec, bool create, std::size_t first) {
  const std::vector<std::string_view> items = in.words_from(first);
  const auto fresh = std::make_unique<bool[]>(items.size());
  const std::span<bool> answers(fresh.get(), items.size());
  bf_added added = {};
  if (!add_items(in, spec, create, first, items, answers, added)) return ok;
  return reply_added(in, added, answers);
}

}  // namespace

int bf_reserve(const request& in) {
  bf_spec spec = {};
  if (const auto why = parse_reserve(in, spec)) return reply_error(in.ctx, why);
  bf_key key(in, open_read | open_write);
  if (!key.is_empty()) {
    return reply_error(in.ctx, key.object() != nullptr ? "ERR item exists" : wrong_type);
  }
  auto object = make_or_reply(in, spec);
  if (object == nullptr) return ok;
  key.set(std::move(object));
  replicate_creation(in, spec);
  announce(in, "bf.reserve");
  return reply_ok(in.ctx);
}

int bf_add(const request& in) {
  const std::array items = {in.word(2)};
  std::array<bool, 1> fresh = {};
  bf_added added = {};
  if (!add_items(in, default_spec(), true, 2, items, fresh, added)) return ok;
  if (added.error != nullptr) return reply_error(in.ctx, added.error);
  return reply_bool(in.ctx, fresh[0]);
}

int bf_madd(const request& in) {
  return add_many(in, default_spec(), true, 2);
}

int bf_insert(const request& in) {
  bf_insert_options options = {};
  if (const auto why = parse_insert(in, options)) return reply_error(in.ctx, why);
  if (options.items == 0) return api.wrong_arity(in.ctx);
  return add_many(in, options.spec, options.create, options.items);
}

}  // namespace bloomery::server
