#include "md4.hpp"

#include <openssl/crypto.h>

#include <bit>
#include <cstddef>
#include <cstring>

namespace bloomset::keys {
namespace {

using state = std::array<std::uint32_t, 4>;
constexpr std::size_t block_size = 64;

/// One step of RFC 1320, section 3.4: a = (a + function(b, c, d) + word + constant) <<< shift.
template <class Function>
void step(state& s, unsigned i, Function function, std::uint32_t word, std::uint32_t constant,
          int shift) noexcept {
  // The registers change roles at each step: a, b, c and d move on by one.
  std::uint32_t& a = s[(4 - i % 4) % 4];
  const std::uint32_t b = s[(5 - i % 4) % 4];
  const std::uint32_t c = s[(6 - i % 4) % 4];
  const std::uint32_t d = s[(7 - i % 4) % 4];
  a = std::rotl(a + function(b, c, d) + word + constant, shift);
}

void add_block(state& sum, const char* block) noexcept {
  std::array<std::uint32_t, 16> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      words[i] |= std::uint32_t{static_cast<unsigned char>(block[4 * i + byte])} << (8 * byte);
    }
  }
  // The order of words and the shifts of each round.
  constexpr std::array<std::uint8_t, 16> second = {0, 4, 8,  12, 1, 5, 9,  13,
                                                   2, 6, 10, 14, 3, 7, 11, 15};
  constexpr std::array<std::uint8_t, 16> third = {0, 8, 4, 12, 2, 10, 6, 14,
                                                  1, 9, 5, 13, 3, 11, 7, 15};
  constexpr std::array<int, 4> first_shifts = {3, 7, 11, 19};
  constexpr std::array<int, 4> second_shifts = {3, 5, 9, 13};
  constexpr std::array<int, 4> third_shifts = {3, 9, 11, 15};
  state s = sum;
  for (unsigned i = 0; i < 16; ++i) {
    step(
        s, i, [](auto x, auto y, auto z) { return (x & y) | (~x & z); }, words[i], 0,
        first_shifts[i % 4]);
  }
  for (unsigned i = 0; i < 16; ++i) {  // the square root of 2
    step(
        s, i, [](auto x, auto y, auto z) { return (x & y) | (x & z) | (y & z); }, words[second[i]],
        0x5a827999, second_shifts[i % 4]);
  }
  for (unsigned i = 0; i < 16; ++i) {  // the square root of 3
    step(
        s, i, [](auto x, auto y, auto z) { return x ^ y ^ z; }, words[third[i]], 0x6ed9eba1,
        third_shifts[i % 4]);
  }
  for (std::size_t i = 0; i < s.size(); ++i) sum[i] += s[i];
  OPENSSL_cleanse(words.data(), sizeof(words));  // they may be from a password
}

}  // namespace

std::array<char, 16> md4(std::string_view bytes) noexcept {
  state sum = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  while (bytes.size() >= block_size) {
    add_block(sum, bytes.data());
    bytes.remove_prefix(block_size);
  }
  // The last bytes of the text, a bit, zeros, and the number of bits in the last eight bytes of a
  // block.
  std::array<char, 2 * block_size> last{};
  if (!bytes.empty()) std::memcpy(last.data(), bytes.data(), bytes.size());
  last[bytes.size()] = static_cast<char>(0x80);
  const std::size_t size = bytes.size() + 9 <= block_size ? block_size : last.size();
  for (unsigned byte = 0; byte < 8; ++byte) {
    last[size - 8 + byte] = static_cast<char>((bits >> (8 * byte)) & 0xff);
  }
  for (std::size_t at = 0; at < size; at += block_size) add_block(sum, last.data() + at);
  OPENSSL_cleanse(last.data(), last.size());
  std::array<char, 16> digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<char>((sum[i / 4] >> (8 * (i % 4))) & 0xff);
  }
  return digest;
}

}  // namespace bloomset::keys
