#include "xxh3_attack.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <bloomset/detail/core/bits.hpp>
#include <unordered_map>

#include "keys.hpp"
#include "tests/support/chosen_hashes.hpp"

namespace bench {
namespace {

using bloomset::detail::load;
using bloomset::detail::store;
using bloomset::test::inverse;
using bloomset::test::unshifted;

constexpr unsigned lanes = 8;
// Before the first scrambling of the accumulators. Stripe n uses the secret from word n on.
constexpr unsigned stripes = 16;
constexpr std::size_t key_bytes = 8 * lanes * (stripes + 1);

using secret = std::array<std::byte, XXH3_SECRET_DEFAULT_SIZE>;

secret secret_of(std::uint64_t seed) {
  secret made;
  XXH3_generateSecret_fromSeed(made.data(), seed);
  return made;
}

std::uint64_t word_of(const std::string& key, unsigned word) {
  return load<std::uint64_t>(std::as_bytes(std::span(key)).data() + 8 * word);
}
void set_word(std::string& key, unsigned word, std::uint64_t value) {
  store(std::as_writable_bytes(std::span(key)).data() + 8 * word, value);
}

}  // namespace

std::uint64_t integer_of(bloomset::hash64 h, std::uint64_t seed) {
  const std::uint64_t undo = inverse(0x9fb21c651e98df25);
  std::uint64_t x = unshifted(h.value, 28) * undo;
  // The upper 35 bits are unchanged, so that the step undoes itself.
  x ^= (x >> 35) + 8;
  x *= undo;
  // x ^ rotl(x, 49) ^ rotl(x, 24) is the product with a polynomial of three terms modulo z^64 - 1.
  // Its 64th power is 1, so that the 63rd is its inverse.
  for (int power = 1; power < 64; power *= 2) {
    x ^= std::rotl(x, 49 * power % 64) ^ std::rotl(x, 24 * power % 64);
  }
  const secret fixed = secret_of(0);
  seed ^= std::uint64_t{__builtin_bswap32(static_cast<std::uint32_t>(seed))} << 32;
  x ^= (load<std::uint64_t>(fixed.data() + 8) ^ load<std::uint64_t>(fixed.data() + 16)) - seed;
  return std::rotl(x, 32);
}

std::vector<colliding_words> likely_collisions() {
  constexpr unsigned samples = 4096;
  constexpr unsigned words = lanes + stripes;  // of the secret
  std::vector<std::array<std::uint64_t, words>> secrets(samples);
  for (unsigned i = 0; i < samples; ++i) {
    const secret made = secret_of(mixed(i));
    for (unsigned j = 0; j < words && 8 * j < made.size(); ++j) {
      secrets[i][j] = load<std::uint64_t>(made.data() + std::size_t{8} * j);
    }
  }
  std::vector<colliding_words> found;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned a = 0; a < stripes; ++a) {
      for (unsigned b = a + 1; b < stripes; ++b) {
        std::unordered_map<std::uint32_t, unsigned> tally;
        for (const auto& s : secrets) {
          const std::uint64_t difference = s[lane + a] ^ s[lane + b];
          if ((difference & 1) == 0) ++tally[static_cast<std::uint32_t>(difference >> 32)];
        }
        for (const auto& [difference, count] : tally) {
          if (count < samples / 1024) continue;
          found.push_back({lanes * a + lane, lanes * b + lane, difference,
                           static_cast<double>(count) / samples});
        }
      }
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& x, const auto& y) {
    return std::tuple(-x.share, x.first, x.second, x.difference) <
           std::tuple(-y.share, y.first, y.second, y.difference);
  });
  return found;
}

std::string long_key(const std::vector<colliding_words>& words, std::uint64_t random) {
  std::string key(key_bytes, '\0');
  for (unsigned i = 0; i < key_bytes / 8; ++i) set_word(key, i, mixed(random + i));
  for (const colliding_words& each : words) {
    const std::uint64_t high = word_of(key, each.first) >> 32;
    set_word(key, each.first, high << 32);
    set_word(key, each.second, (high ^ each.difference) << 32 | 0xffffffff);
  }
  return key;
}

void exchange(std::string& key, const colliding_words& words, unsigned t) {
  for (const unsigned word : {words.first, words.second}) {
    set_word(key, word, word_of(key, word) ^ std::uint64_t{1} << t);
  }
}

}  // namespace bench
