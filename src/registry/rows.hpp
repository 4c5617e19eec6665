#pragma once

// The rows of the registry, one function per kind, each in src/kinds/KIND/row.cpp.

#include <bloomset/any_filter.hpp>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

#define KIND(name) kind_info name##_row();
#define KIND_OF_TWO_SETS KIND
#include "registry/kinds.inc"

}  // namespace bloomset::detail

#pragma GCC visibility pop
