#include "sha256.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace bloomset::dialects {
namespace {

/// A wrong digest would be a wrong answer, so the program ends.
void require(bool done) noexcept {
  if (done) return;
  static_cast<void>(
      std::fputs("bloomset: this system's libcrypto cannot compute SHA-256\n", stderr));
  std::abort();
}

}  // namespace

void sha256::closer::operator()(evp_md_ctx_st* context) const noexcept {
  EVP_MD_CTX_free(context);
}

sha256::sha256() noexcept : context_(EVP_MD_CTX_new()) {
  require(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

sha256::digest sha256::operator()(
    std::initializer_list<std::span<const std::byte>> pieces) noexcept {
  // Without an algorithm the one of the constructor stays, which spares its search.
  require(EVP_DigestInit_ex(context_.get(), nullptr, nullptr) == 1);
  for (const auto piece : pieces) {
    require(EVP_DigestUpdate(context_.get(), piece.data(), piece.size()) == 1);
  }
  digest made;
  require(EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(made.data()),
                             nullptr) == 1);
  return made;
}

}  // namespace bloomset::dialects
