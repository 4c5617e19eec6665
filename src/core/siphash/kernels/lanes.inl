// Several keys at once, one in each lane of a vector. The including kernel defines `lanes`.

#include "core/siphash/rounds.inl"

using lane_words = std::uint64_t __attribute__((vector_size(8 * lanes)));

// Word number `at` of each key, or 0 of a key without it.
[[gnu::always_inline]] inline lane_words words_at(const std::span<const std::byte>* keys,
                                                  std::size_t at) noexcept {
  lane_words words{};
  for (std::size_t i = 0; i < lanes; ++i) {
    std::uint64_t word = 0;
    if (8 * at + 8 <= keys[i].size()) std::memcpy(&word, keys[i].data() + 8 * at, sizeof word);
    words[i] = word;
  }
  return words;
}

void hash(const hash_key& key, std::span<const std::span<const std::byte>> keys,
          hash64* hashes) noexcept {
  std::size_t done = 0;
  for (; done + lanes <= keys.size(); done += lanes) {
    const auto* const some = keys.data() + done;
    lane_words counts{};  // whole words of each key
    lane_words last{};
    std::size_t least = ~std::size_t{0};
    std::size_t most = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::size_t count = some[i].size() / 8;
      counts[i] = count;
      last[i] = siphash_last_word(some[i].data(), some[i].size());
      least = count < least ? count : least;
      most = count > most ? count : most;
    }
    sip_state<lane_words> state(key);
    std::size_t at = 0;
    for (; at < least; ++at) state.absorb(words_at(some, at));
    for (; at < most; ++at) {  // lanes whose key has ended keep their state
      sip_state<lane_words> next = state;
      next.absorb(words_at(some, at));
      const auto goes_on = counts > lane_words{} + at;
      state.v0 = goes_on ? next.v0 : state.v0;
      state.v1 = goes_on ? next.v1 : state.v1;
      state.v2 = goes_on ? next.v2 : state.v2;
      state.v3 = goes_on ? next.v3 : state.v3;
    }
    state.absorb(last);
    const lane_words made = state.finish();
    std::memcpy(hashes + done, &made, sizeof made);
  }
  siphash_kernels::scalar.hash(key, keys.subspan(done), hashes + done);
}
