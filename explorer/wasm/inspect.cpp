// The filter file that the user gave to the page, and the sample that the page makes itself.

#include <fmt/format.h>

#include <array>
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

json finite_or_null(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

json extras_of(const std::vector<property>& extras) {
  json all = json::object();
  for (const property& extra : extras) {
    std::visit([&](const auto& value) { all[extra.name] = value; }, extra.value);
  }
  return all;
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
  const filter_info& info = *known;
  json all = {{"kind", info.kind_name},
              {"keyed", is_keyed},
              {"locked", stored->header.seed.is_locked()},
              {"seed", is_keyed ? fmt::format("{:016x}", info.seed) : fmt::format("{}", info.seed)},
              {"capacity", info.plan.capacity},
              {"count", info.count},
              {"estimated_size", finite_or_null(info.estimated_size)},
              {"bits", info.plan.bits},
              {"bits_per_key", finite_or_null(info.plan.bits_per_key())},
              {"planned_fpr", info.plan.planned_fpr},
              {"current_fpr", info.current_fpr},
              {"fill", info.fill},
              {"shown", {{"bytes", format_bytes(file.size())}}}};
  if (info.plan.hashes) all["hashes"] = *info.plan.hashes;
  json extras = extras_of(info.plan.extras);
  extras.update(extras_of(info.extras));
  all["extras"] = extras;
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
    answers.push_back({{"key", key}, {"found", inspected->may_contain(key)}});
  }
  return json{{"answers", answers}};
}

}  // namespace bloomset::explorer
