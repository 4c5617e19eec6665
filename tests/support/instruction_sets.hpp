#pragma once

#include <gtest/gtest.h>

#include <bloomset/detail/blocked_bloom/kernels.hpp>

#include "src/cpu/dispatch.hpp"

namespace bloomset {

/// Calls `use()` once with the kernels of each instruction set that this CPU can run, then restores
/// the choice.
template <class Use>
void with_each_instruction_set(Use&& use) {
  const auto choose = [](detail::instruction_set set) {
    detail::choose_instruction_set(set);
    detail::choose_single_key_kernels();
  };
  const detail::instruction_set before = detail::chosen_instruction_set();
  for (const detail::instruction_set set : detail::usable_instruction_sets()) {
    SCOPED_TRACE(detail::name_of(set));
    choose(set);
    use();
  }
  choose(before);
}

}  // namespace bloomset
