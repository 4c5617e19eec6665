// The filter file that the user gave to the page, and the sample that the page makes itself.

#include <fmt/format.h>

#include <array>
#include <bloomset/figures.hpp>
#include <bloomset/file.hpp>
#include <cmath>
#include <optional>

#include "walk.hpp"

namespace bloomset::explorer {
namespace {

// NOLINTNEXTLINE(*-avoid-non-const-global-variables): the page looks at one file at a time
std::optional<any_filter> inspected;

/// The payload in `cells` pieces of equal size, each the share of its bits that are set.
json picture_of(std::span<const std::byte> payload, std::uint64_t cells) {
  json shares = json::array();
  cells = std::min<std::uint64_t>(cells, payload.size());
  for (std::uint64_t i = 0; i < cells; ++i) {
    const auto begin = static_cast<std::size_t>(payload.size() * i / cells);
    const auto end = static_cast<std::size_t>(payload.size() * (i + 1) / cells);
    std::uint64_t ones = 0;
    for (std::size_t at = begin; at < end; ++at) {
      ones += static_cast<unsigned>(__builtin_popcount(std::to_integer<unsigned>(payload[at])));
    }
    const double share = static_cast<double>(ones) / (8.0 * static_cast<double>(end - begin));
    shares.push_back(std::round(1000 * share) / 1000);
  }
  return shares;
}

}  // namespace

result<json> sample(const json&) {
  constexpr std::uint64_t keys = 1000;
  auto filter = kinds().front().create({.capacity = keys, .fpr = 0.01});
  if (!filter) return fail(filter.error());
  for (std::uint64_t i = 1; i <= keys; ++i) {
    const std::string key = fmt::format("user{}@example.com", i);
    const std::array one = {std::string_view(key)};
    if (const auto done = filter->insert(one); !done) return fail(done.error());
  }
  filter->settle_count();
  std::string file;
  for (const std::byte each : serialize(filter->image())) {
    file += fmt::format("{:02x}", std::to_integer<unsigned>(each));
  }
  return json{{"file", file}};
}

result<json> inspect(std::span<const std::byte> file, const json& asked) {
  inspected.reset();
  const std::string name = asked.value("name", "");
  const mapped_storage bytes(std::make_shared<int>(), file);
  auto stored = read_stored(bytes, verification::always, name);
  if (!stored) return fail(stored.error());
  const bool is_keyed = stored->header.seed.is_keyed();
  if (const std::string digits = asked.value("key", ""); !digits.empty()) {
    const auto key = hash_key::parse(digits);
    if (!key) return fail(errc::invalid_argument, "a secret key has 32 hexadecimal digits");
    if (auto ok = unlock(*stored, key, name); !ok) return fail(ok.error());
  }
  const auto known = info_of(*stored, name);
  if (!known) return fail(known.error());
  json all = json::parse(to_json(figures_of(*known)));
  // JavaScript does not have all numbers of 64 bits.
  all["seed"] = is_keyed ? fmt::format("{:016x}", known->seed) : fmt::format("{}", known->seed);
  all["keyed"] = is_keyed;
  all["locked"] = stored->header.seed.is_locked();
  all["shown"] = {{"bytes", format_bytes(file.size())}};
  all["picture"] = picture_of(stored->payload.bytes(), 4096);
  if (!stored->header.seed.is_locked()) {
    auto opened = open_any(*stored, access::read_only, name);
    if (!opened) return fail(opened.error());
    inspected.emplace(std::move(*opened));
  }
  return all;
}

result<json> ask(const json& asked) {
  if (!inspected) return fail(errc::invalid_argument, "no filter is open; drop a file first");
  json answers = json::array();
  for (const std::string& key : asked.value("keys", std::vector<std::string>{})) {
    const std::string_view view = key;
    bool covered = false;
    inspected->covers(std::span(&view, 1), std::span(&covered, 1));
    answers.push_back({{"key", key}, {"covered", covered}, {"found", inspected->may_contain(key)}});
  }
  return json{{"answers", answers}};
}

}  // namespace bloomset::explorer
