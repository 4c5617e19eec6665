#include "memory/canonical_order.hpp"

#include <algorithm>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/hash_shards.hpp>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace bloomset::cli {
namespace {

hash64 place(hash64 h) noexcept {
  return hash64{detail::remix64(h.value)};
}

/// The hashes of a pass, which are held as numbers of copies if they are more than a batch.
class hash_collection {
 public:
  explicit hash_collection(std::size_t max_batch) : max_batch_(max_batch) {}

  void add(hash64 h) {
    some_.push_back(h);
    if (some_.size() == max_batch_) collapse();
  }

  /// Gives out all hashes by place, and is empty then.
  result<void> drain(const std::function<result<void>(std::span<const hash64>)>& use) {
    if (!counted_.empty()) collapse();
    std::ranges::sort(some_, {}, place);
    for (const counted& each : std::exchange(counted_, {})) {
      for (std::uint64_t left = each.copies; left != 0;) {
        const std::uint64_t fits = std::min<std::uint64_t>(left, max_batch_ - some_.size());
        some_.insert(some_.end(), fits, each.hash);
        left -= fits;
        if (some_.size() < max_batch_) continue;
        if (auto ok = use(some_); !ok) return ok;
        some_.clear();
      }
    }
    auto ok = use(some_);
    some_.clear();
    return ok;
  }

 private:
  struct counted {
    hash64 hash;
    std::uint64_t copies;
  };

  void collapse() {
    std::ranges::sort(some_, {}, place);
    std::vector<counted> all;
    auto before = counted_.begin();
    for (auto at = some_.begin(); at != some_.end();) {
      const auto end =
          std::find_if(at, some_.end(), [&](hash64 h) { return h.value != at->value; });
      for (; before != counted_.end() && place(before->hash) < place(*at); ++before) {
        all.push_back(*before);
      }
      auto copies = static_cast<std::uint64_t>(end - at);
      if (before != counted_.end() && before->hash.value == at->value) copies += (before++)->copies;
      all.push_back({*at, copies});
      at = end;
    }
    all.insert(all.end(), before, counted_.end());
    counted_ = std::move(all);
    some_.clear();
  }

  std::size_t max_batch_;
  std::vector<hash64> some_;
  std::vector<counted> counted_;  // by place
};

}  // namespace

result<void> in_canonical_order(const key_spool& spool,
                                const std::function<result<void>(std::span<const hash64>)>& use,
                                std::size_t keys_per_pass) {
  const std::uint64_t passes = spool.keys() / keys_per_pass + 1;
  // Only a pass with many copies of few keys has more hashes than this.
  hash_collection collected(2 * keys_per_pass);
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    auto read = spool.for_each([&](std::span<const hash64> hashes) -> result<void> {
      for (const hash64 h : hashes) {
        if (detail::shard_of(place(h), passes) == pass) collected.add(h);
      }
      return {};
    });
    if (!read) return read;
    if (auto ok = collected.drain(use); !ok) return ok;
  }
  return {};
}

}  // namespace bloomset::cli
