#include "key_input.hpp"

#include <fmt/format.h>

#include <bloomset/plan/units.hpp>
#include <utility>

#include "declare.hpp"
#include "prompt.hpp"
#include "system.hpp"

namespace bloomset::cli {
key_input::key_input(const input_options& options, std::vector<std::string> names,
                     std::optional<std::uint64_t> total_bytes)
    : names_(std::move(names)),
      choice_(options.keys),
      format_(options.format()),
      total_bytes_(total_bytes),
      progress_(!options.no_progress, total_bytes) {}

result<std::unique_ptr<key_input>> key_input::open(const input_options& options) {
  auto text = reader_text(options);
  if (!text) return fail(std::move(text.error()));
  const auto kind = find_reader(options);
  if (!kind) return fail(kind.error());
  if ((*kind)->secret) {
    if (auto ok = check_unshown(options.names, "INPUT"); !ok) return fail(std::move(ok.error()));
  }
  auto names = expand_names(options, **kind);
  if (!names) return fail(std::move(names.error()));
  std::optional<std::uint64_t> total = 0;
  for (const std::string& name : names->files) {
    const auto size = examine_file(name, name);
    if (!size) return fail(size.error());
    total = total && *size ? std::optional(*total + **size) : std::nullopt;
  }
  std::unique_ptr<key_input> made(new key_input(options, std::move(names->files), total));
  made->choice_.reader = std::move(*text);
  made->incomplete_ = std::move(names->incomplete);
  made->choice_.skip_bad |= (*kind)->skips_asked && options.keys.why == keys::purpose::ask;
  made->kind_ = *kind;
  if (made->secret()) forbid_core_dumps();
  if (!made->choice_.unread()) {
    auto records = record_keys::make(made->choice_);
    if (!records) return fail(std::move(records.error()));
    made->records_.emplace(std::move(*records));
  }
  return made;
}

result<void> key_input::open_next() {
  const std::size_t number = opened_++;
  prompted_ = secret() && names_[number] == "-" && can_prompt();
  auto file = prompted_ ? prompt_source("Password: ") : open_file(names_[number]);
  if (!file) return fail(std::move(file.error()));
  // Decompression would leave copies of secrets in memory that cannot be wiped.
  auto source = secret() ? std::move(file) : named(name(number), unpack(std::move(*file)));
  if (!source) return fail(std::move(source.error()));
  if (reader_) {
    reader_->restart(std::move(*source));
  } else {
    reader_.emplace(std::move(*source), format_);
  }
  reading_ = true;
  return {};
}

result<key_batch> key_input::next() {
  if (pending_) return fail(*std::exchange(pending_, std::nullopt));
  for (;;) {
    if (!reading_) {
      if (opened_ == names_.size()) return key_batch{};
      if (auto ok = open_next(); !ok) return fail(std::move(ok.error()));
    }
    const std::size_t file = opened_ - 1;
    const std::uint64_t first_line = reader_->next_line();
    const auto lines = reader_->next();
    if (!lines) {
      return fail(lines.error().code,
                  fmt::format("{}:{}: {}", name(file), first_line, lines.error().message));
    }
    if (lines->empty()) {
      end_file();
      continue;
    }
    if (secret() && first_line == 1 && begins_packed(lines->front())) {
      return fail(
          errc::unsupported,
          fmt::format("{}: compressed secrets are not read, because decompression leaves copies "
                      "in memory; decompress it into a pipe",
                      name(file)));
    }
    reading read{.lines = lines->size(), .keys = lines->size(), .wrong = {}};
    key_batch batch{*lines, *lines, {}, first_line, file};
    if (records_) {
      read = {};
      records_->clear();
      records_->begin_file(file, path(file));
      for (const std::string_view line : *lines) {
        if (!records_->read(line, read)) break;
      }
      batch = records_->batch(first_line, file);
    }
    account(file, read);
    progress_.update(keys(), bytes_before_ + reader_->consumed());
    if (read.stopped) {
      auto why = wrong(file, first_line + read.wrong->line, read.wrong->why);
      if (batch.lines.empty()) return why;
      pending_ = std::move(why);
    }
    return batch;
  }
}

result<key_block> key_input::next_block(std::vector<char>& memory) {
  for (;;) {
    if (!reading_) {
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
    end_file();
  }
}

void key_input::end_file() {
  if (form_.empty()) form_ = form();
  bytes_before_ += reader_->consumed();
  reading_ = false;
}

std::string key_input::form() const {
  const std::string_view file = name();
  if (reader_->mark() == byte_order_mark::utf16) {
    return fmt::format(
        "{} begins with the byte-order mark of UTF-16, but was read byte by byte; "
        "convert it first, for example with 'iconv -f UTF-16 -t UTF-8'",
        file);
  }
  const bool marked =
      kind_->keeps_mark && !format_.drop_mark && reader_->mark() == byte_order_mark::utf8;
  const bool crs = kind_->keeps_cr && reader_->every_line_ends_in_cr();
  if (marked && crs) {
    return fmt::format(
        "{} begins with a byte-order mark and all its lines end in CR LF; the mark and "
        "the CRs are read as parts of lines; --crlf drops them",
        file);
  }
  if (marked) {
    return fmt::format(
        "{} begins with a byte-order mark, which is read as part of the first line; "
        "--crlf drops it",
        file);
  }
  if (!crs) return {};
  return fmt::format(
      "all lines of {} end in CR LF, and the CR is read as part of each; --crlf drops it", file);
}

result<void> key_input::took(const key_block& block, reading read) {
  account(block.file, read);
  progress_.update(keys(), block.consumed);
  if (!block.broken && !read.stopped) return {};
  const std::uint64_t next_line = positions_.next_line();
  if (read.stopped) return wrong(block.file, next_line, read.wrong->why);
  return fail(block.broken->code,
              fmt::format("{}:{}: {}", name(block.file), next_line, block.broken->message));
}

void key_input::account(std::size_t file, const reading& read) {
  const std::uint64_t first_line = positions_.append(file, read);
  key_bytes_.add(read.key_bytes);
  if (read.skipped != 0 && skipped_ == 0) {
    first_skipped_ = fmt::format("{}:{}: {}", name(file), first_line + read.wrong->line,
                                 read.wrong->why.message);
  }
  skipped_ += read.skipped;
}

failure key_input::wrong(std::size_t file, std::uint64_t line, const failure& why) const {
  const std::string choice =
      choice_.stored ? fmt::format(" (--keys {} is the filter's own reader)", choice_.reader) : "";
  return fail(why.code, fmt::format("{}:{}: {}; --skip-bad skips such lines{}", name(file), line,
                                    why.message, choice));
}

std::string key_input::position_of_line(const key_batch& batch, std::size_t line) const {
  return fmt::format("{}:{}", name(batch.file), batch.first_line + line);
}

std::string key_input::position_of_key(std::uint64_t key) const {
  const auto [file, first, last] = positions_.lines_of_key(key);
  if (first == last) return fmt::format("{}:{}", name(file), first);
  return fmt::format("{}:{}-{}", name(file), first, last);
}

std::string key_input::skipped() const {
  if (skipped_ == 0) return {};
  return fmt::format("{} line{} skipped; the first is {}", format_count(skipped_),
                     skipped_ == 1 ? " was" : "s were", first_skipped_);
}

std::string key_input::shown(std::string_view line, std::size_t number,
                             std::string_view key) const {
  return records_ ? records_->reader().shown(line, number, key) : std::string(key);
}

}  // namespace bloomset::cli
