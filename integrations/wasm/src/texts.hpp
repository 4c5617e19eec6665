#pragma once

// Byte strings as the module receives them, and its answers.

#include <algorithm>
#include <array>
#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bloomset::wasm {

/// Byte strings that lie one after the other. String i ends before bytes[ends[i]], and begins where
/// the one before ends.
struct texts {
  const char* bytes;
  const std::uint32_t* ends;
  std::uint32_t count;

  std::string_view operator[](std::uint32_t i) const noexcept {
    const std::uint32_t begin = i == 0 ? 0 : ends[i - 1];
    return {bytes + begin, ends[i] - begin};
  }
};

/// Calls `use(views, first)` for each piece of the strings until it returns false.
template <class Use>
void in_pieces(const texts& all, Use&& use) {
  constexpr std::uint32_t piece = 256;
  std::array<std::string_view, piece> views;
  for (std::uint32_t first = 0; first < all.count; first += piece) {
    const std::uint32_t n = std::min(piece, all.count - first);
    for (std::uint32_t i = 0; i < n; ++i) views[i] = all[first + i];
    if (!use(std::span<const std::string_view>(views.data(), n), first)) return;
  }
}

/// The secret key in 16 bytes, or nothing for null.
inline std::optional<hash_key> key_at(const std::byte* bytes) {
  if (bytes == nullptr) return std::nullopt;
  return hash_key::of(std::span<const std::byte, hash_key::size>(bytes, hash_key::size));
}

/// The name of the bytes of a filter in sentences.
inline constexpr const char* the_bytes = "the bytes";

// One filter per instance of the module: the host makes an instance for each.
// NOLINTBEGIN(*-avoid-non-const-global-variables): the memory of an instance is its state

/// The text of the last answer: JSON, a file, or the sentence of a failure.
inline std::string answer;

/// The status of a call: 0, or the number of its errc and 1.
inline std::uint32_t status_of(const failure& why) {
  answer = why.message;
  return static_cast<std::uint32_t>(why.code) + 1;
}
template <class T>
std::uint32_t status_of(const result<T>& done) {
  return done ? 0 : status_of(done.error());
}

// NOLINTEND(*-avoid-non-const-global-variables)

}  // namespace bloomset::wasm

// Names are not mangled, and every pointer is into this module's memory.
#define BLOOMSET_EXPORT(name) extern "C" [[clang::export_name(#name)]]
