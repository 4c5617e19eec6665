#pragma once

// The hashes of all keys of a batch, for filters that are built once.

#include <bloomery/detail/core/key_overloads.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/storage.hpp>
#include <cstddef>
#include <cstring>
#include <span>

namespace bloomery::detail {

/// Calls `use(hashes)` with the hashes of all keys, 8 bytes each, and returns its result. Fails
/// with out_of_memory.
template <key_batch R, class Use>
auto with_all_hashes(const filter_hasher& hash, const R& keys, Use&& use)
    -> decltype(use(std::span<const hash64>())) {
  const std::size_t n = std::size(keys);
  auto memory = owned_storage::make(n * sizeof(hash64));
  if (!memory) return fail(std::move(memory.error()));
  auto* const all = reinterpret_cast<hash64*>(memory->writable_bytes().data());
  for_hashes(hash, keys, [&](auto some, std::size_t at) noexcept {
    std::memcpy(all + at, some.data(), some.size_bytes());
    return true;
  });
  return use(std::span<const hash64>(all, n));
}

}  // namespace bloomery::detail
