#pragma once

// What is done with many keys. No call needs the interpreter, or takes a lock: who calls has them.

#include <bloomset/any_filter.hpp>
#include <bloomset/detail/core/cardinality.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "keys.hpp"

namespace bloomset::python {

/// Whether filters take their keys as hashes of `hasher`, as most do.
struct key_door {
  bool by_hash = false;
  filter_hasher hasher = filter_hasher();
};

/// answers[i] for key i. Precondition: answers.size() == keys.size().
void ask(const any_filter& filter, key_door door, key_batch& keys, std::span<bool> answers);

/// Inserts in order up to the first key without room (summary.done < keys.size()).
result<insert_summary> insert(any_filter& filter, key_door door, key_batch& keys);

/// How many keys were erased.
result<std::uint64_t> erase(any_filter& filter, key_batch& keys);

/// counts[i] for key i. Precondition: counts.size() == keys.size().
result<void> count(const any_filter& filter, key_batch& keys, std::span<std::uint64_t> counts);

void append_hashes(std::vector<hash64>& to, filter_hasher hasher, key_batch& keys);

void count_distinct(detail::distinct_counter& counter, filter_hasher hasher, key_batch& keys);

}  // namespace bloomset::python
