// Boost.Bloom's fast layouts, over hashes that are taken as they are, and over strings. CMake
// compiles this file twice: for any x86-64, and with BLOOMSET_BENCH_NATIVE for this CPU, in a
// library of its own, since templates of one name must not mix.

#include <boost/bloom/fast_multiblock32.hpp>
#include <boost/bloom/fast_multiblock64.hpp>
#include <boost/bloom/filter.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "../strings.hpp"
#include "peers.hpp"

namespace bench {
namespace {

/// Says that the hash needs no more mixing.
struct as_it_is {
  using is_avalanching = std::true_type;
  std::size_t operator()(bloomset::hash64 h) const noexcept { return h.value; }
};

template <class Layout>
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
    for (const bloomset::hash64 h : asked) found += filter_->may_contain(h);
    return found;
  }
  void ask_batch(keys asked, bool* answers, unsigned) const override {
    filter_->may_contain(asked.begin(), asked.end(),
                         [&answers](bloomset::hash64, bool yes) { *answers++ = yes; });
  }

 private:
  using filter = boost::bloom::filter<bloomset::hash64, 1, Layout, 0, as_it_is>;
  std::size_t bits_;
  std::optional<filter> filter_;
};

template <class Filter>
entry row(std::string name) {
  return {.name = std::move(name), .batch = true, .make = [](const setting& s) {
            return std::make_unique<Filter>(s);
          }};
}

struct xxh3 {
  using is_avalanching = std::true_type;
  std::size_t operator()(std::string_view s) const noexcept {
    return bloomset::xxh3_hasher()(std::as_bytes(std::span(s))).value;
  }
};

template <class Layout>
class boost_string_filter final : public string_subject {
 public:
  boost_string_filter(std::uint64_t n, double fpr) : bits_(filter::capacity_for(n, fpr)) {}

  void build(string_views members) override {
    filter_.reset();
    filter_.emplace(bits_);
    filter_->insert(members.begin(), members.end());
  }
  std::uint64_t ask_each(string_views asked) const override {
    std::uint64_t found = 0;
    for (const std::string_view s : asked) found += filter_->may_contain(s);
    return found;
  }
  void ask_batch(string_views asked, bool* answers) const override {
    filter_->may_contain(asked.begin(), asked.end(),
                         [&answers](std::string_view, bool yes) { *answers++ = yes; });
  }

 private:
  using filter = boost::bloom::filter<std::string_view, 1, Layout, 0, xxh3>;
  std::size_t bits_;
  std::optional<filter> filter_;
};

template <class... Layouts>
string_subjects string_peers(std::uint64_t n, double fpr,
                             std::initializer_list<const char*> names) {
  string_subjects all;
  const char* const* name = names.begin();
  (all.emplace_back(*name++, std::make_unique<boost_string_filter<Layouts>>(n, fpr)), ...);
  return all;
}

using layout32 = boost::bloom::fast_multiblock32<8>;
using layout64 = boost::bloom::fast_multiblock64<8>;

}  // namespace

#ifndef BLOOMSET_BENCH_NATIVE
entries boost_peers() {
  return {row<boost_filter<layout64>>("Boost.Bloom fast_multiblock64<8>"),
          row<boost_filter<layout32>>("Boost.Bloom fast_multiblock32<8>")};
}
string_subjects boost_string_peers(std::uint64_t n, double fpr) {
  return string_peers<layout64, layout32>(
      n, fpr, {"Boost.Bloom fast_multiblock64<8>", "Boost.Bloom fast_multiblock32<8>"});
}
#else
[[gnu::visibility("default")]] entries boost_native_peers() {
  return {row<boost_filter<layout64>>("Boost.Bloom fast_multiblock64<8>, for this CPU"),
          row<boost_filter<layout32>>("Boost.Bloom fast_multiblock32<8>, for this CPU")};
}
[[gnu::visibility("default")]] string_subjects boost_native_string_peers(std::uint64_t n,
                                                                         double fpr) {
  return string_peers<layout64, layout32>(n, fpr,
                                          {"Boost.Bloom fast_multiblock64<8>, for this CPU",
                                           "Boost.Bloom fast_multiblock32<8>, for this CPU"});
}
#endif

}  // namespace bench
