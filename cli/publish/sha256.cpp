#include "publish/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <new>

namespace bloomset::cli {

std::string sha256_of(byte_pieces pieces) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  std::array<unsigned char, 32> digest{};
  bool worked = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  for (const auto piece : pieces) {
    worked = worked && EVP_DigestUpdate(context.get(), piece.data(), piece.size()) == 1;
  }
  worked = worked && EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1;
  if (!worked) throw std::bad_alloc();  // libcrypto fails here only without memory
  std::string text;
  for (const unsigned byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

std::string sha256_of(std::span<const std::byte> bytes) {
  return sha256_of(byte_pieces(&bytes, 1));
}

}  // namespace bloomset::cli
