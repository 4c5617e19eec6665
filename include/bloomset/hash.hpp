#pragma once

/// Hash functions: from keys to hashes. A hash has a type of its own, so `insert(hash64)` takes a
/// hash and `insert(key)` hashes first. Filters themselves see only hashes.

#include <array>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/xxhash.hpp>
#include <bloomset/result.hpp>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace bloomset {

/// 64 bits that stand for a key. Keys with equal hashes are one key to a filter of 64-bit hashes. A
/// non-member has the hash of one of n keys with probability n / 2^64.
struct hash64 {
  std::uint64_t value;
  friend constexpr auto operator<=>(const hash64&, const hash64&) = default;
};

/// The seed of a filter if the request has none. Hashes with a seed that a format fixes, such as
/// checksums, do not use it.
inline constexpr std::uint64_t default_seed = 0;

/// Numbers of hash functions in files. A number never changes its meaning.
enum class hash_id : std::uint16_t {
  none = 0,                 ///< a caller's probe rule hashes the key
  xxh3_64 = 1,              ///< XXH3, 64 bits, seeded
  siphash_1_3 = 3,          ///< SipHash-1-3, 64 bits, with a secret key
  xxh3_2x64 = 4,            ///< two hashes: XXH3 with hash_seed::half() of 0 and 1
  siphash_2x64 = 5,         ///< two hashes: SipHash-1-3 with hash_seed::half() of 0 and 1
  xxh3_partitioned = 6,     ///< XXH3 of a partition and of the rest (partitioned_hash.hpp)
  siphash_partitioned = 7,  ///< SipHash-1-3 of a partition and of the rest
};

/// The name of a hash function, for people and for JSON.
std::string_view name_of(hash_id hash) noexcept;

/// A secret key of 128 bits for siphash(). Whoever does not know it can neither predict nor choose
/// hashes. Draw it from a random source of the operating system (new_hash_key()). Each object
/// overwrites its bytes when it ends.
struct hash_key {
  static constexpr std::size_t size = 16;       ///< bytes
  std::array<std::uint64_t, size / 8> words{};  ///< of the key's bytes, little-endian

  constexpr ~hash_key() {
    if (std::is_constant_evaluated()) return;
    for (std::uint64_t& word : words) *const_cast<volatile std::uint64_t*>(&word) = 0;
  }

  /// The key of these bytes.
  static hash_key of(std::span<const std::byte, size> bytes) noexcept {
    return {
        {detail::load<std::uint64_t>(bytes.data()), detail::load<std::uint64_t>(bytes.data() + 8)}};
  }
  /// The key that these 32 hexadecimal digits spell, byte by byte. Nothing for other texts.
  static std::optional<hash_key> parse(std::string_view digits) noexcept;
  /// The digits that parse() reads.
  std::string digits() const;
  /// The key's bytes, in this object.
  std::span<const std::byte, size> bytes() const noexcept {
    return std::as_bytes(std::span<const std::uint64_t, size / 8>(words));
  }
  friend constexpr bool operator==(const hash_key&, const hash_key&) = default;
};

/// A key from the operating system's random source. Fails with io if there is none.
result<hash_key> new_hash_key();

/// SipHash-1-3 with 64 bits: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012. The
/// variant with one round per word and three at the end has no known attack, and is the default of
/// Rust's and Python's hash tables. O(length).
hash64 siphash(const hash_key& key, std::span<const std::byte> bytes) noexcept;

/// What a filter hashes its keys with: XXH3 and a seed that everybody may know, or SipHash-1-3 and
/// a secret key.
///
/// A file has the seed, or an identifier of the secret key: its hash of a constant. The secret key
/// itself is not in the file. `locked` means that only the identifier is known.
class hash_seed {
 public:
  // NOLINTBEGIN(google-explicit-constructor): so that `.seed = 7` and `.seed = key` work.
  constexpr hash_seed(std::uint64_t seed = default_seed) noexcept : value_(seed) {}
  hash_seed(const hash_key& key) noexcept;
  // NOLINTEND(google-explicit-constructor)
  /// The seed of a stored filter whose secret key has this identifier.
  static constexpr hash_seed locked(std::uint64_t identifier) noexcept {
    hash_seed seed(identifier);
    seed.is_keyed_ = seed.is_locked_ = true;
    return seed;
  }

  /// The seed, or the identifier of the secret key.
  constexpr std::uint64_t value() const noexcept { return value_; }
  constexpr bool is_keyed() const noexcept { return is_keyed_; }
  constexpr bool is_locked() const noexcept { return is_locked_; }
  /// Precondition: is_keyed() and not is_locked().
  constexpr const hash_key& key() const noexcept { return key_; }

  /// The seed of one of the two hash functions of a filter with 128-bit hashes; `number` is 0 or 1.
  /// The first is this seed. The second is this seed xor 9e3779b97f4a7c15, or a secret key that
  /// SipHash-1-3 derives from this one.
  hash_seed half(unsigned number) const noexcept;

  /// True if both give the same hashes. Identifiers stand for their keys.
  friend constexpr bool operator==(const hash_seed& a, const hash_seed& b) noexcept {
    return a.value_ == b.value_ && a.is_keyed_ == b.is_keyed_;
  }

 private:
  std::uint64_t value_;
  hash_key key_{};
  bool is_keyed_ = false;
  bool is_locked_ = false;
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
    !std::same_as<K, std::nullptr_t> &&
    (std::convertible_to<const K&, std::string_view> ||
     std::convertible_to<const K&, std::u8string_view> ||
     std::convertible_to<const K&, std::span<const std::byte>> || detail::byte_range<K>);

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
  { h.id() } noexcept -> std::same_as<hash_id>;
  { h.seed() } noexcept -> std::same_as<std::uint64_t>;
  { h(bytes) } noexcept -> std::same_as<typename H::hash_type>;
};

/// The default hash function: XXH3 with 64 bits, about two nanoseconds for a short key. It is not a
/// keyed hash: a person who knows the seed and chooses the keys can make them collide.
class xxh3_hasher {
 public:
  using hash_type = hash64;
  static constexpr hash_id id() noexcept { return hash_id::xxh3_64; }

  constexpr explicit xxh3_hasher(std::uint64_t seed = default_seed) noexcept : seed_(seed) {}

  std::uint64_t seed() const noexcept { return seed_; }
  hash64 operator()(std::span<const std::byte> bytes) const noexcept {
    return {detail::xxh3_64(bytes.data(), bytes.size(), seed_)};
  }

 private:
  std::uint64_t seed_;
};

/// The hash function of a filter whose seed is a hash_seed. Precondition of a call: not
/// is_locked().
class filter_hasher {
 public:
  using hash_type = hash64;

  constexpr explicit filter_hasher(const hash_seed& seed = {}) noexcept : seed_(seed) {}

  /// True for the functions that a hasher of this type can be.
  static constexpr bool is_one(hash_id id) noexcept {
    return id == hash_id::xxh3_64 || id == hash_id::siphash_1_3;
  }
  hash_id id() const noexcept { return seed_.is_keyed() ? hash_id::siphash_1_3 : hash_id::xxh3_64; }
  /// The seed, or the identifier of the secret key.
  std::uint64_t seed() const noexcept { return seed_.value(); }
  const hash_seed& settings() const noexcept { return seed_; }
  hash64 operator()(std::span<const std::byte> bytes) const noexcept {
    if (seed_.is_keyed()) return siphash(seed_.key(), bytes);
    return xxh3_hasher(seed_.value())(bytes);
  }
  /// hashes[i] is the hash of keys[i]. With a secret key, several keys are hashed at once.
  /// Precondition: room for as many hashes as keys.
  void operator()(std::span<const std::span<const std::byte>> keys, hash64* hashes) const noexcept;

 private:
  hash_seed seed_;
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
  static constexpr hash_id id() noexcept { return hash_id::none; }

  constexpr explicit key_ref_hasher(std::uint64_t seed = default_seed) noexcept : seed_(seed) {}

  std::uint64_t seed() const noexcept { return seed_; }
  key_ref operator()(std::span<const std::byte> bytes) const noexcept { return {bytes, seed_}; }

 private:
  std::uint64_t seed_;
};

namespace detail {

/// True if the hasher hashes with a secret key where its seed has one.
template <hasher H>
inline constexpr bool takes_keys = std::constructible_from<H, const hash_seed&>;

/// Fails with unsupported if the seed has a secret key that the hasher cannot use.
result<void> check_keyed_hasher(const hash_seed& seed, bool takes_keys);
template <hasher H>
result<void> check_hasher(const hash_seed& seed) {
  return check_keyed_hasher(seed, takes_keys<H>);
}

template <hasher H>
constexpr H make_hasher(const hash_seed& seed) noexcept {
  if constexpr (takes_keys<H>) {
    return H(seed);
  } else {
    return H(seed.value());
  }
}

/// As filter_hasher, without a copy of the seed. A copy would be erased from memory after each
/// call, because it may hold a secret key.
class seed_hasher {
 public:
  using hash_type = hash64;

  constexpr explicit seed_hasher(const hash_seed& seed) noexcept : seed_(&seed) {}

  hash_id id() const noexcept {
    return seed_->is_keyed() ? hash_id::siphash_1_3 : hash_id::xxh3_64;
  }
  std::uint64_t seed() const noexcept { return seed_->value(); }
  hash64 operator()(std::span<const std::byte> bytes) const noexcept {
    if (seed_->is_keyed()) [[unlikely]]
      return siphash(seed_->key(), bytes);
    return xxh3_hasher(seed_->value())(bytes);
  }

 private:
  const hash_seed* seed_;
};

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

}  // namespace bloomset
