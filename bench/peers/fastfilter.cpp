// fastfilter_cpp's binary fuse filter (3-wise) and homogeneous ribbon, compiled for this CPU as its
// own benchmark does. Both mix the hash once more.

// Its headers use these without including them.
#include <cmath>
#include <cstring>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ribbon_impl.h"
#include "xor_binary_fuse_filter.h"
#include "xorfilter.h"

#include "../keys.hpp"
#include "peers.hpp"

namespace bench {
namespace {

const std::uint64_t* words(keys hashes) noexcept {
  return reinterpret_cast<const std::uint64_t*>(hashes.data());
}

/// A fingerprint of 8 bits, or of 16 where that rate is too high: there are no others.
template <class Fingerprint>
class fuse final : public subject {
 public:
  void build(keys members, unsigned) override {
    filter_ = std::make_unique<filter>(members.size());
    if (filter_->AddAll(words(members), 0, members.size()) != 0) {
      throw std::runtime_error("AddAll failed");
    }
  }
  std::uint64_t bytes() const override { return filter_->SizeInBytes(); }
  std::uint64_t ask_each(keys asked) const override {
    std::uint64_t found = 0;
    for (const bloomset::hash64 h : asked) found += filter_->Contain(h.value) == 0;
    return found;
  }
  std::string remark() const override {
    return std::to_string(8 * sizeof(Fingerprint)) + "-bit fingerprints";
  }

 private:
  using filter = xorbinaryfusefilter_lowmem::XorBinaryFuseFilter<std::uint64_t, Fingerprint>;
  std::unique_ptr<filter> filter_;
};

/// The xor filter, with fingerprints of 8 bits.
class xor8 final : public subject {
 public:
  void build(keys members, unsigned) override {
    filter_.reset();
    filter_ = std::make_unique<filter>(members.size());
    const std::vector<std::uint64_t> copy(words(members), words(members) + members.size());
    if (filter_->AddAll(copy, 0, copy.size()) != 0) throw std::runtime_error("AddAll failed");
  }
  std::uint64_t bytes() const override { return filter_->SizeInBytes(); }
  std::uint64_t ask_each(keys asked) const override {
    std::uint64_t found = 0;
    for (const bloomset::hash64 h : asked) found += filter_->Contain(h.value) == 0;
    return found;
  }

 private:
  using filter = xorfilter::XorFilter<std::uint64_t, std::uint8_t>;
  std::unique_ptr<filter> filter_;
};

template <std::uint32_t Columns>
struct ribbon_settings {
  static constexpr bool kIsFilter = true;
  static constexpr bool kHomogeneous = true;
  static constexpr bool kFirstCoeffAlwaysOne = true;
  static constexpr bool kUseSmash = false;
  static constexpr bool kAllowZeroStarts = false;
  static constexpr std::uint32_t kFixedNumColumns = Columns;
  using CoeffRow = std::uint64_t;
  using Hash = std::uint64_t;
  using Key = std::uint64_t;
  using Seed = std::uint32_t;
  using Index = std::size_t;
  using ResultRow = std::uint32_t;

  static Hash HashFn(const Hash& key, Seed seed) { return mixed(key + seed); }
};

template <std::uint32_t Columns>
class homogeneous_ribbon final : public subject {
 public:
  // The slots more than keys that its authors' benchmark gives it: (4 + r/4) / 64.
  explicit homogeneous_ribbon(const setting& s)
      : slots_(solution::RoundUpNumSlots(
            static_cast<std::size_t>(static_cast<double>(s.n) * (1 + (4 + Columns / 4.0) / 64)))),
        bytes_((slots_ * Columns + 7) / 8),
        memory_(new char[bytes_]),
        solution_(memory_.get(), bytes_) {}

  void build(keys members, unsigned) override {
    typename types::Banding banding(slots_);
    static_cast<void>(banding.AddRange(words(members), words(members) + members.size()));
    solution_.BackSubstFrom(banding);
  }
  std::uint64_t bytes() const override { return bytes_; }
  std::uint64_t ask_each(keys asked) const override {
    std::uint64_t found = 0;
    for (const bloomset::hash64 h : asked) found += solution_.FilterQuery(h.value, hasher_);
    return found;
  }
  std::string remark() const override { return std::to_string(Columns) + " columns of 64 bits"; }

 private:
  struct types {
    IMPORT_RIBBON_IMPL_TYPES(ribbon_settings<Columns>);
  };
  using solution = typename types::InterleavedSoln;

  std::size_t slots_;
  std::size_t bytes_;
  std::unique_ptr<char[]> memory_;
  solution solution_;
  typename types::Hasher hasher_;
};

}  // namespace

[[gnu::visibility("default")]] entries fastfilter_peers() {
  return {
      {.name = "fastfilter_cpp binary fuse (3-wise)",
       .make = [](const setting& s) -> std::unique_ptr<subject> {
         if (s.fpr >= 1.0 / 256) return std::make_unique<fuse<std::uint8_t>>();
         return std::make_unique<fuse<std::uint16_t>>();
       }},
      {.name = "fastfilter_cpp xor, 8 bits",
       .make = [](const setting&) -> std::unique_ptr<subject> { return std::make_unique<xor8>(); }},
      {.name = "fastfilter_cpp homogeneous ribbon",
       .make = [](const setting& s) -> std::unique_ptr<subject> {
         if (s.fpr >= 1.0 / 128) return std::make_unique<homogeneous_ribbon<7>>(s);
         if (s.fpr >= 1.0 / 256) return std::make_unique<homogeneous_ribbon<8>>(s);
         return std::make_unique<homogeneous_ribbon<10>>(s);
       }}};
}

}  // namespace bench
