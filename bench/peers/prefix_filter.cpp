// The prefix filter of its authors (Even, Even and Morrison, 2022), with their TC-shortcut as its
// second level. It needs AVX-512.

#include "single_calls.hpp"

#ifdef __AVX512VBMI__

#include <cstdint>
#include <cstring>
#include <iostream>
#include <vector>

#include "Prefix-Filter/Shift_op.cpp"
#include "Prefix-Filter/min_pd256.cpp"
#include "TC-Shortcut/tc-sym.cpp"
#include "Tests/wrappers.hpp"

namespace bench {
namespace {

class prefix_filter {
 public:
  explicit prefix_filter(const setting& s) : filter_(calls::ConstructFromAddCount(s.n)) {}

  void insert(std::uint64_t hash) { calls::Add(hash, &filter_); }
  bool may_contain(std::uint64_t hash) const { return calls::Contain(hash, &filter_); }
  std::uint64_t bytes() const { return filter_.get_byte_size(); }

 private:
  using filter = Prefix_Filter<TC_shortcut>;
  using calls = FilterAPI<filter>;
  filter filter_;
};

}  // namespace

[[gnu::visibility("default")]] entries prefix_filter_peers() {
  return {single_calls_entry<prefix_filter>("prefix filter")};
}

}  // namespace bench

#else
namespace bench {
[[gnu::visibility("default")]] entries prefix_filter_peers() {
  return {};
}
}  // namespace bench
#endif
