#pragma once

// Digests by libcrypto. Its memory is kept from one digest to the next.

#include <bloomset/result.hpp>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

struct evp_md_st;
struct evp_md_ctx_st;

namespace bloomset::keys {

class digest {
 public:
  /// "SHA1", "SHA256". Fails with unsupported if this libcrypto does not offer it, as under some
  /// policies.
  static result<digest> make(const char* name);

  std::size_t size() const noexcept { return size_; }
  /// Writes size() bytes; false if libcrypto fails.
  bool operator()(std::string_view bytes, char* into) noexcept;
  /// The same of bytes in pieces: begin, add each, finish. All return false if libcrypto fails.
  bool begin() noexcept;
  bool add(std::string_view bytes) noexcept;
  bool finish(char* into) noexcept;
  /// Erases everything about the digested bytes from libcrypto's memory.
  void forget() noexcept;

 private:
  using algorithm = std::unique_ptr<evp_md_st, void (*)(evp_md_st*)>;
  using context = std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)>;

  digest(algorithm how, context state, std::size_t size) noexcept
      : algorithm_(std::move(how)), context_(std::move(state)), size_(size) {}

  algorithm algorithm_;
  context context_;
  std::size_t size_;
};

}  // namespace bloomset::keys
