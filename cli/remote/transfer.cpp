#include "remote/transfer.hpp"

#include <algorithm>

namespace bloomset::cli {

bool is_url(std::string_view name) noexcept {
  return name.starts_with("https://") || name.starts_with("http://");
}

std::string shown_url(std::string_view url) {
  const std::size_t host = url.find("://");
  if (host == std::string_view::npos) return std::string(url);
  const std::size_t begin = host + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  const std::size_t at = url.substr(0, end).rfind('@');
  if (at == std::string_view::npos || at < begin) return std::string(url);
  return std::string(url.substr(0, begin)).append(url.substr(at + 1));
}

bool file_version::agrees_with(const file_version& other) const noexcept {
  if (size != other.size) return false;
  if (!etag.empty() && !other.etag.empty()) return etag == other.etag;
  return modified.empty() || other.modified.empty() || modified == other.modified;
}

}  // namespace bloomset::cli
