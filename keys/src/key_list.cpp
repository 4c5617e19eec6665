#include <openssl/crypto.h>

#include <algorithm>
#include <bloomset/keys/reader.hpp>
#include <cstring>
#include <utility>

namespace bloomset::keys {
namespace {

// Two thousand digests. Together with their views they fit into the second-level cache.
constexpr std::size_t chunk_bytes = std::size_t{64} << 10;

}  // namespace

void key_list::add(std::string_view key) {
  char* const at = make(key.size());
  if (!key.empty()) std::memcpy(at, key.data(), key.size());
}

void key_list::grow(std::size_t size) {
  // Uses a chunk that clear() kept, if it is large enough for the key.
  while (in_use_ < chunks_.size() && chunks_[in_use_].size < size) ++in_use_;
  if (in_use_ == chunks_.size()) {
    const std::size_t bytes = std::max(chunk_bytes, size);
    chunks_.push_back(
        {std::make_unique<char[]>(bytes), bytes});  // NOLINT(modernize-avoid-c-arrays)
  }
  at_ = chunks_[in_use_].bytes.get();
  left_ = chunks_[in_use_].size;
  ++in_use_;
}

void key_list::swap(key_list& other) noexcept {
  std::swap(keys_, other.keys_);
  std::swap(chunks_, other.chunks_);
  std::swap(in_use_, other.in_use_);
  std::swap(at_, other.at_);
  std::swap(left_, other.left_);
}

void key_list::clear() noexcept {
  keys_.clear();
  // The chunk of a long key is not kept: one hostile record would hold its memory for ever.
  std::erase_if(chunks_, [](const chunk& one) { return one.size > chunk_bytes; });
  in_use_ = 0;
  at_ = nullptr;
  left_ = 0;
}

void key_list::wipe() noexcept {
  for (const chunk& one : chunks_) OPENSSL_cleanse(one.bytes.get(), one.size);
  clear();
}

}  // namespace bloomset::keys
