#include "cf_commands.hpp"

#include <array>

#include "command_docs.hpp"

namespace bloomery::server {
namespace {

using enum argument_type;

constexpr std::array reserve_arguments = {key_argument,
                                          plain("capacity", integer),
                                          option("bucketsize", integer, "BUCKETSIZE"),
                                          option("maxiterations", integer, "MAXITERATIONS"),
                                          expansion_argument,
                                          option("error", real, "ERROR"),
                                          engine_argument};
constexpr std::array item_arguments = {key_argument, plain("item", text)};
constexpr std::array items_arguments = {key_argument, items_argument};
constexpr std::array insert_arguments = {key_argument, option("capacity", integer, "CAPACITY"),
                                         option("nocreate", token, "NOCREATE"), engine_argument,
                                         option("items", text, "ITEMS", argument_multiple)};
constexpr std::array key_arguments = {key_argument};
constexpr std::array merge_arguments = {key_argument, source_argument};
constexpr std::array scan_arguments = {key_argument, iterator_argument};
constexpr std::array load_arguments = {key_argument, iterator_argument, plain("data", text)};

constexpr const char* category = "cuckoo";
constexpr const char* per_item = "O(n), n items";

const std::array rows = {
    command_row{"CF.RESERVE", writes, -3, answer<cf_reserve, -3, 13>, category, inserts,
                "Makes an empty filter of a capacity, whose items can be deleted", "O(capacity)",
                reserve_arguments},
    command_row{"CF.ADD", writes, 3, answer<cf_add, 3>, category, inserts,
                "Adds a copy of an item to a filter, which is made if it is missing", "O(1)",
                item_arguments},
    command_row{"CF.ADDNX", writes, 3, answer<cf_addnx, 3>, category, inserts,
                "Adds an item unless it is there; the filter is made if it is missing", "O(1)",
                item_arguments},
    command_row{"CF.INSERT", writes, -4, answer<cf_insert, -4>, category, inserts,
                "Adds copies of items to a filter, which is made as the options say if it is "
                "missing",
                per_item, insert_arguments},
    command_row{"CF.INSERTNX", writes, -4, answer<cf_insertnx, -4>, category, inserts,
                "Adds items unless they are there to a filter, which is made as the options say "
                "if it is missing",
                per_item, insert_arguments},
    command_row{"CF.EXISTS", reads, 3, answer<cf_exists, 3>, category, asks,
                "Says whether an item may be in a filter; no is certain", "O(1)", item_arguments},
    command_row{"CF.MEXISTS", reads, -3, answer<cf_mexists, -3>, category, asks,
                "Says of each item whether it may be in a filter; no is certain", per_item,
                items_arguments},
    command_row{"CF.COUNT", reads, 3, answer<cf_count, 3>, category, asks,
                "How often an item was added and not deleted; never too low", "O(1)",
                item_arguments},
    command_row{"CF.DEL", "write fast", 3, answer<cf_del, 3>, category, key_read_write | key_delete,
                "Takes back one copy of an item that was added", "O(1)", item_arguments},
    command_row{"CF.MERGE", writes, -3, answer<cf_merge, -3>, category, inserts,
                "Makes a filter the union of itself and others, which were reserved alike",
                "O(n), n bytes of the filters", merge_arguments, true},
    command_row{"CF.COMPACT", "write", 2, answer<cf_compact, 2>, category,
                key_read_write | key_update,
                "Moves the items of a compatible filter together; native ones have nothing to move",
                "O(n), n bytes of the filter", key_arguments},
    command_row{"CF.INFO", reads, 2, answer<cf_info, 2>, category, asks, "Facts about a filter",
                "O(1)", key_arguments},
    command_row{"CF.STATS", reads_all, 2, answer<cf_stats, 2>, category, asks,
                "A filter's error rate now, how many items it seems to have, and bits an item",
                "O(n), n bytes of the filter", key_arguments},
    command_row{"CF.DEBUG", reads, 2, answer<cf_debug, 2>, category, asks, debug_summary, "O(1)",
                key_arguments},
    command_row{"CF.SCANDUMP", reads_all, 3, answer<cf_scandump, 3>, category, asks,
                "The next piece of a filter's dump", "O(n), n bytes of the filter", scan_arguments},
    command_row{"CF.LOADCHUNK", writes, 4, answer<cf_loadchunk, 4>, category, inserts,
                "Takes a piece of a dump; after the last one the filter is there",
                "O(n), n bytes of the piece", load_arguments},
};

}  // namespace

std::span<const command_row> cf_commands() noexcept {
  return rows;
}

}  // namespace bloomery::server
