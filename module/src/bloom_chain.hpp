#pragma once

// BF.* as RedisBloom has it, bit for bit: a chain of Bloom filters, each with half the rate of the
// one before. Where a link is full a larger one is made, and a question goes through all of them,
// the newest first.
//
// An item's places in a link are (a + i*b mod 2^64) mod m for i = 0 .. k-1, with
// a = MurmurHash64A(item, c6a4a7935bd1e995) and b = MurmurHash64A(item, a): double hashing (Kirsch
// and Mitzenmacher, "Less Hashing, Same Performance", 2006). Place x is bit x mod 8 of byte x / 8.

#include <bloomery/result.hpp>
#include <bloomery/storage.hpp>

#include "filter_value.hpp"
#include "redisbloom_shape.hpp"

namespace bloomery::server {

class bloom_chain final : public filter_value {
 public:
  /// An empty one. The specification has been planned: plan_chain() gave the shape.
  static result<std::unique_ptr<filter_value>> make(const filter_spec& spec);
  /// Bytes of its first link; invalid_argument if there can be none.
  static result<std::uint64_t> planned_bytes(const filter_spec& spec);

  /// One of a sound shape and the bits of its links, each as long as the shape says.
  bloom_chain(chain_shape shape, std::vector<owned_storage> bits) noexcept
      : shape_(std::move(shape)), bits_(std::move(bits)) {}
  /// The bits of one that was made without.
  void take_bits(std::vector<owned_storage> bits) noexcept { bits_ = std::move(bits); }

  const chain_shape& shape() const noexcept { return shape_; }

  void contains(std::span<const std::string_view> items,
                std::span<bool> answers) const noexcept override;
  /// O(k) for each link and item. `how` is adding::absent.
  added_items add(std::span<const std::string_view> items, std::span<bool> fresh, adding how,
                  const growth_limit& limit) noexcept override;
  /// It neither deletes nor counts.
  bool erase(std::string_view) override { return false; }
  std::uint64_t count(std::string_view) const override { return 0; }

  filter_facts facts() const noexcept override;
  filter_state state() const override;
  std::vector<std::string> debug_lines() const override;
  std::uint64_t bytes() const noexcept override;
  std::vector<std::byte> dump_header() const override { return header_of(shape_); }
  std::vector<std::span<const std::byte>> dump_payload() const override;
  std::unique_ptr<filter_value> copy() const override {
    return std::make_unique<bloom_chain>(shape_, bits_);
  }

 private:
  struct hash_pair {
    std::uint64_t a;
    std::uint64_t b;
  };
  hash_pair hash(std::string_view item) const noexcept;
  bool is_in(std::size_t link, hash_pair item) const noexcept;
  bool is_in_any(hash_pair item) const noexcept;
  stop grow(const growth_limit& limit) noexcept;

  chain_shape shape_;
  std::vector<owned_storage> bits_;  // of each link
};

}  // namespace bloomery::server
