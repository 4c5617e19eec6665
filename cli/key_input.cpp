#include "key_input.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <bloomery/plan/units.hpp>
#include <utility>

#include "declare.hpp"
#include "prompt.hpp"

namespace bloomery::cli {
namespace {

/// The names of all inputs: those that were given, and of a folder its files that are the reader's.
/// `lacking` is the first folder that lacks some, in a sentence.
result<std::vector<std::string>> names_of(const input_options& options,
                                          const keys::reader_kind& kind, std::string& lacking) {
  std::vector<std::string> names;
  for (const std::string& name : options.names) {
    if (kind.in_folder == nullptr || !is_folder(name)) {
      names.push_back(name);
      continue;
    }
    auto files = files_in(name, kind.in_folder);
    if (!files) return fail(std::move(files.error()));
    if (files->empty()) {
      return fail(errc::not_found, fmt::format("{}: no file in this folder has a name that the "
                                               "reader {} looks for; give files",
                                               name, kind.name));
    }
    if (files->size() < kind.whole_folder && lacking.empty()) {
      lacking =
          fmt::format("{}: {} of the {} files of a whole folder; what the others hold is missing",
                      name, format_count(files->size()), format_count(kind.whole_folder));
    }
    std::move(files->begin(), files->end(), std::back_inserter(names));
  }
  if (names.empty()) names.emplace_back("-");
  return names;
}

/// The reader's text with what other options add to it.
result<std::string> reader_text(const input_options& options) {
  if (options.min_count.empty()) return options.keys.reader;
  const std::string_view text = options.keys.reader;
  if (text.substr(0, text.find(':')) != "pwned") {
    return fail(errc::invalid_argument, "--min-count: only --keys pwned reads counts");
  }
  if (text.find(':') != std::string_view::npos) {
    return fail(errc::invalid_argument,
                fmt::format("--min-count: --keys {} says already which to pass over; give one of "
                            "the two",
                            text));
  }
  const auto least = parse_count(options.min_count);
  if (!least) return fail(least.error().code, "--min-count: " + least.error().message);
  return fmt::format("{}:min={}", text, *least);
}

}  // namespace

result<void> check_unshown(std::span<const std::string> names, std::string_view what) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto size = examine_file(
        names[i], names.size() == 1 ? std::string(what) : fmt::format("{} {}", what, i + 1));
    if (size) continue;
    return fail(size.error().code,
                fmt::format("{}; its name is not shown since it may be a secret: secrets are read "
                            "from the terminal, a pipe or a file, never from arguments, which "
                            "other users can see",
                            size.error().message));
  }
  return {};
}

void input_options::declare(CLI::App& app, keys::purpose why) {
  keys.why = why;
  option(app, "INPUT", names, "files of keys, one a line; gzip and zstd too; - or none is stdin");
  flag(app, "-0,--null", nul, "lines end in NUL, not in a newline");
  flag(app, "--crlf", crlf,
       "files as Windows writes them: a CR before a line's end, and a byte-order mark at a file's "
       "beginning, belong to no key");
  option(app, "--keys", keys.reader,
         "how a line becomes keys (default lines); 'bloomery man' explains each and what "
         "may follow its name")
      .value("READER");
  option(app, "--min-count", min_count, "with --keys pwned, pass over what was seen less often")
      .value("N");
  flag(app, "--skip-bad", keys.skip_bad,
       "pass over lines that --keys or the filter cannot read, and say at the end how many "
       "they were");
  flag(app, "--no-progress", no_progress, "no progress line, also on a terminal");
}

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
  const auto kind = keys::find(*text);
  if (!kind) return fail(kind.error().code, "--keys: " + kind.error().message);
  if ((*kind)->secret && options.keys.why == keys::purpose::insert) {
    return fail(errc::invalid_argument,
                fmt::format("--keys {}: its lines are secret and only asked about; put the list "
                            "that they are asked of into a filter",
                            (*kind)->name));
  }
  if ((*kind)->secret) {
    if (auto ok = check_unshown(options.names, "INPUT"); !ok) return fail(std::move(ok.error()));
  }
  std::string lacking;
  auto names = names_of(options, **kind, lacking);
  if (!names) return fail(std::move(names.error()));
  std::optional<std::uint64_t> total = 0;
  for (const std::string& name : *names) {
    const auto size = examine_file(name, name);
    if (!size) return fail(size.error());
    total = total && *size ? std::optional(*total + **size) : std::nullopt;
  }
  std::unique_ptr<key_input> made(new key_input(options, std::move(*names), total));
  made->choice_.reader = std::move(*text);
  made->lacking_ = std::move(lacking);
  made->secret_ = (*kind)->secret;
  made->choice_.skip_bad |= (*kind)->skips_asked && options.keys.why == keys::purpose::ask;
  made->kind_ = *kind;
  if (made->secret_) {
    // A core dump would be a copy that stays.
    const rlimit none{0, 0};
    (void)::setrlimit(RLIMIT_CORE, &none);
  }
  if (!made->choice_.unread()) {
    auto records = record_keys::make(made->choice_);
    if (!records) return fail(std::move(records.error()));
    made->records_.emplace(std::move(*records));
  }
  return made;
}

result<void> key_input::open_next() {
  const std::size_t number = opened_++;
  prompted_ = secret_ && names_[number] == "-" && can_prompt();
  auto file = prompted_ ? prompt_source("Password: ") : open_file(names_[number]);
  if (!file) return fail(std::move(file.error()));
  // Unpacking would leave copies of secrets where they cannot be wiped.
  auto source = secret_ ? std::move(file) : unpack(std::move(*file));
  if (!source) {
    source.error().message = fmt::format("{}: {}", name(number), source.error().message);
    return fail(std::move(source.error()));
  }
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
    if (secret_ && first_line == 1 && begins_packed(lines->front())) {
      return fail(errc::unsupported,
                  fmt::format("{}: what is secret is not unpacked here, since copies of it would "
                              "remain in memory; unpack it into a pipe",
                              name(file)));
    }
    reading read{.lines = lines->size(), .keys = lines->size(), .wrong = {}};
    key_batch batch{*lines, *lines, {}, first_line};
    if (records_) {
      read = {};
      records_->clear();
      records_->begin_file(file, path(file));
      for (const std::string_view line : *lines) {
        if (!records_->read(line, read)) break;
      }
      batch = records_->batch(first_line);
    }
    account(file, read);
    progress_.update(keys_, bytes_before_ + reader_->consumed());
    if (read.stopped) {
      auto why = wrong(file, first_line + read.wrong->line, read.wrong->why);
      if (batch.lines.empty()) return why;
      pending_ = std::move(why.value());
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
        "{} begins with the byte-order mark of UTF-16, and was read byte by byte; "
        "convert it first, as with 'iconv -f UTF-16 -t UTF-8'",
        file);
  }
  const bool marked =
      kind_->keeps_mark && !format_.drop_mark && reader_->mark() == byte_order_mark::utf8;
  const bool crs = kind_->keeps_cr && reader_->every_line_ends_in_cr();
  if (marked && crs) {
    return fmt::format(
        "{} begins with a byte-order mark and all its lines end in CR LF; mark and "
        "CRs are read as parts of lines, and --crlf drops them",
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
      "all lines of {} end in CR LF, and the CR is read as part of each; --crlf "
      "drops it",
      file);
}

result<void> key_input::took(const key_block& block, reading read) {
  account(block.file, read);
  progress_.update(keys_, block.consumed);
  if (!block.broken && !read.stopped) return {};
  const stretch& last = stretches_.back();
  const std::uint64_t next_line = last.first_line + last.lines;
  if (read.stopped) return wrong(block.file, next_line, read.wrong->why);
  return fail(block.broken->code,
              fmt::format("{}:{}: {}", name(block.file), next_line, block.broken->message));
}

void key_input::account(std::size_t file, const reading& read) {
  const bool new_file = stretches_.empty() || stretches_.back().file != file;
  if (new_file || !read.key_a_line || !stretches_.back().key_a_line) {
    const std::uint64_t first_line =
        new_file ? 1 : stretches_.back().first_line + stretches_.back().lines;
    stretches_.push_back({file, keys_, first_line, 0, read.key_a_line});
  }
  stretch& now = stretches_.back();
  if (read.skipped != 0 && skipped_ == 0) {
    first_skipped_ =
        fmt::format("{}:{}: {}", name(file), now.first_line + now.lines + read.wrong->line,
                    read.wrong->why.message);
  }
  skipped_ += read.skipped;
  now.lines += read.lines;
  lines_ += read.lines;
  keys_ += read.keys;
}

tl::unexpected<failure> key_input::wrong(std::size_t file, std::uint64_t line,
                                         const failure& why) const {
  return fail(why.code, fmt::format("{}:{}: {}; --skip-bad passes such lines over", name(file),
                                    line, why.message));
}

std::string key_input::place_of_line(std::uint64_t line) const {
  return fmt::format("{}:{}", name(), line);
}

std::string key_input::place_of(std::uint64_t key) const {
  // The last stretch that begins at or before the key; those without keys begin where the next one
  // does.
  const auto after =
      std::upper_bound(stretches_.begin(), stretches_.end(), key,
                       [](std::uint64_t k, const stretch& s) { return k < s.first_key; });
  const stretch& found = *std::prev(after);
  if (found.key_a_line) {
    return fmt::format("{}:{}", name(found.file), found.first_line + (key - found.first_key));
  }
  return fmt::format("{}:{}-{}", name(found.file), found.first_line,
                     found.first_line + found.lines - 1);
}

std::string key_input::skipped() const {
  if (skipped_ == 0) return {};
  return fmt::format("{} line{} passed over; the first is {}", format_count(skipped_),
                     skipped_ == 1 ? " was" : "s were", first_skipped_);
}

std::string key_input::shown(std::string_view line, std::size_t number,
                             std::string_view key) const {
  return records_ ? records_->reader().shown(line, number, key) : std::string(key);
}

}  // namespace bloomery::cli
