#include "input/record_keys.hpp"

#include <algorithm>

namespace bloomset::cli {

std::size_t key_batch::line_of_key(std::size_t key) const noexcept {
  if (ends.empty()) return key;
  return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), key) - ends.begin());
}

key_batch plain_keys::batch(std::span<const std::string_view> lines, std::uint64_t first_line) {
  const auto blank = std::find_if(lines.begin(), lines.end(), is_blank_);
  if (blank == lines.end()) return {lines, lines, {}, first_line, {}};
  keys_.assign(lines.begin(), blank);
  ends_.clear();
  for (std::uint32_t end = 1; end <= keys_.size(); ++end) ends_.push_back(end);
  for (auto line = blank; line != lines.end(); ++line) {
    if (!is_blank_(*line)) keys_.push_back(*line);
    ends_.push_back(static_cast<std::uint32_t>(keys_.size()));
  }
  return {lines, keys_, ends_, first_line, {}};
}

result<record_keys> record_keys::make(const key_choice& choice) {
  auto reader = keys::make_reader(choice.reader, choice.why);
  if (!reader) return fail(reader.error().code, "--keys: " + reader.error().message);
  return record_keys(std::move(*reader), choice);
}

void record_keys::begin_file(std::size_t number, std::string_view name) {
  if (file_ == number) return;
  file_ = number;
  reader_->begin_file(name);
}

/// Appends the line's keys, all or none.
result<void> record_keys::read_keys(std::string_view line) {
  if (is_blank_(line)) return {};
  const std::size_t before = keys_.size();
  if (auto ok = reader_->read(line, keys_); !ok || !accepts_) return ok;
  for (const std::string_view key : keys_.all().subspan(before)) {
    auto ok = accepts_(key);
    if (ok) continue;
    keys_.truncate(before);
    return ok;
  }
  return {};
}

bool record_keys::read(std::string_view line, reading& so_far) {
  const std::size_t before = keys_.size();
  if (auto ok = read_keys(line); !ok) {
    so_far.stopped = !skip_bad_;
    if (!so_far.wrong) so_far.wrong = {so_far.lines, std::move(ok.error())};
    if (so_far.stopped) return false;
    ++so_far.skipped;
    skipped_.push_back(static_cast<std::uint32_t>(lines_.size()));
  }
  const std::size_t made = keys_.size() - before;
  for (const std::string_view key : keys_.all().subspan(before)) so_far.key_bytes.add(key.size());
  so_far.keys += made;
  so_far.key_per_line &= made == 1;
  so_far.crs += ends_in_cr(line) ? 1 : 0;
  ++so_far.lines;
  lines_.push_back(line);
  ends_.push_back(static_cast<std::uint32_t>(keys_.size()));
  return true;
}

void record_keys::clear() noexcept {
  lines_.clear();
  ends_.clear();
  skipped_.clear();
  keys_.clear();
}

}  // namespace bloomset::cli
