#pragma once

#include <bloomset/any_filter.hpp>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// filter_info::overfilled of a filter whose other figures are known.
bool is_overfilled(const filter_info& info);

}  // namespace bloomset::detail

#pragma GCC visibility pop
