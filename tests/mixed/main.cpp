// One program with a part that is compiled for every CPU and a part for this machine's CPU. Both
// use the same filters, in either order of linking.

#include <cstdio>

#include "tests/mixed/side.hpp"

namespace {

using namespace bloomset::test;

int wrong = 0;
void expect(bool held, const char* what) {
  if (held) return;
  std::fprintf(stderr, "%s\n", what);
  ++wrong;
}

}  // namespace

int main() {
  constexpr int n = 10'000;
  filters theirs = every_cpu::make();
  filters ours = this_cpu::make();
  every_cpu::insert(theirs, 0, n);
  this_cpu::insert(theirs, n, n);
  this_cpu::insert(ours, 0, n);
  every_cpu::insert(ours, n, n);
  expect(bloomset::serialize(theirs.blocked.image()) == bloomset::serialize(ours.blocked.image()),
         "the blocked filters differ");
  expect(bloomset::serialize(theirs.growing.image()) == bloomset::serialize(ours.growing.image()),
         "the expandable filters differ");
  expect(every_cpu::members(ours, 0, 2 * n) == 8 * n, "every_cpu denies members");
  expect(this_cpu::members(theirs, 0, 2 * n) == 8 * n, "this_cpu denies members");
  expect(every_cpu::members(ours, 2 * n, n) == this_cpu::members(ours, 2 * n, n),
         "other keys get different answers");
  return wrong;
}
