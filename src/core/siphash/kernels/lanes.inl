// Several keys at once, one in each lane of a vector. The including kernel defines `lanes`.

#include "core/siphash/rounds.inl"

using lane_words = std::uint64_t __attribute__((vector_size(8 * lanes)));

// The vector of word(0), word(1) and so on. Assigning one lane after the other takes longer,
// because each assignment depends on the one before.
template <class F>
[[gnu::always_inline]] inline lane_words lanes_of(const F& word) noexcept {
  return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    return lane_words{word(I)...};
  }(std::make_index_sequence<lanes>{});
}

void hash(const hash_key& key, std::span<const std::span<const std::byte>> keys,
          hash64* hashes) noexcept {
  // Once, because the compiler cannot know that `hashes` does not overlap the key.
  const sip_state<lane_words> initial(key);
  std::size_t done = 0;
  for (; done + lanes <= keys.size(); done += lanes) {
    const auto* const some = keys.data() + done;
    std::size_t least = ~std::size_t{0};
    std::size_t most = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
      least = some[i].size() < least ? some[i].size() : least;
      most = some[i].size() > most ? some[i].size() : most;
    }
    const auto size = [=](std::size_t i)
                          __attribute__((always_inline)) { return std::uint64_t{some[i].size()}; };
    const auto last_word = [=](std::size_t i) __attribute__((always_inline)) {
      return siphash_last_word(some[i].data(), some[i].size());
    };
    const auto last_bytes = [=](std::size_t i) __attribute__((always_inline)) {
      return load<std::uint64_t>(some[i].data() + some[i].size() - 8);
    };
    const lane_words sizes = lanes_of(size);
    // siphash_last_word() of all lanes. Two shifts, because a shift by 64 gives another value.
    const lane_words last = least < 8
                                ? lanes_of(last_word)
                                : lanes_of(last_bytes) >> 8 >> (56 - 8 * (sizes & 7)) | sizes << 56;
    sip_state<lane_words> state = initial;
    std::size_t at = 0;
    const auto word = [&](std::size_t i) __attribute__((always_inline)) {
      return load<std::uint64_t>(some[i].data() + at);
    };
    for (; at + 8 <= least; at += 8) state.absorb(lanes_of(word));
    const auto word_if_any = [&](std::size_t i) __attribute__((always_inline)) {
      return at + 8 <= some[i].size() ? word(i) : 0;
    };
    for (; at + 8 <= most; at += 8) {  // lanes whose key has ended keep their state
      sip_state<lane_words> next = state;
      next.absorb(lanes_of(word_if_any));
      const auto goes_on = sizes >= lane_words{} + (at + 8);
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
