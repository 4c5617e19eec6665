#pragma once

#include <bloomset/result.hpp>
#include <bloomset/storage.hpp>
#include <vector>

#include "valkeybloom/sip_pair.hpp"
#include "valkeybloom/valkey_plan.hpp"
#include "values/filter_value.hpp"

namespace bloomset::server {

/// A Bloom filter of valkey-bloom, as crate bloomfilter 3 stores it in one string of bytes:
///
///     0     u8      1
///     1     u64     bytes of bits, L
///     9     u32     hash functions, k
///     13    32      seed
///     45    L       bits: bit x is bit x mod 8 of byte x / 8
struct valkey_sub_filter {
  static constexpr std::size_t header_bytes = 45;

  owned_storage blob;
  std::uint64_t capacity = 0;  ///< items before the next sub-filter is made
  std::uint64_t items = 0;
  std::uint32_t hashes = 0;

  std::uint64_t bit_bytes() const noexcept { return blob.bytes().size() - header_bytes; }
};

/// BF.* as in valkey-bloom, bit for bit: a chain of Bloom filters. Sub-filter i has the capacity
/// c e^i and the rate p t^i, with expansion e and tightening ratio t. A new item is stored in the
/// newest, unless any of them matches it already.
///
/// The positions of an item in m bits are h0 mod m, h1 mod m, and for i = 2 .. k-1
/// ((h0 + i h1 mod 2^64) mod (2^64 - 59)) mod m, where h0 and h1 are those of sip_pair.
class valkey_chain final : public filter_value {
 public:
  /// An empty filter. Fails with invalid_argument or out_of_memory.
  static result<std::unique_ptr<valkey_chain>> make(const valkey_spec& spec);
  /// The filter of sub-filters that were loaded: blobs, capacities and items. `room` is the size of
  /// valkey-bloom's list of them. Null unless they fit `spec` and each other, since a small dump
  /// that promised more than it holds would grow to any size.
  static std::unique_ptr<valkey_chain> open(const valkey_spec& spec,
                                            std::vector<valkey_sub_filter> filters,
                                            std::uint64_t room);

  valkey_chain(const valkey_spec& spec, std::vector<valkey_sub_filter> filters,
               std::uint64_t room) noexcept;
  ~valkey_chain() override;

  void contains(item_span items, std::span<bool> answers) const noexcept override;
  /// O(k) per sub-filter and item. The mode is if_absent.
  insert_result insert(item_span items, std::span<bool> newly_inserted, insert_mode mode,
                       const growth_limit& limit) noexcept override;

  filter_facts facts() const noexcept override;
  filter_state state() const override;
  std::uint64_t bytes() const noexcept override;
  /// The data of BF.LOAD up to the first sub-filter. SCANDUMP is not offered.
  std::vector<std::byte> dump_header() const override;
  byte_pieces dump_payload() const override;
  std::unique_ptr<filter_value> copy() const override {
    return std::make_unique<valkey_chain>(spec_, filters_, room_);
  }
  void relocate(const memory_mover& mover) noexcept override {
    for (valkey_sub_filter& filter : filters_) filter.blob.relocate(mover);
  }

  const valkey_spec& spec() const noexcept { return spec_; }
  const std::vector<valkey_sub_filter>& filters() const noexcept { return filters_; }

 private:
  bool any_contains(sip_pair::hashes item) const noexcept;
  stop_reason grow(const growth_limit& limit) noexcept;
  /// The size that valkey-bloom reports.
  std::uint64_t reported_size() const noexcept;

  valkey_spec spec_;
  sip_pair hash_;
  std::vector<valkey_sub_filter> filters_;
  std::uint64_t room_;
};

/// Sums over all filters of valkey-bloom on this server, for INFO.
struct valkey_totals {
  std::uint64_t bytes;
  std::uint64_t objects;
  std::uint64_t filters;
  std::uint64_t items;
  std::uint64_t capacity;
};
valkey_totals totals_of_valkey_filters() noexcept;

}  // namespace bloomset::server
