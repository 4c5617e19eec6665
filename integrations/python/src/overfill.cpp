#include "overfill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/plan/units.hpp>
#include <cstdint>
#include <limits>
#include <utility>

namespace bloomset::python {
std::string overfilled_text(const filter_info& info) {
  return fmt::format(
      "the filter is overfilled: it was planned for {} keys, and its rate is {}, above the planned "
      "{}; make it with a greater capacity",
      format_count(info.plan.capacity), format_rate(info.current_fpr),
      format_rate(info.plan.planned_fpr));
}

overfill_watch::overfill_watch(const any_filter& filter) : size_(filter.size()) {
  const kind_info& kind = *find_kind(filter.image().header.kind);
  const std::uint64_t capacity = filter.capacity();
  if (kind.can.grow) {
    first_look_ = std::numeric_limits<std::uint64_t>::max();  // it keeps its rate
  } else if (kind.can.erase || kind.can.count) {
    first_look_ = capacity + 1;  // the size counts every key
  } else {
    // The size leaves out keys that were false positives: at capacity, a share of at most the
    // planned rate. That is known after the first look.
    first_look_ = capacity / 2 + 1;
  }
  next_look_ = first_look_;
}

bool overfill_watch::look(const filter_info& info) noexcept {
  const std::uint64_t step = std::max(info.plan.capacity, info.count) / 16 + 1;
  const double sure = (1 - info.plan.planned_fpr) * static_cast<double>(info.plan.capacity);
  const bool was = std::exchange(overfilled_, overfilled_ || info.overfilled);
  next_look_ = std::max(info.count + step, static_cast<std::uint64_t>(sure));
  if (overfilled_) retry_size_ = info.count - std::min(info.count, step - 1);
  return overfilled_ && !was;
}

void overfill_watch::forget() noexcept {
  overfilled_ = false;
  retry_size_ = 0;
  next_look_ = first_look_;
}

}  // namespace bloomset::python
