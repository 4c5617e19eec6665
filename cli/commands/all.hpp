#pragma once

// The verbs, a file each beside this one.

#include "command.hpp"

namespace bloomery::cli {

command plan_command();
command build_command();
command add_command();
command remove_command();
command check_command();
command count_command();
command info_command();
command dedup_command();

}  // namespace bloomery::cli
