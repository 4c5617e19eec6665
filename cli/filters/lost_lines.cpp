#include "filters/lost_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/plan/units.hpp>
#include <cmath>

namespace bloomset::cli {

void lost_lines::read_rate(double rate) {
  // Among the new keys, the share that passes as old is the rate.
  const double below_one = std::min(rate, 0.999);
  const double odds = below_one / (1 - below_one);
  expected_ += static_cast<double>(inserted_ - read_at_) * (odds_ + odds) / 2;
  odds_ = odds;
  read_at_ = inserted_;
  next_ = std::max(first_step_, inserted_ + inserted_ / 8);
}

void lost_lines::scale(std::uint64_t keys) noexcept {
  if (inserted_ == 0) return;
  expected_ *= static_cast<double>(keys) / static_cast<double>(inserted_);
}

void lost_lines::add_later(std::uint64_t lines) noexcept {
  const auto n = static_cast<double>(lines);
  expected_ += n * odds_ + n * n * 0x1p-65;
}

std::string lost_lines::sentence(std::uint64_t dropped) const {
  constexpr double worth_saying = 0.01;
  const double missing = std::min(expected_, static_cast<double>(dropped));
  if (missing <= worth_saying) return {};
  if (missing < 1) {
    return fmt::format("a new line may be missing, with a chance of about {}; --exact drops none",
                       format_rate(-std::expm1(-missing)));
  }
  return fmt::format("about {} may be missing among the {} dropped as repeated; --exact drops none",
                     format_count(static_cast<std::uint64_t>(std::llround(missing)), "new line"),
                     format_count(dropped, "line"));
}

}  // namespace bloomset::cli
