#pragma once

// Digests by libcrypto. Its memory is kept from one digest to the next.

#include <bloomery/result.hpp>
#include <cstddef>
#include <string_view>

struct evp_md_st;
struct evp_md_ctx_st;

namespace bloomery::keys {

class digest {
 public:
  /// "SHA1", "SHA256". Fails with unsupported if this libcrypto does not offer it, as under some
  /// policies.
  static result<digest> make(const char* name);
  digest(digest&& other) noexcept;
  digest& operator=(digest&&) = delete;
  digest(const digest&) = delete;
  digest& operator=(const digest&) = delete;
  ~digest();

  std::size_t size() const noexcept { return size_; }
  /// Writes size() bytes; false if libcrypto fails.
  bool operator()(std::string_view bytes, char* into) noexcept;
  /// Erases everything about the digested bytes from libcrypto's memory.
  void forget() noexcept;

 private:
  digest(evp_md_st* algorithm, evp_md_ctx_st* context, std::size_t size) noexcept
      : algorithm_(algorithm), context_(context), size_(size) {}

  evp_md_st* algorithm_;
  evp_md_ctx_st* context_;
  std::size_t size_;
};

}  // namespace bloomery::keys
