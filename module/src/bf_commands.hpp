#pragma once

// What answers each command of BF.*; bf_commands.cpp is the table.

#include "arguments.hpp"

namespace bloomery::server {

void bf_reserve(const request& in);
void bf_add(const request& in);
void bf_madd(const request& in);
void bf_insert(const request& in);
void bf_exists(const request& in);
void bf_mexists(const request& in);
void bf_card(const request& in);
void bf_info(const request& in);
void bf_scandump(const request& in);
void bf_loadchunk(const request& in);

}  // namespace bloomery::server
