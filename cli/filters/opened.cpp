#include "filters/opened.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bloomset/file_index.hpp>
#include <bloomset/unread_formats.hpp>
#include <utility>

#include "filters/key_part.hpp"
#include "filters/target.hpp"
#include "input/input.hpp"
#include "input/packing.hpp"
#include "input/stored_reader.hpp"
#include "remote/transfer.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {

/// Whether a file begins with at least one line of text: no control characters but those of text.
bool is_text(std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t looked_at = 4096;
  const auto first = bytes.first(std::min(bytes.size(), looked_at));
  const bool has_line =
      bytes.size() > looked_at || std::ranges::find(first, std::byte{'\n'}) != first.end();
  return has_line && std::ranges::all_of(first, [](std::byte b) {
           const auto c = std::to_integer<unsigned char>(b);
           return c >= ' ' || (c >= '\t' && c <= '\r');
         });
}

/// The failure for a file that is not a Bloomset filter, with the formats that it may have.
failure no_filter(failure why, const dialects::guess& guess, const std::string& name,
                  std::span<const std::byte> bytes) {
  if (is_text(bytes)) {
    return fail(
        errc::unsupported,
        fmt::format("{}: this is not a Bloomset filter but text; if its lines are keys, make a "
                    "filter of them with 'bloomset build'",
                    name));
  }
  std::vector<std::string> options;
  options.reserve(guess.perhaps.size());
  for (const auto* row : guess.perhaps) options.push_back(fmt::format("--format {}", row->name));
  why.message += options.empty()
                     ? ", or name the --format if another program did"
                     : fmt::format(", or say {} if it is one", fmt::join(options, " or "));
  return fail(std::move(why));
}

if_exists policy_of(bool force) noexcept {
  return force ? if_exists::replace : if_exists::refuse;
}

}  // namespace

void format_options::declare(CLI::App& app) {
  option(app, "--format", format,
         "the filter's format, often named after the program that wrote it (default: recognised "
         "from the file's content)")
      .value("FORMAT")
      .under(headings::filter);
  option(app, "--column", column, "use the filters of this column of a Parquet file")
      .value("COLUMN")
      .under(headings::filter);
  option(app, "--with", with, "an option of the format; 'bloomset man' lists those of each format")
      .value("NAME=VALUE")
      .one_value_per_use()
      .under(headings::filter);
  key.declare(app);
  find_declared(app, "--key-file").under(headings::filter);
}

result<dialects::option_list> read_pairs(const std::vector<std::string>& pairs,
                                         std::string_view flag, std::string_view example) {
  dialects::option_list list;
  for (const std::string& pair : pairs) {
    const auto at = pair.find('=');
    if (at == std::string::npos || at == 0) {
      return fail(errc::invalid_argument,
                  fmt::format("{0}: '{1}' is not NAME=VALUE; write for example {0} {2}", flag, pair,
                              example));
    }
    list.emplace_back(pair.substr(0, at), pair.substr(at + 1));
  }
  return list;
}

result<const dialects::dialect*> find_format(const std::string& name) {
  return named("--format", dialects::find(name));
}

result<filter_opener> filter_opener::make(const format_options& options) {
  filter_opener made;
  const auto key = options.key.read();
  if (!key) return fail(key.error());
  made.key_ = *key;
  auto pairs = read_pairs(options.with, "--with", "funnel=utf8");
  if (!pairs) return fail(std::move(pairs.error()));
  made.options_ = std::move(*pairs);
  made.column_ = !options.column.empty();
  if (made.column_) made.options_.emplace_back("column", options.column);
  made.used_.resize(made.options_.size());
  if (!options.format.empty()) {
    const auto found = find_format(options.format);
    if (!found) return fail(found.error());
    made.format_ = *found;
  }
  return made;
}

result<mapped_storage> filter_opener::bytes_of(const std::string& name, std::string& shown) {
  shown = name;
  if (is_url(name)) {
    return fail(errc::unsupported,
                shown_url(name) +
                    ": only 'bloomset check' reads a filter from a URL; download the "
                    "file");
  }
  if (name != "-") return map_bytes(name);
  shown = stdin_name;
  if (::isatty(STDIN_FILENO) != 0) {
    return fail(errc::invalid_argument,
                "-: stdin is a terminal, and a filter is binary; redirect stdin, or name a file");
  }
  if (std::exchange(has_read_stdin_, true)) {
    return fail(errc::invalid_argument,
                "-: stdin has one filter; name a file for each of the others");
  }
  return map_bytes(path_of_filter(name));
}

result<opened_filter> filter_opener::open(const std::string& given, access how, verification verify,
                                          key_parts* parts) {
  if (is_folder(given)) return open_ours(map_file(given, verify), given, how, parts);
  std::string name;
  const auto bytes = bytes_of(given, name);
  if (!bytes) return fail(bytes.error());
  return open_bytes(*bytes, name, how, verify, parts);
}

result<opened_filter> filter_opener::open_bytes(const mapped_storage& bytes,
                                                const std::string& name, access how,
                                                verification verify, key_parts* parts) {
  if (!has_signature(bytes.bytes())) return open_foreign(name, bytes, how, verify);
  return open_ours(read_stored(bytes, verify, name), name, how, parts);
}

result<opened_filter> filter_opener::open_ours(result<stored_filter> stored,
                                               const std::string& name, access how,
                                               key_parts* parts) {
  ours_ = name;
  if (!stored) return fail(std::move(stored.error()));
  if (auto ok = unlock(*stored, key_, name); !ok) return fail(std::move(ok.error()));
  if (parts != nullptr) *parts = std::exchange(stored->header.parts, {});
  auto filter = open_any(*stored, how, name);
  if (!filter) return fail(std::move(filter.error()));
  return std::move(*filter);
}

namespace {

failure has_no_key(const std::string& name) {
  return fail(errc::invalid_argument, name + ": its keys are hashed without a secret key");
}

}  // namespace

result<std::variant<filter_info, dialects::foreign_info, std::vector<property>>>
filter_opener::info(const std::string& given) {
  std::string name = given;
  result<stored_filter> stored;
  if (is_folder(given)) {
    stored = map_file(given);
  } else {
    auto bytes = bytes_of(given, name);
    if (!bytes) return fail(std::move(bytes.error()));
    if (!has_signature(bytes->bytes())) {
      const auto filter = open_foreign(name, *bytes, access::read_only, verification::automatic);
      if (!filter) return fail(filter.error());
      if (key_) return has_no_key(name);
      return std::get<dialects::foreign_filter>(*filter).info();
    }
    stored = read_stored(*bytes, verification::automatic, name);
  }
  ours_ = name;
  if (!stored) return fail(std::move(stored.error()));
  if (key_) {
    if (!stored->header.seed.is_locked()) return has_no_key(name);
    if (auto ok = unlock(*stored, key_, name); !ok) return fail(std::move(ok.error()));
  }
  if (stored->header.kind == file_index::kind) {
    // Figures need no key: the seed's identifier is all that they show of it.
    if (stored->header.seed.is_locked())
      stored->header.seed = hash_seed(stored->header.seed.value());
    const auto index = named(name, file_index::open(*stored));
    if (!index) return fail(index.error());
    return index->figures();
  }
  const key_parts parts = std::exchange(stored->header.parts, {});
  auto info = info_of(std::move(*stored), name);
  if (!info) return fail(std::move(info.error()));
  if (parts.of != 0) {
    info->extras.push_back({"parts", list_parts(parts, true)});
    info->extras.push_back({"missing_parts", list_parts(parts, false)});
  }
  return std::move(*info);
}

result<opened_filter> filter_opener::open_foreign(const std::string& name,
                                                  const mapped_storage& bytes, access how,
                                                  verification verify) {
  const auto guess = dialects::recognise(bytes.bytes());
  const dialects::dialect* format = format_ != nullptr ? format_ : guess.certain;
  if (format == nullptr && column_) format = *dialects::find("parquet");
  const auto unread = [&](certainty least) { return recognise_unread(bytes.bytes(), name, least); };
  if (format == nullptr) {
    if (const auto* const known = unread(certainty::signature); known != nullptr) {
      return not_read(*known, name);
    }
    // A length, of which bip37's first bytes consist, is a weaker sign than a packing's signature.
    const bool begins_as_other = guess.damaged != nullptr && guess.damaged->name != "bip37";
    const auto first = bytes.bytes().first(std::min(bytes.bytes().size(), packing_bytes));
    const auto* const packed =
        recognise_packing({reinterpret_cast<const char*>(first.data()), first.size()}).found;
    if (packed != nullptr && !begins_as_other) {
      return fail(errc::unsupported, fmt::format("{}: this is {}, not a filter; {}", name,
                                                 packed->what, packed->remedy));
    }
    if (guess.damaged != nullptr) {
      if (auto damaged = dialects::open(bytes, {.name = name}); !damaged) {
        return fail(std::move(damaged.error()));
      }
    }
    if (const auto* const known = unread(certainty::first_word); known != nullptr) {
      return fail(errc::unsupported, fmt::format("{}: this is {}; {}; name the --format if another "
                                                 "program wrote it",
                                                 name, known->what, known->remedy));
    }
    return no_filter(read_stored(bytes, verify, name).error(), guess, name, bytes.bytes());
  }
  seen_.push_back(format);
  dialects::option_list own;
  for (std::size_t i = 0; i < options_.size(); ++i) {
    const bool known =
        std::any_of(format->options.begin(), format->options.end(),
                    [&](const kind_option& row) { return row.name == options_[i].first; });
    if (!known) continue;
    used_[i] = true;
    own.push_back(options_[i]);
  }
  auto filter = dialects::open(*format, bytes, {name, how, std::move(own), verify});
  if (!filter) return fail(std::move(filter.error()));
  return std::move(*filter);
}

result<void> filter_opener::all_used() const {
  const auto unused =
      static_cast<std::size_t>(std::find(used_.begin(), used_.end(), false) - used_.begin());
  if (seen_.empty() && (format_ != nullptr || !options_.empty())) {
    return fail(
        errc::invalid_argument,
        fmt::format("{}: this is a Bloomset filter, and {} is for filters of other programs; "
                    "leave it out",
                    ours_,
                    format_ != nullptr              ? "--format"
                    : options_[0].first == "column" ? "--column"
                                                    : "--with"));
  }
  if (unused == used_.size()) return {};
  const bool one_format = std::all_of(seen_.begin(), seen_.end(),
                                      [&](const auto* each) { return each == seen_.front(); });
  if (one_format) return dialects::check_options(*seen_.front(), options_);
  return fail(errc::invalid_argument,
              fmt::format("no filter here has a format with an option '{}'; leave it out",
                          options_[unused].first));
}

result<opened_filter> open_filter(const std::string& name, const format_options& options,
                                  verification verify) {
  auto opener = filter_opener::make(options);
  if (!opener) return fail(std::move(opener.error()));
  auto filter = opener->open(name, access::read_only, verify);
  if (!filter) return filter;
  if (auto ok = opener->all_used(); !ok) return fail(std::move(ok.error()));
  return filter;
}

failure not_ours(failure why, std::string_view verb, const std::string& name) {
  if (why.code != errc::corrupt) return why;
  const auto bytes = map_bytes(name);
  if (!bytes || has_signature(bytes->bytes())) return why;
  const auto guess = dialects::recognise(bytes->bytes());
  const auto* const format = guess.certain != nullptr ? guess.certain : guess.damaged;
  if (format == nullptr) return why;
  return {
      errc::unsupported,
      fmt::format("{}: {} of format {}, and '{}' accepts only Bloomset filters; check, info, "
                  "merge and convert accept others, and 'build --format' creates them",
                  name, guess.certain != nullptr ? "this is a filter" : "this looks like a filter",
                  format->name, verb)};
}

result<void> write_filter(const dialects::foreign_filter& filter, const std::string& target,
                          bool force) {
  const auto image = named(target == "-" ? "stdout" : target, filter.image());
  if (!image) return fail(image.error());
  const auto pieces = image->pieces();
  if (target == "-") return write_stream(pieces, STDOUT_FILENO, "stdout");
  return replacing(target, [&] { return write_file(pieces, target, policy_of(force)); });
}

result<void> write_filter(const any_filter& filter, const std::string& target, bool force,
                          const key_parts& parts) {
  auto image = filter.image();
  image.header.parts = parts;
  if (target == "-") return write_stream(image, STDOUT_FILENO, "stdout");
  return replacing(target, [&] { return write_file(image, target, policy_of(force)); });
}

void change_options::declare(CLI::App& app, const std::string& filter,
                             const std::string& strict_meaning) {
  option(app, "FILTER", target, filter).required();
  flag(app, "--strict", strict, strict_meaning);
  flag(app, "-q,--quiet", quiet, "no summary on stderr");
  key.declare(app);
  input.declare(app, keys::purpose::insert, true);
  input.writes_to = &target;
}

result<filter_change> open_to_change(
    change_options& options, std::string_view verb,
    const std::function<result<void>(const any_filter& filter)>& check) {
  if (const auto reader = find_reader(options.input); !reader) return fail(reader.error());
  if (is_folder(options.target)) {
    return fail(errc::unsupported,
                fmt::format("{}: this is a folder, and '{}' changes a file; change the filter, and "
                            "put it into the folder by 'bloomset publish'",
                            options.target, verb));
  }
  auto lock = file_lock::acquire(options.target);
  if (!lock) return fail(lock.error());
  const auto key = options.key.read();
  if (!key) return fail(key.error());
  auto filter = load(options.target, *key);
  if (!filter) return fail(not_ours(filter.error(), verb, options.target));
  if (auto ok = named(options.target, filter->check_changeable()); !ok) return fail(ok.error());
  if (auto ok = check(*filter); !ok) return fail(ok.error());
  const std::array asked = {labelled_filter{options.target, &filter->labels()}};
  auto input = open_keys(options.input, asked, verb, options.strict);
  if (!input) return fail(input.error());
  return filter_change{std::move(*lock), std::move(*filter), std::move(*input)};
}

}  // namespace bloomset::cli
