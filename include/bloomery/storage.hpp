#pragma once

/// Where a filter's bytes live. Ownership is a type: a filter over read-only storage has no
/// `insert` to call. All storages are cheap to move; copies are stated on each.

#include <bloomery/result.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace bloomery {

struct memory_mover;

/// Bytes that can be read. `bytes()` stays valid while the storage lives.
template <class S>
concept storage = std::movable<S> && requires(const S& s) {
  { s.bytes() } noexcept -> std::same_as<std::span<const std::byte>>;
};

/// Bytes that can be written too.
template <class S>
concept writable_storage = storage<S> && requires(S& s) {
  { s.writable_bytes() } noexcept -> std::same_as<std::span<std::byte>>;
};

/// How large memory's pages come to be, where the system has a choice. `huge`: two megabytes each,
/// which is best for lookups, and whose first byte waits until all of it is cleared: 0.1 to 6 ms.
/// `one_by_one`: small ones, for memory in which no write may wait so long.
enum class paging : std::uint8_t { huge, one_by_one };

/// Memory of its own, zeroed when made, aligned to 64 bytes (one cache line). A copy is deep.
class owned_storage {
 public:
  owned_storage() noexcept = default;

  /// Allocates `size` zero bytes. Fails with out_of_memory; never throws. O(size) at first touch.
  static result<owned_storage> make(std::uint64_t size, paging pages = paging::huge);

  /// Allocates and copies `from`. Fails with out_of_memory.
  static result<owned_storage> copy_of(std::span<const std::byte> from);

  owned_storage(const owned_storage& other);  ///< throws std::bad_alloc
  owned_storage& operator=(const owned_storage& other);
  owned_storage(owned_storage&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  owned_storage& operator=(owned_storage&& other) noexcept;
  ~owned_storage();

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  std::span<std::byte> writable_bytes() noexcept { return {data_, size_}; }

  /// Lets the host move the memory, which has to come from a memory_source (memory_source.hpp). The
  /// bytes stay the same and bytes() may be elsewhere. O(size) if it is moved.
  void relocate(const memory_mover& mover) noexcept;

 private:
  owned_storage(std::byte* data, std::size_t size) noexcept : data_(data), size_(size) {}

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Read-only bytes kept alive by a shared owner, as a rule a mapped file. A copy shares them.
class mapped_storage {
 public:
  mapped_storage() noexcept = default;
  mapped_storage(std::shared_ptr<const void> owner, std::span<const std::byte> bytes) noexcept
      : owner_(std::move(owner)), bytes_(bytes) {}

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

  /// A part of the bytes, which keeps the whole alive. Precondition: it lies inside them.
  mapped_storage slice(std::size_t offset, std::size_t size) const noexcept {
    return {owner_, bytes_.subspan(offset, size)};
  }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

/// Read-only bytes that somebody else keeps alive for as long as the filter is used.
class borrowed_storage {
 public:
  borrowed_storage() noexcept = default;
  explicit borrowed_storage(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

  /// A part of the bytes. Precondition: it lies inside them.
  borrowed_storage slice(std::size_t offset, std::size_t size) const noexcept {
    return borrowed_storage(bytes_.subspan(offset, size));
  }

 private:
  std::span<const std::byte> bytes_;
};

static_assert(writable_storage<owned_storage>);
static_assert(storage<mapped_storage> && !writable_storage<mapped_storage>);
static_assert(storage<borrowed_storage> && !writable_storage<borrowed_storage>);

}  // namespace bloomery
