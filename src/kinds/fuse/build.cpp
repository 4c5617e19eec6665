// The build of a binary fuse filter: shard by shard, each by peeling (T. M. Graf, D. Lemire,
// "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022, section 3; the graphs are those
// of M. Dietzfelbinger, S. Walzer, "Dense Peelable Random Uniform Hypergraphs", 2019).
// docs/maintain/decisions/kinds/fuse-build.md has the reasons for shards, segments and working
// arrays.

#include <algorithm>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/hash_shards.hpp>
#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/detail/core/threads.hpp>
#include <bloomset/detail/fuse/table.hpp>
#include <bloomset/fuse.hpp>
#include <bloomset/plan/units.hpp>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "plan/checks.hpp"

namespace bloomset::detail {
namespace {

// Up to this many keys there is one shard, and the number of keys is not estimated.
constexpr std::uint64_t surely_one_shard = std::uint64_t{3} << 19;
// Four in five tries succeed. From the fifth try on, each has a sixteenth more slots than the one
// before. The 64th has 40 times the slots, and fails only for chosen hashes.
constexpr unsigned tries_at_size = 4;
constexpr unsigned max_tries = 64;
constexpr std::uint64_t max_shard_keys = (std::uint64_t{1} << 26) - 1;

struct built_shard {
  std::uint64_t starts = 1;
  std::uint64_t seed = 0;
  std::uint64_t count = 0;
  unsigned segment_log2 = 0;
  owned_storage fingerprints;
};

/// The memory of a thread that builds shard after shard: 25 bytes per key of the largest.
class shard_builder {
 public:
  explicit shard_builder(const fuse_params& params) noexcept : params_(params) {}

  /// The shard of these hashes, which may be reordered. A `segment_log2` of 0 means the best for
  /// their number.
  result<built_shard> build(std::uint64_t shard, std::span<hash64> hashes, unsigned segment_log2) {
    return params_.arity == 3 ? build<3>(shard, hashes, segment_log2)
                              : build<4>(shard, hashes, segment_log2);
  }

 private:
  template <unsigned Arity>
  result<built_shard> build(std::uint64_t shard, std::span<hash64> hashes, unsigned given_log2) {
    built_shard made;
    made.count = hashes.size();
    made.segment_log2 = given_log2 != 0 ? given_log2 : fuse_segment_log2(made.count, Arity);
    made.starts = fuse_segments_for(made.count, Arity, made.segment_log2);
    bool may_repeat = true;
    for (unsigned attempt = 0; attempt < max_tries && made.count <= max_shard_keys; ++attempt) {
      if (attempt >= tries_at_size) made.starts += made.starts / 16 + 1;
      made.seed = remix64(params_.seed.value() + remix64(shard * max_tries + attempt + 1));
      if (auto ok = reserve(slots<Arity>(made)); !ok) return fail(ok.error());
      if (find_order<Arity>(hashes, made)) {
        if (auto ok = write<Arity>(made); !ok) return fail(ok.error());
        return made;
      }
      // A set with equal hashes cannot be peeled. They are searched only if a pair was seen, or
      // after a second failure, because that takes longer than a try. The tries begin anew then.
      if (may_repeat && (attempt != 0 || has_pair(slots<Arity>(made)))) {
        may_repeat = false;
        const std::size_t distinct = drop_repetitions(hashes);
        if (distinct != made.count) return build<Arity>(shard, hashes.first(distinct), given_log2);
      }
    }
    return hashes_were_chosen();
  }

  template <unsigned Arity>
  static std::uint64_t slots(const built_shard& shard) noexcept {
    return (shard.starts + Arity - 1) << shard.segment_log2;
  }

  result<void> reserve(std::uint64_t slots) {
    // One more than the slots: the entry behind the last is written before it is known to count.
    if (auto ok = reserve(keys_, (slots + 1) * sizeof(std::uint64_t)); !ok) return ok;
    if (auto ok = reserve(alone_, (slots + 1) * sizeof(std::uint32_t)); !ok) return ok;
    if (auto ok = reserve(counts_, slots); !ok) return ok;
    return reserve(cells_, slots * sizeof(std::uint64_t));
  }
  static result<void> reserve(owned_storage& memory, std::uint64_t bytes) {
    if (memory.bytes().size() >= bytes) return {};
    memory = owned_storage();
    auto larger = owned_storage::make(bytes + bytes / 16);
    if (!larger) return fail(std::move(larger.error()));
    memory = std::move(*larger);
    return {};
  }

  template <class Word>
  static Word* words(owned_storage& memory) noexcept {
    return reinterpret_cast<Word*>(memory.writable_bytes().data());
  }

  /// Finds the order in which assign() goes through the keys: keys_ and alone_ from their end.
  /// Returns false if there is none.
  template <unsigned Arity>
  bool find_order(std::span<const hash64> hashes, const built_shard& shard) {
    // At the end of keys_, because the queue overwrites them from its beginning.
    const std::size_t first = slots<Arity>(shard) + 1 - hashes.size();
    sort_by_segment(hashes, shard, first);
    return peel<Arity>(shard);
  }

  /// Sorts the mixed hashes by the segment of their first place, so that the later steps go through
  /// memory in one direction and touch only a few segments at a time. They begin at index `first`.
  void sort_by_segment(std::span<const hash64> hashes, const built_shard& shard,
                       std::size_t first) {
    auto* const to = words<std::uint64_t>(keys_);
    bounds_.assign(shard.starts + 1, 0);
    bounds_[0] = static_cast<std::uint32_t>(first);
    const auto segment_of = [&](std::uint64_t mixed) { return mulhi64(mixed, shard.starts); };
    for (const hash64 h : hashes) ++bounds_[segment_of(fuse_mix(h, shard.seed)) + 1];
    for (std::size_t i = 1; i < bounds_.size(); ++i) bounds_[i] += bounds_[i - 1];
    for (const hash64 h : hashes) {
      const std::uint64_t mixed = fuse_mix(h, shard.seed);
      to[bounds_[segment_of(mixed)]++] = mixed;
    }
  }

  /// Adds the keys of one segment, which begin at index `i`, to their slots. Returns the index
  /// behind them, or 0 if a slot has 32 keys or more. Distinct hashes have a chance of 10^-22 per
  /// slot to do so, therefore many hashes are equal.
  template <unsigned Arity>
  std::size_t count(const built_shard& shard, std::uint64_t segment, std::size_t i) noexcept {
    const auto* const keys = words<std::uint64_t>(keys_);
    auto* const cells = words<std::uint64_t>(cells_);
    auto* const counts = words<std::uint8_t>(counts_);
    const std::size_t length = std::size_t{1} << shard.segment_log2;
    // Just before their first key, while they are in the cache.
    const std::uint64_t unused = segment == 0 ? 0 : segment + Arity - 1;
    const std::size_t bytes = (segment + Arity - unused) * length;
    std::memset(cells + unused * length, 0, bytes * sizeof *cells);
    std::memset(counts + unused * length, 0, bytes);
    unsigned seen = 0;
    for (; i < bounds_[segment]; ++i) {
      const std::uint64_t key = keys[i];
      fuse_places<Arity>(key, 0, shard.starts << shard.segment_log2, shard.segment_log2,
                         [&](std::uint64_t place) {
                           cells[place] ^= key;
                           seen |= ++counts[place];
                         });
    }
    return seen < 32 ? i : 0;
  }

  /// Removes keys that are alone at a slot until none is left. It goes from the first segment to
  /// the last, and empties each as far as possible, so that only a few segments are in use at a
  /// time. The queue of slots with one key becomes the order: a removed key is written to the front
  /// of the queue, at most to its own place.
  ///
  /// Keys are counted segment by segment, before one of their slots is read. The queue has at most
  /// one entry per slot of the counted segments. It reaches the keys behind them only if they are
  /// more than the slots that are left, and then no order exists.
  template <unsigned Arity>
  bool peel(const built_shard& shard) {
    auto* const keys = words<std::uint64_t>(keys_);
    auto* const alone = words<std::uint32_t>(alone_);
    auto* const cells = words<std::uint64_t>(cells_);
    auto* const counts = words<std::uint8_t>(counts_);
    const unsigned log2 = shard.segment_log2;
    const std::uint64_t length = shard.starts << log2;
    std::uint64_t counted = 0;  // segments
    std::size_t next = slots<Arity>(shard) + 1 - shard.count;
    const auto count_to = [&](std::uint64_t segment) {
      while (counted < shard.starts && counted <= segment) {
        next = count<Arity>(shard, counted++, next);
        if (next == 0 || next <= counted << log2) return false;
      }
      return true;
    };
    std::size_t done = 0;
    std::size_t head = 0;
    std::size_t tail = 0;
    const auto queue = [&](std::uint64_t slot, std::uint64_t cell, unsigned count) {
      keys[tail] = cell;
      alone[tail] = static_cast<std::uint32_t>(slot);
      tail += count == 1;
    };
    for (std::uint64_t segment = 0; segment < shard.starts + Arity - 1; ++segment) {
      if (!count_to(segment + Arity - 1)) return false;
      for (std::uint64_t slot = segment << log2; slot < (segment + 1) << log2; ++slot) {
        queue(slot, cells[slot], counts[slot]);
      }
      for (; head < tail; ++head) {
        const std::uint32_t slot = alone[head];
        if (counts[slot] != 1) continue;  // its key was alone elsewhere too
        const std::uint64_t key = keys[head];
        const std::uint64_t last = (mulhi64(key, length) >> log2) + Arity - 1;
        if (last >= counted && !count_to(last)) [[unlikely]]
          return false;
        keys[done] = key;
        alone[done++] = slot;
        fuse_places<Arity>(key, 0, length, log2, [&](std::uint64_t place) {
          queue(place, cells[place] ^= key, --counts[place]);
        });
      }
    }
    return done == shard.count;
  }

  template <unsigned Arity>
  result<void> write(built_shard& shard) {
    const std::uint64_t all = slots<Arity>(shard);
    auto memory = owned_storage::make(bytes_for_bits(all * params_.fingerprint_bits));
    if (!memory) return fail(std::move(memory.error()));
    shard.fingerprints = std::move(*memory);
    if (params_.fingerprint_bits <= 8) {
      assign<Arity, std::uint8_t>(shard);
    } else if (params_.fingerprint_bits <= 16) {
      assign<Arity, std::uint16_t>(shard);
    } else {
      assign<Arity, std::uint32_t>(shard);
    }
    return {};
  }

  /// Whether two equal hashes are all that is left at a slot.
  bool has_pair(std::uint64_t slots) noexcept {
    const auto* const cells = words<std::uint64_t>(cells_);
    const auto* const counts = words<std::uint8_t>(counts_);
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
      if (counts[slot] == 2 && cells[slot] == 0) return true;
    }
    return false;
  }

  /// Sets the slot at which each key was alone, so that the XOR of its slots is its fingerprint;
  /// the key that was peeled last comes first. The cells, which are zero after peeling, become the
  /// slots.
  template <unsigned Arity, class Word>
  void assign(built_shard& shard) {
    const auto* const keys = words<std::uint64_t>(keys_);
    const auto* const alone = words<std::uint32_t>(alone_);
    Word* const at = words<Word>(cells_);
    for (std::uint64_t left = shard.count; left-- != 0;) {
      std::uint32_t sum = fuse_fingerprint(keys[left], params_.fingerprint_bits);
      fuse_places<Arity>(keys[left], 0, shard.starts << shard.segment_log2, shard.segment_log2,
                         [&](std::uint64_t place) { sum ^= at[place]; });
      at[alone[left]] = static_cast<Word>(sum);
    }
    pack(std::span<const Word>(at, slots<Arity>(shard)), shard.fingerprints.writable_bytes());
  }

  template <class Word>
  void pack(std::span<const Word> from, std::span<std::byte> to) const noexcept {
    const unsigned w = params_.fingerprint_bits;
    if (w == 8 * sizeof(Word)) {
      std::memcpy(to.data(), from.data(), from.size_bytes());
      return;
    }
    std::uint64_t pending = 0;
    unsigned bits = 0;
    std::byte* at = to.data();
    for (const Word fingerprint : from) {
      pending |= std::uint64_t{fingerprint} << bits;
      bits += w;
      if (bits >= 32) {
        store(at, static_cast<std::uint32_t>(pending));
        at += sizeof(std::uint32_t);
        pending >>= 32;
        bits -= 32;
      }
    }
    for (; at != to.data() + to.size(); ++at, pending >>= 8) *at = static_cast<std::byte>(pending);
  }

  const fuse_params params_;
  owned_storage keys_;    // mixed hashes by segment; then the queue and the order of peeling
  owned_storage alone_;   // where each of these is alone
  owned_storage cells_;   // the XOR of the keys at each slot; then the slots
  owned_storage counts_;  // the number of keys at each slot
  std::vector<std::uint32_t> bounds_;
};

/// Copies the shards behind their directory and frees the memory of each.
result<built_fuse> assemble(const fuse_params& params, std::vector<built_shard> shards) {
  built_fuse all{.params = params, .payload = {}, .count = 0};
  all.params.shards = static_cast<std::uint32_t>(shards.size());
  all.params.segment_log2 = shards.front().segment_log2;
  for (const built_shard& one : shards) {
    all.params.segments += one.starts + params.arity - 1;
    all.count += one.count;
  }
  auto memory = owned_storage::make(all.params.payload_bytes());
  if (!memory) return fail(std::move(memory.error()));
  std::byte* entry = memory->writable_bytes().data();
  std::byte* to = entry + all.params.directory_bytes();
  std::uint64_t segment = 0;
  for (built_shard& one : shards) {
    store(entry, fuse_shard{static_cast<std::uint32_t>(segment),
                            static_cast<std::uint32_t>(one.starts), one.seed});
    entry += sizeof(fuse_shard);
    segment += one.starts + params.arity - 1;
    const auto from = one.fingerprints.bytes();
    std::memcpy(to, from.data(), from.size());
    to += from.size();
    one.fingerprints = owned_storage();
  }
  all.payload = std::move(*memory);
  return all;
}

result<built_fuse> build(const fuse_spec& spec, const hash_source& source) {
  const auto shape = fuse_shape_for(spec);
  if (!shape) return fail(shape.error());
  const fuse_params& params = *shape;
  const unsigned threads = threads_for(spec.threads);
  if (source.size == 0) return built_fuse{.params = params, .payload = {}, .count = 0};
  std::uint64_t distinct = source.size;
  if (source.size > surely_one_shard) {
    const auto estimate = estimate_distinct(source, threads);
    if (!estimate) return fail(estimate.error());
    distinct = *estimate;
  }
  if (distinct > max_fuse_keys) {
    return refuse("{} keys are more than a fuse filter can have; give at most {}",
                  format_count(distinct), format_count(max_fuse_keys));
  }
  const std::uint64_t shards = fuse_shards_for(distinct);
  const unsigned log2 = shards == 1 ? 0 : fuse_segment_log2(distinct / shards, params.arity);
  std::vector<built_shard> built(shards);
  std::vector<shard_builder> builders(std::min<std::uint64_t>(threads, shards),
                                      shard_builder(params));
  auto done = for_each_shard(
      source, shards, distinct, threads,
      [&](unsigned t, std::uint64_t shard, std::span<hash64> hashes) -> result<void> {
        auto made = builders[t].build(shard, hashes, log2);
        if (!made) return fail(std::move(made.error()));
        built[shard] = std::move(*made);
        return {};
      });
  if (!done) return fail(std::move(done.error()));
  builders.clear();
  auto all = assemble(params, std::move(built));
  if (all && spec.bits != 0 && all->payload.bytes().size() * 8 > spec.bits) {
    return refuse(
        "{} would need {} in this fuse filter, more than the {} allowed; give more memory or a "
        "higher rate",
        format_count(all->count, "key"), format_bytes(all->payload.bytes().size()),
        format_bytes(spec.bits / 8));
  }
  return all;
}

}  // namespace

result<built_fuse> build_fuse(const fuse_spec& spec, const hash_source& source) {
  try {
    return build(spec, source);
  } catch (const std::bad_alloc&) {
    return no_memory(
        "memory ran out while building a fuse filter; build it on a machine with more");
  }
}

result<void> check_fuse_payload(const fuse_params& params, std::span<const std::byte> payload,
                                std::uint64_t count) {
  const auto refuse = [] {
    return fail(errc::corrupt,
                "the fuse filter's directory does not fit its fingerprints; the file is damaged");
  };
  if (!params.possible(count) || payload.size() != params.payload_bytes() ||
      count > params.slots()) {
    return refuse();
  }
  std::uint64_t segment = 0;
  for (std::uint64_t i = 0; i < params.shards; ++i) {
    const auto shard = load<fuse_shard>(payload.data() + i * sizeof(fuse_shard));
    if (shard.first != segment || shard.starts == 0) return refuse();
    segment += std::uint64_t{shard.starts} + params.arity - 1;
  }
  if (segment != params.segments) return refuse();
  const auto directory = payload.first(params.directory_bytes());
  const auto fingerprints = payload.subspan(directory.size());
  const std::uint64_t bits = params.slots() * params.fingerprint_bits;
  const std::uint64_t bytes = bytes_for_bits(bits);
  const bool padded = is_zero(directory.subspan(params.shards * sizeof(fuse_shard))) &&
                      is_zero(fingerprints.subspan(bytes)) &&
                      padding_is_zero(fingerprints.first(bytes), bits);
  return padded ? result<void>{} : refuse();
}

result<built_fuse> build_fuse(const fuse_spec& spec, std::span<const hash64> hashes) {
  return build_fuse(spec, hash_source::of(hashes));
}

}  // namespace bloomset::detail
