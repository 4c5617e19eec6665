#pragma once

#include "redisbloom/redisbloom_chain.hpp"

namespace bloomset::server {

/// CF.* as in RedisBloom, bit for bit: cuckoo filters with one byte per slot (Fan, Andersen,
/// Kaminsky and Mitzenmacher, "Cuckoo Filter: Practically Better Than Bloom", 2014), one after the
/// other.
///
/// An item's fingerprint is f = h mod 255 + 1 with h = MurmurHash64A(item, 0); 0 is a free slot. In
/// each sub-filter it belongs to bucket h or h xor (f * 5bd1e995), modulo the number of buckets, a
/// power of two. Filters from before RedisBloom 2.2 have a hash of 32 bits, and f is its upper
/// byte, or 7 instead of 0.
///
/// A new item is stored in the first free slot of its buckets, in the newest sub-filter first.
/// Without a free slot, others are relocated in the newest sub-filter, at most max_iterations
/// times. If that fails, the moves are undone and a new sub-filter is made.
class cuckoo_chain final : public redisbloom_chain<cuckoo_shape> {
 public:
  /// The shape of an empty filter. Fails with invalid_argument if there is no such filter.
  static result<cuckoo_shape> plan(const filter_spec& spec);

  using redisbloom_chain::redisbloom_chain;

  void contains(item_span items, std::span<bool> answers) const noexcept override;
  insert_result insert(item_span items, std::span<bool> newly_inserted, insert_mode mode,
                       const growth_limit& limit) noexcept override;
  /// Erases from the newest sub-filter that matches. Several sub-filters are compacted when more
  /// than a tenth of the items were deleted, in O(slots).
  bool erase(std::string_view item) override;
  /// Counts a copy twice if both buckets of the item are the same.
  std::uint64_t count(std::string_view item) const override;
  /// Moves items into older sub-filters and frees the newest if it is empty. O(slots).
  bool compact() override;

  filter_facts facts() const noexcept override;
  filter_state state() const override;
  std::vector<std::string> debug_lines() const override;
  std::unique_ptr<filter_value> copy() const override {
    return std::make_unique<cuckoo_chain>(shape_, parts_);
  }

 private:
  /// An item's fingerprint and its buckets before the modulo.
  struct location {
    std::uint64_t first;
    std::uint64_t second;
    std::byte fingerprint;
  };
  location locate(std::string_view item) const noexcept;
  std::uint64_t last_bucket(std::size_t filter) const noexcept;
  std::span<const std::byte> bucket(std::size_t filter, std::uint64_t hash) const noexcept;
  std::span<std::byte> bucket(std::size_t filter, std::uint64_t hash) noexcept;
  bool place(std::size_t filter, const location& item) noexcept;
  bool relocate_others(const location& item) noexcept;
  stop_reason grow(const growth_limit& limit) noexcept;
  stop_reason insert_one(const location& item, const growth_limit& limit) noexcept;
  bool contains_one(const location& item) const noexcept;
  bool move_to_older(std::size_t filter) noexcept;
  void compact_from_newest(bool pass_full_ones) noexcept;
};

}  // namespace bloomset::server
