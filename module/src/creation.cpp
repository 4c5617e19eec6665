#include "creation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "engines.hpp"
#include "memory.hpp"
#include "reply.hpp"
#include "settings.hpp"

namespace bloomery::server {
namespace {

std::string sentence_of(const failure& why) {
  return why.code == errc::out_of_memory ? no_memory : "ERR " + why.message;
}

constexpr wire_error too_large =
    "ERR could not create filter: it would be larger than bf.max-filter-size";

/// What bf.max-memory leaves.
std::uint64_t room_for_all() noexcept {
  const auto most = static_cast<std::uint64_t>(current_settings().max_memory);
  // Half of what there is, so that sums of it do not overflow.
  if (most == 0) return std::numeric_limits<std::uint64_t>::max() / 2;
  const std::uint64_t used = bytes_of_filters();
  return most > used ? most - used : 0;
}

// With every parameter, so that a replica with other settings has the same bits. What stands here
// of a compatible filter is taken by RedisBloom, too: seven words in BF.RESERVE, an odd number in
// CF.RESERVE, and a word that it does not know.
void replicate_creation(const request& in, const filter_spec& spec) noexcept {
  std::array<char, 32> rate = {};  // longer than any number of 17 digits
  fmt::format_to_n(rate.data(), rate.size() - 1, "{:.17g}", spec.error_rate);
  const auto capacity = static_cast<long long>(spec.capacity);
  const auto expansion = static_cast<long long>(spec.expansion);
  const bool compatible = spec.engine == filter_engine::compatible;
  const char* const engine = compatible ? "COMPATIBLE" : "NATIVE";
  if (spec.family == filter_family::cuckoo && compatible) {
    api.replicate(in.ctx, "CF.RESERVE", "slclclclcc", in.key(), capacity, "BUCKETSIZE",
                  static_cast<long long>(spec.bucket_size), "MAXITERATIONS",
                  static_cast<long long>(spec.max_iterations), "EXPANSION", expansion, "ENGINE",
                  engine);
  } else if (spec.family == filter_family::cuckoo) {
    api.replicate(in.ctx, "CF.RESERVE", "slclclclcc", in.key(), capacity, "BUCKETSIZE",
                  static_cast<long long>(spec.bucket_size), "MAXITERATIONS",
                  static_cast<long long>(spec.max_iterations), "EXPANSION", expansion, "ERROR",
                  rate.data());
  } else if (spec.window != 0) {
    api.replicate(in.ctx, "BF.RESERVE", "sclclclcl", in.key(), rate.data(), capacity, "EXPANSION",
                  expansion, "WINDOW", static_cast<long long>(spec.window), "GENERATIONS",
                  static_cast<long long>(spec.generations));
  } else if (spec.deletable) {
    api.replicate(in.ctx, "BF.RESERVE", "sclclc", in.key(), rate.data(), capacity, "EXPANSION",
                  expansion, "DELETABLE");
  } else if (spec.expansion == 0 && spec.growth != 0) {
    api.replicate(in.ctx, "BF.RESERVE", "sclccl", in.key(), rate.data(), capacity, engine,
                  "NONSCALING", static_cast<long long>(spec.growth));
  } else {
    api.replicate(in.ctx, "BF.RESERVE", "sclclc", in.key(), rate.data(), capacity, "EXPANSION",
                  expansion, engine);
  }
}

}  // namespace

std::unique_ptr<filter_object> make_or_reply(const request& in, const filter_spec& spec) {
  if (in.is_limited()) {
    const auto planned = planned_bytes(spec);
    if (!planned) {
      reply_error(in.ctx, sentence_of(planned.error()).c_str());
      return nullptr;
    }
    if (const auto why = refusal(in, spec.engine, *planned)) {
      reply_error(in.ctx, why);
      return nullptr;
    }
  }
  auto made = make_filter(spec);
  if (!made) {
    reply_error(in.ctx, sentence_of(made.error()).c_str());
    return nullptr;
  }
  // What was planned leaves out some hundreds of bytes.
  if (const auto why = refusal(in, **made)) {
    reply_error(in.ctx, why);
    return nullptr;
  }
  return std::make_unique<filter_object>(std::move(*made));
}

int reserve(const request& in, const filter_spec& spec, const char* event) {
  filter_key key(in, spec.family, open_read | open_write);
  if (!key.is_empty()) {
    return reply_error(in.ctx, key.object() != nullptr ? "ERR item exists" : wrong_type);
  }
  auto object = make_or_reply(in, spec);
  if (object == nullptr) return ok;
  key.set(std::move(object));
  replicate_creation(in, spec);
  announce(in, key, event);
  return reply_ok(in.ctx);
}

opened open_to_add(const request& in, filter_key& key, const filter_spec& spec, bool create) {
  if (key.is_empty() && create) {
    auto object = make_or_reply(in, spec);
    if (object == nullptr) return {nullptr, false};
    filter_value* const filter = object->filter.get();
    key.set(std::move(object));
    replicate_creation(in, spec);
    return {filter, true};
  }
  wire_error why = nullptr;
  filter_value* const filter = key.filter(why);
  if (filter == nullptr) reply_error(in.ctx, why);
  return {filter, false};
}

growth_limit limit_for(const request& in, const filter_value& filter, std::size_t items) noexcept {
  if (!in.is_limited()) return {};
  const std::uint64_t bytes = filter.bytes();
  const filter_spec spec = filter.facts().spec;
  const std::uint64_t of_one = max_filter_bytes(spec.engine);
  const std::uint64_t of_all = bytes + room_for_all();
  // What comes behind a front begins with a fourth of its size, a table of counted copies doubles,
  // and a window's next generation, if one is due, is as large as the others.
  constexpr std::uint64_t bytes_of_item = 64;
  const std::uint64_t max_added = bytes + items * bytes_of_item + (std::uint64_t{1} << 20);
  // A compatible filter grows by as much as it has, or more.
  const bool near = bytes + max_added > std::min(of_one, of_all) || spec.window != 0 ||
                    spec.engine == filter_engine::compatible;
  growth_limit limit;
  limit.asked = in.ctx;
  if (near) {
    limit.max_bytes = std::min(of_one, of_all);
    limit.is_of_all = of_all < of_one;
  }
  return limit;
}

wire_error refusal(const request& in, filter_engine engine, std::uint64_t bytes) noexcept {
  if (!in.is_limited()) return nullptr;
  if (bytes > max_filter_bytes(engine)) return too_large;
  if (!filters_have_room(bytes)) return too_much_for_all;
  return server_has_room(in.ctx, bytes) ? nullptr : no_memory;
}

wire_error refusal(const request& in, const filter_value& made) noexcept {
  if (!in.is_limited()) return nullptr;
  if (made.bytes() > max_filter_bytes(made.facts().spec.engine)) return too_large;
  const auto max_of_all = static_cast<std::uint64_t>(current_settings().max_memory);
  return max_of_all == 0 || bytes_of_filters() <= max_of_all ? nullptr : too_much_for_all;
}

void announce(const request& in, filter_key& key, const char* event) noexcept {
  key.close();
  api.signal_modified(in.ctx, in.key());
  api.notify(in.ctx, event_of_module, event, in.key());
}

}  // namespace bloomery::server
