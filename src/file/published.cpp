// A folder of a published filter, opened as one filter.

#include "file/published.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "core/format.hpp"

namespace bloomset::detail {
namespace {

constexpr const char* manifest_name = "manifest.json";
constexpr std::string_view format_name = "bloomset-manifest-1";
constexpr std::size_t max_manifest_bytes = std::size_t{1} << 20;
constexpr std::size_t max_layers = 4096;

/// Reads JSON from the front, as far as the files of a manifest need it. A text that is no JSON is
/// `wrong` from its first error on; all that is skipped is checked for its brackets and strings.
class json_reader {
 public:
  explicit json_reader(std::string_view text) noexcept : left_(text) {}

  bool is_wrong() const noexcept { return wrong_; }
  void refuse() noexcept {
    wrong_ = true;
    left_ = {};
  }
  /// Whether nothing but space is left.
  bool at_end() noexcept {
    skip_space();
    return left_.empty();
  }

  /// Calls `member(name)` for each member of an object; it reads or skips the value.
  template <class Member>
  void object(Member member) {
    each('{', '}', [&] {
      const std::string name(raw_string());  // with its escapes, which no name here has
      expect(':');
      if (!wrong_) member(name);
    });
  }
  template <class Element>
  void list(Element element) {
    each('[', ']', element);
  }
  /// A string without escapes, as all strings are that are read here. Others become wrong.
  std::string text() {
    const std::string_view raw = raw_string();
    if (raw.find('\\') != std::string_view::npos) refuse();
    return wrong_ ? std::string() : std::string(raw);
  }
  /// Skips any value. Its depth is counted instead of recursed into.
  void skip() {
    std::size_t depth = 0;
    do {
      skip_space();
      if (left_.empty()) return refuse();
      const char first = left_.front();
      if (first == '"') {
        raw_string();
      } else if (first == '{' || first == '[') {
        ++depth;
        left_.remove_prefix(1);
      } else if (first == '}' || first == ']') {
        if (depth == 0) return refuse();
        --depth;
        left_.remove_prefix(1);
      } else if (depth != 0 && (first == ',' || first == ':')) {
        left_.remove_prefix(1);
      } else {
        word();
      }
    } while (!wrong_ && depth != 0);
  }

 private:
  void skip_space() noexcept {
    left_.remove_prefix(std::min(left_.find_first_not_of(" \t\r\n"), left_.size()));
  }
  bool next_is(char wanted) noexcept {
    skip_space();
    if (left_.empty() || left_.front() != wanted) return false;
    left_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) noexcept {
    if (!next_is(wanted)) refuse();
  }
  template <class Part>
  void each(char opening, char closing, Part part) {
    expect(opening);
    if (wrong_ || next_is(closing)) return;
    do part();
    while (!wrong_ && next_is(','));
    if (!wrong_) expect(closing);
  }
  /// The bytes between two quotation marks.
  std::string_view raw_string() noexcept {
    if (!next_is('"')) return refuse(), std::string_view();
    std::size_t end = 0;
    while (end < left_.size() && left_[end] != '"') end += left_[end] == '\\' ? 2 : 1;
    if (end >= left_.size()) return refuse(), std::string_view();
    const auto string = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return string;
  }
  /// A number, true, false or null.
  void word() noexcept {
    const std::size_t end = std::min(left_.find_first_of(" \t\r\n,:]}[{\""), left_.size());
    if (end == 0) return refuse();
    left_.remove_prefix(end);
  }

  std::string_view left_;
  bool wrong_ = false;
};

/// A name that stays in the folder.
bool is_plain_name(std::string_view name) noexcept {
  constexpr std::size_t max_bytes = 100;
  return !name.empty() && name.size() <= max_bytes && name.front() != '.' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '.' || c == '_' || c == '-';
         });
}

/// The member `file` of a file's object.
std::string file_name(json_reader& json) {
  std::string name;
  json.object([&](const std::string& member) {
    if (member == "file") {
      name = json.text();
    } else {
      json.skip();
    }
  });
  if (!is_plain_name(name)) json.refuse();
  return name;
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  static_cast<void>(::gmtime_r(&seconds, &parts));
  std::string text(32, '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
  return text;
}

result<published_names> read_names(const std::filesystem::path& folder) {
  const std::string name = (folder / manifest_name).string();
  const auto bytes = map_bytes(name);
  if (!bytes) {
    if (bytes.error().code != errc::not_found) return fail(bytes.error());
    return fail(failure{errc::io,
                        folder.string() +
                            ": this is a folder without manifest.json; give a filter file, or a "
                            "folder that 'bloomset publish' wrote",
                        EISDIR});
  }
  const auto text = bytes->bytes();
  return published_names::read({reinterpret_cast<const char*>(text.data()), text.size()}, name);
}

result<stored_filter> map_files(const std::filesystem::path& folder, const published_names& names,
                                verification how) {
  const std::string base_name = (folder / names.base).string();
  const auto base = map_bytes(base_name);
  if (!base) return fail(base.error());
  auto stored = read_stored(*base, how, base_name);
  if (!stored) return stored;
  if (!stored->header.layers.empty()) {
    return format_failure(
        errc::corrupt, "{}: a base has no layers of its own; publish the folder anew", base_name);
  }
  if (names.layers.empty()) return stored;
  if (stored->header.hash != hash_id::xxh3_64 && stored->header.hash != hash_id::siphash_1_3) {
    return format_failure(errc::corrupt, "{}: its layers need hashes of 64 bits", base_name);
  }
  std::vector<std::vector<std::byte>> layers;
  for (const std::string& layer : names.layers) {
    const auto bytes = map_bytes(folder / layer);
    if (!bytes) return fail(bytes.error());
    layers.emplace_back(bytes->bytes().begin(), bytes->bytes().end());
  }
  auto list = layer_list::of(std::move(layers), layer_base_of(base->bytes()));
  if (!list) {
    return format_failure(list.error().code, "{}: {}; publish the folder anew, or fetch it again",
                          (folder / manifest_name).string(), list.error().message);
  }
  stored->header.layers = std::move(*list);
  return stored;
}

}  // namespace

result<published_names> published_names::read(std::string_view manifest, const std::string& name) {
  const auto no_manifest = [&] {
    return format_failure(errc::corrupt,
                          "{}: this is not a manifest; give a folder that 'bloomset publish' wrote",
                          name);
  };
  if (manifest.size() > max_manifest_bytes) return no_manifest();
  published_names names;
  std::string format;
  json_reader json(manifest);
  json.object([&](const std::string& member) {
    if (member == "format") {
      format = json.text();
    } else if (member == "base") {
      names.base = file_name(json);
    } else if (member == "valid_until") {
      names.valid_until = json.text();
    } else if (member == "layers") {
      names.layers.clear();
      json.list([&] {
        if (names.layers.size() == max_layers) return json.refuse();
        names.layers.push_back(file_name(json));
      });
    } else {
      json.skip();
    }
  });
  if (json.is_wrong() || !json.at_end() || names.base.empty()) return no_manifest();
  if (format != format_name) {
    return format_failure(errc::unsupported, "{}: its format is not {}; use a newer bloomset", name,
                          format_name);
  }
  return names;
}

result<stored_filter> map_folder(const std::filesystem::path& folder, verification how) {
  // A publisher that publishes twice meanwhile removes the files of the manifest that was read.
  constexpr int max_tries = 3;
  for (int tries = 1;; ++tries) {
    const auto names = read_names(folder);
    if (!names) return fail(names.error());
    if (!names->valid_until.empty() && names->valid_until < now()) {
      return format_failure(errc::incompatible,
                            "{}: it was valid until {}; fetch or publish a newer one",
                            (folder / manifest_name).string(), names->valid_until);
    }
    auto stored = map_files(folder, *names, how);
    if (stored || stored.error().code != errc::not_found || tries == max_tries) return stored;
  }
}

}  // namespace bloomset::detail
