#pragma once

// A translation unit that uses filters. The program has it twice: compiled for every CPU, and for
// this machine's.

#include <bloomset/bloomset.hpp>
#include <cstddef>
#include <span>
#include <vector>

namespace bloomset::test {

struct filters {
  blocked_bloom blocked;
  expandable growing;
};

/// Everything in `side.cpp`, once in each of these namespaces.
#define BLOOMSET_SIDE(name)                                             \
  namespace name {                                                      \
  filters make();                                                       \
  /** Inserts the numbers and the texts of them from `first` on. */     \
  void insert(filters& f, int first, int n);                            \
  /** How many of them are members, asked one by one and as a batch. */ \
  int members(const filters& f, int first, int n);                      \
  }
BLOOMSET_SIDE(every_cpu)
BLOOMSET_SIDE(this_cpu)

}  // namespace bloomset::test
