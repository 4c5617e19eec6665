#pragma once

/// Hash functions: from keys to hashes. A hash has a type of its own, so `insert(hash64)` takes a
/// hash and `insert(key)` hashes first. Filters themselves see only hashes.

#include <array>
#include <bloomery/detail/core/bits.hpp>
#include <bloomery/detail/core/xxhash.hpp>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace bloomery {

/// 64 bits that stand for a key. Keys with equal hashes are one key to every filter. A non-member
/// has the hash of one of n keys with probability n / 2^64.
struct hash64 {
  std::uint64_t value;
  friend constexpr auto operator<=>(const hash64&, const hash64&) = default;
};

/// The seed of a filter if the request has none. Hashes with a seed that a format fixes, such as
/// checksums, do not use it.
inline constexpr std::uint64_t default_seed = 0;

/// Numbers of hash functions in files. A number never changes its meaning.
enum class hash_id : std::uint16_t {
  none = 0,        ///< the probe rule hashes the key itself
  xxh3_64 = 1,     ///< XXH3, 64 bits, seeded
  fnv_murmur = 2,  ///< 32-bit FNV-1 and MurmurHash2 (see fnv_murmur_hasher)
};

namespace detail {

template <class T, class... Types>
concept one_of = (std::same_as<std::remove_cv_t<T>, Types> || ...);

template <class T>
concept character = one_of<T, char, wchar_t, char8_t, char16_t, char32_t>;

/// A contiguous sequence. <ranges> has this concept, but takes longer to compile than this header.
template <class R>
concept contiguous = requires(const R& r) {
  *std::data(r);
  { std::size(r) } -> std::convertible_to<std::size_t>;
};
template <contiguous R>
using element_of = std::remove_cvref_t<decltype(*std::data(std::declval<const R&>()))>;

/// Contiguous bytes. `signed char` is excluded, because std::int8_t is a number.
template <class R>
concept byte_range =
    contiguous<R> && one_of<element_of<R>, std::byte, unsigned char, char, char8_t>;

/// The eight bytes that an integer key is hashed as.
using number_bytes = std::array<std::byte, 8>;

}  // namespace detail

/// Keys that are bytes: strings, string views, literals, and contiguous ranges of std::byte,
/// unsigned char (std::uint8_t), char or char8_t.
///
/// Such a range is one key, never a batch of small integers: a std::array of 20 std::uint8_t is the
/// key of its 20 bytes. A literal, or another array of char or char8_t, ends before its first zero,
/// as strings do. A UTF-8 text is the same key in every type.
template <class K>
concept byte_key =
    std::convertible_to<const K&, std::string_view> ||
    std::convertible_to<const K&, std::u8string_view> ||
    std::convertible_to<const K&, std::span<const std::byte>> || detail::byte_range<K>;

/// Keys that are whole numbers. A number is hashed as the eight little-endian bytes of its value,
/// sign extended, so int32_t{5} and uint64_t{5} are the same key. Characters are not numbers,
/// because the sign of `char` differs between machines.
template <class K>
concept integer_key =
    std::integral<K> && sizeof(K) <= 8 && !detail::one_of<K, bool> && !detail::character<K>;

/// The keys of `insert`, `may_contain` and the other operations: strings, bytes and integers.
template <class K>
concept key = byte_key<K> || integer_key<K>;

/// The bytes of a byte_key.
template <byte_key K>
std::span<const std::byte> bytes_of(const K& k) noexcept {
  if constexpr (std::convertible_to<const K&, std::string_view>) {
    return std::as_bytes(std::span<const char>(std::string_view(k)));
  } else if constexpr (std::convertible_to<const K&, std::u8string_view>) {
    return std::as_bytes(std::span<const char8_t>(std::u8string_view(k)));
  } else if constexpr (std::convertible_to<const K&, std::span<const std::byte>>) {
    return std::span<const std::byte>(k);
  } else {
    return std::as_bytes(std::span(std::data(k), std::size(k)));
  }
}

/// A function from bytes to hashes. It gives the same hashes on all machines and in all versions,
/// has a number in files, and depends on a seed.
template <class H>
concept hasher = std::copyable<H> && requires(const H& h, std::span<const std::byte> bytes) {
  typename H::hash_type;
  { H::id } -> std::convertible_to<hash_id>;
  { h.seed() } noexcept -> std::same_as<std::uint64_t>;
  { h(bytes) } noexcept -> std::same_as<typename H::hash_type>;
};

/// The default hash function: XXH3 with 64 bits, about a nanosecond for a short key. It is not a
/// keyed hash: a person who knows the seed and chooses the keys can make them collide.
class xxh3_hasher {
 public:
  using hash_type = hash64;
  static constexpr hash_id id = hash_id::xxh3_64;

  constexpr explicit xxh3_hasher(std::uint64_t seed = default_seed) noexcept : seed_(seed) {}

  std::uint64_t seed() const noexcept { return seed_; }
  hash64 operator()(std::span<const std::byte> bytes) const noexcept {
    return {XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed_)};
  }

 private:
  std::uint64_t seed_;
};

/// A key that is not hashed yet, for probe rules that read the key for each function. It refers to
/// the caller's bytes and is valid as long as they are unchanged.
struct key_ref {
  std::span<const std::byte> bytes;
  std::uint64_t seed = default_seed;
};

/// Passes the key on unhashed, for probe rules that read the key for each function. The rule uses
/// the seed.
class key_ref_hasher {
 public:
  using hash_type = key_ref;
  static constexpr hash_id id = hash_id::none;

  constexpr explicit key_ref_hasher(std::uint64_t seed = default_seed) noexcept : seed_(seed) {}

  std::uint64_t seed() const noexcept { return seed_; }
  key_ref operator()(std::span<const std::byte> bytes) const noexcept { return {bytes, seed_}; }

 private:
  std::uint64_t seed_;
};

/// Two 32-bit hashes of one key.
struct hash32_pair {
  std::uint32_t first;
  std::uint32_t second;
};

/// The pair of hashes of a well-known tutorial. The first is FNV-1 as a JavaScript page computes
/// it: products are doubles, the exclusive-or has 32 bits, and the sign is dropped. The second is
/// MurmurHash2 with seed 0.
class fnv_murmur_hasher {
 public:
  using hash_type = hash32_pair;
  static constexpr hash_id id = hash_id::fnv_murmur;

  constexpr explicit fnv_murmur_hasher(std::uint64_t = 0) noexcept {}

  std::uint64_t seed() const noexcept { return 0; }
  hash32_pair operator()(std::span<const std::byte> bytes) const noexcept;
};

/// A whole number that is not hashed, for families of functions of numbers (function_family).
struct element {
  std::uint64_t value;
};

/// Passes integer keys on as they are. Byte keys are hashed by XXH3 with seed 0, so that functions
/// of numbers accept words too.
class element_hasher {
 public:
  using hash_type = element;
  static constexpr hash_id id = hash_id::none;

  constexpr explicit element_hasher(std::uint64_t = 0) noexcept {}

  std::uint64_t seed() const noexcept { return 0; }
  template <integer_key K>
  constexpr element operator()(K k) const noexcept {
    return {static_cast<std::uint64_t>(k)};
  }
  element operator()(std::span<const std::byte> bytes) const noexcept {
    return {xxh3_hasher(0)(bytes).value};
  }
};

static_assert(hasher<xxh3_hasher> && hasher<key_ref_hasher> && hasher<fnv_murmur_hasher> &&
              hasher<element_hasher>);

namespace detail {

/// The hash of a key. It may refer to the key or to `number`.
template <hasher H, key K>
typename H::hash_type hash_of(const H& h, const K& k, number_bytes& number) noexcept {
  if constexpr (byte_key<K>) {
    return h(bytes_of(k));
  } else if constexpr (std::invocable<const H&, K>) {
    return h(k);
  } else {
    store(number.data(), static_cast<std::uint64_t>(k));
    return h(std::span<const std::byte>(number));
  }
}

}  // namespace detail

/// Calls `use(hash)` with the hash of a key. The hash may refer to the key or to a temporary of
/// this call, so do not keep it.
template <hasher H, key K, class Use>
decltype(auto) with_hash(const H& h, const K& k, Use&& use) noexcept(
    noexcept(use(std::declval<const typename H::hash_type&>()))) {
  detail::number_bytes number;
  return use(detail::hash_of(h, k, number));
}

}  // namespace bloomery
