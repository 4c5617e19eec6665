#include <algorithm>
#include <array>
#include <bloomset/detail/cuckoo/table.hpp>

namespace bloomset::detail {
namespace {

constexpr std::size_t prefetched = 32;

void contains_each(const cuckoo_layout& layout, const std::byte* payload,
                   std::span<const hash64> hashes, bool* answers,
                   bucket_prefetch prefetch) noexcept {
  std::array<cuckoo_place, prefetched> places;
  while (!hashes.empty()) {
    const std::size_t n = std::min(hashes.size(), prefetched);
    for (std::size_t i = 0; i < n; ++i) {
      places[i] = layout.place(hashes[i]);
      if (prefetch != bucket_prefetch::none) layout.prefetch(payload, places[i]);
    }
    for (std::size_t i = 0; i < n; ++i) *answers++ = layout.contains(payload, places[i]);
    hashes = hashes.subspan(n);
  }
}

}  // namespace

const cuckoo_kernels cuckoo_kernels::scalar{contains_each};

}  // namespace bloomset::detail
