#pragma once

// What answers each command of CF.*; cf_commands.cpp is the table.

#include "arguments.hpp"

namespace bloomery::server {

int cf_reserve(const request& in);
int cf_add(const request& in);
int cf_addnx(const request& in);
int cf_insert(const request& in);
int cf_insertnx(const request& in);
int cf_exists(const request& in);
int cf_mexists(const request& in);
int cf_count(const request& in);
int cf_del(const request& in);
int cf_compact(const request& in);
int cf_info(const request& in);
int cf_merge(const request& in);
int cf_stats(const request& in);
int cf_debug(const request& in);
int cf_scandump(const request& in);
int cf_loadchunk(const request& in);

}  // namespace bloomery::server
