#pragma once

#include "commands/command_call.hpp"

namespace bloomset::server {

/// Answers a command. Throws, if at all, before it replies and before the filter changes.
using handler = int(const command_call& call);

handler exists, mexists, stats, debug, erase, merge, scandump, loadchunk;  // BF.* and CF.*
handler bf_reserve, bf_add, bf_madd, bf_insert, bf_card, bf_count, bf_info, bf_load;
handler cf_reserve, cf_add, cf_addnx, cf_insert, cf_insertnx, cf_count, cf_compact, cf_info;

}  // namespace bloomset::server
