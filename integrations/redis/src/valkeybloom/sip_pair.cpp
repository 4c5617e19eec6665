#include "valkeybloom/sip_pair.hpp"

#include <bit>
#include <cstring>

namespace bloomset::server {
namespace {

struct sip_13 {
  sip_13(std::uint64_t key_0, std::uint64_t key_1) noexcept
      : v0(key_0 ^ 0x736f6d6570736575),
        v1(key_1 ^ 0x646f72616e646f6d),
        v2(key_0 ^ 0x6c7967656e657261),
        v3(key_1 ^ 0x7465646279746573) {}

  void round() noexcept {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }
  void absorb(std::uint64_t word) noexcept {
    v3 ^= word;
    round();
    v0 ^= word;
  }
  std::uint64_t finish() noexcept {
    v2 ^= 0xff;
    for (int i = 0; i < 3; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }

  std::uint64_t v0, v1, v2, v3;
};

}  // namespace

sip_pair::sip_pair(const sip_seed& seed) noexcept {
  static_assert(sizeof words_ == sizeof seed);
  std::memcpy(words_.data(), seed.data(), sizeof words_);
}

sip_pair::hashes sip_pair::operator()(std::string_view item) const noexcept {
  // The two states do not depend on each other, so that the CPU computes them at once.
  sip_13 first(words_[0], words_[1]);
  sip_13 second(words_[2], words_[3]);
  const auto absorb = [&](std::uint64_t word) {
    first.absorb(word);
    second.absorb(word);
  };
  const std::uint64_t length = item.size();
  absorb(length);
  while (item.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, item.data(), sizeof word);
    absorb(word);
    item.remove_prefix(sizeof word);
  }
  std::uint64_t last = 0;
  if (!item.empty()) std::memcpy(&last, item.data(), item.size());
  absorb(last | (length + 8) << 56);
  return {first.finish(), second.finish()};
}

}  // namespace bloomset::server
