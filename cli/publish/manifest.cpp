#include "publish/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>

namespace bloomset::cli {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view format_name = "bloomset-manifest-1";
constexpr std::uint64_t max_file_bytes = std::uint64_t{1} << 48;

bool is_hexadecimal(std::string_view text) noexcept {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_sha256(std::string_view text) noexcept {
  return text.size() == 64 && is_hexadecimal(text);
}

/// A name that stays in the folder, on every system and in every URL.
bool is_plain_name(std::string_view name) noexcept {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= 100 && name.front() != '.' &&
         name.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_time(std::string_view text) noexcept {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:ddZ";
  return text.size() == form.size() &&
         std::equal(text.begin(), text.end(), form.begin(), [](char c, char wanted) {
           return wanted == 'd' ? c >= '0' && c <= '9' : c == wanted;
         });
}

json as_json(const published_file& file) {
  return {{"file", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}};
}

/// Reads members of a JSON object. The first one that is missing or wrong is kept.
class object_reader {
 public:
  object_reader(const json& from, std::string where) : from_(from), where_(std::move(where)) {
    if (!from.is_object()) wrong_ = where_.empty() ? "the whole" : where_;
  }

  std::string text(const char* name, bool (*fits)(std::string_view) noexcept) {
    const json* member = find(name);
    if (member != nullptr && member->is_string()) {
      auto value = member->get<std::string>();
      if (fits(value)) return value;
    }
    return note(name), std::string();
  }
  std::uint64_t number(const char* name, std::uint64_t least, std::uint64_t most) {
    const json* member = find(name);
    if (member != nullptr && member->is_number_unsigned()) {
      const auto value = member->get<std::uint64_t>();
      if (value >= least && value <= most) return value;
    }
    return note(name), 0;
  }
  double rate(const char* name) {
    const json* member = find(name);
    if (member != nullptr && member->is_number()) {
      const auto value = member->get<double>();
      if (value > 0 && value < 1) return value;
    }
    return note(name), 0;
  }
  /// The elements of a list.
  std::vector<object_reader> list(const char* name) {
    std::vector<object_reader> all;
    const json* member = find(name);
    if (member == nullptr || !member->is_array() || member->size() > manifest::max_layers) {
      note(name);
      return all;
    }
    for (std::size_t i = 0; i < member->size(); ++i) {
      all.emplace_back((*member)[i], fmt::format("{}{}[{}]", where_, name, i));
    }
    return all;
  }
  published_file file() {
    published_file read;
    read.name = text("file", is_plain_name);
    read.bytes = number("bytes", 1, max_file_bytes);
    read.sha256 = text("sha256", is_sha256);
    return read;
  }
  const json* find(const char* name) const {
    if (!from_.is_object()) return nullptr;
    const auto at = from_.find(name);
    return at == from_.end() ? nullptr : &*at;
  }
  void note(const char* name) {
    if (wrong_.empty()) wrong_ = where_.empty() ? name : fmt::format("{}.{}", where_, name);
  }
  void take(const object_reader& other) {
    if (wrong_.empty()) wrong_ = other.wrong_;
  }
  const std::string& wrong() const noexcept { return wrong_; }

 private:
  const json& from_;
  std::string where_;
  std::string wrong_;
};

}  // namespace

bool is_short_name(std::string_view text) noexcept {
  return text.size() == 16 && is_hexadecimal(text);
}

std::string manifest::text() const {
  json all = {{"format", format_name}, {"sequence", sequence}, {"published", published}};
  if (!valid_until.empty()) all["valid_until"] = valid_until;
  all["max_fpr"] = max_fpr;
  all["labels"] = json::object();
  for (const auto& [name, value] : labels) all["labels"][name] = value;
  all["base"] = as_json(base);
  all["patches"] = json::array();
  for (const published_patch& patch : patches) {
    json one = as_json(patch.file);
    one["from"] = patch.from;
    all["patches"].push_back(std::move(one));
  }
  all["layers"] = json::array();
  for (const published_layer& layer : layers) {
    json one = as_json(layer.file);
    one["keys"] = layer.keys;
    all["layers"].push_back(std::move(one));
  }
  return all.dump() + "\n";
}

result<manifest> manifest::read(std::string_view text, const std::string& name) {
  const auto wrong = [&](const std::string& how) {
    return fail(errc::corrupt,
                fmt::format("{}: {}; give a folder that 'bloomset publish' wrote", name, how));
  };
  if (text.size() > max_bytes) return wrong("this is not a manifest, which has at most 1 MiB");
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object()) return wrong("this is not a manifest, because it is not a JSON object");
  object_reader whole(all, "");
  const json* format = whole.find("format");
  if (format == nullptr || !format->is_string()) {
    return wrong("this is not a manifest, because it names no format");
  }
  if (*format != format_name) {
    return fail(errc::unsupported,
                fmt::format("{}: its format is not {}; use a newer bloomset", name, format_name));
  }
  manifest made;
  made.sequence = whole.number("sequence", 1, std::uint64_t{1} << 53);
  made.published = whole.text("published", is_time);
  if (whole.find("valid_until") != nullptr) made.valid_until = whole.text("valid_until", is_time);
  made.max_fpr = whole.rate("max_fpr");
  if (const json* labels = whole.find("labels"); labels != nullptr && labels->is_object()) {
    for (const auto& [label, value] : labels->items()) {
      if (!value.is_string()) whole.note("labels");
      if (value.is_string()) made.labels.emplace_back(label, value.get<std::string>());
    }
  } else {
    whole.note("labels");
  }
  if (const json* base = whole.find("base"); base != nullptr) {
    object_reader one(*base, "base");
    made.base = one.file();
    whole.take(one);
  } else {
    whole.note("base");
  }
  for (object_reader& one : whole.list("patches")) {
    made.patches.push_back({one.file(), one.text("from", is_short_name)});
    whole.take(one);
  }
  for (object_reader& one : whole.list("layers")) {
    made.layers.push_back({one.file(), one.number("keys", 1, std::uint64_t{1} << 40)});
    whole.take(one);
  }
  if (!whole.wrong().empty()) return wrong(fmt::format("{} is missing or wrong", whole.wrong()));
  return made;
}

std::vector<published_patch> manifest::patches_from(std::string_view sha256) const {
  const auto first = std::ranges::find(patches, short_name(sha256), &published_patch::from);
  return {first, patches.end()};
}

std::string time_text(std::int64_t seconds_from_now) {
  const auto time = static_cast<std::time_t>(std::time(nullptr) + seconds_from_now);
  std::tm parts{};
  static_cast<void>(::gmtime_r(&time, &parts));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace bloomset::cli
