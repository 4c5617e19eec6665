#pragma once

// A filter of 500 keys in every format, for the laws that hold for all dialects.

#include <fmt/format.h>

#include <bloomset/dialects/dialect.hpp>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset::test {

inline std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return text;
}

inline std::vector<std::byte> from_hex(std::string_view text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(
        static_cast<std::byte>(std::stoul(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

inline result<insert_summary> insert_all(dialects::foreign_filter& filter,
                                         const std::vector<std::string>& keys) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  return filter.insert(views);
}

struct dialect_sample {
  std::string name;  ///< of the sample, for tests
  std::string_view format;
  plan_request building;
  dialects::option_list reading;
  std::vector<std::byte> bytes = {};

  const dialects::dialect& row() const { return *dialects::find(format).value(); }

  /// A number, which most formats accept, or the certificate or the hash of that number.
  std::string key(std::uint64_t number) const {
    if (format == "clubcard") return fmt::format("{}:{:08x}", std::string(64, 'a'), number);
    if (format == "passwdqc") return hash_of(number);
    // Shorter keys are not hashed, so that numbers would not be spread.
    if (format == "poppy") return fmt::format("key number {}", number);
    return std::to_string(number);
  }

  /// 16 bytes that look random (splitmix64).
  static std::string hash_of(std::uint64_t number) {
    std::string bytes;
    for (std::uint64_t half = 2 * number; half < 2 * number + 2; ++half) {
      std::uint64_t x = (half + 1) * 0x9e3779b97f4a7c15;
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
      x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
      x ^= x >> 31;
      for (unsigned byte = 0; byte < 8; ++byte) {
        bytes.push_back(static_cast<char>(x >> (8 * byte) & 0xff));
      }
    }
    return bytes;
  }

  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (std::uint64_t i = 0; i < 500; ++i) all.push_back(key(i * 3));
    return all;
  }

  /// The keys and twenty times as many others, for static formats.
  std::vector<std::string> universe() const {
    std::vector<std::string> all;
    for (std::uint64_t i = 0; i < 10'500; ++i) all.push_back(key(i));
    return all;
  }

  /// A filter of the keys.
  result<dialects::foreign_filter> filled() const;

  /// An empty filter.
  result<dialects::foreign_filter> made(const plan_request& request) const {
    return row().is_static() ? dialects::build(row(), request, {})
                             : dialects::create(row(), request);
  }

  /// Requests whose filters have other places.
  std::vector<plan_request> incompatible() const {
    plan_request larger = building;
    larger.capacity = larger.capacity * 3;
    std::vector<plan_request> all = {larger};
    if (name == "bip37" || name == "spark") {
      plan_request tweaked = building;
      tweaked.seed = 7;
      all.push_back(tweaked);
    }
    if (format == "guava" || format == "cassandra") {
      plan_request other = building;
      std::string& value = other.options.front().second;
      value = format == "guava" ? "int64" : value == "nb" ? "mc" : "nb";
      all.push_back(other);
    }
    return all;
  }
};

inline std::vector<std::string_view> views_of(const std::vector<std::string>& keys) {
  return {keys.begin(), keys.end()};
}

inline result<dialects::foreign_filter> dialect_sample::filled() const {
  const auto members = keys();
  if (row().is_static()) {
    const auto all = universe();
    const auto member_views = views_of(members);
    const auto all_views = views_of(all);
    return dialects::build(row(), building,
                           {.members = dialects::key_source::of(member_views),
                            .universe = dialects::key_source::of(all_views)});
  }
  auto filter = dialects::create(row(), building);
  if (!filter) return filter;
  const auto inserted = insert_all(*filter, members);
  if (!inserted) return fail(inserted.error());
  if (inserted->done != members.size()) return fail(errc::full, "keys do not fit " + name);
  return filter;
}

inline const std::vector<dialect_sample>& dialect_samples() {
  static const std::vector<dialect_sample> all = [] {
    // A sample that is read with the options that it is written with.
    const auto same_options = [](std::string name, std::string_view format,
                                 const dialects::option_list& options,
                                 std::uint64_t capacity = 500) {
      return dialect_sample{
          std::move(name), format, {.capacity = capacity, .options = options}, options};
    };
    std::vector<dialect_sample> made = {
        {"squid", "squid", {.capacity = 1000}, {}},
        same_options("parquet", "parquet", {{"type", "bytes"}}),
        same_options("parquet_int64", "parquet", {{"type", "int64"}}, 700),
        {"leveldb", "leveldb", {.capacity = 500}, {}},
        {"dcso", "dcso", {.capacity = 500, .fpr = 0.02}, {}},
        {"dcso_gzip", "dcso", {.capacity = 900, .options = {{"gzip", "yes"}}}, {}},
        same_options("guava", "guava", {{"funnel", "utf8"}}),
        same_options("guava_utf16", "guava", {{"funnel", "utf16le"}}),
        {"guava_32",
         "guava",
         {.capacity = 500, .options = {{"funnel", "int32"}, {"strategy", "32"}}},
         {{"funnel", "int32"}}},
        same_options("spark", "spark", {{"type", "string"}}),
        same_options("spark_long", "spark", {{"type", "long"}}),
        {"spark_1",
         "spark",
         {.capacity = 500, .options = {{"type", "long"}, {"version", "1"}}},
         {{"type", "long"}}},
        same_options("cassandra_ka", "cassandra", {{"version", "ka"}, {"type", "bytes"}}),
        same_options("cassandra_mc", "cassandra", {{"version", "mc"}, {"type", "int"}}),
        same_options("cassandra_nb", "cassandra", {{"version", "nb"}, {"type", "bytes"}}),
        {"bip37", "bip37", {.capacity = 500, .seed = 99}, {}},
        {"cascade", "cascade", {}, {}},
        {"cascade_1", "cascade", {.options = {{"hash", "murmur3"}, {"version", "1"}}}, {}},
        {"cascade_ctr", "cascade", {.options = {{"hash", "sha256ctr"}, {"salt", "00ff"}}}, {}},
        {"clubcard",
         "clubcard",
         {.options = {{"coverage", std::string(64, 'b') + "@1000-2000"}}},
         {}},
        {"clubcard_3", "clubcard", {.options = {{"version", "3"}}}, {}},
        {"passwdqc", "passwdqc", {.capacity = 500, .options = {{"hash", "ntlm"}}}, {}},
        {"poppy", "poppy", {.capacity = 3000}, {}},
        {"poppy_speed", "poppy", {.capacity = 900, .options = {{"optimise", "speed"}}}, {}},
        {"passwdqc_roomy", "passwdqc", {.capacity = 1400, .options = {{"hash", "opaque"}}}, {}},
    };
    for (dialect_sample& each : made) {
      const auto filter = each.filled();
      if (!filter) throw std::runtime_error(each.name + ": " + filter.error().message);
      each.bytes = filter->image()->bytes();
    }
    return made;
  }();
  return all;
}

/// The first sample of a format.
inline const dialect_sample& sample(std::string_view format) {
  for (const dialect_sample& each : dialect_samples()) {
    if (each.format == format) return each;
  }
  throw std::runtime_error("no such format");
}

}  // namespace bloomset::test
