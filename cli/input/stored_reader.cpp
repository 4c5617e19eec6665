#include "input/stored_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/keys/reader.hpp>
#include <bloomset/plan/units.hpp>
#include <charconv>
#include <optional>

#include "filters/filling.hpp"
#include "input/key_input.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {
namespace {

std::string_view reader_of(const labelled_filter& filter) {
  if (!filter.reader.empty()) return filter.reader;
  const auto stored = filter.labels == nullptr ? std::nullopt : filter.labels->find(reader_label);
  return stored.value_or(plain_reader);
}

std::string_view partition_of(const labelled_filter& filter) {
  const auto stored =
      filter.labels == nullptr ? std::nullopt : filter.labels->find(partition_label);
  return stored.value_or("");
}

bool has_reader(const labelled_filter& filter) {
  return !filter.reader.empty() ||
         (filter.labels != nullptr && filter.labels->find(reader_label).has_value());
}

bool gives_bytes(std::string_view reader) {
  const auto row = keys::find(reader);
  if (!row) return false;
  const keys::byte_keys when = (*row)->gives_bytes;
  return when == keys::byte_keys::always ||
         (when == keys::byte_keys::without_argument && reader == (*row)->name);
}

/// The reader without the words in its argument that say how a list is written, and not which keys
/// its entries have: `safe-browsing:hosts,8` as `safe-browsing:8`.
std::string without_list_form(std::string_view reader) {
  const auto colon = reader.find(':');
  if (colon == std::string_view::npos) return std::string(reader);
  const std::string_view name = reader.substr(0, colon);
  if (name == "domain") return std::string(name);
  if (name != "safe-browsing") return std::string(reader);
  std::string text(name);
  for (std::string_view rest = reader.substr(colon + 1); !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    if (word != "hosts" && word != "adblock") text.append(1, ':').append(word);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return text;
}

/// The reader of texts that makes the same keys of 16 bytes; empty if a reader makes none of that
/// size, or may make those of several readers.
std::string_view short_digest(std::string_view reader) {
  const auto colon = reader.find(':');
  const std::string_view name = reader.substr(0, colon);
  if (name == "pwned") return "ntlm";  // or SHA-1, whose keys have another size
  if (name == "md4" || name == "md5" || name == "ntlm") return name;
  if (name != "password" || colon == std::string_view::npos) return {};
  return reader.substr(colon + 1) == "md4" ? "md4" : "ntlm";
}

/// Whether keys of both readers can be the same. Bytes of digests can be, whatever the digests were
/// made of; the label with their size tells those apart that cannot, unless they have one size.
bool may_agree(std::string_view one, std::string_view other) {
  if (without_list_form(one) == without_list_form(other)) return true;
  const std::string_view first = short_digest(one);
  const std::string_view second = short_digest(other);
  const bool differ = !first.empty() && !second.empty() && first != second;
  return !differ && gives_bytes(one) && gives_bytes(other);
}

/// Fails if a name of a reader that a file has is not one that can be used here.
result<void> check_stored(const labelled_filter& filter, std::string_view reader) {
  const auto row = keys::find(reader);
  const auto made =
      row && !(*row)->secret ? keys::make_reader(reader) : fail(errc::unsupported, "");
  if (made) return {};
  return fail(errc::unsupported,
              fmt::format("{}: its keys were made by the reader '{}', which is not known here; use "
                          "a newer bloomset, or give --keys",
                          filter.name, reader));
}

result<void> choose_stored(input_options& options, std::span<const labelled_filter> filters) {
  const labelled_filter& first = filters.front();
  const std::string_view reader = reader_of(first);
  for (const labelled_filter& filter : filters) {
    if (reader_of(filter) == reader) continue;
    return fail(errc::invalid_argument,
                fmt::format("the keys of {} were made by the reader {}, those of {} by the reader "
                            "{}; give --keys, or query one after the other",
                            first.name, reader, filter.name, reader_of(filter)));
  }
  if (auto ok = check_stored(first, reader); !ok) return ok;
  options.keys.reader = reader;
  options.keys.stored = reader != plain_reader;
  return {};
}

/// Chooses the reader of partitions that the filters name.
result<void> choose_partition(input_options& options, std::span<const labelled_filter> filters) {
  const labelled_filter& first = filters.front();
  const std::string_view reader = partition_of(first);
  for (const labelled_filter& filter : filters) {
    if (partition_of(filter) == reader) continue;
    return fail(errc::invalid_argument,
                fmt::format("{} and {} have different partitions; query one after the other",
                            first.name, filter.name));
  }
  if (reader.empty()) return {};
  if (auto ok = check_stored(first, reader); !ok) return ok;
  options.keys.partition = reader;
  return {};
}

struct reader_parts {
  std::string_view before;        ///< the separator and its comma
  std::optional<char> separator;  ///< of fields
};

/// The separator of readers of fields is a byte or its escape, behind the last comma.
reader_parts parts_of(std::string_view reader) {
  if (!reader.starts_with("fields:") && !reader.starts_with("csv:")) return {reader, {}};
  const auto ends_with = [&](std::string_view form) {  // in which a ? is any byte
    return reader.size() > form.size() &&
           std::ranges::equal(form, reader.substr(reader.size() - form.size()),
                              [](char wanted, char c) { return wanted == '?' || wanted == c; });
  };
  if (ends_with(",\\x??")) {
    unsigned byte = 0;
    const char* const end = reader.data() + reader.size();
    const auto [stopped, error] = std::from_chars(end - 2, end, byte, 16);
    if (error == std::errc() && stopped == end && byte < 0x80) {
      return {reader.substr(0, reader.size() - 5), static_cast<char>(byte)};
    }
    return {reader, {}};
  }
  if (ends_with(",\\t")) return {reader.substr(0, reader.size() - 3), '\t'};
  if (ends_with(",?")) return {reader.substr(0, reader.size() - 2), reader.back()};
  return {reader, {}};
}

bool is_control(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// The reader's text as a label, the same one for each way to write its separator. A label has no
/// control character, so these are escapes.
std::string label_of(std::string_view reader) {
  const reader_parts parts = parts_of(reader);
  std::string text(parts.before);
  if (!parts.separator || (*parts.separator == '\t' && reader.starts_with("fields:"))) return text;
  text += ',';
  if (*parts.separator == '\t') return text + "\\t";
  if (is_control(*parts.separator)) return text + fmt::format("\\x{:02x}", *parts.separator);
  return text + *parts.separator;
}

std::string key_bytes(const key_input& input) {
  return fmt::format("{}", input.key_bytes().shortest);
}

}  // namespace

result<void> check_name(std::string_view option, std::string_view reader) {
  if (std::ranges::none_of(parts_of(reader).before, is_control)) return {};
  return fail(errc::invalid_argument,
              fmt::format("{}: the name of a column or field has a control character, which a "
                          "filter's labels cannot have; rename it",
                          option));
}

result<void> choose_reader(input_options& options, std::span<const labelled_filter> filters,
                           std::string_view verb, bool strict) {
  if (auto ok = choose_partition(options, filters); !ok) return ok;
  if (options.keys.reader.empty()) {
    if (options.min_count.empty()) return choose_stored(options, filters);
    options.keys.reader = plain_reader;
  }
  for (const labelled_filter& filter : filters) {
    if (!has_reader(filter)) continue;
    const std::string_view stored = reader_of(filter);
    if (may_agree(label_of(options.keys.reader), label_of(stored))) continue;
    // The reader's argument may be a secret that was put there by mistake, so it is not shown.
    const std::string text = fmt::format(
        "the keys of {} were made by --keys {}, so another reader may find none of them",
        filter.name, stored);
    if (strict) return fail(errc::invalid_argument, text + " (--strict)");
    say(verb, "warning: " + text);
  }
  return {};
}

labelled_filter labelled(std::string_view name, const opened_filter& filter) {
  if (const auto* const ours = std::get_if<any_filter>(&filter)) return {name, &ours->labels()};
  return {name, nullptr, std::get<dialects::foreign_filter>(filter).key_reader()};
}

result<std::unique_ptr<key_input>> open_keys(input_options& options,
                                             std::span<const labelled_filter> filters,
                                             std::string_view verb, bool strict) {
  if (auto ok = choose_reader(options, filters, verb, strict); !ok) return fail(ok.error());
  return key_input::open(options);
}

void warn_of_readers(const labelled_filter& one, const labelled_filter& other,
                     std::string_view verb) {
  const bool have_labels = one.labels != nullptr && other.labels != nullptr;
  if (have_labels && has_reader(one) != has_reader(other)) {
    const auto& [with, without] = has_reader(one) ? std::tie(one, other) : std::tie(other, one);
    say(verb, fmt::format("warning: the keys of {0} were made by --keys {1}, and {2} names no "
                          "reader, so the result names none; give --keys {1} to 'bloomset check'",
                          with.name, reader_of(with), without.name));
    return;
  }
  if (!has_reader(one) || !has_reader(other) ||
      may_agree(label_of(reader_of(one)), label_of(reader_of(other)))) {
    return;
  }
  say(verb, fmt::format("warning: the keys of {} were made by --keys {}, those of {} by --keys {}",
                        one.name, reader_of(one), other.name, reader_of(other)));
}

bool have_one_reader(const label_list& one, const label_list& other) {
  const auto same = [&](std::string_view name) { return one.find(name) == other.find(name); };
  return same(reader_label) && same(partition_label);
}

std::string other_key_size(const labelled_filter& filter, const key_input& input) {
  const auto stored =
      filter.labels == nullptr ? std::nullopt : filter.labels->find(key_bytes_label);
  const auto size = stored ? parse_count(*stored) : fail(errc::invalid_argument, "");
  const key_sizes& sizes = input.key_bytes();
  if (!size || input.keys() == 0 || input.choice().plain()) return {};
  if (*size >= sizes.shortest && *size <= sizes.longest) return {};
  return fmt::format(
      "{}: {} {} bytes, as each key in the filter has; query the digest that the filter was built "
      "from",
      filter.name,
      input.keys() == 1
          ? "the queried key does not have"
          : fmt::format("none of the {} queried keys has", format_count(input.keys())),
      *stored);
}

result<void> label_keys(label_list& labels, const key_input& input) {
  const key_choice& choice = input.choice();
  if (choice.plain()) return {};
  if (choice.reader != plain_reader) {
    if (auto ok = labels.set(reader_label, label_of(choice.reader)); !ok) return ok;
  }
  if (!choice.partition.empty()) return labels.set(partition_label, label_of(choice.partition));
  if (gives_bytes(input.choice().reader) && input.key_bytes().are_equal()) {
    return labels.set(key_bytes_label, key_bytes(input));
  }
  return {};
}

void label_more_keys(label_list& labels, const key_input& input) {
  const auto stored = labels.find(key_bytes_label);
  if (!stored || input.keys() == 0) return;
  if (!input.key_bytes().are_equal() || *stored != key_bytes(input)) labels.remove(key_bytes_label);
}

result<label_list> read_labels(const std::vector<std::string>& pairs) {
  label_list labels;
  const auto read = read_pairs(pairs, "--label", "source=example.org");
  if (!read) return fail(read.error());
  for (const auto& [name, value] : *read) {
    if (name == reader_label || name == key_bytes_label || name == partition_label) {
      return fail(errc::invalid_argument,
                  fmt::format("--label: {} is set by {}; choose another name", name,
                              name == partition_label ? "--partition" : "--keys"));
    }
    if (labels.find(name)) {
      return fail(errc::invalid_argument, fmt::format("--label: {} is given twice", name));
    }
    if (auto ok = named("--label", labels.set(name, value)); !ok) return fail(ok.error());
  }
  return labels;
}

}  // namespace bloomset::cli
