#include <bloomset/exceptions.hpp>

#include <algorithm>
#include <functional>

namespace bloomset {

bool exception_list::contains(hash64 h) const noexcept {
  return std::ranges::binary_search(hashes_, h);
}

void exception_list::add(hash64 h) {
  hashes_.insert(std::ranges::lower_bound(hashes_, h), h);
}

bool exception_list::remove(hash64 h) noexcept {
  const auto at = std::ranges::lower_bound(hashes_, h);
  if (at == hashes_.end() || *at != h) return false;
  hashes_.erase(at);
  return true;
}

result<exception_list> exception_list::of(std::span<const hash64> hashes) {
  if (hashes.empty() || hashes.size() > max_size) {
    return fail(errc::corrupt, "its list of exceptions has a wrong length");
  }
  if (std::ranges::adjacent_find(hashes, std::greater_equal()) != hashes.end()) {
    return fail(errc::corrupt, "its exceptions are out of order");
  }
  exception_list list;
  list.hashes_.assign(hashes.begin(), hashes.end());
  return list;
}

}  // namespace bloomset
