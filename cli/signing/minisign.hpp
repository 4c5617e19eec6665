#pragma once

// Detached signatures of files, as minisign makes them: FILE.minisig beside FILE. Ed25519 (RFC
// 8032) over the file's BLAKE2b-512 ("ED", minisign's default) or over the file itself ("Ed", -l),
// and a second signature over the first one and the trusted comment.

#include <array>
#include <bloomset/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace bloomset::cli {

struct minisign_key {
  std::array<unsigned char, 8> id{};
  std::array<unsigned char, 32> key{};
};

/// Reads a public key: the name of a file that `minisign -G` made, or the key's own text of 56
/// characters, as minisign -P has it. Fails with not_found, io or corrupt.
result<minisign_key> read_minisign_key(const std::string& text);

/// Checks the signature in FILE.minisig. Returns its trusted comment, which the signature covers.
/// Fails with not_found, io or corrupt; the sentence begins with the name of the file. Memory: O(1)
/// for the default form, and the file for the old one, which is refused above 1 GiB.
result<std::string> verify_minisign(const minisign_key& key, const std::string& file);

}  // namespace bloomset::cli
