#include "memory/waiting_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace bloomset::cli {
namespace {

constexpr std::size_t lines_buffer_bytes = std::size_t{1} << 20;

}  // namespace

result<waiting_lines> waiting_lines::make(char end) {
  auto file = temporary_file::make();
  if (!file) return fail(std::move(file.error()));
  return waiting_lines(std::move(*file), end);
}

result<void> waiting_lines::add(std::string_view line, bool is_chosen) {
  is_chosen_.push_back(is_chosen);
  buffer_.insert(buffer_.end(), line.begin(), line.end());
  buffer_.push_back(end_);
  return buffer_.size() < lines_buffer_bytes ? result<void>() : write();
}

result<void> waiting_lines::write() {
  auto ok = file_.append(std::as_bytes(std::span(buffer_)));
  buffer_.clear();
  return ok;
}

std::uint64_t waiting_lines::chosen() const noexcept {
  return static_cast<std::uint64_t>(std::count(is_chosen_.begin(), is_chosen_.end(), true));
}

result<void> waiting_lines::print(output& out) {
  if (auto ok = write(); !ok) return ok;
  std::size_t line = 0;
  buffer_.resize(lines_buffer_bytes);
  for (std::uint64_t at = 0; at < file_.size();) {
    const auto size = std::min<std::uint64_t>(lines_buffer_bytes, file_.size() - at);
    const std::span<char> piece(buffer_.data(), size);
    if (auto ok = file_.read(at, std::as_writable_bytes(piece)); !ok) return ok;
    at += size;
    for (std::string_view rest(piece.data(), size); !rest.empty();) {
      const auto found = rest.find(end_);
      const auto now = rest.substr(0, found == std::string_view::npos ? found : found + 1);
      if (is_chosen_[line]) out.append(now);
      line += found != std::string_view::npos;
      rest.remove_prefix(now.size());
    }
    if (auto ok = out.check(); !ok) return ok;
  }
  buffer_.clear();
  return {};
}

}  // namespace bloomset::cli
