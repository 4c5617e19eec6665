#include "clubcard_keys.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace bloomset::dialects {
namespace {

/// Lists of others are made sets when they have this many more keys than are expected.
constexpr std::size_t spare_keys = 64;

clubcard_keys::issuer_id id_of(std::span<const std::byte> certificate) noexcept {
  clubcard_keys::issuer_id id;
  std::copy_n(certificate.begin(), id.size(), id.begin());
  return id;
}

std::span<const std::byte> serial_of(std::span<const std::byte> certificate) noexcept {
  return certificate.subspan(id_bytes);
}

}  // namespace

std::uint32_t serial_list::first_bytes_of(std::span<const std::byte> serial) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8 | (i < serial.size() ? std::to_integer<std::uint32_t>(serial[i]) : 0);
  }
  return value;
}

void serial_list::add(std::span<const std::byte> serial) {
  places_.push_back(
      {bytes_.size(), static_cast<std::uint32_t>(serial.size()), first_bytes_of(serial)});
  bytes_.insert(bytes_.end(), serial.begin(), serial.end());
}

void serial_list::make_set() {
  std::sort(places_.begin(), places_.end(),
            [this](const place& a, const place& b) { return is_less(a, b); });
  const auto end = std::unique(
      places_.begin(), places_.end(),
      [this](const auto& a, const auto& b) { return std::ranges::equal(at(a), at(b)); });
  // Exact sizes, and the bytes in the order in which they are read.
  std::vector<place> places(places_.begin(), end);
  std::size_t size = 0;
  for (const place& each : places) size += each.size;
  std::vector<std::byte> bytes;
  bytes.reserve(size);
  for (place& each : places) {
    const auto serial = at(each);
    each.begin = bytes.size();
    bytes.insert(bytes.end(), serial.begin(), serial.end());
  }
  places_ = std::move(places);
  bytes_ = std::move(bytes);
}

bool serial_list::contains(std::span<const std::byte> serial) const noexcept {
  const std::uint32_t first_bytes = first_bytes_of(serial);
  const auto found = std::partition_point(places_.begin(), places_.end(), [&](const place& each) {
    return each.first_bytes != first_bytes ? each.first_bytes < first_bytes
                                           : bytes_less(at(each), serial);
  });
  return found != places_.end() && std::ranges::equal(at(*found), serial);
}

void distinct_sample::reduce() {
  std::sort(hashes_.begin(), hashes_.end());
  hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
  while (hashes_.size() > max_hashes) {
    mask_ = 2 * mask_ + 1;
    std::erase_if(hashes_, [this](std::uint64_t hash) { return (hash & mask_) != 0; });
  }
}

clubcard_keys::issuer_map::pointer clubcard_keys::find(std::span<const std::byte> id) {
  if (last_ != nullptr && std::ranges::equal(last_->first, id.first(id_bytes))) return last_;
  const auto found = issuers_.find(id_of(id));
  if (found == issuers_.end()) return nullptr;
  return last_ = &*found;
}

result<void> clubcard_keys::count(const certificate_source& members,
                                  const certificate_source& universe) {
  auto read_members = members([&](std::span<const std::byte> key) -> result<void> {
    auto* issuer = find(key);
    if (issuer == nullptr) issuer = last_ = &*issuers_.try_emplace(id_of(key)).first;
    issuer->second.held.add(serial_of(key));
    return {};
  });
  if (!read_members) return read_members;
  const xxh3_hasher hash;
  std::vector<counted_issuer> counted(issuers_.size());
  for (auto& [id, keys] : issuers_) {
    keys.number = static_cast<std::size_t>(blocks_.size());
    blocks_.push_back(nullptr);
    keys.held.make_set();
    for (std::size_t i = 0; i < keys.held.size(); ++i) {
      counted[keys.number].universe.add(hash(keys.held[i]));
    }
  }
  auto read_universe = universe([&](std::span<const std::byte> key) -> result<void> {
    auto* issuer = find(key);
    if (issuer == nullptr) issuer = last_ = &*issuers_.try_emplace(id_of(key)).first;
    issuer_keys& keys = issuer->second;
    if (keys.held.empty()) return {};
    const auto serial = serial_of(key);
    counted_issuer& state = counted[keys.number];
    state.universe.add(hash(serial));
    if (!state.collects || keys.held.contains(serial)) return {};
    keys.others.add(serial);
    if (keys.others.size() < 2 * keys.held.size() + spare_keys) return {};
    keys.others.make_set();
    state.collects = keys.others.size() < keys.held.size();
    if (!state.collects) keys.others = {};
    return {};
  });
  if (!read_universe) return read_universe;
  blocks_.clear();
  for (auto& issuer : issuers_) {
    issuer_keys& keys = issuer.second;
    if (!keys.held.empty()) choose(keys, counted[keys.number]);
    blocks_.push_back(&issuer);
  }
  std::ranges::sort(blocks_, [](const auto* a, const auto* b) {
    return a->second.rank != b->second.rank ? a->second.rank > b->second.rank : a->first < b->first;
  });
  for (std::size_t i = 0; i < blocks_.size(); ++i) blocks_[i]->second.number = i;
  return {};
}

/// Decides what an issuer with members holds, and its rank.
void clubcard_keys::choose(issuer_keys& keys, counted_issuer& counted) const {
  if (counted.collects) keys.others.make_set();
  keys.inverted = counted.collects && keys.others.size() < keys.held.size();
  std::uint64_t others = keys.held.size();  // of the members, if it is inverted
  if (keys.inverted) {
    std::swap(keys.held, keys.others);
  } else {
    // Even if all others were collected, so that their order does not matter.
    keys.others = {};
    others = std::max(counted.universe.count(), 2 * keys.held.size()) - keys.held.size();
  }
  counted = {};
  // The largest rank that lets at least as many other keys pass as are held.
  if (!keys.held.empty()) {
    keys.rank = static_cast<unsigned>(std::bit_width(others / keys.held.size())) - 1;
  }
}

result<void> clubcard_keys::keep_others(
    const certificate_source& universe,
    const std::function<bool(const issuer_keys&, std::span<const std::byte>)>& passes) {
  // About twice as many as are held pass at most.
  std::vector<std::size_t> limits;
  limits.reserve(blocks_.size());
  for (const auto* issuer : blocks_) limits.push_back(4 * issuer->second.held.size() + spare_keys);
  auto read = universe([&](std::span<const std::byte> key) -> result<void> {
    auto* issuer = find(key);
    if (issuer == nullptr || issuer->second.inverted || issuer->second.held.empty()) return {};
    issuer_keys& keys = issuer->second;
    const auto serial = serial_of(key);
    if (!passes(keys, key) || keys.held.contains(serial)) return {};
    keys.others.add(serial);
    std::size_t& limit = limits[keys.number];
    if (keys.others.size() < limit) return {};
    keys.others.make_set();
    limit = std::max(limit, 2 * keys.others.size());
    return {};
  });
  if (!read) return read;
  for (auto* issuer : blocks_) {
    if (!issuer->second.inverted) issuer->second.others.make_set();
  }
  return {};
}

}  // namespace bloomset::dialects
