// The functions that all modules have: memory of the host's arguments, and answers.

#include <cstdlib>

#include "texts.hpp"

/// Memory for arguments, at a multiple of 64 because a filter may stay in it, or null.
BLOOMSET_EXPORT(bloomset_alloc) void* bloomset_alloc(std::uint32_t size) {
  const std::uint64_t rounded = (std::uint64_t{size} + 64) / 64 * 64;
  if (rounded > 0xffff0000) return nullptr;
  return std::aligned_alloc(64, rounded);  // NOLINT(*-no-malloc): the host frees it
}
BLOOMSET_EXPORT(bloomset_free) void bloomset_free(void* at) {
  std::free(at);  // NOLINT(*-no-malloc)
}

BLOOMSET_EXPORT(bloomset_answer) const char* bloomset_answer() {
  return bloomset::wasm::answer.data();
}
BLOOMSET_EXPORT(bloomset_answer_size) std::uint32_t bloomset_answer_size() {
  return bloomset::wasm::answer.size();
}
/// Releases the memory of a large answer.
BLOOMSET_EXPORT(bloomset_forget_answer) void bloomset_forget_answer() {
  bloomset::wasm::answer = std::string();
}
