#pragma once

// The rows of the registry, one function per kind, each in src/kinds/KIND/row.cpp.

#include <bloomery/any_filter.hpp>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomery::detail {

kind_info blocked_bloom_row();
kind_info bloom_row();
kind_info counting_bloom_row();
kind_info cuckoo_row();
kind_info expandable_row();
kind_info fuse_row();
kind_info ribbon_row();
kind_info scalable_bloom_row();
kind_info vector_quotient_row();

}  // namespace bloomery::detail

#pragma GCC visibility pop
