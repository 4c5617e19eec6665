// The cuckoo filter of its authors (Fan and others, 2014), with tags of 8 and of 12 bits. It has a
// power of two of buckets, so its bits per key depend on the number of keys.

#include "cuckoofilter.h"

#include "single_calls.hpp"

namespace bench {
namespace {

template <std::size_t Bits>
class cuckoo {
 public:
  explicit cuckoo(const setting& s) : filter_(s.n) {}

  void insert(std::uint64_t hash) {
    if (filter_.Add(hash) != cuckoofilter::Ok) throw std::runtime_error("it is full");
  }
  bool may_contain(std::uint64_t hash) const { return filter_.Contain(hash) == cuckoofilter::Ok; }
  std::uint64_t bytes() const { return filter_.SizeInBytes(); }

 private:
  cuckoofilter::CuckooFilter<std::uint64_t, Bits> filter_;
};

}  // namespace

[[gnu::visibility("default")]] entries cuckoofilter_peers() {
  return {single_calls_entry<cuckoo<8>>("efficient/cuckoofilter, 8 bits"),
          single_calls_entry<cuckoo<12>>("efficient/cuckoofilter, 12 bits")};
}

}  // namespace bench
