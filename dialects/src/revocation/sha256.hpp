#pragma once

// SHA-256 of several pieces, one after the other.

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>

struct evp_md_ctx_st;

namespace bloomset::dialects {

/// A hasher whose state is used again from key to key. For one thread.
class sha256 {
 public:
  using digest = std::array<std::byte, 32>;

  sha256() noexcept;

  digest operator()(std::initializer_list<std::span<const std::byte>> pieces) noexcept;

 private:
  struct closer {
    void operator()(evp_md_ctx_st* context) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, closer> context_;
};

}  // namespace bloomset::dialects
