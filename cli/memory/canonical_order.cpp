#include "memory/canonical_order.hpp"

#include <algorithm>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/hash_shards.hpp>
#include <cstdint>
#include <iterator>
#include <vector>

namespace bloomset::cli {

result<void> in_canonical_order(const key_spool& spool,
                                const std::function<result<void>(std::span<const hash64>)>& use) {
  // Fixed, because a filter may depend on where one batch ends.
  constexpr std::uint64_t keys_per_pass = std::uint64_t{1} << 22;
  const auto place = [](hash64 h) { return hash64{detail::remix64(h.value)}; };
  const std::uint64_t passes = spool.keys() / keys_per_pass + 1;
  std::vector<hash64> some;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    some.clear();
    auto read = spool.for_each([&](std::span<const hash64> hashes) -> result<void> {
      std::ranges::copy_if(hashes, std::back_inserter(some),
                           [&](hash64 h) { return detail::shard_of(place(h), passes) == pass; });
      return {};
    });
    if (!read) return read;
    std::ranges::sort(some, {}, place);
    if (auto ok = use(some); !ok) return ok;
  }
  return {};
}

}  // namespace bloomset::cli
