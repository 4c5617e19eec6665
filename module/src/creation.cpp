#include "creation.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "engines.hpp"
#include "reply.hpp"

namespace bloomery::server {
namespace {

[[noreturn]] void refuse(const failure& failure) {
  if (failure.code == errc::out_of_memory) throw refusal(no_memory);
  throw refusal("ERR " + failure.message);
}

std::unique_ptr<filter_object> create_filter(const command_call& call, const filter_spec& spec) {
  if (call.is_limited()) {
    const auto planned = planned_bytes(spec);
    if (!planned) refuse(planned.error());
    require_room(call, spec.engine, *planned);
  }
  auto filter = make_filter(spec);
  if (!filter) refuse(filter.error());
  // The planned bytes do not include some hundred bytes of objects.
  require_within_limits(call, **filter);
  return std::make_unique<filter_object>(std::move(*filter));
}

// Spells out every parameter, so that a replica with other settings has the same bits. For
// compatible filters RedisBloom accepts the commands too: BF.RESERVE has at most seven words,
// CF.RESERVE an odd number, and both ignore the word that names the engine.
void replicate_creation(const command_call& call, const filter_spec& spec) {
  std::array<char, 32> rate = {};  // more than 17 digits need
  fmt::format_to_n(rate.data(), rate.size() - 1, "{:.17g}", spec.error_rate);
  const auto capacity = static_cast<long long>(spec.capacity);
  const auto expansion = static_cast<long long>(spec.expansion);
  const bool compatible = spec.engine == filter_engine::compatible;
  const char* const engine = compatible ? "COMPATIBLE" : "NATIVE";
  if (spec.family == filter_family::cuckoo) {
    api.replicate(call.ctx, "CF.RESERVE", "slclclclcc", call.key(), capacity, "BUCKETSIZE",
                  static_cast<long long>(spec.bucket_size), "MAXITERATIONS",
                  static_cast<long long>(spec.max_iterations), "EXPANSION", expansion,
                  compatible ? "ENGINE" : "ERROR", compatible ? engine : rate.data());
  } else if (spec.window != 0) {
    api.replicate(call.ctx, "BF.RESERVE", "sclclclcl", call.key(), rate.data(), capacity,
                  "EXPANSION", expansion, "WINDOW", static_cast<long long>(spec.window),
                  "GENERATIONS", static_cast<long long>(spec.generations));
  } else if (!spec.deletable && spec.expansion == 0 && spec.growth != 0) {
    api.replicate(call.ctx, "BF.RESERVE", "sclccl", call.key(), rate.data(), capacity, engine,
                  "NONSCALING", static_cast<long long>(spec.growth));
  } else {
    api.replicate(call.ctx, "BF.RESERVE", "sclclc", call.key(), rate.data(), capacity, "EXPANSION",
                  expansion, spec.deletable ? "DELETABLE" : engine);
  }
}

}  // namespace

int reserve(const command_call& call, const filter_spec& spec) {
  filter_key key(call, open_read | open_write);
  if (!key.is_empty()) {
    throw refusal(key.object() != nullptr ? "ERR item exists" : wrong_type);
  }
  key.set(create_filter(call, spec));
  replicate_creation(call, spec);
  key.announce(call.is_bloom() ? "bf.reserve" : "cf.reserve");
  return api.reply_simple(call.ctx, "OK");
}

opened_filter open_or_create(const command_call& call, filter_key& key, const filter_spec& spec,
                             bool create) {
  if (!key.is_empty() || !create) return {key.filter(), false};
  auto object = create_filter(call, spec);
  filter_value& filter = *object->filter;
  key.set(std::move(object));
  replicate_creation(call, spec);
  return {filter, true};
}

}  // namespace bloomery::server
