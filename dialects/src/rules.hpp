#pragma once

// The probe rules of other software, for basic_bloom. None has a number in Bloomset's own files.

#include <bit>
#include <bloomset/probe.hpp>
#include <cstdint>
#include <limits>
#include <string_view>

#include "hashes.hpp"

namespace bloomset::dialects {

/// The order of a format's bits. In Bloomset's order place p is bit p & 7 of byte p >> 3. In
/// big-endian words of 64 bits the eight bytes of each word are reversed: the place of p is p with
/// its bits 3 to 5 flipped, and the other way round.
enum class bit_order : std::uint8_t { bytes = 0, big_endian_words = 0x38 };

constexpr std::uint64_t in_order(bit_order order, std::uint64_t p) noexcept {
  return p ^ static_cast<std::uint64_t>(order);
}

namespace rules {

// A hash function as a hasher: `Function(bytes, seed)`.
template <class Hash, auto Function>
class hasher_of {
 public:
  using hash_type = Hash;
  static constexpr hash_id id() noexcept { return hash_id::none; }

  constexpr explicit hasher_of(std::uint64_t seed = 0) noexcept : seed_(seed) {}

  std::uint64_t seed() const noexcept { return seed_; }
  hash_type operator()(std::span<const std::byte> bytes) const noexcept {
    return Function(bytes, seed_);
  }

 private:
  std::uint64_t seed_;
};

struct rule {
  static constexpr probe_id id = probe_id::caller;
  static constexpr std::uint64_t max_places = std::numeric_limits<std::uint64_t>::max();
  /// Guava stores k in a byte; no format has more.
  static constexpr unsigned max_hashes() noexcept { return 255; }
};

/// The words of an MD5. The first byte that is hashed is the request's method, which is the seed.
struct squid : rule {
  using hash_type = md5_words;
  using hasher_type =
      hasher_of<md5_words, [](std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
        return md5(static_cast<std::uint8_t>(seed), bytes);
      }>;
  static constexpr std::string_view name = "squid";

  static constexpr unsigned max_hashes() noexcept { return 4; }
  static std::uint64_t position(const md5_words& h, unsigned i, std::uint64_t m) noexcept {
    return h.at[i] % m;
  }
};

/// A 32-bit hash h. The step is h rotated, in 32 bits.
struct leveldb : rule {
  struct hash_type {
    std::uint32_t value;
  };
  using hasher_type =
      hasher_of<hash_type, [](std::span<const std::byte> bytes, std::uint64_t) noexcept {
        return hash_type{leveldb_hash(bytes, 0xbc9f1d34U)};
      }>;
  static constexpr std::string_view name = "leveldb";
  static constexpr std::uint64_t max_places = std::uint64_t{1} << 32;

  static constexpr std::uint64_t position(hash_type h, unsigned i, std::uint64_t m) noexcept {
    return static_cast<std::uint32_t>(h.value + i * std::rotr(h.value, 17)) % m;
  }
};

/// A chain: each value is the one before times G modulo 2^64, then modulo the prime P = 2^64 - 59.
/// The second modulo is thus one comparison.
struct dcso : rule {
  struct hash_type {
    std::uint64_t value;
  };
  static constexpr std::uint64_t prime = 18446744073709551557U;
  static constexpr std::uint64_t factor = 18446744073709550147U;
  static constexpr std::uint64_t reduce(std::uint64_t x) noexcept {
    return x >= prime ? x - prime : x;
  }
  using hasher_type =
      hasher_of<hash_type, [](std::span<const std::byte> bytes, std::uint64_t) noexcept {
        return hash_type{reduce(fnv1_64(bytes))};
      }>;
  static constexpr std::string_view name = "dcso";

  /// O(i): every value needs the one before.
  static constexpr std::uint64_t position(hash_type h, unsigned i, std::uint64_t m) noexcept {
    std::uint64_t x = h.value;
    for (unsigned step = 0; step <= i; ++step) x = reduce(x * factor);
    return x % m;
  }
};

using murmur_hasher =
    hasher_of<murmur_pair, [](std::span<const std::byte> bytes, std::uint64_t) noexcept {
      return murmur3_128(bytes);
    }>;

/// A sum of 32 bits. Its complement replaces a negative one.
constexpr std::uint32_t sum_32(std::uint32_t first, std::uint32_t second, unsigned i) noexcept {
  const std::uint32_t sum = first + (i + 1) * second;
  return sum >> 31 != 0 ? ~sum : sum;
}

/// MURMUR128_MITZ_32: both hashes are from the first half.
struct guava_32 : rule {
  using hash_type = murmur_pair;
  using hasher_type = murmur_hasher;
  static constexpr std::string_view name = "guava-32";

  static constexpr std::uint64_t position(const murmur_pair& h, unsigned i,
                                          std::uint64_t m) noexcept {
    const auto sum =
        sum_32(static_cast<std::uint32_t>(h.first), static_cast<std::uint32_t>(h.first >> 32), i);
    return in_order(bit_order::big_endian_words, sum % m);
  }
};

/// MURMUR128_MITZ_64: the sum without its sign.
struct guava_64 : rule {
  using hash_type = murmur_pair;
  using hasher_type = murmur_hasher;
  static constexpr std::string_view name = "guava-64";

  static constexpr std::uint64_t position(const murmur_pair& h, unsigned i,
                                          std::uint64_t m) noexcept {
    return in_order(bit_order::big_endian_words, ((h.first + i * h.second) & (~0ULL >> 1)) % m);
  }
};

/// Two hashes of 32 bits, which Spark reads as signed numbers. The first is the second's seed.
struct spark_pair {
  std::uint32_t first;
  std::uint32_t second;
};

using spark_hasher =
    hasher_of<spark_pair, [](std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
      const auto first = murmur3_32_signed_tail(bytes, static_cast<std::uint32_t>(seed));
      return spark_pair{first, murmur3_32_signed_tail(bytes, first)};
    }>;

/// Version 1: Guava's sum.
struct spark_1 : rule {
  using hash_type = spark_pair;
  using hasher_type = spark_hasher;
  static constexpr std::string_view name = "spark-1";

  static constexpr std::uint64_t position(spark_pair h, unsigned i, std::uint64_t m) noexcept {
    return in_order(bit_order::big_endian_words, sum_32(h.first, h.second, i) % m);
  }
};

/// Version 2: the same with a sum of 64 bits, in which the first hash counts 2^31 - 1 times. It
/// cannot overflow.
struct spark_2 : rule {
  using hash_type = spark_pair;
  using hasher_type = spark_hasher;
  static constexpr std::string_view name = "spark-2";

  static constexpr std::uint64_t position(spark_pair h, unsigned i, std::uint64_t m) noexcept {
    const std::int64_t sum = std::int64_t{static_cast<std::int32_t>(h.first)} * 0x7fffffff +
                             (i + std::int64_t{1}) * static_cast<std::int32_t>(h.second);
    return in_order(bit_order::big_endian_words,
                    static_cast<std::uint64_t>(sum < 0 ? ~sum : sum) % m);
  }
};

/// The absolute value of a signed remainder. Versions differ in the half of the hash that is the
/// base, and in the order of bits.
struct cassandra : rule {
  using hash_type = murmur_pair;
  using hasher_type =
      hasher_of<murmur_pair, [](std::span<const std::byte> bytes, std::uint64_t) noexcept {
        return murmur3_128_signed_tail(bytes);
      }>;
  static constexpr std::string_view name = "cassandra";

  bool first_is_base = false;
  bit_order order = bit_order::bytes;

  constexpr std::uint64_t position(const murmur_pair& h, unsigned i,
                                   std::uint64_t m) const noexcept {
    const std::uint64_t sum = first_is_base ? h.first + i * h.second : h.second + i * h.first;
    // m is below 2^38, so the remainder's sign can be changed.
    const auto remainder = static_cast<std::int64_t>(sum) % static_cast<std::int64_t>(m);
    return in_order(order, static_cast<std::uint64_t>(remainder < 0 ? -remainder : remainder));
  }
};

/// k hashes of the key with k seeds. The filter's seed is BIP37's tweak.
struct bip37 : rule {
  using hash_type = key_ref;
  using hasher_type = key_ref_hasher;
  static constexpr std::string_view name = "bip37";

  static std::uint64_t position(key_ref key, unsigned i, std::uint64_t m) noexcept {
    return murmur3_32(key.bytes, i * 0xfba4c795U + static_cast<std::uint32_t>(key.seed)) % m;
  }
};

}  // namespace rules
}  // namespace bloomset::dialects
