#include "filters/file_key_spool.hpp"

#include <utility>

#include "memory/file_memory.hpp"

namespace bloomset::cli {
namespace {

constexpr unsigned parts_on_disk = 256;

}  // namespace

file_key_spool::file_key_spool(std::function<void(const std::string& folder)> notice,
                               std::size_t limit)
    : spool_(std::move(notice), limit, parts_on_disk) {}

result<void> file_key_spool::add(std::span<const file_key> keys) {
  size_ += keys.size();
  return spool_.keep(keys);
}

result<file_key_source> file_key_spool::source() {
  file_key_source source{size_, [this](const file_key_source::sink& use) {
                           release_file_pages();
                           return spool_.for_each(use);
                         }};
  if (!spool_.in_parts()) return source;
  if (auto ok = spool_.spill(); !ok) return fail(std::move(ok.error()));
  source.for_each_in_part = [this](unsigned part, const file_key_source::sink& use) {
    release_file_pages();
    return spool_.for_each_in_part(part, use);
  };
  return source;
}

result<void> file_keys::add(std::size_t file, std::span<const hash64> hashes) {
  read_ += hashes.size();
  const auto number = static_cast<std::uint32_t>(file);
  std::size_t n = 0;
  for (const hash64 h : hashes) {
    const file_key key(h, number);
    file_key& last = recent_[h.value % places];
    kept_[n] = key;
    n += last == key ? 0 : 1;
    last = key;
    if (n < batch) continue;
    if (auto ok = store_.add(kept_); !ok) return ok;
    n = 0;
  }
  return store_.add(std::span(kept_).first(n));
}

}  // namespace bloomset::cli
