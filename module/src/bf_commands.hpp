#pragma once

// What answers each command of BF.*; bf_commands.cpp is the table.

#include "arguments.hpp"

namespace bloomery::server {

int bf_reserve(const request& in);
int bf_add(const request& in);
int bf_madd(const request& in);
int bf_insert(const request& in);
int bf_exists(const request& in);
int bf_mexists(const request& in);
int bf_card(const request& in);
int bf_count(const request& in);
int bf_del(const request& in);
int bf_info(const request& in);
int bf_merge(const request& in);
int bf_stats(const request& in);
int bf_debug(const request& in);
int bf_scandump(const request& in);
int bf_loadchunk(const request& in);

}  // namespace bloomery::server
