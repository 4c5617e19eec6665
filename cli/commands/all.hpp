#pragma once

// The verbs. Each has a file in this folder, or in publish/.

#include "terminal/command.hpp"

namespace bloomset::cli {

command plan_command();
command bench_command();
command build_command();
command add_command();
command remove_command();
command except_command();
command check_command();
command count_command();
command index_command();
command which_command();
command info_command();
command verify_command();
command fold_command();
command merge_command();
command intersect_command();
command convert_command();
command diff_command();
command patch_command();
command publish_command();
command fetch_command();
command dedup_command();
command parquet_command();
command key_command();
command explain_command();
command explore_command();
command help_command();
command completion_command();
command man_command();

}  // namespace bloomset::cli
