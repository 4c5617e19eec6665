#include "key_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace bloomset::cli {

key_reader::key_reader(std::unique_ptr<byte_source> source, key_format format, std::size_t block)
    : source_(std::move(source)), format_(format), block_(block + 1) {
  keys_.reserve(max_keys);
}

void key_reader::restart(std::unique_ptr<byte_source> source) noexcept {
  source_ = std::move(source);
  begin_ = searched_ = end_ = 0;
  ended_ = false;
  began_ = false;
  mark_ = byte_order_mark::none;
  crs_ = line_ends::none;
  failure_.reset();
  next_line_ = 1;
  keys_.clear();
}

bool key_reader::would_wait() const noexcept {
  return !ended_ && source_->would_wait() &&
         std::memchr(block_.data() + searched_, format_.end, end_ - searched_) == nullptr;
}

result<std::span<const std::string_view>> key_reader::next() {
  for (;;) {
    if (!began_) {
      begin_ += look_at_beginning({block_.data() + begin_, end_ - begin_});
      searched_ = std::max(searched_, begin_);
    }
    split();
    for (std::size_t i = 0; i < keys_.size() && may_look_at_ends(); ++i) look_at_end(keys_[i]);
    if (keys_.empty() && ended_ && begin_ < end_) {
      block_[end_++] = format_.end;  // the last key lacks its end
      split();
    }
    if (!keys_.empty() || ended_) {
      next_line_ += keys_.size();
      return keys_;
    }
    if (auto ok = refill(); !ok) return fail(std::move(ok.error()));
  }
}

result<std::span<const char>> key_reader::next_block(std::vector<char>& memory) {
  const std::span<const char> left(block_.data() + begin_, end_ - begin_);
  if (memory.size() < std::max(block_.size(), left.size() + 2))
    memory.resize(block_.size() + left.size() + 1);
  std::copy(left.begin(), left.end(), memory.begin());
  std::size_t size = left.size();
  std::size_t first = 0;
  for (;;) {
    const std::size_t room = memory.size() - 1;  // and a byte for the last key's end
    while (size < room && !ended_ && !failure_) {
      auto got = source_->read(std::span(memory).subspan(size, room - size));
      if (!got) {
        failure_ = std::move(got.error());
      } else {
        size += *got;
        ended_ = *got == 0;
      }
    }
    if (!began_) first = look_at_beginning({memory.data(), size});
    const std::string_view all = std::string_view(memory.data(), size).substr(first);
    const std::string_view whole = all.substr(0, all.rfind(format_.end) + 1);  // npos + 1 is none
    for (std::string_view rest = whole; !rest.empty() && may_look_at_ends();) {
      const std::size_t end = rest.find(format_.end);
      look_at_end(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    if (ended_) {  // the last key may lack its end
      if (all.size() != whole.size()) memory[size++] = format_.end;
      keep({});
      return std::span(memory).subspan(first, size - first);
    }
    if (!whole.empty()) {
      keep(std::span(memory).subspan(first + whole.size(), all.size() - whole.size()));
      return std::span(memory).subspan(first, whole.size());
    }
    if (failure_) return fail(*failure_);
    memory.resize(2 * memory.size());
  }
}

/// Recognises the byte-order mark once there are enough bytes. Returns the number of bytes to skip.
std::size_t key_reader::look_at_beginning(std::string_view bytes) noexcept {
  using namespace std::string_view_literals;
  constexpr auto utf8 = "\xef\xbb\xbf"sv;
  if (bytes.size() < utf8.size() && !ended_ && bytes.find(format_.end) == std::string_view::npos) {
    return 0;
  }
  began_ = true;
  if (bytes.starts_with(utf8)) {
    mark_ = byte_order_mark::utf8;
    return format_.drop_mark ? utf8.size() : 0;
  }
  if (bytes.starts_with("\xff\xfe"sv) || bytes.starts_with("\xfe\xff"sv)) {
    mark_ = byte_order_mark::utf16;
  }
  return 0;
}

void key_reader::look_at_end(std::string_view line) noexcept {
  crs_ = line.ends_with('\r') ? line_ends::all_cr : line_ends::others;
}

void key_reader::keep(std::span<const char> rest) {
  if (block_.size() < rest.size() + 1) block_.resize(rest.size() + 1);
  std::copy(rest.begin(), rest.end(), block_.begin());
  begin_ = searched_ = 0;
  end_ = rest.size();
}

void key_reader::split() noexcept {
  keys_.clear();
  const char* const all = block_.data();
  while (keys_.size() < max_keys) {
    const auto* const at =
        static_cast<const char*>(std::memchr(all + searched_, format_.end, end_ - searched_));
    if (at == nullptr) {
      searched_ = end_;
      return;
    }
    const char* const first = all + begin_;
    auto length = static_cast<std::size_t>(at - first);
    if (format_.strip_cr && length != 0 && first[length - 1] == '\r') --length;
    keys_.emplace_back(first, length);
    begin_ = searched_ = static_cast<std::size_t>(at - all) + 1;
  }
}

result<void> key_reader::refill() {
  if (begin_ != 0) {
    std::memmove(block_.data(), block_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    searched_ -= begin_;
    begin_ = 0;
  }
  // Doubling keeps the copies of a long key at a constant factor.
  if (end_ == block_.size() - 1) block_.resize((2 * end_) + 1);
  const auto got = source_->read(std::span(block_).subspan(end_, block_.size() - 1 - end_));
  if (!got) return fail(got.error());
  end_ += *got;
  ended_ = *got == 0;
  return {};
}

}  // namespace bloomset::cli
