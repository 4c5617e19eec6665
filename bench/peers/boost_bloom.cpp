// Boost.Bloom's fast layouts, over hashes that are taken as they are. CMake compiles this file
// twice: for any x86-64, and with BLOOMERY_BENCH_NATIVE for this CPU, in a library of its own,
// since templates of one name must not mix.

#include <sys/mman.h>

#include <boost/bloom/fast_multiblock32.hpp>
#include <boost/bloom/fast_multiblock64.hpp>
#include <boost/bloom/filter.hpp>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "peers.hpp"

namespace bench {
namespace {

/// Says that the hash needs no more mixing.
struct as_it_is {
  using is_avalanching = std::true_type;
  std::size_t operator()(bloomery::hash64 h) const noexcept { return h.value; }
};

/// Asks for huge pages, as bloomery does by itself.
template <class T>
struct huge_allocator {
  using value_type = T;
  huge_allocator() = default;
  template <class U>
  explicit huge_allocator(const huge_allocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    constexpr std::size_t huge_page = std::size_t{1} << 21;
    const std::size_t size = (n * sizeof(T) + huge_page - 1) / huge_page * huge_page;
    void* const got = std::aligned_alloc(huge_page, size);
    if (got == nullptr) throw std::bad_alloc();
    ::madvise(got, size, MADV_HUGEPAGE);
    return static_cast<T*>(got);
  }
  void deallocate(T* at, std::size_t) noexcept { std::free(at); }
  friend bool operator==(huge_allocator, huge_allocator) noexcept { return true; }
};

template <class Layout, class Allocator = std::allocator<unsigned char>>
class boost_filter final : public subject {
 public:
  /// Its planning takes milliseconds, and is no part of building.
  explicit boost_filter(const setting& s) : bits_(filter::capacity_for(s.n, s.fpr)) {}

  void build(keys members, unsigned) override {
    filter_.reset();
    filter_.emplace(bits_);
    filter_->insert(members.begin(), members.end());
  }
  std::uint64_t bytes() const override { return filter_->capacity() / 8; }
  std::uint64_t ask_each(keys asked) const override {
    std::uint64_t found = 0;
    for (const bloomery::hash64 h : asked) found += filter_->may_contain(h);
    return found;
  }
  void ask_batch(keys asked, bool* answers, unsigned) const override {
    filter_->may_contain(asked.begin(), asked.end(),
                         [&answers](bloomery::hash64, bool yes) { *answers++ = yes; });
  }

 private:
  using filter = boost::bloom::filter<bloomery::hash64, 1, Layout, 0, as_it_is, Allocator>;
  std::size_t bits_;
  std::optional<filter> filter_;
};

template <class Filter>
entry row(std::string name) {
  return {.name = std::move(name), .batch = true, .make = [](const setting& s) {
            return std::make_unique<Filter>(s);
          }};
}

using layout32 = boost::bloom::fast_multiblock32<8>;
using layout64 = boost::bloom::fast_multiblock64<8>;

}  // namespace

#ifndef BLOOMERY_BENCH_NATIVE
entries boost_peers() {
  return {row<boost_filter<layout64>>("Boost.Bloom fast_multiblock64<8>"),
          row<boost_filter<layout32>>("Boost.Bloom fast_multiblock32<8>")};
}
#else
[[gnu::visibility("default")]] entries boost_native_peers() {
  return {row<boost_filter<layout64>>("Boost.Bloom fast_multiblock64<8>, for this CPU"),
          row<boost_filter<layout32>>("Boost.Bloom fast_multiblock32<8>, for this CPU"),
          row<boost_filter<layout64, huge_allocator<unsigned char>>>(
              "Boost.Bloom fast_multiblock64<8>, for this CPU, huge pages")};
}
#endif

}  // namespace bench
