#include "memory/key_text_spool.hpp"

#include <fmt/format.h>

#include <bloomset/plan/units.hpp>
#include <cstring>

namespace bloomset::cli {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

result<void> pass_on(std::span<const char> chunk, std::vector<std::string_view>& keys,
                     const std::function<result<void>(std::span<const std::string_view>)>& use) {
  keys.clear();
  while (!chunk.empty()) {
    std::uint64_t size = 0;
    std::memcpy(&size, chunk.data(), sizeof size);
    keys.emplace_back(chunk.data() + sizeof size, size);
    chunk = chunk.subspan(sizeof size + size);
  }
  return use(keys);
}

}  // namespace

result<void> key_text_spool::add(std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (chunks_.empty() || chunks_.back().size() >= chunk_bytes) {
      if (!chunks_.empty() && (file_ || chunks_.size() * chunk_bytes >= limit_)) {
        if (auto ok = write(); !ok) return ok;
      }
      chunks_.emplace_back().reserve(chunk_bytes);
    }
    std::vector<char>& into = chunks_.back();
    const std::uint64_t size = key.size();
    const auto* const at = reinterpret_cast<const char*>(&size);
    into.insert(into.end(), at, at + sizeof size);
    into.insert(into.end(), key.begin(), key.end());
    ++keys_;
  }
  return {};
}

result<void> key_text_spool::write() {
  if (!file_) {
    auto made = temporary_file::make();
    if (!made) return fail(std::move(made.error()));
    file_.emplace(std::move(*made));
    notice_(fmt::format("after {} the keys go to a temporary file in {}",
                        format_count(keys_, "key"), file_->folder()));
  }
  for (const std::vector<char>& chunk : chunks_) {
    if (auto ok = file_->append(std::as_bytes(std::span(chunk))); !ok) return ok;
    written_.push_back(chunk.size());
  }
  chunks_.clear();
  return {};
}

result<void> key_text_spool::for_each(
    const std::function<result<void>(std::span<const std::string_view>)>& use) const {
  std::vector<std::string_view> keys;
  std::vector<char> bytes;
  std::uint64_t begin = 0;
  for (const std::size_t size : written_) {
    bytes.resize(size);
    if (auto ok = file_->read(begin, std::as_writable_bytes(std::span(bytes))); !ok) return ok;
    begin += size;
    if (auto ok = pass_on(bytes, keys, use); !ok) return ok;
  }
  for (const std::vector<char>& chunk : chunks_) {
    if (auto ok = pass_on(chunk, keys, use); !ok) return ok;
  }
  return {};
}

}  // namespace bloomset::cli
