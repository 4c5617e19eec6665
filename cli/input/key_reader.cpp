#include "input/key_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/plan/units.hpp>
#include <cstring>
#include <utility>

namespace bloomset::cli {

key_reader::key_reader(std::unique_ptr<byte_source> source, key_format format, std::size_t block,
                       std::uint64_t max_line)
    : source_(std::move(source)), format_(format), block_(block + 1), max_line_(max_line) {
  keys_.reserve(max_keys);
}

void key_reader::restart(std::unique_ptr<byte_source> source) noexcept {
  source_ = std::move(source);
  begin_ = searched_ = end_ = 0;
  ended_ = false;
  began_ = false;
  form_ = {};
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
    if (keys_.empty() && ended_ && begin_ < end_) {
      look_at_last({block_.data() + begin_, end_ - begin_});
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

result<std::span<const char>> key_reader::next_block(line_memory& memory, bool fills) {
  const std::span<const char> left(block_.data() + begin_, end_ - begin_);
  memory.reset();
  memory.grow(std::max(block_.size(), left.size() + 2));
  std::copy(left.begin(), left.end(), memory.data());
  std::size_t size = left.size();
  std::size_t first = 0;
  std::size_t searched = 0;
  // A byte is left for the last key's end.
  for (std::size_t full = memory.size() - 1;;) {
    while (size < full && !ended_ && !failure_) {
      auto got = source_->read(std::span(memory.data() + size, full - size));
      if (!got) {
        failure_ = std::move(got.error());
      } else {
        size += *got;
        ended_ = *got == 0;
      }
      if (!fills && source_->would_wait() &&
          std::string_view(memory.data(), size).find(format_.end, searched) !=
              std::string_view::npos) {
        break;
      }
    }
    if (!began_) {
      first = look_at_beginning({memory.data(), size});
      searched = std::max(searched, first);
    }
    const auto end = std::string_view(memory.data(), size).substr(searched).rfind(format_.end);
    const std::size_t whole = end == std::string_view::npos ? first : searched + end + 1;
    if (ended_) {  // the last key may lack its end
      if (whole != size) {
        look_at_last({memory.data() + whole, size - whole});
        memory[size++] = format_.end;
      }
      keep({});
      return std::span<const char>(memory.data() + first, size - first);
    }
    if (whole != first) {
      keep({memory.data() + whole, size - whole});
      return std::span<const char>(memory.data() + first, whole - first);
    }
    if (failure_) return fail(*failure_);
    if (size - first > max_line_) return too_long();
    // Pages double, so that their number of moves is small. Only a piece more is read at a time, so
    // that a long line does not bring long remains of the next ones.
    searched = size;
    full = std::min(memory.size() - 1, size + default_block);
    if (full == size) {
      memory.grow(2 * memory.size());
      full = std::min(memory.size() - 1, size + default_block);
    }
  }
}

failure key_reader::too_long() const {
  return fail(errc::invalid_argument,
              fmt::format("this line is longer than the memory limit of {}; raise --memory-limit{}",
                          format_bytes(max_line_),
                          form_.has_nul ? ", or give -0 if NUL ends the keys" : ""));
}

/// Recognises the byte-order mark once there are enough bytes. Returns the number of bytes to skip.
std::size_t key_reader::look_at_beginning(std::string_view bytes) noexcept {
  using namespace std::string_view_literals;
  constexpr auto utf8 = "\xef\xbb\xbf"sv;
  if (bytes.size() < utf8.size() && !ended_ && bytes.find(format_.end) == std::string_view::npos) {
    return 0;
  }
  began_ = true;
  form_.has_nul = format_.end != '\0' && bytes.find('\0') != std::string_view::npos;
  if (bytes.starts_with(utf8)) {
    form_.mark = byte_order_mark::utf8;
    return format_.drop_mark ? utf8.size() : 0;
  }
  if (bytes.starts_with("\xff\xfe"sv) || bytes.starts_with("\xfe\xff"sv)) {
    form_.mark = byte_order_mark::utf16;
  }
  return 0;
}

void key_reader::look_at_last(std::string_view line) noexcept {
  form_.lacks_end = true;
  form_.cr_at_end = line.ends_with('\r');
}

void key_reader::keep(std::span<const char> rest) {
  block_.grow(rest.size() + 1);
  std::copy(rest.begin(), rest.end(), block_.data());
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
  if (begin_ == end_) {
    begin_ = searched_ = end_ = 0;
    block_.reset();
  }
  if (begin_ != 0) {
    std::memmove(block_.data(), block_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    searched_ -= begin_;
    begin_ = 0;
  }
  if (end_ > max_line_) return too_long();
  if (end_ == block_.size() - 1) block_.grow((2 * end_) + 1);
  const std::size_t room = std::min(block_.size() - 1 - end_, default_block);
  const auto got = source_->read(std::span(block_.data() + end_, room));
  if (!got) return fail(got.error());
  end_ += *got;
  ended_ = *got == 0;
  return {};
}

}  // namespace bloomset::cli
