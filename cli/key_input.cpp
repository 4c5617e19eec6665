#include "key_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bloomery::cli {

void input_options::declare(CLI::App& app) {
  app.add_option("INPUT", names,
                 "files of keys, one a line; gzip and zstd too; - or none is stdin");
  app.add_flag("-0,--null", nul, "keys end in NUL, not in a newline");
  app.add_flag("--crlf", crlf, "lines may end in CR LF; else a CR belongs to its key");
  app.add_flag("--no-progress", no_progress, "no progress line, also on a terminal");
}

key_input::key_input(const input_options& options, std::optional<std::uint64_t> total_bytes)
    : names_(options.names),
      format_(options.format()),
      total_bytes_(total_bytes),
      progress_(!options.no_progress, total_bytes) {
  if (names_.empty()) names_.emplace_back("-");
}

result<std::unique_ptr<key_input>> key_input::open(const input_options& options) {
  std::optional<std::uint64_t> total = 0;
  const std::vector<std::string> from_stdin = {"-"};
  for (const std::string& name : options.names.empty() ? from_stdin : options.names) {
    const auto size = examine_file(name);
    if (!size) return fail(size.error());
    total = total && *size ? std::optional(*total + **size) : std::nullopt;
  }
  return std::unique_ptr<key_input>(new key_input(options, total));
}

std::string_view key_input::display_name(std::size_t file) const noexcept {
  return names_[file] == "-" ? std::string_view(stdin_name) : std::string_view(names_[file]);
}

result<void> key_input::open_next() {
  const std::size_t number = opened_++;
  auto file = open_file(names_[number]);
  if (!file) return fail(std::move(file.error()));
  auto source = unpack(std::move(*file));
  if (!source) {
    source.error().message = fmt::format("{}: {}", display_name(number), source.error().message);
    return fail(std::move(source.error()));
  }
  reader_.emplace(std::move(*source), format_);
  return {};
}

result<key_batch> key_input::next() {
  for (;;) {
    if (!reader_) {
      if (opened_ == names_.size()) return key_batch{};
      parts_.push_back({std::string(display_name(opened_)), keys_});
      if (auto ok = open_next(); !ok) return fail(std::move(ok.error()));
    }
    const std::uint64_t first_line = reader_->next_line();
    const auto keys = reader_->next();
    if (!keys) {
      return fail(keys.error().code,
                  fmt::format("{}:{}: {}", parts_.back().name, first_line, keys.error().message));
    }
    keys_ += keys->size();
    progress_.update(keys_, bytes_before_ + reader_->consumed());
    if (!keys->empty()) return key_batch{*keys, first_line};
    bytes_before_ += reader_->consumed();
    reader_.reset();
  }
}

result<key_block> key_input::next_block(std::vector<char>& memory) {
  for (;;) {
    if (!reader_) {
      if (opened_ == names_.size()) return key_block{{}, names_.size() - 1, bytes_before_, {}};
      if (auto ok = open_next(); !ok) return fail(std::move(ok.error()));
    }
    const auto bytes = reader_->next_block(memory);
    key_block block{{}, opened_ - 1, bytes_before_ + reader_->consumed(), {}};
    if (!bytes) {
      block.broken = bytes.error();
      return block;
    }
    block.bytes = *bytes;
    if (!block.bytes.empty()) return block;
    bytes_before_ += reader_->consumed();
    reader_.reset();
  }
}

result<void> key_input::took(const key_block& block, std::uint64_t keys) {
  while (parts_.size() <= block.file) {
    parts_.push_back({std::string(display_name(parts_.size())), keys_});
  }
  keys_ += keys;
  progress_.update(keys_, block.consumed);
  if (!block.broken) return {};
  return fail(block.broken->code, fmt::format("{}: {}", place_of(keys_), block.broken->message));
}

std::string key_input::place_of(std::uint64_t key) const {
  // The last part that begins at or before the key; empty files begin where the next one does.
  const auto after =
      std::upper_bound(parts_.begin(), parts_.end(), key,
                       [](std::uint64_t k, const part& p) { return k < p.first_key; });
  const part& found = *std::prev(after);
  return fmt::format("{}:{}", found.name, key - found.first_key + 1);
}

}  // namespace bloomery::cli
