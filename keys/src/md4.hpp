#pragma once

// MD4 (RFC 1320), for the hashes of Windows passwords. It is broken as a cryptographic hash.
// libcrypto has it only in a provider that most machines do not load, and leaves copies of the
// password on the stack (docs/maintain/decisions/edges/key-readers.md).

#include <array>
#include <cstdint>
#include <string_view>

namespace bloomset::keys {

/// Any number of bytes. O(n).
std::array<char, 16> md4(std::string_view bytes) noexcept;

}  // namespace bloomset::keys
