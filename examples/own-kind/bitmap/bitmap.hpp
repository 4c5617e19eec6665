#pragma once

/// A bitmap: one hash function and m bits, a kind of filter of one's own
/// (docs/maintain/adding-a-kind.md).
///
///     bloomset::bitmap seen({.capacity = 1000, .fpr = 0.01});
///     seen.insert("alice@example.com");
///
/// Space    About n / eps bits, 100 bits per key at 1%. (A Bloom filter needs 9.6.)
/// Query    O(1): reads one bit.
/// Insert   O(1). Never fails; the rate rises beyond the capacity.
/// Threads  Concurrent queries are safe. An insert needs exclusive access.

#include <algorithm>
#include <bloomset/concepts.hpp>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/filter_memory.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/core/precondition.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/storage.hpp>
#include <cassert>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bloomset {

/// The request. Two of capacity, fpr and bits; 0 means "find it".
struct bitmap_spec {
  std::uint64_t capacity = 0;  ///< n, distinct keys
  double fpr = 0;              ///< eps at capacity, in (0, 1)
  std::uint64_t bits = 0;      ///< m
  hash_seed seed = {};         ///< of the hash function
};

/// Everything that fixes the bits of a bitmap, and what it promises.
struct bitmap_params {
  std::uint64_t capacity = 0;
  double fpr = 0;
  std::uint64_t bits = 0;
  hash_seed seed = {};

  std::vector<std::byte> encode() const;
  static result<bitmap_params> decode(const filter_header& header,
                                      std::span<const std::byte> block);
};

/// Finds what the spec leaves open: eps = 1 - (1 - 1/m)^n.
result<bitmap_params> plan_bitmap(const bitmap_spec& spec);

template <storage Storage = owned_storage>
class basic_bitmap : public detail::key_overloads<basic_bitmap<Storage>> {
  using overloads = detail::key_overloads<basic_bitmap>;

 public:
  /// Numbers from 0x8000 on are for kinds outside the library (docs/reference/format.md).
  static constexpr auto kind = static_cast<filter_kind>(0x8001);
  static constexpr std::uint16_t kind_version = 1;
  using hash_type = hash64;
  using hasher_type = filter_hasher;
  using params_type = bitmap_params;
  using spec_type = bitmap_spec;
  using storage_type = Storage;
  template <storage Other>
  using rebind_storage = basic_bitmap<Other>;

  basic_bitmap(const basic_bitmap&) = default;
  basic_bitmap(basic_bitmap&&) = default;
  basic_bitmap& operator=(const basic_bitmap& other)
    requires std::copy_constructible<Storage>
  {
    if (this != &other) *this = basic_bitmap(other);
    return *this;
  }
  basic_bitmap& operator=(basic_bitmap&&) = default;
  ~basic_bitmap() = default;

  explicit basic_bitmap(const bitmap_spec& spec)
    requires std::same_as<Storage, owned_storage>
      : basic_bitmap(detail::or_die(make(spec))) {}

  static result<basic_bitmap> make(const bitmap_spec& spec)
    requires std::same_as<Storage, owned_storage>
  {
    const auto plan = plan_bitmap(spec);
    if (!plan) return fail(plan.error());
    auto memory = owned_storage::make(detail::bytes_for_bits(plan->bits));
    if (!memory) return fail(std::move(memory.error()));
    return open(*plan, std::move(*memory), 0);
  }

  static result<basic_bitmap> open(const bitmap_params& params, Storage bits, std::uint64_t count) {
    if (bits.bytes().size() != detail::bytes_for_bits(params.bits) ||
        !detail::padding_is_zero(bits.bytes(), params.bits)) {
      return fail(errc::corrupt, "the bitmap's bits do not fit its parameters");
    }
    return basic_bitmap(params, std::move(bits), count);
  }

  using overloads::insert;
  using overloads::may_contain;

  bool may_contain(hash64 h) const noexcept {
    return detail::test_bit(bits_.bytes().data(), place(h));
  }
  void may_contain(std::span<const hash64> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    for (std::size_t i = 0; i < hs.size(); ++i) answers[i] = may_contain(hs[i]);
  }

  insert_outcome insert(hash64 h) noexcept
    requires writable_storage<Storage>
  {
    if (!detail::set_bit(bits_.writable_bytes().data(), place(h))) {
      return insert_outcome::maybe_present;
    }
    ++count_;
    return insert_outcome::inserted;
  }
  insert_summary insert(std::span<const hash64> hs) noexcept
    requires writable_storage<Storage>
  {
    insert_summary all;
    for (const hash64 h : hs) {
      ++(insert(h) == insert_outcome::inserted ? all.inserted : all.maybe_present);
      ++all.done;
    }
    return all;
  }
  void clear() noexcept
    requires writable_storage<Storage>
  {
    std::ranges::fill(bits_.writable_bytes(), std::byte{0});
    count_ = 0;
  }

  const bitmap_params& params() const noexcept { return params_; }
  hasher_type hash_function() const noexcept { return hasher_type(params_.seed); }
  std::uint64_t capacity() const noexcept { return params_.capacity; }
  std::uint64_t size() const noexcept { return count_; }
  double planned_fpr() const noexcept { return params_.fpr; }
  std::uint64_t size_in_bytes() const noexcept { return bits_.bytes().size(); }

  double fill() const noexcept {
    return static_cast<double>(detail::count_ones(bits_.bytes())) /
           static_cast<double>(params_.bits);
  }
  double current_fpr() const noexcept { return fill(); }
  double estimate_size() const noexcept {
    return formulas::throws_behind(static_cast<double>(detail::count_ones(bits_.bytes())),
                                   static_cast<double>(params_.bits));
  }

  filter_image image() const {
    return {{kind, kind_version, hash_function().id(), params_.seed, count_},
            params_.encode(),
            {bits_.bytes()}};
  }

 private:
  basic_bitmap(const bitmap_params& params, Storage bits, std::uint64_t count)
      : params_(params), bits_(std::move(bits)), count_(count) {}

  std::uint64_t place(hash64 h) const noexcept { return detail::mulhi64(h.value, params_.bits); }

  bitmap_params params_;
  detail::filter_memory<Storage> bits_;
  std::uint64_t count_;
};

using bitmap = basic_bitmap<>;

}  // namespace bloomset
