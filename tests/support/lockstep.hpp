#pragma once

// A filter in lockstep with a real multiset. Every operation is done on both, and the filter's
// answers are compared with the truth. The first contradiction is kept as a sentence. The property
// tests and the fuzz targets use it.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/bloomset.hpp>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bloomset::test {

template <class F>
class lockstep {
 public:
  /// Keys are 0 .. universe - 1; non-members are beyond.
  static constexpr std::uint64_t universe = 64;

  explicit lockstep(F filter) : filter_(std::move(filter)), empty_(bytes()) {}

  /// The filter's first wrong answer, as a sentence; empty if there is none.
  const std::string& contradiction() const noexcept { return contradiction_; }
  bool ok() const noexcept { return contradiction_.empty(); }
  const F& filter() const noexcept { return filter_; }

  void insert(std::uint64_t key) {
    const bool said = filter_.may_contain(key);
    const auto before = bytes();
    const insert_outcome outcome = filter_.insert(key);
    if (is_contained(outcome)) {
      ++copies_[key];
      expect((outcome == insert_outcome::inserted) == !said,
             "insert and the query before it disagree on whether it was new", key);
    } else {
      expect(bytes() == before, "a refused insert changed the filter", key);
    }
    check(key);
  }

  /// Keys first, first + 1, ... as one batch.
  void insert_batch(std::uint64_t first, std::uint64_t n) {
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = 0; i < n; ++i) keys.push_back((first + i) % universe);
    F one_by_one = copy();
    insert_summary expected;
    for (const std::uint64_t key : keys) {
      const insert_outcome outcome = one_by_one.insert(key);
      if (!is_contained(outcome)) break;
      ++expected.done;
      ++(outcome == insert_outcome::inserted ? expected.inserted : expected.maybe_present);
    }
    const insert_summary summary = filter_.insert(keys);
    expect(summary.done == expected.done && summary.inserted == expected.inserted &&
               summary.maybe_present == expected.maybe_present &&
               (summary.done == n) == is_contained(summary.stopped_by),
           "a batch says another thing than single inserts", first);
    expect(serialize(one_by_one.image()) == bytes(),
           "a batch does another thing than single inserts", first);
    for (std::size_t i = 0; i < std::min(summary.done, keys.size()); ++i) {
      ++copies_[keys[i]];
    }
    check_all();
  }

  /// Erases a member. Another key is erased only if the filter is certain that it is not a member.
  void erase(std::uint64_t key) {
    if constexpr (erasable<F>) {
      if (copies_[key] != 0) {
        expect(filter_.erase(key), "a member could not be erased", key);
        --copies_[key];
      } else if (!filter_.may_contain(key)) {
        const auto before = bytes();
        expect(!filter_.erase(key), "what certainly is no member was erased", key);
        expect(bytes() == before, "erasing no member changed the filter", key);
      }
      check_all();
    }
  }

  /// Erases keys first, first + 1, ... as one batch, including keys that are certainly not members.
  void erase_batch(std::uint64_t first, std::uint64_t n) {
    if constexpr (erasable<F>) {
      std::vector<std::uint64_t> keys;
      auto left = copies_;
      for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t key = (first + i) % universe;
        // One that only seems to be a member may take another's copy.
        if (left[key] == 0 && filter_.may_contain(key)) continue;
        left[key] -= left[key] != 0;
        keys.push_back(key);
      }
      F one_by_one = copy();
      std::vector<char> expected;
      for (const std::uint64_t key : keys) expected.push_back(one_by_one.erase(key) ? 1 : 0);
      std::array<bool, 256> erased{};
      filter_.erase(keys, erased);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        expect(erased[i] == (expected[i] != 0), "a batch erases what single erases do not",
               keys[i]);
        expect(erased[i] || copies_[keys[i]] == 0, "a member was not erased", keys[i]);
      }
      copies_ = left;
      expect(serialize(one_by_one.image()) == bytes(),
             "a batch erases otherwise than single erases", first);
      check_all();
    }
  }

  /// Continues with a copy, and then with a moved copy. Changes to another copy must not affect
  /// them.
  void copy_and_move(std::uint64_t key) {
    const auto before = bytes();
    F other = filter_;
    (void)other.insert(key);
    expect(bytes() == before, "what was done to a copy changed the filter", key);
    other = filter_;
    filter_.clear();
    expect(serialize(other.image()) == before, "what was done to the filter changed a copy", key);
    F moved = std::move(other);
    filter_ = std::move(moved);
    expect(bytes() == before, "what was moved is another filter", key);
    check_all();
  }

  /// Inserts or erases a crowd of keys as one batch of hashes: `n` more keys than the segments of a
  /// filter hold. Only for filters that grow.
  void crowd(std::uint64_t n) {
    if constexpr (requires { filter_.grows(); }) {
      const auto size = filter_.size();
      std::vector<typename F::hash_type> hashes;
      if (crowd_ == 0) {
        crowd_ = n;
        for_crowd([&](const auto& h) { hashes.push_back(h); });
        const insert_summary summary =
            filter_.insert(std::span<const typename F::hash_type>(hashes));
        expect(summary.done == n, "a filter that grows has no room", n);
        expect(summary.inserted + summary.maybe_present == summary.done, "a batch's sum", n);
        expect(filter_.size() == size + (erasable<F> ? n : summary.inserted), "a size", n);
        check_crowd();
      } else if constexpr (erasable<F>) {
        for_crowd([&](const auto& h) { hashes.push_back(h); });
        const auto erased = std::make_unique<bool[]>(hashes.size());
        const std::span<bool> answers(erased.get(), hashes.size());
        filter_.erase(std::span<const typename F::hash_type>(hashes), answers);
        expect(std::ranges::count(answers, true) == static_cast<std::ptrdiff_t>(crowd_),
               "a member of the crowd could not be erased", crowd_);
        expect(filter_.size() == size - crowd_, "a size after erases", crowd_);
        crowd_ = 0;
      }
      check_all();
    }
  }

  void clear() {
    filter_.clear();
    copies_ = {};
    crowd_ = 0;
    expect(bytes() == empty_, "a cleared filter is not the empty one", 0);
    check_all();
  }

  /// Replaces the filter by one that is read from its bytes.
  void write_and_read() {
    const auto written = bytes();
    filter_ = copy();
    expect(bytes() == written, "what was read is written as other bytes", 0);
    check_all();
  }

  /// Merges a filter of some keys into this one.
  void merge(std::uint64_t first, std::uint64_t n) {
    if constexpr (mergeable<F>) {
      F other = empty();
      std::vector<std::uint64_t> keys;
      for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t key = (first + i) % universe;
        if (is_contained(other.insert(key))) keys.push_back(key);
      }
      const auto before = bytes();
      if (filter_.merge(other)) {
        for (const std::uint64_t key : keys) ++copies_[key];
      } else {
        expect(bytes() == before, "a refused merge changed the filter", first);
      }
      check_all();
    }
  }

  /// Intersects with a filter of some keys.
  void intersect(std::uint64_t first, std::uint64_t n) {
    if constexpr (intersectable<F>) {
      F other = empty();
      std::array<std::uint64_t, universe> kept{};
      for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t key = (first + i) % universe;
        (void)other.insert(key);
        kept[key] = copies_[key];
      }
      expect(filter_.intersect(other).has_value(), "filters built alike do not intersect", first);
      copies_ = kept;
      check_all();
    }
  }

  /// Every key, one by one and as a batch, and the filter's figures.
  void check_all() {
    std::array<std::uint64_t, 2 * universe> keys{};
    std::array<bool, 2 * universe> answers{};
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
    filter_.may_contain(keys, answers);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      expect(answers[i] == filter_.may_contain(keys[i]), "a batch answers otherwise", keys[i]);
      if (i < universe) check(i);
    }
    check_crowd(61);
    const double rate = filter_.current_fpr();
    expect(rate >= 0 && rate <= 1, "the current rate is none", 0);
    expect(filter_.estimate_size() >= 0, "the estimated size is none", 0);
    expect(bytes() != empty_ || rate == 0, "an empty filter has a rate", 0);
  }

 private:
  void check(std::uint64_t key) {
    if (copies_[key] != 0) expect(filter_.may_contain(key), "a false negative", key);
    if constexpr (countable<F>) {
      const std::uint64_t count = filter_.count(key);
      expect(count >= std::min(copies_[key], ceiling()), "a count is too low", key);
      expect((count != 0) == filter_.may_contain(key), "count and query disagree", key);
    }
  }

  template <class Use>
  void for_crowd(Use&& use, std::uint64_t step = 1) const {
    for (std::uint64_t i = 0; i < crowd_; i += step) {
      with_hash(filter_.hash_function(), 2 * universe + i, use);
    }
  }
  void check_crowd(std::uint64_t step = 1) {
    const auto check_one = [&](const auto& h) {
      expect(filter_.may_contain(h), "one of the crowd is lost", 0);
    };
    for_crowd(check_one, step);
  }

  /// The largest count that the filter can report.
  std::uint64_t ceiling() const {
    if constexpr (requires { filter_.ceiling(); }) {
      return filter_.ceiling();
    } else {
      return std::numeric_limits<std::uint64_t>::max();
    }
  }

  void expect(bool holds, const char* otherwise, std::uint64_t key) {
    if (!holds && ok()) contradiction_ = fmt::format("{} (key {})", otherwise, key);
  }

  std::vector<std::byte> bytes() const { return serialize(filter_.image()); }

  F from(const std::vector<std::byte>& file) {
    const auto owner = std::make_shared<std::vector<std::byte>>(file);
    auto stored = read_stored(mapped_storage(owner, *owner), verification::always, "memory");
    auto filter = stored ? open_stored<F>(*stored) : result<F>(fail(stored.error()));
    if (filter) return std::move(*filter);
    expect(false, "what was written cannot be read", 0);
    return detail::or_die(std::move(filter));
  }
  F copy() { return from(bytes()); }
  F empty() { return from(empty_); }

  F filter_;
  std::vector<std::byte> empty_;
  std::array<std::uint64_t, universe> copies_{};
  std::uint64_t crowd_ = 0;  ///< inserted keys of 2 * universe, ...
  std::string contradiction_;
};

/// Runs one operation, chosen by any three numbers.
template <class F>
void apply(lockstep<F>& pair, unsigned operation, std::uint64_t key, std::uint64_t n) {
  key %= lockstep<F>::universe;
  n %= 40;
  switch (operation % 16) {
    case 0:
      return pair.clear();
    case 1:
      return pair.write_and_read();
    case 2:
      return pair.merge(key, n % 8);
    case 3:
      return pair.intersect(key, n + 20);
    case 4:
      return pair.insert_batch(key, n);
    case 5:
    case 6:
    case 7:
      return pair.erase(key);
    case 8:
      return pair.erase_batch(key, n);
    case 9:
      return pair.check_all();
    case 10:
      return pair.copy_and_move(key);
    case 11:
      // A batch for a few segments, or one that is large enough to be merged with them. Filters
      // without segments grow as often by fewer keys.
      if (F::kind != filter_kind::expandable) return pair.crowd(50 * n);
      return pair.crowd(n % 4 == 0 ? 40'000 : 500 * n);
    default:
      return pair.insert(key);
  }
}

}  // namespace bloomset::test
