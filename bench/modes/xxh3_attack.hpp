#pragma once

// What an adversary can compute from the published structure of hash functions: keys of a chosen
// hash, and long keys that collide under many seeds.

#include <bloomset/hash.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// The integer key whose XXH3 with this seed is `h`: XXH3 of 8 bytes is a permutation.
std::uint64_t integer_of(bloomset::hash64 h, std::uint64_t seed);

/// Two words of keys of 1088 bytes, whose low halves collide if XXH3's secret, which depends on the
/// seed, gives their high halves this difference.
///
/// The hash adds for each word, at the same lane of each stripe of 64 bytes, the word itself to one
/// accumulator and the product of its halves, after an exclusive or with a word of the secret, to
/// another. If the high halves of two words of one lane are then equal, and their low halves change
/// by +2^t and -2^t, then neither sum changes.
struct colliding_words {
  unsigned first;            ///< the word, at byte 8 * first of the key
  unsigned second;           ///< a later word of the same lane
  std::uint32_t difference;  ///< the exclusive or of their high halves
  double share;              ///< of the seeds under which the keys collide
};

/// The differences with the largest share for each two words, the likeliest first.
std::vector<colliding_words> likely_collisions();

/// A key for these words, with the other bytes from a generator that begins with `random`.
std::string long_key(const std::vector<colliding_words>& words, std::uint64_t random);
/// Exchanges bit t of the two words, which differ there. t is below 32.
void exchange(std::string& key, const colliding_words& words, unsigned t);

}  // namespace bench
