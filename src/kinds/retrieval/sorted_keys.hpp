#pragma once

// The keys of a shard by the start of their window, for the build of levels.

#include <algorithm>
#include <bloomset/detail/core/valued_hash.hpp>
#include <bloomset/detail/retrieval/layout.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "kinds/retrieval/build_levels.hpp"

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

inline failure two_values() {
  return fail(errc::incompatible,
              "two keys with the same hash have different values; hash the keys with another seed");
}

/// Keys and, in builds of values, their values.
template <class Entry>
constexpr bool has_values = std::is_same_v<Entry, valued_hash>;

inline std::uint64_t hash_in(hash64 h) noexcept {
  return h.value;
}
inline std::uint64_t hash_in(const valued_hash& entry) noexcept {
  return entry.hash().value;
}
inline void set_hash(hash64& h, std::uint64_t value) noexcept {
  h.value = value;
}
inline void set_hash(valued_hash& entry, std::uint64_t value) noexcept {
  entry = {hash64{value}, entry.value()};
}

inline bool is_other(hash64) noexcept {
  return false;
}
inline bool is_other(const valued_hash& entry) noexcept {
  return (entry.value() & other_key) != 0;
}
template <class Entry>
std::uint64_t count_members(std::span<const Entry> entries, bool guided) noexcept {
  if (!guided) return entries.size();
  return static_cast<std::uint64_t>(
      std::ranges::count_if(entries, [](const Entry& one) { return !is_other(one); }));
}

/// Keys with their values by start.
struct keys_by_start {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> values;  // empty without values
  std::vector<std::uint32_t> begins;  // starts + 1
};

/// The keys of a shard by start, without repetitions.
template <class Entry>
struct sorted_keys : keys_by_start {
  bool guided = false;  // values have the mark other_key

  /// Fails if a key has two values.
  result<void> assign(std::span<const Entry> entries, std::uint64_t shards, std::uint64_t starts,
                      std::uint32_t value_mask) {
    const auto start_of = [&](const Entry& entry) {
      return retrieval_start_of(hash_in(entry), shards, starts);
    };
    begins.assign(starts + 2, 0);
    keys.resize(entries.size());
    if constexpr (has_values<Entry>) values.resize(entries.size());
    // Counted at index start + 2, so that the second pass leaves begins[start] in place.
    for (const Entry& entry : entries) ++begins[start_of(entry) + 2];
    for (std::size_t i = 2; i < begins.size(); ++i) begins[i] += begins[i - 1];
    for (const Entry& entry : entries) {
      const std::uint32_t at = begins[start_of(entry) + 1]++;
      keys[at] = hash_in(entry);
      if constexpr (has_values<Entry>) values[at] = entry.value() & value_mask;
    }
    begins.pop_back();
    return drop_repetitions();
  }

  /// Moves the other keys of a guided build to `others`, in the same form.
  void split_off(keys_by_start& others) {
    if constexpr (has_values<Entry>) {
      others.keys.clear();
      others.values.clear();
      others.begins.assign(1, 0);
      std::uint32_t from = 0;
      std::uint32_t to = 0;
      for (std::size_t start = 0; start + 1 < begins.size(); ++start) {
        for (; from < begins[start + 1]; ++from) {
          if (!is_other(entry(from))) {
            keys[to] = keys[from];
            values[to++] = values[from];
          } else {
            others.keys.push_back(keys[from]);
            others.values.push_back(values[from] ^ other_key);
          }
        }
        begins[start + 1] = to;
        others.begins.push_back(static_cast<std::uint32_t>(others.keys.size()));
      }
      keys.resize(to);
      values.resize(to);
    }
  }

  Entry entry(std::size_t i) const noexcept {
    if constexpr (has_values<Entry>) {
      return {hash64{keys[i]}, values[i]};
    } else {
      return {keys[i]};
    }
  }

 private:
  // Few hashes have the same start, so that comparing all pairs is faster than sorting.
  static bool repeats(std::span<const std::uint64_t> some) noexcept {
    constexpr std::size_t few = 24;
    if (some.size() > few) return true;
    bool found = false;
    for (std::size_t i = 1; i < some.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) found |= some[i] == some[j];
    }
    return found;
  }

  /// Sorts [from, end) and drops repetitions. Returns the number that is left, at the beginning.
  result<std::size_t> unique(std::uint32_t from, std::uint32_t end) {
    if constexpr (has_values<Entry>) {
      std::vector<valued_hash> some;
      for (std::uint32_t i = from; i < end; ++i) some.push_back(entry(i));
      std::ranges::sort(some);
      // A member is before another key with the same hash.
      const std::uint32_t mark = guided ? other_key : 0;
      const auto is_repetition = [mark](const valued_hash& a, const valued_hash& b) {
        return a.hash() == b.hash() && (a.value() | mark) == (b.value() | mark);
      };
      some.erase(std::ranges::unique(some, is_repetition).begin(), some.end());
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (i != 0 && some[i].hash() == some[i - 1].hash()) return two_values();
        keys[from + i] = some[i].hash().value;
        values[from + i] = some[i].value();
      }
      return some.size();
    } else {
      const std::span<std::uint64_t> some(keys.data() + from, end - from);
      std::ranges::sort(some);
      return static_cast<std::size_t>(std::ranges::unique(some).begin() - some.begin());
    }
  }

  result<void> drop_repetitions() {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    for (std::size_t start = 0; start + 1 < begins.size(); ++start) {
      const std::uint32_t end = begins[start + 1];
      std::size_t left = end - from;
      if (repeats({keys.data() + from, left})) {
        const auto distinct = unique(from, end);
        if (!distinct) return fail(distinct.error());
        left = *distinct;
      }
      if (to != from) {
        std::copy_n(keys.begin() + from, left, keys.begin() + to);
        if constexpr (has_values<Entry>) {
          std::copy_n(values.begin() + from, left, values.begin() + to);
        }
      }
      from = end;
      to += static_cast<std::uint32_t>(left);
      begins[start + 1] = to;
    }
    keys.resize(to);
    if constexpr (has_values<Entry>) values.resize(to);
    return {};
  }
};

}  // namespace bloomset::detail

#pragma GCC visibility pop
