#include <array>
#include <bloomset/hash.hpp>
#include <charconv>

#include "core/siphash/kernels.hpp"
#include "core/system.hpp"
#include "cpu/dispatch.hpp"

namespace bloomset {
namespace {

#include "core/siphash/rounds.inl"

void hash_each(const hash_key& key, std::span<const std::span<const std::byte>> keys,
               hash64* hashes) noexcept {
  for (const auto one : keys) *hashes++ = siphash(key, one);
}

}  // namespace

const detail::siphash_kernels detail::siphash_kernels::scalar{hash_each};

hash64 siphash(const hash_key& key, std::span<const std::byte> bytes) noexcept {
  sip_state<std::uint64_t> state(key);
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    state.absorb(detail::load<std::uint64_t>(bytes.data() + at));
  }
  state.absorb(detail::siphash_last_word(bytes.data(), bytes.size()));
  return {state.finish()};
}

void filter_hasher::operator()(std::span<const std::span<const std::byte>> keys,
                               hash64* hashes) const noexcept {
  if (seed_.is_keyed()) {
    detail::chosen_kernels<detail::siphash_kernels>().hash(seed_.key(), keys, hashes);
    return;
  }
  const xxh3_hasher hash(seed_.value());
  for (const auto key : keys) *hashes++ = hash(key);
}

hash_seed::hash_seed(const hash_key& key) noexcept
    : value_(siphash(key, bytes_of("bloomset hash key")).value), key_(key), is_keyed_(true) {}

hash_seed hash_seed::half(unsigned number) const noexcept {
  if (number == 0) return *this;
  if (!is_keyed_) return {value_ ^ detail::golden64};
  return hash_key{{siphash(key_, bytes_of("bloomset second key 0")).value,
                   siphash(key_, bytes_of("bloomset second key 1")).value}};
}

std::string_view name_of(hash_id hash) noexcept {
  switch (hash) {
    case hash_id::none:
      return "none";
    case hash_id::xxh3_64:
      return "xxh3";
    case hash_id::siphash_1_3:
      return "siphash";
    case hash_id::xxh3_2x64:
      return "xxh3-2x64";
    case hash_id::siphash_2x64:
      return "siphash-2x64";
    case hash_id::xxh3_partitioned:
      return "xxh3-partitioned";
    case hash_id::siphash_partitioned:
      return "siphash-partitioned";
  }
  return "unknown";
}

result<void> detail::check_keyed_hasher(const hash_seed& seed, bool takes_keys) {
  if (takes_keys || !seed.is_keyed()) return {};
  return fail(errc::unsupported,
              "this probe rule hashes keys on its own and uses no secret key; use double hashing");
}

std::optional<hash_key> hash_key::parse(std::string_view digits) noexcept {
  std::array<std::byte, size> bytes{};
  if (digits.size() != 2 * size) return std::nullopt;
  for (std::size_t i = 0; i < size; ++i) {
    std::uint8_t byte = 0;
    const char* const end = digits.data() + 2 * i + 2;
    const auto read = std::from_chars(end - 2, end, byte, 16);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    bytes[i] = std::byte{byte};
  }
  return of(bytes);
}

std::string hash_key::digits() const {
  constexpr std::string_view digit = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes()) {
    text += digit[std::to_integer<unsigned>(byte) >> 4];
    text += digit[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

result<hash_key> new_hash_key() {
  hash_key key{{detail::random_bits(), detail::random_bits()}};
  if (key.words[0] == 0 || key.words[1] == 0) {
    return fail(errc::io, "the operating system gave no random bits for a key; try again");
  }
  return key;
}

}  // namespace bloomset
