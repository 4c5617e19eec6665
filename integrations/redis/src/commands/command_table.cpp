#include "commands/command_table.hpp"

#include <array>

#include "commands/handlers.hpp"
#include "commands/option_words.hpp"

namespace bloomset::server {
namespace {

using enum argument_type;
using enum filter_family;

using key_hider = void(const command_call& call);
void hide_nothing(const command_call&) {}

/// Replies to a call. No exception leaves it.
template <handler* Handler, int Arity, int MaxArity>
int reply(const command_call& call) noexcept {
  const int argc = static_cast<int>(call.argv.size());
  try {
    if ((Arity > 0 && argc != Arity) || argc < -Arity || (MaxArity != 0 && argc > MaxArity)) {
      return api.wrong_arity(call.ctx);
    }
    return Handler(call);
  } catch (const refusal& error) {
    return api.reply_error(call.ctx, error.what());
  } catch (const std::exception&) {
    return api.reply_error(call.ctx, "ERR Insufficient memory for this command");
  }
}

/// The function that the server calls for a handler. Keys are hidden after the reply, because
/// Valkey 8.1 hides them from the handler, too.
template <filter_family Family, handler* Handler, int Arity, int MaxArity, key_hider* HideKeys>
int answer(context* ctx, string** argv, int argc) noexcept {
  const command_call call{ctx, Family, {argv, static_cast<std::size_t>(argc)}};
  const int status = reply<Handler, Arity, MaxArity>(call);
  HideKeys(call);
  return status;
}

template <filter_family Family, handler* Handler, int Arity, int MaxArity = 0,
          key_hider* HideKeys = hide_nothing>
constexpr command_entry entry = {answer<Family, Handler, Arity, MaxArity, HideKeys>, Arity};
template <filter_family Family, handler* Handler, int MinWords = -4>
constexpr command_entry insert_entry = entry<Family, Handler, MinWords, 0, hide_insert_keys>;

// Arguments of commands, for COMMAND DOCS.

constexpr argument_docs argument(const char* name, argument_type type, int flags = 0) {
  return {.name = name, .type = type, .flags = flags};
}
constexpr argument_docs option(const char* name, argument_type type, const char* token_word,
                               int flags = argument_optional) {
  return {.name = name, .type = type, .token = token_word, .flags = flags};
}
constexpr argument_docs either(const char* name, const argument_docs* parts) {
  return {.name = name, .type = one_of, .parts = parts};
}

constexpr argument_docs key_name = {.name = "key", .type = argument_type::key, .key_spec = 0};
constexpr argument_docs sources = {
    .name = "source", .type = argument_type::key, .key_spec = 1, .flags = argument_multiple};
constexpr argument_docs expansion = option("expansion", integer, "EXPANSION");
constexpr argument_docs nonscaling = option("nonscaling", token, "NONSCALING");
constexpr argument_docs deletable = option("deletable", token, "DELETABLE");
constexpr argument_docs window = option("window", integer, "WINDOW");
constexpr argument_docs generations = option("generations", integer, "GENERATIONS");
constexpr argument_docs hash = option("hash", text, "HASH");
constexpr argument_docs engine = option("engine", text, "ENGINE");
constexpr argument_docs memory = option("memory", text, "MEMORY", 0);
constexpr argument_docs iterator = argument("iterator", integer);
constexpr argument_docs insert_capacity = option("capacity", integer, "CAPACITY");
constexpr argument_docs nocreate = option("nocreate", token, "NOCREATE");
constexpr argument_docs insert_items = option("items", text, "ITEMS", argument_multiple);

constexpr argument_docs capacity = argument("capacity", integer);
constexpr argument_docs rate_option = option("error", real, "ERROR");
constexpr argument_docs bucketsize = option("bucketsize", integer, "BUCKETSIZE");
constexpr argument_docs maxiterations = option("maxiterations", integer, "MAXITERATIONS");
constexpr argument_docs tightening = option("tightening", real, "TIGHTENING");
constexpr argument_docs seed = option("seed", text, "SEED");
constexpr argument_docs validate_scale = option("validatescaleto", integer, "VALIDATESCALETO");
constexpr argument_docs time_of_items = option("at", integer, "AT");

constexpr std::array rate_or_memory = {argument("error_rate", real), memory, argument_docs{}};
constexpr std::array capacity_or_memory = {capacity, memory, argument_docs{}};
constexpr argument_docs rate = either("rate", rate_or_memory.data());
constexpr argument_docs size = either("size", capacity_or_memory.data());

constexpr std::array key_only = {key_name};
constexpr std::array key_item = {key_name, argument("item", text)};
constexpr std::array key_items = {key_name, argument("item", text, argument_multiple)};
constexpr std::array key_sources = {key_name, sources};
constexpr std::array key_field = {key_name, argument("field", text, argument_optional)};
constexpr std::array key_iterator = {key_name, iterator};
constexpr std::array key_chunk = {key_name, iterator, argument("data", text)};
constexpr std::array bf_reserve_docs = {key_name,  rate,   size,        expansion, nonscaling,
                                        deletable, window, generations, hash,      engine};
constexpr std::array bf_insert_docs = {
    key_name,       insert_capacity, rate_option, expansion, nocreate,      nonscaling, deletable,
    window,         generations,     hash,        engine,    time_of_items, tightening, seed,
    validate_scale, insert_items};
constexpr std::array key_data = {key_name, argument("data", text)};
constexpr std::array cf_reserve_docs = {key_name,  capacity,    bucketsize, maxiterations,
                                        expansion, rate_option, hash,       engine};
constexpr std::array cf_insert_docs = {key_name, insert_capacity, nocreate, engine, insert_items};

constexpr const char* write_flags = "write deny-oom";
constexpr const char* read_flags = "readonly fast";
constexpr const char* scan_flags = "readonly";  // reads all of the filter's bytes
constexpr std::uint64_t key_inserts = key_read_write | key_insert;
constexpr std::uint64_t key_deletes = key_read_write | key_delete;
constexpr std::uint64_t key_reads = key_read_only | key_access;
constexpr const char* per_item = "O(n), n items";
constexpr const char* per_byte = "O(n), n bytes of the filter";

template <filter_family Family>
constexpr auto common_rows = std::to_array<command_row>(
    {{"EXISTS", entry<Family, exists, 3>, read_flags, key_reads,
      "Says whether an item may be in a filter; no is certain", "O(1)", key_item},
     {"MEXISTS", entry<Family, mexists, -3>, read_flags, key_reads,
      "Says of each item whether it may be in a filter; no is certain", per_item, key_items},
     {"MERGE", entry<Family, merge, -3>, write_flags, key_inserts,
      "Makes a filter the union of itself and others, which were reserved alike",
      "O(n), n bytes of the filters", key_sources, true},
     {"STATS", entry<Family, stats, 2>, scan_flags, key_reads,
      "A filter's error rate now, how many items it seems to have, and bits an item", per_byte,
      key_only},
     {"DEBUG", entry<Family, debug, 2>, read_flags, key_reads,
      "Figures of each part of a compatible filter, as text", "O(1)", key_only},
     {"SCANDUMP", entry<Family, scandump, 3>, scan_flags, key_reads,
      "The next piece of a filter's dump", per_byte, key_iterator},
     {"LOADCHUNK", entry<Family, loadchunk, 4, 0, hide_dump_key>, write_flags, key_inserts,
      "Loads a piece of a dump; after the last piece the filter exists",
      "O(n), n bytes of the piece", key_chunk}});

constexpr auto bf_rows = std::to_array<command_row>(
    {{"RESERVE", entry<bloom, bf_reserve, -4, 15, hide_reserve_keys>, write_flags, key_inserts,
      "Makes an empty filter of an error rate and a capacity", "O(capacity)", bf_reserve_docs},
     {"ADD", entry<bloom, bf_add, 3>, write_flags, key_inserts,
      "Adds an item to a filter, which is made if it is missing", "O(1)", key_item},
     {"MADD", entry<bloom, bf_madd, -3>, write_flags, key_inserts,
      "Adds items to a filter, which is made if it is missing", per_item, key_items},
     {"INSERT", insert_entry<bloom, bf_insert, -2>, write_flags, key_inserts,
      "Adds items to a filter, which is made with the given options if it is missing", per_item,
      bf_insert_docs},
     {"CARD", entry<bloom, bf_card, 2>, read_flags, key_reads,
      "The number of items that were added to a filter", "O(1)", key_only},
     {"COUNT", entry<bloom, bf_count, 3>, read_flags, key_reads,
      "The number of copies of an item in a filter that deletes", "O(1)", key_item},
     {"DEL", entry<bloom, erase, 3>, "write fast", key_deletes,
      "Removes one copy of an item from a filter that deletes", "O(1)", key_item},
     {"LOAD", entry<bloom, bf_load, 3>, write_flags, key_inserts,
      "Makes the filter of an append-only file that valkey-bloom wrote", per_byte, key_data},
     {"INFO", entry<bloom, bf_info, -2, 3>, read_flags, key_reads,
      "Facts about a filter, or one of them", "O(1)", key_field}});

constexpr auto cf_rows = std::to_array<command_row>(
    {{"RESERVE", entry<cuckoo, cf_reserve, -3, 13, hide_reserve_keys>, write_flags, key_inserts,
      "Makes an empty filter of a capacity, whose items can be deleted", "O(capacity)",
      cf_reserve_docs},
     {"ADD", entry<cuckoo, cf_add, 3>, write_flags, key_inserts,
      "Adds a copy of an item to a filter, which is made if it is missing", "O(1)", key_item},
     {"ADDNX", entry<cuckoo, cf_addnx, 3>, write_flags, key_inserts,
      "Adds an item unless it is there; the filter is made if it is missing", "O(1)", key_item},
     {"INSERT", insert_entry<cuckoo, cf_insert>, write_flags, key_inserts,
      "Adds copies of items to a filter, which is made as the options say if it is missing",
      per_item, cf_insert_docs},
     {"INSERTNX", insert_entry<cuckoo, cf_insertnx>, write_flags, key_inserts,
      "Adds items unless they are there to a filter, which is made as the options say if it is "
      "missing",
      per_item, cf_insert_docs},
     {"COUNT", entry<cuckoo, cf_count, 3>, read_flags, key_reads,
      "How often an item was added and not deleted; never too low", "O(1)", key_item},
     {"DEL", entry<cuckoo, erase, 3>, "write fast", key_deletes,
      "Takes back one copy of an item that was added", "O(1)", key_item},
     {"COMPACT", entry<cuckoo, cf_compact, 2>, "write", key_read_write | key_update,
      "Moves the items of a compatible filter together; native ones have nothing to move", per_byte,
      key_only},
     {"INFO", entry<cuckoo, cf_info, 2>, read_flags, key_reads, "Facts about a filter", "O(1)",
      key_only}});

constexpr std::array families = {
    command_family{"BF.", "bloom", common_rows<bloom>, bf_rows},
    command_family{"CF.", "cuckoo", common_rows<cuckoo>, cf_rows},
};

}  // namespace

std::span<const command_family> command_families() noexcept {
  return families;
}

}  // namespace bloomset::server
