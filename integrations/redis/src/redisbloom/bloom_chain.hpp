#pragma once

#include "redisbloom/redisbloom_chain.hpp"

namespace bloomset::server {

/// BF.* as in RedisBloom, bit for bit: a chain of Bloom filters. A full link is followed by a
/// larger one with half of its rate, so that the sum of the rates stays below the requested one. A
/// query asks all links, the newest first.
///
/// The positions of an item in a link of m bits are (a + i*b mod 2^64) mod m for i = 0 .. k-1, with
/// a = MurmurHash64A(item, c6a4a7935bd1e995) and b = MurmurHash64A(item, a): double hashing (Kirsch
/// and Mitzenmacher, "Less Hashing, Same Performance", 2006). Position x is bit x mod 8 of byte
/// x / 8.
class bloom_chain final : public redisbloom_chain<chain_shape> {
 public:
  /// The shape of an empty filter. Fails with invalid_argument if there is no such filter.
  static result<chain_shape> plan(const filter_spec& spec);

  using redisbloom_chain::redisbloom_chain;

  void contains(item_span items, std::span<bool> answers) const noexcept override;
  /// O(k) per link and item. The mode is if_absent.
  insert_result insert(item_span items, std::span<bool> newly_inserted, insert_mode mode,
                       const growth_limit& limit) noexcept override;

  filter_facts facts() const noexcept override;
  filter_state state() const override;
  std::vector<std::string> debug_lines() const override;
  std::uint64_t bytes() const noexcept override {
    return redisbloom_chain::bytes() + shape_.links.capacity() * sizeof(link_shape);
  }
  std::unique_ptr<filter_value> copy() const override {
    return std::make_unique<bloom_chain>(shape_, parts_);
  }

 private:
  struct hash_pair {
    std::uint64_t a;
    std::uint64_t b;
  };
  hash_pair hash(std::string_view item) const noexcept;
  bool link_contains(std::size_t link, hash_pair item) const noexcept;
  bool any_link_contains(hash_pair item) const noexcept;
  stop_reason grow(const growth_limit& limit) noexcept;
};

}  // namespace bloomset::server
