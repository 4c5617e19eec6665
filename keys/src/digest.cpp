#include "digest.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

namespace bloomset::keys {

result<digest> digest::make(const char* name) {
  algorithm how(EVP_MD_fetch(nullptr, name, nullptr), EVP_MD_free);
  if (how == nullptr) {
    return fail(
        errc::unsupported,
        fmt::format("this machine's libcrypto does not offer {}; see its configuration", name));
  }
  context state(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (state == nullptr) return fail(errc::out_of_memory, "there is not enough memory for a digest");
  const auto size = static_cast<std::size_t>(EVP_MD_get_size(how.get()));
  return digest(std::move(how), std::move(state), size);
}

bool digest::operator()(std::string_view bytes, char* into) noexcept {
  return begin() && add(bytes) && finish(into);
}

bool digest::begin() noexcept {
  return EVP_DigestInit_ex2(context_.get(), algorithm_.get(), nullptr) == 1;
}

bool digest::add(std::string_view bytes) noexcept {
  return EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1;
}

bool digest::finish(char* into) noexcept {
  return EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(into), nullptr) == 1;
}

void digest::forget() noexcept {
  EVP_MD_CTX_reset(context_.get());  // erases the state and the last block
}

}  // namespace bloomset::keys
