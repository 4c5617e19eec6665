#include "hashes.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "options.hpp"

namespace bloomset::dialects {
namespace {

constexpr std::uint64_t c1 = 0x87c37b91114253d5;
constexpr std::uint64_t c2 = 0x4cf5ad432745937f;

constexpr std::uint64_t mix_first(std::uint64_t word) noexcept {
  return std::rotl(word * c1, 31) * c2;
}
constexpr std::uint64_t mix_second(std::uint64_t word) noexcept {
  return std::rotl(word * c2, 33) * c1;
}
constexpr std::uint64_t finish64(std::uint64_t word) noexcept {
  word = (word ^ (word >> 33)) * 0xff51afd7ed558ccd;
  word = (word ^ (word >> 33)) * 0xc4ceb9fe1a85ec53;
  return word ^ (word >> 33);
}

template <bool SignedTail>
murmur_pair murmur128(std::span<const std::byte> bytes) noexcept {
  std::uint64_t h1 = 0;
  std::uint64_t h2 = 0;
  const std::size_t whole = bytes.size() / 16 * 16;
  for (std::size_t at = 0; at < whole; at += 16) {
    h1 ^= mix_first(little_endian<std::uint64_t>(bytes.data() + at));
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729;
    h2 ^= mix_second(little_endian<std::uint64_t>(bytes.data() + at + 8));
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5;
  }
  std::array<std::uint64_t, 2> tail{};
  for (std::size_t i = whole; i < bytes.size(); ++i) {
    const auto byte = std::to_integer<std::uint8_t>(bytes[i]);
    const auto word =
        SignedTail
            ? static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int8_t>(byte)))
            : std::uint64_t{byte};
    const std::size_t place = i - whole;
    tail[place / 8] ^= word << (8 * (place % 8));
  }
  h1 ^= mix_first(tail[0]);
  h2 ^= mix_second(tail[1]);
  h1 ^= bytes.size();
  h2 ^= bytes.size();
  h1 += h2;
  h2 += h1;
  h1 = finish64(h1);
  h2 = finish64(h2);
  h1 += h2;
  h2 += h1;
  return {h1, h2};
}

std::uint32_t mix32(std::uint32_t word) noexcept {
  return std::rotl(word * 0xcc9e2d51U, 15) * 0x1b873593U;
}
std::uint32_t step32(std::uint32_t h, std::uint32_t word) noexcept {
  return std::rotl(h ^ mix32(word), 13) * 5 + 0xe6546b64U;
}
std::uint32_t words32(std::span<const std::byte> bytes, std::uint32_t h) noexcept {
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    h = step32(h, little_endian<std::uint32_t>(bytes.data() + at));
  }
  return h;
}
std::uint32_t finish32(std::uint32_t h, std::size_t size) noexcept {
  h ^= static_cast<std::uint32_t>(size);
  h = (h ^ (h >> 16)) * 0x85ebca6bU;
  h = (h ^ (h >> 13)) * 0xc2b2ae35U;
  return h ^ (h >> 16);
}

/// Up to three bytes at the end, little-endian.
std::uint32_t tail32(std::span<const std::byte> bytes) noexcept {
  std::uint32_t word = 0;
  const std::size_t whole = bytes.size() / 4 * 4;
  for (std::size_t i = whole; i < bytes.size(); ++i) {
    word |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * (i - whole));
  }
  return word;
}

/// wyhash's mixing: the two halves of a product of 128 bits.
std::uint64_t multiply_mix(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using wide = unsigned __int128;
  const wide product = static_cast<wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Up to eight bytes as wyhash reads them: in words of 4, 2 and 1 bytes, the first on top.
std::uint64_t wyhash_piece(const std::byte* from, std::size_t size) noexcept {
  std::uint64_t piece = 0;
  for (const std::size_t word : std::array<std::size_t, 4>{4, 4, 2, 1}) {
    if (size < word) continue;
    std::uint64_t value = 0;
    std::memcpy(&value, from, word);
    piece = piece << (8 * word) | value;
    from += word;
    size -= word;
  }
  return piece;
}

}  // namespace

md5_words md5(std::uint8_t first, std::span<const std::byte> bytes) noexcept {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  const bool done = context != nullptr && EVP_DigestInit_ex(context, EVP_md5(), nullptr) == 1 &&
                    EVP_DigestUpdate(context, &first, 1) == 1 &&
                    EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1 &&
                    EVP_DigestFinal_ex(context, digest.data(), nullptr) == 1;
  EVP_MD_CTX_free(context);
  if (!done) {
    // Happens only with a library without MD5 or a machine without memory. A wrong position would
    // be a false negative, so the program ends.
    static_cast<void>(std::fputs("bloomset: this system's libcrypto cannot compute MD5\n", stderr));
    std::abort();
  }
  md5_words words{};
  for (std::size_t i = 0; i < 16; ++i) words.at.at(i / 4) = words.at.at(i / 4) << 8 | digest.at(i);
  return words;
}

murmur_pair murmur3_128(std::span<const std::byte> bytes) noexcept {
  return murmur128<false>(bytes);
}

murmur_pair murmur3_128_signed_tail(std::span<const std::byte> bytes) noexcept {
  return murmur128<true>(bytes);
}

std::uint32_t murmur3_32(std::span<const std::byte> bytes, std::uint32_t seed) noexcept {
  return finish32(words32(bytes, seed) ^ mix32(tail32(bytes)), bytes.size());
}

std::uint32_t murmur3_32_signed_tail(std::span<const std::byte> bytes,
                                     std::uint32_t seed) noexcept {
  std::uint32_t h = words32(bytes, seed);
  for (const std::byte byte : bytes.subspan(bytes.size() / 4 * 4)) {
    h = step32(h, static_cast<std::uint32_t>(static_cast<std::int8_t>(byte)));
  }
  return finish32(h, bytes.size());
}

std::uint32_t leveldb_hash(std::span<const std::byte> bytes, std::uint32_t seed) noexcept {
  constexpr std::uint32_t m = 0xc6a4a793U;
  std::uint32_t h = seed ^ (static_cast<std::uint32_t>(bytes.size()) * m);
  std::size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    h = (h + little_endian<std::uint32_t>(bytes.data() + at)) * m;
    h ^= h >> 16;
  }
  if (at != bytes.size()) {
    h = (h + tail32(bytes)) * m;
    h ^= h >> 24;
  }
  return h;
}

std::uint64_t wyhash_1(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  constexpr std::array<std::uint64_t, 6> p = {0xa0761d6478bd642f, 0xe7037ed1a0b428db,
                                              0x8ebc6af09c88c6e3, 0x589965cc75374cc3,
                                              0x1d8e4e27c47d124f, 0xeb44accab455d165};
  constexpr std::size_t block = 32;
  std::uint64_t s = seed;
  const std::uint64_t size = bytes.size();
  for (; bytes.size() >= block; bytes = bytes.subspan(block)) {
    const auto word = [&](std::size_t i) {
      return little_endian<std::uint64_t>(bytes.data() + 8 * i);
    };
    s = multiply_mix(s ^ p[0], multiply_mix(word(0) ^ p[1], word(1) ^ p[2]) ^
                                   multiply_mix(word(2) ^ p[3], word(3) ^ p[4]));
  }
  s ^= p[0];
  std::array<std::uint64_t, 4> q{};
  const std::size_t pieces = (bytes.size() + 7) / 8;
  for (std::size_t i = 0; i < pieces; ++i) {
    q[i] = wyhash_piece(bytes.data() + 8 * i, std::min<std::size_t>(8, bytes.size() - 8 * i));
  }
  switch (pieces) {
    case 0:
      break;
    case 1:
      s = multiply_mix(s, q[0] ^ p[1]);
      break;
    case 2:
      s = multiply_mix(q[0] ^ s, q[1] ^ p[2]);
      break;
    case 3:
      s = multiply_mix(q[0] ^ s, q[1] ^ p[2]) ^ multiply_mix(s, q[2] ^ p[3]);
      break;
    default:
      s = multiply_mix(q[0] ^ s, q[1] ^ p[2]) ^ multiply_mix(q[2] ^ s, q[3] ^ p[4]);
  }
  return multiply_mix(s, size ^ p[5]);
}

std::uint64_t fnv1_64(std::span<const std::byte> bytes) noexcept {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) {
    h = h * 0x100000001b3 ^ std::to_integer<std::uint64_t>(byte);
  }
  return h;
}

}  // namespace bloomset::dialects
