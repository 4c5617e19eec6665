#pragma once

// The verbs, a file each beside this one.

#include "command.hpp"

namespace bloomery::cli {

command plan_command();
command info_command();
command explain_command();

}  // namespace bloomery::cli
