#pragma once

// CF.* as RedisBloom has it, bit for bit: cuckoo filters (Fan, Andersen, Kaminsky and Mitzenmacher,
// "Cuckoo Filter: Practically Better Than Bloom", 2014) of one byte a slot behind each other. An
// item's fingerprint f = h mod 255 + 1, with h = MurmurHash64A(item, 0), has a home in bucket h and
// in bucket h xor f * 5bd1e995 of each of them, modulo its number of buckets, a power of two; 0 is
// a free slot. Filters of before RedisBloom 2.2 have a hash of 32 bits and f = its upper byte,
// or 7.
//
// A new item goes to the first free slot of its buckets, the newest sub-filter first; else it moves
// others on in the newest one, as often as the filter's iterations allow; else all is put back as
// it was and a new sub-filter is made.

#include <bloomery/result.hpp>
#include <bloomery/storage.hpp>

#include "filter_value.hpp"
#include "redisbloom_shape.hpp"

namespace bloomery::server {

class cuckoo_chain final : public filter_value {
 public:
  /// An empty one.
  static result<std::unique_ptr<filter_value>> make(const filter_spec& spec);
  /// Bytes of its first sub-filter; invalid_argument if there can be none.
  static result<std::uint64_t> planned_bytes(const filter_spec& spec);

  /// One of a sound shape and its slots, each as many as the shape says.
  cuckoo_chain(const cuckoo_shape& shape, std::vector<owned_storage> slots) noexcept
      : shape_(shape), slots_(std::move(slots)) {}
  /// The slots of one that was made without.
  void take_slots(std::vector<owned_storage> slots) noexcept { slots_ = std::move(slots); }

  const cuckoo_shape& shape() const noexcept { return shape_; }

  void contains(std::span<const std::string_view> items,
                std::span<bool> answers) const noexcept override;
  added_items add(std::span<const std::string_view> items, std::span<bool> fresh, adding how,
                  const growth_limit& limit) noexcept override;
  /// From the newest sub-filter that has one. Compacts when more than a tenth of the items were
  /// deleted, in O(slots), as long as there are several sub-filters.
  bool erase(std::string_view item) override;
  /// A copy in a bucket that is both of its item's homes counts twice.
  std::uint64_t count(std::string_view item) const override;
  /// Moves items into older sub-filters that have room and gives the newest back if it is empty.
  /// O(slots).
  bool compact() override;

  filter_facts facts() const noexcept override;
  filter_state state() const override;
  std::vector<std::string> debug_lines() const override;
  std::uint64_t bytes() const noexcept override;
  std::vector<std::byte> dump_header() const override { return header_of(shape_); }
  std::vector<std::span<const std::byte>> dump_payload() const override;
  std::unique_ptr<filter_value> copy() const override {
    return std::make_unique<cuckoo_chain>(shape_, slots_);
  }

 private:
  /// Where an item may be; hashes, or numbers of buckets, modulo each sub-filter's.
  struct homes {
    std::uint64_t first;
    std::uint64_t second;
    std::uint8_t fingerprint;
  };
  homes find_homes(std::string_view item) const noexcept;
  std::uint64_t last_bucket(std::size_t filter) const noexcept;
  std::size_t first_slot(std::size_t filter, std::uint64_t hash) const noexcept;
  std::span<const std::byte> bucket(std::size_t filter, std::uint64_t hash) const noexcept;
  std::span<std::byte> bucket(std::size_t filter, std::uint64_t hash) noexcept;
  bool put(std::size_t filter, const homes& item) noexcept;
  bool kick(const homes& item) noexcept;
  stop grow(const growth_limit& limit) noexcept;
  stop insert(const homes& item, const growth_limit& limit) noexcept;
  bool is_in(const homes& item) const noexcept;
  bool move_down(std::size_t filter) noexcept;
  void compact_from_newest(bool also_behind_a_full_one) noexcept;

  cuckoo_shape shape_;
  std::vector<owned_storage> slots_;  // of each sub-filter
};

}  // namespace bloomery::server
