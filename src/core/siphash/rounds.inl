// The state of SipHash over words of one key, or over vectors with a word of each of several keys.
// Each kernel includes this file into a namespace of its own.

template <class Word>
struct sip_state {
  Word v0, v1, v2, v3;

  [[gnu::always_inline]] explicit sip_state(const hash_key& key) noexcept
      : v0(Word{} + (key.words[0] ^ 0x736f6d6570736575)),
        v1(Word{} + (key.words[1] ^ 0x646f72616e646f6d)),
        v2(Word{} + (key.words[0] ^ 0x6c7967656e657261)),
        v3(Word{} + (key.words[1] ^ 0x7465646279746573)) {}

  [[gnu::always_inline]] void absorb(const Word& word) noexcept {
    v3 ^= word;
    round();
    v0 ^= word;
  }
  [[gnu::always_inline]] Word finish() noexcept {
    v2 ^= Word{} + 0xff;
    for (int i = 0; i < 3; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }

 private:
  template <int Bits>
  [[gnu::always_inline]] static Word rotated(const Word& x) noexcept {
    // Of 32-byte vectors, one shuffle instead of three steps.
    if constexpr (Bits == 32 && sizeof(Word) == 32) {
      using halves = std::uint32_t __attribute__((vector_size(32)));
      const auto y = reinterpret_cast<halves>(x);
      return reinterpret_cast<Word>(__builtin_shufflevector(y, y, 1, 0, 3, 2, 5, 4, 7, 6));
    } else if constexpr (Bits == 16 && sizeof(Word) == 32) {
      using quarters = std::uint16_t __attribute__((vector_size(32)));
      const auto y = reinterpret_cast<quarters>(x);
      return reinterpret_cast<Word>(__builtin_shufflevector(y, y, 3, 0, 1, 2, 7, 4, 5, 6,  //
                                                            11, 8, 9, 10, 15, 12, 13, 14));
    } else {
      return x << Bits | x >> (64 - Bits);
    }
  }
  [[gnu::always_inline]] void round() noexcept {
    v0 += v1;
    v2 += v3;
    v1 = rotated<13>(v1) ^ v0;
    v3 = rotated<16>(v3) ^ v2;
    v0 = rotated<32>(v0);
    v2 += v1;
    v0 += v3;
    v1 = rotated<17>(v1) ^ v2;
    v3 = rotated<21>(v3) ^ v0;
    v2 = rotated<32>(v2);
  }
};
