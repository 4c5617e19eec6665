// The vector quotient filter of its authors (Pandey and others, 2021), with tags of 8 bits.

#include <cstdio>
#include <cstdlib>

// It prints the size of each filter.
#define printf(...) static_cast<void>(0)
#include "vqf_filter.c"
#undef printf
#ifdef __AVX512BW__
#include "shuffle_matrix_512.c"

#include "shuffle_matrix_512_16.c"
#endif

#include "single_calls.hpp"

namespace bench {
namespace {

class vqf {
 public:
  // Inserts fail beyond 94% of the slots.
  explicit vqf(const setting& s)
      : filter_(::vqf_init(static_cast<std::uint64_t>(static_cast<double>(s.n) / 0.93))) {
    if (filter_ == nullptr) throw std::runtime_error("no memory");
  }
  vqf(const vqf&) = delete;
  vqf& operator=(const vqf&) = delete;
  ~vqf() { std::free(filter_); }

  void insert(std::uint64_t hash) {
    if (!::vqf_insert(filter_, hash)) throw std::runtime_error("a block is full");
  }
  bool may_contain(std::uint64_t hash) const { return ::vqf_is_present(filter_, hash); }
  std::uint64_t bytes() const { return filter_->metadata.total_size_in_bytes; }

 private:
  vqf_filter* filter_;
};

}  // namespace

[[gnu::visibility("default")]] entries vqf_peers() {
  return {single_calls_entry<vqf>("VQF, 8 bits")};
}

}  // namespace bench
