#include "input/record_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/partitioned_hash.hpp>

namespace bloomset::cli {
namespace {

constexpr char partition_tab = std::to_integer<char>(partition_separator);

/// Whether a line begins with so many hexadecimal digits, and nothing but a count or a name
/// follows.
bool begins_with_digits(std::string_view line, std::size_t digits) noexcept {
  if (line.size() < digits) return false;
  const auto is_digit = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  };
  constexpr std::string_view ends = ": \t\r";
  return std::ranges::all_of(line.substr(0, digits), is_digit) &&
         (line.size() == digits || ends.find(line[digits]) != std::string_view::npos);
}

}  // namespace

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
  if (choice.partition.empty()) return record_keys(std::move(*reader), nullptr, choice);
  auto partition = keys::make_reader(choice.partition, choice.why);
  if (!partition) {
    return fail(partition.error().code, "--partition: " + partition.error().message);
  }
  return record_keys(std::move(*reader), std::move(*partition), choice);
}

std::size_t record_keys::digits_of_digest(std::string_view reader) {
  const std::string_view name = reader.substr(0, reader.find(':'));
  constexpr std::size_t of_16_bytes = 32;
  constexpr std::size_t of_20_bytes = 40;
  constexpr std::size_t of_32_bytes = 64;
  if (name == "md4" || name == "md5" || name == "ntlm") return of_16_bytes;
  return name == "sha1" ? of_20_bytes : name == "sha256" ? of_32_bytes : 0;
}

void record_keys::begin_file(std::size_t number, std::string_view name) {
  if (file_ == number) return;
  file_ = number;
  reader_->begin_file(name);
  if (partition_ != nullptr) partition_->begin_file(name);
}

std::string record_keys::shown(std::string_view line, std::size_t number,
                               std::string_view key) const {
  if (partition_ == nullptr) return reader_->shown(line, number, key);
  const std::size_t rest = key.find(partition_tab) + 1;
  return std::string(key.substr(0, rest)) + reader_->shown(line, number, key.substr(rest));
}

/// Appends the line's keys with its partition before them, all or none.
result<void> record_keys::read_partitioned(std::string_view line) {
  partitions_.clear();
  rests_.clear();
  // Both read each line: it may be the header line of both.
  const auto partition = partition_->read(line, partitions_);
  auto read = reader_->read(line, rests_);
  if (!read || rests_.size() == 0) return read;
  if (!partition) {
    return fail(partition.error().code, "--partition: " + partition.error().message);
  }
  if (partitions_.size() != 1) {
    return fail(
        errc::invalid_argument,
        fmt::format("the line has {} partitions, and --partition needs one", partitions_.size()));
  }
  const std::string_view name = partitions_.all().front();
  if (name.find(partition_tab) != std::string_view::npos) {
    return fail(errc::invalid_argument,
                "the line's partition has a tab, which ends partitions in keys; give another "
                "--partition");
  }
  for (const std::string_view rest : rests_.all()) {
    char* to = keys_.make(name.size() + 1 + rest.size());
    to = std::copy(name.begin(), name.end(), to);
    *to++ = partition_tab;
    std::copy(rest.begin(), rest.end(), to);
  }
  return {};
}

/// Appends the line's keys, all or none.
result<void> record_keys::read_keys(std::string_view line) {
  const bool is_rest =
      reader_->is_within_record() || (partition_ != nullptr && partition_->is_within_record());
  if (!is_rest && is_blank_(line)) return {};
  const std::size_t before = keys_.size();
  auto ok = partition_ == nullptr ? reader_->read(line, keys_) : read_partitioned(line);
  if (!ok || !accepts_) return ok;
  for (const std::string_view key : keys_.all().subspan(before)) {
    auto accepted = accepts_(key);
    if (accepted) continue;
    keys_.truncate(before);
    return accepted;
  }
  return {};
}

bool record_keys::read(std::string_view line, reading& so_far) {
  const std::size_t before = keys_.size();
  const std::uint64_t exceptions = reader_->exceptions();
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
  so_far.exceptions += reader_->exceptions() - exceptions;
  so_far.key_per_line &= made == 1;
  so_far.crs += ends_in_cr(line) ? 1 : 0;
  if (digest_digits_ != 0 && begins_with_digits(line, digest_digits_)) ++so_far.digests;
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
