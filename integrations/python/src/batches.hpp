#pragma once

// What is done with many keys. No call needs the interpreter, or takes a lock: who calls has them.

#include <bloomset/any_filter.hpp>
#include <bloomset/detail/core/cardinality.hpp>
#include <bloomset/partitioned_hash.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "batch_turns.hpp"
#include "keys.hpp"

namespace bloomset::python {

/// Whether filters take their keys as hashes of `hasher`, as most do.
struct key_door {
  bool by_hash = false;
  filter_hasher hasher = filter_hasher();
};

// Each works on the keys of one turn.

/// answers[i] for key i of the batch. Precondition: answers.size() == turns.keys().size().
void ask(const any_filter& filter, key_door door, batch_turns& turns, std::span<bool> answers);

/// covered[i]: whether the filter has an answer for key i of the batch. The same precondition.
void covers(const any_filter& filter, batch_turns& turns, std::span<bool> covered);

/// Inserts in order up to the first key without room (summary.stopped_by).
result<insert_summary> insert(any_filter& filter, key_door door, batch_turns& turns);

/// How many keys were erased.
result<std::uint64_t> erase(any_filter& filter, batch_turns& turns);
/// How many exceptions were added, or removed if `undo`.
result<std::uint64_t> except(any_filter& filter, batch_turns& turns, bool undo);

/// counts[i] for key i of the batch. Precondition: counts.size() == turns.keys().size().
result<void> count(const any_filter& filter, batch_turns& turns, std::span<std::uint64_t> counts);

void count_distinct(detail::distinct_counter& counter, filter_hasher hasher, batch_turns& turns);

/// Many hashes, in pieces: they are never moved, and can be read with breaks.
template <class Hash>
class basic_hash_chunks {
 public:
  void append(std::span<const Hash> hashes) {
    if (chunks_.empty() || chunks_.back().size() >= chunk_size) chunks_.emplace_back();
    chunks_.back().insert(chunks_.back().end(), hashes.begin(), hashes.end());
    size_ += hashes.size();
  }
  /// The hashes for a build. They must outlive it. `check_cancelled` is called between chunks too.
  basic_hash_source<Hash> source(std::function<result<void>()> check_cancelled) const {
    basic_hash_source<Hash> all;
    all.size = size_;
    all.for_each =
        [this, check_cancelled](const typename basic_hash_source<Hash>::sink& use) -> result<void> {
      for (const auto& chunk : chunks_) {
        if (auto ok = check_cancelled(); !ok) return ok;
        if (auto ok = use(chunk); !ok) return ok;
      }
      return {};
    };
    all.check_cancelled = check_cancelled;
    return all;
  }

 private:
  static constexpr std::size_t chunk_size = std::size_t{1} << 20;
  std::vector<std::vector<Hash>> chunks_;
  std::uint64_t size_ = 0;
};

using hash_chunks = basic_hash_chunks<hash64>;
using partitioned_hash_chunks = basic_hash_chunks<partitioned_hash>;

void append_hashes(hash_chunks& chunks, const filter_hasher& hasher, batch_turns& turns);
/// Of keys with a tab after their partition.
void append_hashes(partitioned_hash_chunks& chunks, const partition_hasher& hasher,
                   batch_turns& turns);

}  // namespace bloomset::python
