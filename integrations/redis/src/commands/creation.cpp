#include "commands/creation.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "commands/reply.hpp"
#include "values/engines.hpp"
#include "values/native_value.hpp"

namespace bloomset::server {
namespace {

[[noreturn]] void refuse(const failure& failure, const filter_spec& spec) {
  if (failure.code == errc::out_of_memory) throw refusal(no_memory);
  // The numbers are within the ranges of the options, so only a low rate can prevent a native
  // filter.
  const bool is_native = spec.engine == filter_engine::native;
  throw refusal("ERR " + (is_native ? low_rate_obstacle(spec) : failure.message));
}

// Spells out every parameter, so that a replica with other settings has the same bits. For
// compatible filters RedisBloom accepts the commands too: BF.RESERVE has at most seven words,
// CF.RESERVE an odd number, and both ignore the word that names the engine.
std::vector<std::string> creation_words(const filter_spec& spec) {
  const std::string rate = fmt::format("{:.17g}", spec.error_rate);
  const std::string capacity = std::to_string(spec.capacity);
  const std::string expansion = std::to_string(spec.expansion);
  const bool compatible = spec.engine == filter_engine::compatible;
  const std::string engine = compatible ? "COMPATIBLE" : "NATIVE";
  std::vector<std::string> words;
  if (spec.family == filter_family::cuckoo) {
    words = {capacity,
             "BUCKETSIZE",
             std::to_string(spec.bucket_size),
             "MAXITERATIONS",
             std::to_string(spec.max_iterations),
             "EXPANSION",
             expansion,
             compatible ? "ENGINE" : "ERROR",
             compatible ? engine : rate};
  } else if (spec.window != 0) {
    words = {rate,          capacity,
             "EXPANSION",   expansion,
             "WINDOW",      std::to_string(spec.window),
             "GENERATIONS", std::to_string(spec.generations)};
  } else if (compatible && spec.expansion == 0 && spec.growth != 0) {
    words = {rate, capacity, engine, "NONSCALING", std::to_string(spec.growth)};
  } else {
    words = {rate, capacity, "EXPANSION", expansion, spec.deletable ? "DELETABLE" : engine};
  }
  if (spec.seed.is_keyed()) {
    words.insert(words.end(), {"HASH", spec.seed.key().digits()});
  } else if (!compatible) {
    words.insert(words.end(), {"HASH", "XXH3"});
  }
  return words;
}

/// The command that creates the filter on replicas. It is made before the filter, since afterwards
/// nothing may fail.
class creation_command {
 public:
  explicit creation_command(const filter_spec& spec) {
    const std::vector<std::string> words = creation_words(spec);
    words_.reserve(words.size());
    for (const std::string& word : words) {
      words_.push_back(api.create_string(nullptr, word.data(), word.size()));
    }
  }
  creation_command(const creation_command&) = delete;
  creation_command& operator=(const creation_command&) = delete;
  ~creation_command() {
    for (string* const word : words_) api.free_string(nullptr, word);
  }

  void replicate(const command_call& call) noexcept {
    api.replicate(call.ctx, call.is_bloom() ? "BF.RESERVE" : "CF.RESERVE", "sv", call.key(),
                  words_.data(), words_.size());
  }

 private:
  std::vector<string*> words_;
};

/// Creates the filter of an empty key, here and on replicas. The caller announces it.
filter_value& create_filter(const command_call& call, filter_key& key, filter_spec spec) {
  if (std::exchange(spec.draws_key, false) && spec.engine == filter_engine::native) {
    const auto drawn = new_hash_key();
    if (!drawn) throw refusal("ERR " + drawn.error().message);
    spec.seed = *drawn;
  }
  if (call.is_limited()) {
    const auto planned = planned_bytes(spec);
    if (!planned) refuse(planned.error(), spec);
    require_room(call, spec.engine, *planned);
  }
  auto filter = make_filter(spec);
  if (!filter) refuse(filter.error(), spec);
  // The planned bytes do not include some hundred bytes of objects.
  require_within_limits(call, **filter);
  auto object = std::make_unique<filter_object>(std::move(*filter));
  filter_value& created = *object->filter;
  creation_command command(spec);
  key.set(std::move(object));
  command.replicate(call);
  return created;
}

}  // namespace

int reserve(const command_call& call, const filter_spec& spec) {
  filter_key key(call, open_read | open_write);
  if (!key.is_empty()) {
    throw refusal(key.object() != nullptr ? "ERR item exists" : wrong_type);
  }
  create_filter(call, key, spec);
  key.announce(call.is_bloom() ? "bf.reserve" : "cf.reserve");
  return api.reply_simple(call.ctx, "OK");
}

opened_filter open_or_create(const command_call& call, filter_key& key, const filter_spec& spec,
                             bool create) {
  if (!key.is_empty() || !create) return {key.filter(), false};
  return {create_filter(call, key, spec), true};
}

}  // namespace bloomset::server
