#include <bloomery/probe.hpp>

#include <openssl/evp.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace bloomery {

std::uint64_t md5_hashing::word(key_ref key, unsigned i) noexcept {
  std::array<char, 10> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), i).ptr;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  const bool done = context != nullptr && EVP_DigestInit_ex(context, EVP_md5(), nullptr) == 1 &&
                    EVP_DigestUpdate(context, key.bytes.data(), key.bytes.size()) == 1 &&
                    EVP_DigestUpdate(context, digits.data(),
                                     static_cast<std::size_t>(end - digits.data())) == 1 &&
                    EVP_DigestFinal_ex(context, digest.data(), nullptr) == 1;
  EVP_MD_CTX_free(context);
  if (!done) {
    // Only a library without MD5 or a machine without memory comes here; a wrong position would be
    // a false negative, so there is nothing to return.
    static_cast<void>(std::fputs("bloomery: this system's libcrypto cannot compute MD5\n", stderr));
    std::abort();
  }
  std::uint64_t word = 0;
  for (unsigned byte = 0; byte < 8; ++byte) word = word << 8 | digest.at(byte);
  return word;
}

}  // namespace bloomery
