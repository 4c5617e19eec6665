#pragma once

// The bytes of a stored filter, for damage and forgery: the header's fields by
// docs/reference/format.md, and correct checksums after a forgery.

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset::test {

namespace at {
inline constexpr std::size_t format_version = 8;
inline constexpr std::size_t kind = 10;
inline constexpr std::size_t kind_version = 12;
inline constexpr std::size_t hash = 14;
inline constexpr std::size_t flags = 16;
inline constexpr std::size_t parameter_bytes = 20;
inline constexpr std::size_t seed = 24;
inline constexpr std::size_t count = 32;
inline constexpr std::size_t payload_bytes = 40;
inline constexpr std::size_t payload_checksum = 48;
inline constexpr std::size_t header_checksum = 56;
inline constexpr std::size_t parameters = 64;
}  // namespace at

/// Corrects both checksums for the bytes, as an attacker would. Bytes that are not a header, or
/// whose parameters reach beyond them, stay unchanged.
inline void reseal(std::vector<std::byte>& file) {
  if (file.size() < at::parameters) return;
  const auto size = detail::load<std::uint32_t>(file.data() + at::parameter_bytes);
  if (size > file.size() - at::parameters) return;
  const std::span<const std::byte> all = file;
  const auto put_hash = [&](std::size_t offset, std::span<const std::byte> of) {
    detail::store(file.data() + offset, xxh3_hasher()(of).value);
  };
  put_hash(at::payload_checksum, all.subspan(at::parameters + size));
  std::vector<std::byte> sealed(all.begin(), all.begin() + at::header_checksum);
  const auto parameters = all.subspan(at::parameters, size);
  sealed.insert(sealed.end(), parameters.begin(), parameters.end());
  put_hash(at::header_checksum, sealed);
}

/// A copy with one field changed, and sealed again.
template <class Word>
std::vector<std::byte> forged(std::vector<std::byte> file, std::size_t offset, Word value) {
  detail::store(file.data() + offset, value);
  reseal(file);
  return file;
}

}  // namespace bloomset::test
