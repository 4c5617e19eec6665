#include "input/key_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/plan/units.hpp>
#include <utility>

#include "filters/target.hpp"
#include "input/packing.hpp"
#include "terminal/declare.hpp"
#include "terminal/prompt.hpp"
#include "terminal/system.hpp"

namespace bloomset::cli {
namespace {

/// Fails if secret lines are packed. The lines are consecutive in memory.
result<void> check_unpacked(std::span<const std::string_view> lines) {
  const char* const first = lines.front().data();
  const std::string_view last = lines.back();
  const auto size = static_cast<std::size_t>(last.data() + last.size() - first);
  const auto* const found = recognise_packing({first, std::min(size, packing_bytes)}).found;
  if (found == nullptr) return {};
  if (found->how == codec::none) return unread_packing(*found);
  return fail(errc::unsupported,
              "compressed secrets are not read, because decompression leaves copies in memory; "
              "decompress it into a pipe");
}

}  // namespace

key_input::key_input(const input_options& options, std::vector<std::string> names,
                     std::optional<std::uint64_t> total_bytes)
    : names_(std::move(names)),
      choice_(options.keys),
      format_(options.format()),
      total_bytes_(total_bytes),
      plain_(options.keys.is_blank),
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
  if (auto ok = check_apart("-", names->files); !ok) return fail(std::move(ok.error()));
  if (options.writes_to != nullptr) {
    if (auto ok = check_apart(*options.writes_to, names->files); !ok) return fail(ok.error());
  }
  const auto memory = options.memory.read();
  if (!memory) return fail(memory.error());
  std::unique_ptr<key_input> made(new key_input(options, std::move(names->files), total));
  made->memory_ = memory->bytes;
  made->choice_.reader = std::move(*text);
  made->incomplete_ = std::move(names->incomplete);
  made->choice_.skip_bad |= (*kind)->skips_asked && options.keys.why == keys::purpose::ask;
  made->kind_ = *kind;
  made->in_order_ = (*kind)->in_order;
  if (!options.keys.partition.empty()) {
    const auto partition = find_partition_reader(options);
    if (!partition) return fail(partition.error());
    made->in_order_ |= (*partition)->in_order;
  }
  if (made->secret()) forbid_core_dumps();
  if (!made->choice_.unread()) {
    auto records = record_keys::make(made->choice_);
    if (!records) return fail(std::move(records.error()));
    made->records_.emplace(std::move(*records));
  }
  return made;
}

bool key_input::can_be_read_again() const noexcept {
  return total_bytes_ && std::ranges::find(names_, "-") == names_.end();
}

bool key_input::is_packed() const {
  return std::ranges::any_of(names_, [](const std::string& name) {
    const auto file = open_file(name);
    if (!file) return true;
    std::array<char, packing_bytes> first;
    const auto size = (*file)->read(first);
    return !size || recognise_packing({first.data(), *size}).found != nullptr;
  });
}

result<void> key_input::open_next() {
  const std::size_t number = opened_++;
  prompted_ = secret() && names_[number] == "-" && can_prompt();
  if (!prompted_ && names_[number] == "-" && can_prompt()) {
    fmt::print(stderr, "reading keys from the terminal; end with Ctrl-D\n");
  }
  auto file = prompted_ ? prompt_source("Password: ") : open_file(names_[number]);
  if (!file) return fail(std::move(file.error()));
  // Decompression would leave copies of secrets in memory that cannot be wiped.
  auto source = secret() ? std::move(file) : named(name(number), unpack(std::move(*file), memory_));
  if (!source) return fail(std::move(source.error()));
  if (reader_) {
    reader_->restart(std::move(*source));
  } else {
    reader_.emplace(std::move(*source), format_, key_reader::default_block, memory_);
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
    if (secret() && first_line == 1) {
      if (auto ok = named(name(file), check_unpacked(*lines)); !ok) return fail(ok.error());
    }
    reading read;
    key_batch batch;
    if (!records_) {
      batch = plain_.batch(*lines, first_line);
      batch.file = file;
      read.lines = lines->size();
      read.keys = batch.keys.size();
      read.key_per_line = batch.ends.empty();
      read.crs =
          static_cast<std::uint64_t>(std::count_if(lines->begin(), lines->end(), ends_in_cr));
    } else {
      records_->clear();
      records_->begin_file(file, path(file));
      for (const std::string_view line : *lines) {
        if (!records_->read(line, read)) break;
      }
      batch = records_->batch(first_line, file);
    }
    account(file, reader_->form(), read);
    progress_.update(keys(), bytes_before_ + reader_->consumed());
    if (read.stopped) {
      auto why = wrong(file, first_line + read.wrong->line, read.wrong->why);
      if (batch.lines.empty()) return why;
      pending_ = std::move(why);
    }
    return batch;
  }
}

result<key_block> key_input::next_block(line_memory& memory, bool fills) {
  for (;;) {
    if (!reading_) {
      if (opened_ == names_.size()) return key_block{{}, names_.size() - 1, bytes_before_, {}, {}};
      if (auto ok = open_next(); !ok) return fail(std::move(ok.error()));
    }
    const auto bytes = reader_->next_block(memory, fills);
    key_block block{{}, opened_ - 1, bytes_before_ + reader_->consumed(), reader_->form(), {}};
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
  bytes_before_ += reader_->consumed();
  reading_ = false;
}

std::string key_input::form_of(const file_form& of) const {
  if (of.lines == 0) return {};
  const std::string_view file = name(of.file);
  if (of.text.mark == byte_order_mark::utf16) {
    return fmt::format(
        "{} begins with the byte-order mark of UTF-16, but was read byte by byte; "
        "convert it first, for example with 'iconv -f UTF-16 -t UTF-8'",
        file);
  }
  if (of.text.has_nul) {
    return fmt::format(
        "{} has NUL bytes, so it is perhaps not text, but was read line by line; give -0 if "
        "NUL ends its keys",
        file);
  }
  if (2 * of.digests > of.lines) {
    return fmt::format(
        "{} of {} begin with a digest already, and --keys {} makes another digest of each; --keys "
        "hex reads digests alone, and --keys pwned reads them with a count",
        of.digests == of.lines ? "all lines" : "most lines", file, choice_.reader);
  }
  const bool marked =
      kind_->keeps_mark && !format_.drop_mark && of.text.mark == byte_order_mark::utf8;
  // A last line without an end does not count.
  const bool may_have_crs = kind_->keeps_cr && !format_.strip_cr && format_.end == '\n';
  const std::uint64_t lines = of.lines - (of.text.lacks_end ? 1 : 0);
  const std::uint64_t crs = may_have_crs ? of.crs - (of.text.cr_at_end ? 1 : 0) : 0;
  const bool all_crs = crs != 0 && crs == lines;
  if (marked && all_crs) {
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
  if (all_crs) {
    return fmt::format(
        "all lines of {} end in CR LF, and the CR is read as part of each; --crlf drops it", file);
  }
  if (2 * crs <= lines) return {};
  return fmt::format(
      "{} of {} lines of {} end in CR LF, and the CR is read as part of each of these; --crlf "
      "drops it",
      format_count(crs), format_count(of.lines), file);
}

result<void> key_input::took(const key_block& block, reading read) {
  account(block.file, block.form, read);
  progress_.update(keys(), block.consumed);
  if (!block.broken && !read.stopped) return {};
  const std::uint64_t next_line = positions_.next_line();
  if (read.stopped) return wrong(block.file, next_line, read.wrong->why);
  return fail(block.broken->code,
              fmt::format("{}:{}: {}", name(block.file), next_line, block.broken->message));
}

void key_input::account(std::size_t file, const text_form& form, const reading& read) {
  if (last_.file != file) {
    if (form_.empty()) form_ = form_of(last_);
    last_ = {.file = file, .text = {}};
  }
  if (read.lines != 0) last_.text = form;  // the end of all input has none
  last_.lines += read.lines;
  last_.crs += read.crs;
  last_.digests += read.digests;
  const std::uint64_t first_line = positions_.append(file, read);
  key_bytes_.add(read.key_bytes);
  if (read.skipped != 0 && skipped_ == 0) {
    first_skipped_ = fmt::format("{}:{}: {}", name(file), first_line + read.wrong->line,
                                 read.wrong->why.message);
  }
  skipped_ += read.skipped;
  exceptions_ += read.exceptions;
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

std::string key_input::exceptions() const {
  if (exceptions_ == 0) return {};
  if (exceptions_ == 1) {
    return "1 line is an exception, which a filter cannot store, so the names that it permits may "
           "match";
  }
  return fmt::format(
      "{} lines are exceptions, which a filter cannot store, so the names that they permit may "
      "match",
      format_count(exceptions_));
}

std::string key_input::shown(std::string_view line, std::size_t number,
                             std::string_view key) const {
  return records_ ? records_->shown(line, number, key) : std::string(key);
}

}  // namespace bloomset::cli
