// J. Virkki's libbloom: a textbook filter in C, of keys, one by one.

#include <bloom.h>

#include <stdexcept>

#include "peers.hpp"

namespace bench {
namespace {

class libbloom final : public subject {
 public:
  explicit libbloom(const setting& s) : setting_(s) {}
  ~libbloom() override { ::bloom_free(&filter_); }

  void build(keys members, unsigned) override {
    ::bloom_free(&filter_);
    if (::bloom_init(&filter_, static_cast<int>(setting_.n), setting_.fpr) != 0) {
      throw std::runtime_error("bloom_init refuses this size");
    }
    for (const bloomset::hash64 h : members) ::bloom_add(&filter_, &h.value, sizeof h.value);
  }
  std::uint64_t bytes() const override { return static_cast<std::uint64_t>(filter_.bytes); }
  std::uint64_t ask_each(keys asked) const override {
    std::uint64_t found = 0;
    for (const bloomset::hash64 h : asked) {
      found += static_cast<unsigned>(::bloom_check(&filter_, &h.value, sizeof h.value));
    }
    return found;
  }

 private:
  setting setting_;
  mutable struct ::bloom filter_ = {};  // it is not written by bloom_check
};

}  // namespace

entries libbloom_peer() {
  return {{.name = "libbloom",
           .takes_keys = true,
           .max_keys = std::uint64_t{130'000'000},  // its number of bits is an int
           .make = [](const setting& s) { return std::make_unique<libbloom>(s); }}};
}

}  // namespace bench
