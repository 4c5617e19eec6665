#pragma once

/// Storage: where the bytes of a filter are. Ownership is a type: a filter over read-only storage
/// has no `insert`. All storages are cheap to move; each documents its copies.
///
/// A program's own type can be the storage of any kind of filter if it meets these requirements:
///
///     to query any kind               storage
///     expandable, scalable_bloom      also sliceable_storage, unless it is owned_storage
///     to insert, erase and merge      also writable_storage
///     to insert into kinds that grow  owned_storage (expandable and scalable_bloom)
///     vector_quotient, to insert      bytes() begins at a multiple of 64, or open() refuses it
///     blocked_bloom::concurrent()     bytes() begins at a multiple of 8
///
/// Everything else works at any address. It is fastest at multiples of 64, the size of a cache
/// line.

#include <bloomset/result.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace bloomset {

struct memory_mover;

/// Bytes that can be read. `bytes()` stays the same while the storage lives. After a move the new
/// storage has the bytes at the same address, and the old one has none.
template <class S>
concept storage = std::movable<S> && requires(const S& s) {
  { s.bytes() } noexcept -> std::same_as<std::span<const std::byte>>;
};

/// Bytes that can be written too.
template <class S>
concept writable_storage = storage<S> && requires(S& s) {
  { s.writable_bytes() } noexcept -> std::same_as<std::span<std::byte>>;
};

/// Bytes that can be sliced: `slice(offset, size)` is a storage of a part of the bytes, shared and
/// not copied. Precondition: the part lies inside the bytes. A slice keeps the same owner alive as
/// the whole.
template <class S>
concept sliceable_storage = storage<S> && requires(const S& s, std::size_t n) {
  { s.slice(n, n) } noexcept -> std::same_as<S>;
};

/// Bytes that a host can move (memory_source.hpp).
template <class S>
concept relocatable_storage = writable_storage<S> && requires(S& s, const memory_mover& mover) {
  { s.relocate(mover) } noexcept -> std::same_as<void>;
};

class owned_storage;

/// Memory that a filter can extend on its own.
template <class S>
concept growable_storage = std::same_as<S, owned_storage>;

/// The storage of kinds with several pieces: parts of one storage, or owned memory for each piece.
template <class S>
concept piecewise_storage = growable_storage<S> || sliceable_storage<S>;

/// Page-size hint for large allocations, where the system has a choice.
///
/// `huge`: pages of 2 MiB, which are best for lookups. The first access to one waits until the
/// system has cleared it, 0.1 to 6 ms. `one_by_one`: small pages, for memory in which no write may
/// wait so long.
enum class paging : std::uint8_t { huge, one_by_one };

/// Owned memory, zeroed when allocated, aligned to 64 bytes (one cache line). A copy is deep.
class owned_storage {
 public:
  owned_storage() noexcept = default;

  /// Allocates `size` zero bytes. Fails with out_of_memory; never throws. O(size), spread over the
  /// first accesses.
  static result<owned_storage> make(std::uint64_t size, paging pages = paging::huge);

  /// Allocates memory and copies `from` into it. Fails with out_of_memory.
  static result<owned_storage> copy_of(std::span<const std::byte> from);

  owned_storage(const owned_storage& other);  ///< throws std::bad_alloc
  // One assignment by value would do for both, but clang would then consider the implicit
  // assignment of a class with this member noexcept, although the copy may throw.
  owned_storage& operator=(const owned_storage& other);
  owned_storage(owned_storage&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  owned_storage& operator=(owned_storage&& other) noexcept;
  ~owned_storage();

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  std::span<std::byte> writable_bytes() noexcept { return {data_, size_}; }

  /// Lets the host move the memory, which must come from a memory_source (memory_source.hpp). The
  /// bytes stay the same; bytes() may have another address. O(size) if the memory is moved.
  void relocate(const memory_mover& mover) noexcept;

 private:
  owned_storage(std::byte* data, std::size_t size) noexcept : data_(data), size_(size) {}

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

namespace detail {

/// An object of any type that is destroyed with the last copy of this handle. It is a
/// std::shared_ptr<void> without the time that <memory> takes to compile.
class shared_owner {
 public:
  shared_owner() noexcept = default;
  template <class Owner>
  explicit shared_owner(Owner owner) : held_(new holder<Owner>(std::move(owner))) {}
  shared_owner(const shared_owner& other) noexcept;
  shared_owner(shared_owner&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  shared_owner& operator=(shared_owner other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~shared_owner();

 private:
  struct counted {
    virtual ~counted() = default;
    std::size_t handles = 1;  // atomic
  };
  template <class Owner>
  struct holder final : counted {
    explicit holder(Owner held) : owner(std::move(held)) {}
    Owner owner;
  };

  counted* held_ = nullptr;
};

}  // namespace detail

/// Read-only bytes that the caller keeps alive as long as the filter is used.
class borrowed_storage {
 public:
  borrowed_storage() noexcept = default;
  explicit borrowed_storage(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  borrowed_storage(const borrowed_storage&) = default;
  borrowed_storage& operator=(const borrowed_storage&) = default;
  borrowed_storage(borrowed_storage&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  borrowed_storage& operator=(borrowed_storage&& other) noexcept {
    bytes_ = std::exchange(other.bytes_, {});
    return *this;
  }
  ~borrowed_storage() = default;

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

  /// A part of the bytes. Precondition: it lies inside them.
  borrowed_storage slice(std::size_t offset, std::size_t size) const noexcept {
    return borrowed_storage(bytes_.subspan(offset, size));
  }

 private:
  std::span<const std::byte> bytes_;
};

/// Read-only bytes that a shared owner keeps alive, usually a mapped file. Copies share them.
class mapped_storage {
 public:
  mapped_storage() noexcept = default;
  /// Bytes that live as long as `owner`, for example a std::shared_ptr. The last copy of this
  /// storage destroys the owner.
  template <std::movable Owner>
  mapped_storage(Owner owner, std::span<const std::byte> bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}
  /// Bytes that the caller keeps alive.
  mapped_storage(std::nullptr_t, std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  std::span<const std::byte> bytes() const noexcept { return bytes_.bytes(); }

  /// A part of the bytes, which keeps the whole alive. Precondition: it lies inside them.
  mapped_storage slice(std::size_t offset, std::size_t size) const noexcept {
    mapped_storage part;
    part.owner_ = owner_;
    part.bytes_ = bytes_.slice(offset, size);
    return part;
  }

 private:
  detail::shared_owner owner_;
  borrowed_storage bytes_;
};

}  // namespace bloomset
