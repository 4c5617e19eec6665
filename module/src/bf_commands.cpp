#include "bf_commands.hpp"

#include <array>

#include "command_docs.hpp"

namespace bloomery::server {
namespace {

using enum argument_type;

constexpr argument_docs nonscaling_argument = option("nonscaling", token, "NONSCALING");
constexpr argument_docs deletable_argument = option("deletable", token, "DELETABLE");

constexpr argument_docs window_argument = option("window", integer, "WINDOW");
constexpr argument_docs generations_argument = option("generations", integer, "GENERATIONS");

constexpr argument_docs memory_argument = option("memory", text, "MEMORY", 0);
constexpr std::array rate_or_memory = {plain("error_rate", real), memory_argument, argument_docs{}};
constexpr std::array capacity_or_memory = {plain("capacity", integer), memory_argument,
                                           argument_docs{}};
constexpr std::array reserve_arguments = {key_argument,
                                          either("rate", rate_or_memory.data()),
                                          either("size", capacity_or_memory.data()),
                                          expansion_argument,
                                          nonscaling_argument,
                                          deletable_argument,
                                          window_argument,
                                          generations_argument,
                                          engine_argument};
constexpr std::array item_arguments = {key_argument, plain("item", text)};
constexpr std::array items_arguments = {key_argument, items_argument};
constexpr std::array insert_arguments = {key_argument,
                                         option("capacity", integer, "CAPACITY"),
                                         option("error", real, "ERROR"),
                                         expansion_argument,
                                         option("nocreate", token, "NOCREATE"),
                                         nonscaling_argument,
                                         deletable_argument,
                                         window_argument,
                                         generations_argument,
                                         engine_argument,
                                         option("at", integer, "AT"),
                                         option("items", text, "ITEMS", argument_multiple)};
constexpr std::array key_arguments = {key_argument};
constexpr std::array merge_arguments = {key_argument, source_argument};
constexpr std::array info_arguments = {key_argument, plain("field", text, argument_optional)};
constexpr std::array scan_arguments = {key_argument, iterator_argument};
constexpr std::array load_arguments = {key_argument, iterator_argument, plain("data", text)};

constexpr const char* category = "bloom";

const std::array rows = {
    command_row{"BF.RESERVE", writes, -4, answer<bf_reserve, -4, 15>, category, inserts,
                "Makes an empty filter of an error rate and a capacity", "O(capacity)",
                reserve_arguments},
    command_row{"BF.ADD", writes, 3, answer<bf_add, 3>, category, inserts,
                "Adds an item to a filter, which is made if it is missing", "O(1)", item_arguments},
    command_row{"BF.MADD", writes, -3, answer<bf_madd, -3>, category, inserts,
                "Adds items to a filter, which is made if it is missing", "O(n), n items",
                items_arguments},
    command_row{"BF.INSERT", writes, -4, answer<bf_insert, -4>, category, inserts,
                "Adds items to a filter, which is made as the options say if it is missing",
                "O(n), n items", insert_arguments},
    command_row{"BF.EXISTS", reads, 3, answer<bf_exists, 3>, category, asks,
                "Says whether an item may be in a filter; no is certain", "O(1)", item_arguments},
    command_row{"BF.MEXISTS", reads, -3, answer<bf_mexists, -3>, category, asks,
                "Says of each item whether it may be in a filter; no is certain", "O(n), n items",
                items_arguments},
    command_row{"BF.CARD", reads, 2, answer<bf_card, 2>, category, asks,
                "The number of items that were added to a filter", "O(1)", key_arguments},
    command_row{"BF.COUNT", reads, 3, answer<bf_count, 3>, category, asks,
                "How often an item was added and not deleted, of a filter that deletes", "O(1)",
                item_arguments},
    command_row{"BF.DEL", "write fast", 3, answer<bf_del, 3>, category, key_read_write | key_delete,
                "Takes back one copy of an item that was added to a filter that deletes", "O(1)",
                item_arguments},
    command_row{"BF.MERGE", writes, -3, answer<bf_merge, -3>, category, inserts,
                "Makes a filter the union of itself and others, which were reserved alike",
                "O(n), n bytes of the filters", merge_arguments, true},
    command_row{"BF.INFO", reads, -2, answer<bf_info, -2, 3>, category, asks,
                "Facts about a filter, or one of them", "O(1)", info_arguments},
    command_row{"BF.STATS", reads_all, 2, answer<bf_stats, 2>, category, asks,
                "A filter's error rate now, how many items it seems to have, and bits an item",
                "O(n), n bytes of the filter", key_arguments},
    command_row{"BF.DEBUG", reads, 2, answer<bf_debug, 2>, category, asks, debug_summary, "O(1)",
                key_arguments},
    command_row{"BF.SCANDUMP", reads_all, 3, answer<bf_scandump, 3>, category, asks,
                "The next piece of a filter's dump", "O(n), n bytes of the filter", scan_arguments},
    command_row{"BF.LOADCHUNK", writes, 4, answer<bf_loadchunk, 4>, category, inserts,
                "Takes a piece of a dump; after the last one the filter is there",
                "O(n), n bytes of the piece", load_arguments},
};

}  // namespace

std::span<const command_row> bf_commands() noexcept {
  return rows;
}

}  // namespace bloomery::server
