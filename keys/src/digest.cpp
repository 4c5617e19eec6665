#include "digest.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <utility>

namespace bloomery::keys {

result<digest> digest::make(const char* name) {
  EVP_MD* const algorithm = EVP_MD_fetch(nullptr, name, nullptr);
  if (algorithm == nullptr) {
    return fail(
        errc::unsupported,
        fmt::format("this machine's libcrypto does not offer {}; see its configuration", name));
  }
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  if (context == nullptr) {
    EVP_MD_free(algorithm);
    return fail(errc::out_of_memory, "there is no memory for a digest");
  }
  return digest(algorithm, context, static_cast<std::size_t>(EVP_MD_get_size(algorithm)));
}

digest::digest(digest&& other) noexcept
    : algorithm_(std::exchange(other.algorithm_, nullptr)),
      context_(std::exchange(other.context_, nullptr)),
      size_(other.size_) {}

digest::~digest() {
  EVP_MD_CTX_free(context_);
  EVP_MD_free(algorithm_);
}

bool digest::operator()(std::string_view bytes, char* into) noexcept {
  return EVP_DigestInit_ex2(context_, algorithm_, nullptr) == 1 &&
         EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1 &&
         EVP_DigestFinal_ex(context_, reinterpret_cast<unsigned char*>(into), nullptr) == 1;
}

void digest::forget() noexcept {
  EVP_MD_CTX_reset(context_);  // erases the state and the last block
}

}  // namespace bloomery::keys
