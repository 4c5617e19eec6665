#include "kinds/file_index/joined_keys.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <bloomset/detail/core/hash_shards.hpp>
#include <bloomset/detail/core/threads.hpp>
#include <bloomset/detail/core/xxhash.hpp>
#include <bloomset/plan/numeric.hpp>
#include <limits>
#include <mutex>

#include "kinds/file_index/list_code.hpp"

namespace bloomset::detail {
namespace {

constexpr std::uint64_t keys_per_shard = std::uint64_t{1} << 16;

/// Counts lists in several threads, up to a number of bytes.
class list_counts {
 public:
  explicit list_counts(std::uint64_t max_bytes) noexcept : max_bytes_(max_bytes) {}

  /// Returns false if the lists have become too many.
  bool add(file_list_view list) {
    const std::size_t hash = file_list_hash()(list);
    constexpr int unused_bits = std::numeric_limits<std::size_t>::digits - 24;
    stripe& into = stripes_[hash >> unused_bits & (stripes_.size() - 1)];
    const std::lock_guard lock(into.locked);
    if (const auto found = into.counts.find(list); found != into.counts.end()) {
      ++found->second;
      return true;
    }
    into.counts.emplace(list, 1);
    // A node, and the characters of a list that is not in the node itself.
    const std::uint64_t bytes = 80 + sizeof(char32_t) * list.size();
    return bytes_.fetch_add(bytes) + bytes <= max_bytes_;  // of all lists, in whatever order
  }
  bool are_too_many() const noexcept { return bytes_ > max_bytes_; }

  template <class Use>
  void for_each(Use&& use) const {
    for (const stripe& one : stripes_) {
      for (const auto& [list, count] : one.counts) use(list, count);
    }
  }

 private:
  struct stripe {
    mutex locked;
    file_list_map<std::uint64_t> counts;
  };

  std::uint64_t max_bytes_;
  std::atomic<std::uint64_t> bytes_{0};
  std::array<stripe, 64> stripes_;
};

/// Whether a list of d files that `count` of n keys have is cheaper in a table than key by key.
bool is_worth_an_entry(std::uint64_t d, double count, double n, std::uint64_t files) noexcept {
  const auto length = static_cast<double>(d);
  const auto all = static_cast<double>(files);
  const double list = is_dense(d, files) ? all : length * (numeric::log2(all / length) + 1.5);
  // An entry has a length, a flag and its share of offsets besides.
  const double entry = list + 2 * numeric::log2(length) + 11;
  const double code = numeric::log2(n / count);
  const double chain = length * (static_cast<double>(std::bit_width(files - 1)) + 1);
  // A chain has a code as well, of at least about a bit.
  return entry + count * code < count * (chain + 1);
}

}  // namespace

std::size_t file_list_hash::operator()(file_list_view list) const noexcept {
  return XXH3_64bits(list.data(), list.size() * sizeof(char32_t));
}

result<void> for_each_joined_key(
    const file_key_source& keys, unsigned threads,
    const std::function<result<void>(unsigned thread, hash64 h, file_list_view files)>& use) {
  const std::uint64_t shards = keys.size / keys_per_shard + 1;
  std::vector<file_list> lists(threads);
  return for_each_shard(
      keys, shards, std::max<std::uint64_t>(keys.size, 1), threads,
      [&](unsigned thread, std::uint64_t, std::span<file_key> some) -> result<void> {
        std::sort(some.begin(), some.end());
        file_list& list = lists[thread];
        for (std::size_t i = 0; i < some.size();) {
          const hash64 h = some[i].hash();
          list.clear();
          for (; i < some.size() && some[i].hash() == h; ++i) {
            if (list.empty() || list.back() != some[i].value()) list.push_back(some[i].value());
          }
          if (auto ok = use(thread, h, list); !ok) return ok;
        }
        return {};
      });
}

result<std::vector<file_list>> choose_lists(const file_key_source& keys, std::size_t files,
                                            unsigned threads, std::uint64_t max_bytes) {
  // A sample of the keys, by the lowest bits of their hashes, is the same in every order.
  for (std::uint64_t mask = 0;; mask = mask << 3 | 7) {
    list_counts counts(max_bytes);
    std::vector<std::uint64_t> sampled(threads);
    const auto done = for_each_joined_key(
        keys, threads, [&](unsigned thread, hash64 h, file_list_view list) -> result<void> {
          if ((h.value & mask) != 0) return {};
          ++sampled[thread];
          if (list.size() > 1 && !counts.add(list)) return fail(errc::full, "");
          return {};
        });
    if (!done && done.error().code == errc::full && counts.are_too_many()) continue;
    if (!done) return fail(done.error());
    std::uint64_t n = 0;
    for (const std::uint64_t part : sampled) n += part;
    const auto scale = static_cast<double>(mask + 1);
    std::vector<file_list> chosen;
    counts.for_each([&](const file_list& list, std::uint64_t count) {
      // One key of a sample is no evidence that others have its list.
      const std::uint64_t sure = mask == 0 ? count : count - 1;
      if (sure != 0 && is_worth_an_entry(list.size(), scale * static_cast<double>(sure),
                                         scale * static_cast<double>(n), files)) {
        chosen.push_back(list);
      }
    });
    std::ranges::sort(chosen);
    return chosen;
  }
}

}  // namespace bloomset::detail
