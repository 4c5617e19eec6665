#pragma once

// SHA-256 as text, by which a manifest names the content of files.

#include <bloomset/file.hpp>
#include <string>

namespace bloomset::cli {

/// 64 hexadecimal digits of all pieces, one after the other.
std::string sha256_of(byte_pieces pieces);
std::string sha256_of(std::span<const std::byte> bytes);

}  // namespace bloomset::cli
