#pragma once

// The rows of the registry, one function per kind, each in src/kinds/KIND/row.cpp.

#include <bloomery/any_filter.hpp>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

#define KIND(name) kind_info name##_row();
#include "registry/kinds.inc"

}  // namespace bloomery::detail

#pragma GCC visibility pop
