#include "redisbloom/murmur2.hpp"

#include <cstring>

namespace bloomset::server {
namespace {

/// At most sizeof(Word) bytes as the low bytes of a word.
template <class Word>
Word first_word(std::string_view bytes) noexcept {
  Word word = 0;
  std::memcpy(&word, bytes.data(), bytes.size());
  return word;
}

/// Both functions. They differ in the word, the multiplier and the shifts.
template <class Word, Word Multiplier, int Shift, int EndFirst, int EndLast>
Word murmur2(std::string_view bytes, Word h) noexcept {
  const auto stir = [](Word k) {
    k *= Multiplier;
    k ^= k >> Shift;
    return static_cast<Word>(k * Multiplier);
  };
  constexpr bool is_wide = sizeof(Word) == sizeof(std::uint64_t);
  for (; bytes.size() >= sizeof(Word); bytes.remove_prefix(sizeof(Word))) {
    const Word k = first_word<Word>(bytes.substr(0, sizeof(Word)));
    // They also differ in the order of the multiplication and the xor.
    if constexpr (is_wide) {
      h = (h ^ stir(k)) * Multiplier;
    } else {
      h = (h * Multiplier) ^ stir(k);
    }
  }
  if (!bytes.empty()) h = (h ^ first_word<Word>(bytes)) * Multiplier;
  h ^= h >> EndFirst;
  h *= Multiplier;
  return h ^ (h >> EndLast);
}

constexpr std::uint64_t multiplier_64 = 0xc6a4a7935bd1e995;

}  // namespace

std::uint64_t murmur_hash_64a(std::string_view bytes, std::uint64_t seed) noexcept {
  return murmur2<std::uint64_t, multiplier_64, 47, 47, 47>(bytes,
                                                           seed ^ (bytes.size() * multiplier_64));
}

std::uint32_t murmur_hash_2(std::string_view bytes, std::uint32_t seed) noexcept {
  return murmur2<std::uint32_t, 0x5bd1e995, 24, 13, 15>(
      bytes, seed ^ static_cast<std::uint32_t>(bytes.size()));
}

}  // namespace bloomset::server
