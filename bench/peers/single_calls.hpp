#pragma once

// The subject of a peer that is given hashes, one per call.

#include <memory>
#include <stdexcept>

#include "peers.hpp"

namespace bench {

/// `Filter` is made from a setting and has
///   void insert(std::uint64_t hash)          throws std::runtime_error if there is no room
///   bool may_contain(std::uint64_t) const
///   std::uint64_t bytes() const
template <class Filter>
class single_calls final : public subject {
 public:
  explicit single_calls(const setting& s) : setting_(s) {}

  void build(keys members, unsigned) override {
    filter_.reset();
    filter_ = std::make_unique<Filter>(setting_);
    for (const bloomset::hash64 h : members) filter_->insert(h.value);
  }
  std::uint64_t bytes() const override { return filter_->bytes(); }
  std::uint64_t ask_each(keys asked) const override {
    std::uint64_t found = 0;
    for (const bloomset::hash64 h : asked) found += filter_->may_contain(h.value);
    return found;
  }

 private:
  setting setting_;
  std::unique_ptr<Filter> filter_;
};

template <class Filter>
entry single_calls_entry(std::string name) {
  return {.name = std::move(name), .make = [](const setting& s) -> std::unique_ptr<subject> {
            return std::make_unique<single_calls<Filter>>(s);
          }};
}

}  // namespace bench
