#include "bf_commands.hpp"

#include <array>

#include "command_table.hpp"

namespace bloomery::server {
namespace {

constexpr argument_docs plain(const char* name, argument_type type, int flags = 0) {
  return {name,    type,    type == argument_type::key ? 0 : -1,
          nullptr, nullptr, nullptr,
          flags,   nullptr, nullptr,
          nullptr};
}
constexpr argument_docs option(const char* name, argument_type type, const char* token,
                               int flags = argument_optional) {
  return {name, type, -1, token, nullptr, nullptr, flags, nullptr, nullptr, nullptr};
}

using enum argument_type;

constexpr argument_docs key_argument = plain("key", key);
constexpr argument_docs items_argument = plain("item", text, argument_multiple);
constexpr argument_docs expansion_argument = option("expansion", integer, "EXPANSION");
constexpr argument_docs nonscaling_argument = option("nonscaling", token, "NONSCALING");

constexpr std::array reserve_arguments = {key_argument, plain("error_rate", real),
                                          plain("capacity", integer), expansion_argument,
                                          nonscaling_argument};
constexpr std::array item_arguments = {key_argument, plain("item", text)};
constexpr std::array items_arguments = {key_argument, items_argument};
constexpr std::array insert_arguments = {key_argument,
                                         option("capacity", integer, "CAPACITY"),
                                         option("error", real, "ERROR"),
                                         expansion_argument,
                                         option("nocreate", token, "NOCREATE"),
                                         nonscaling_argument,
                                         option("items", text, "ITEMS", argument_multiple)};
constexpr std::array key_arguments = {key_argument};
constexpr std::array info_arguments = {key_argument, plain("field", text, argument_optional)};
constexpr std::array scan_arguments = {key_argument, plain("iterator", integer)};
constexpr std::array load_arguments = {key_argument, plain("iterator", integer),
                                       plain("data", text)};

constexpr const char* writes = "write deny-oom";
constexpr const char* reads = "readonly fast";
constexpr const char* category = "bloom";
constexpr std::uint64_t inserts = key_read_write | key_insert;
constexpr std::uint64_t asks = key_read_only | key_access;

const std::array rows = {
    command_row{"BF.RESERVE", writes, -4, answer<bf_reserve, -4, 7>, category, inserts,
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
    command_row{"BF.INFO", reads, -2, answer<bf_info, -2, 3>, category, asks,
                "Facts about a filter, or one of them", "O(1)", info_arguments},
    command_row{"BF.SCANDUMP", reads, 3, answer<bf_scandump, 3>, category, asks,
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
