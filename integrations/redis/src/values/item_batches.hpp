#pragma once

// Answers for batches of items.

#include <array>
#include <memory>

#include "values/filter_value.hpp"

namespace bloomset::server {

/// An array of booleans, all false. std::vector<bool> has no span of them. Throws std::bad_alloc.
class bool_list {
 public:
  explicit bool_list(std::size_t size)
      : bools_(std::make_unique<bool[]>(size)),  // NOLINT(modernize-avoid-c-arrays)
        size_(size) {}

  std::span<bool> span() const noexcept { return {bools_.get(), size_}; }

 private:
  std::unique_ptr<bool[]> bools_;  // NOLINT(modernize-avoid-c-arrays)
  std::size_t size_;
};

/// Asks a part of a filter for the items that have no answer yet: `contains(items, answers)` is
/// called with batches of them.
template <class Contains>
void find_missing(item_span items, std::span<bool> answers, Contains&& contains) noexcept {
  constexpr std::size_t max_batch = 128;
  std::array<std::string_view, max_batch> missing;
  std::array<std::size_t, max_batch> places;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::array<bool, max_batch> found;          // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (std::size_t next = 0; next < items.size();) {
    std::size_t n = 0;
    for (; next < items.size() && n < max_batch; ++next) {
      if (answers[next]) continue;
      missing.at(n) = items[next];
      places.at(n++) = next;
    }
    if (n == 0) return;
    contains(item_span(missing).first(n), std::span(found).first(n));
    for (std::size_t i = 0; i < n; ++i) answers[places.at(i)] = found.at(i);
  }
}

}  // namespace bloomset::server
