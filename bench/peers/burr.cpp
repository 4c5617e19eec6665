// The bumped ribbon filter of its authors (BuRR), with the settings that they recommend: a window
// of 64 bits is their fast one, 128 bits the compact one. The slots per key are those of their
// benchmark: 1 - 3/window.

#include <cstring>
#include <memory>
#include <vector>

#include "ribbon.hpp"
#include "sorter.cpp"
#include "tlx/logger/core.cpp"

#include "../keys.hpp"
#include "peers.hpp"

namespace bench {
namespace {

template <class Preset>
struct quiet : Preset {
  static constexpr bool log = false;
};

template <std::size_t Columns>
using fast = quiet<ribbon::FastFilterConfig<Columns, std::uint64_t>>;
template <std::size_t Columns>
using compact = quiet<ribbon::CompactFilterConfig<Columns, std::uint64_t>>;

template <class Config>
class bumped_ribbon final : public subject {
 public:
  /// `slots_per_key` is below 1, so that some keys are bumped to the next of four levels.
  explicit bumped_ribbon(double slots_per_key) : slots_per_key_(slots_per_key) {}

  void build(keys members, unsigned) override {
    const auto slots =
        static_cast<std::size_t>(static_cast<double>(members.size()) * slots_per_key_);
    filter_ = std::make_unique<filter>(slots, slots_per_key_, 42);
    const auto* words = reinterpret_cast<const std::uint64_t*>(members.data());
    if (!filter_->AddRange(words, words + members.size()))
      throw std::runtime_error("AddRange failed");
    filter_->BackSubst();
  }
  std::uint64_t bytes() const override { return filter_->Size(); }
  std::uint64_t ask_each(keys asked) const override {
    std::uint64_t found = 0;
    for (const bloomset::hash64 h : asked) found += filter_->QueryFilter(h.value);
    return found;
  }
  std::string remark() const override {
    return std::to_string(Config::kResultBits) + " columns of " +
           std::to_string(8 * sizeof(typename Config::CoeffRow)) + " bits";
  }

 private:
  using filter = ribbon::ribbon_filter<3, Config>;
  double slots_per_key_;
  std::unique_ptr<filter> filter_;
};

template <template <std::size_t> class Config>
entry of(std::string name, double slots_per_key) {
  return {.name = std::move(name), .make = [=](const setting& s) -> std::unique_ptr<subject> {
            if (s.fpr >= 1.0 / 128)
              return std::make_unique<bumped_ribbon<Config<7>>>(slots_per_key);
            if (s.fpr >= 1.0 / 256)
              return std::make_unique<bumped_ribbon<Config<8>>>(slots_per_key);
            return std::make_unique<bumped_ribbon<Config<10>>>(slots_per_key);
          }};
}

}  // namespace

[[gnu::visibility("default")]] entries burr_peers() {
  return {of<fast>("BuRR bumped ribbon, 64 bits", 1 - 3.0 / 64),
          of<compact>("BuRR bumped ribbon, 128 bits", 1 - 3.0 / 128)};
}

}  // namespace bench
