#include "received_dump.hpp"

#include <algorithm>
#include <array>
#include <bloomery/file.hpp>
#include <bloomery/hash.hpp>
#include <cstring>
#include <ranges>

#include "settings.hpp"

namespace bloomery::server {
namespace {

constexpr std::string_view signature = "BLMRYDMP";
constexpr std::uint32_t dump_version = 1;
constexpr std::size_t prefix_bytes = 64;
constexpr std::size_t most_parts = 2;
// Header and parameters of a filter file; those of the filters that are used here have 128 bytes.
constexpr std::size_t most_file_header = 4096;
// No machine has more; sums of it and a header do not overflow.
constexpr std::uint64_t most_payload = std::uint64_t{1} << 47;

// Where each number stands (docs/server.md, "Dumps").
enum place : std::size_t {
  at_version = 8,
  at_family = 12,
  at_flags = 13,
  at_bucket_size = 14,
  at_expansion = 16,
  at_iterations = 20,
  at_unused = 22,
  at_deleted = 24,
  at_rate = 32,
  at_capacity = 40,
  at_part_headers = 48,
  at_checksum = 56,
};

constexpr unsigned flag_deletable = 1;

// The numbers of a dump are little-endian, as the machines are that servers run on.
template <class T>
T number_at(std::string_view bytes, std::size_t at) noexcept {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void put_number(std::vector<std::byte>& bytes, std::size_t at, T value) noexcept {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::uint64_t checksum_of(std::span<const std::byte> prefix) noexcept {
  return xxh3_hasher()(prefix.first(at_checksum)).value;
}

/// What the prefix says, or false if no server wrote it.
bool read_prefix(std::string_view bytes, dump_prefix& out) noexcept {
  if (bytes.size() < prefix_bytes || !bytes.starts_with(signature) ||
      number_at<std::uint64_t>(bytes, at_checksum) !=
          checksum_of(std::as_bytes(std::span(bytes))) ||
      number_at<std::uint32_t>(bytes, at_version) != dump_version) {
    return false;
  }
  const auto family = number_at<std::uint8_t>(bytes, at_family);
  filter_spec& spec = out.spec;
  spec.family = static_cast<filter_family>(family);
  spec.bucket_size = number_at<std::uint16_t>(bytes, at_bucket_size);
  spec.expansion = number_at<std::uint32_t>(bytes, at_expansion);
  const auto flags = number_at<std::uint8_t>(bytes, at_flags);
  spec.deletable = (flags & flag_deletable) != 0;
  spec.max_iterations = number_at<std::uint16_t>(bytes, at_iterations);
  spec.error_rate = number_at<double>(bytes, at_rate);
  spec.capacity = number_at<std::uint64_t>(bytes, at_capacity);
  out.deleted = number_at<std::uint64_t>(bytes, at_deleted);
  const bool known =
      spec.family == filter_family::bloom ||
      (spec.family == filter_family::cuckoo && spec.bucket_size != 0 && !spec.deletable);
  return known && (flags & ~flag_deletable) == 0 &&
         number_at<std::uint16_t>(bytes, at_unused) == 0 && spec.expansion <= most_expansion &&
         spec.capacity >= 1 && spec.capacity <= most_capacity && spec.error_rate > 0 &&
         spec.error_rate < 1;
}

}  // namespace

wire_error received_dump::begin(std::string_view header) {
  received_dump next;
  if (!read_prefix(header, next.prefix_)) return bad_data;
  std::string_view rest = header.substr(prefix_bytes);
  for (std::size_t i = 0; i < most_parts; ++i) {
    const auto size = number_at<std::uint32_t>(header, at_part_headers + i * sizeof(std::uint32_t));
    if (size == 0) break;
    if (size > most_file_header || size > rest.size()) return bad_data;
    const std::string_view file_header = rest.substr(0, size);
    rest.remove_prefix(size);
    const auto announced = read_header(std::as_bytes(std::span(file_header)), "dump");
    if (!announced || announced->payload_bytes == 0 || announced->payload_bytes > most_payload) {
      return bad_data;
    }
    part& made = next.parts_.emplace_back();
    made.expected = announced->payload_bytes;
    made.header = size;
    if (!made.append(file_header)) return no_memory;
    next.expected_ += made.expected;
  }
  if (next.parts_.empty() || !rest.empty()) return bad_data;
  *this = std::move(next);
  return nullptr;
}

wire_error received_dump::take(std::uint64_t offset, std::string_view bytes) {
  if (offset != filled_) return "ERR invalid offset - no link found";
  if (bytes.size() > expected_ - filled_) {
    return "ERR invalid chunk - Too big for current filter";
  }
  const std::uint64_t before = filled_;
  for (part& each : parts_) {
    const auto here =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), each.missing()));
    if (!each.append(bytes.substr(0, here))) {
      give_back(filled_ - before);
      return no_memory;
    }
    filled_ += here;
    bytes.remove_prefix(here);
  }
  return nullptr;
}

void received_dump::give_back(std::size_t size) noexcept {
  filled_ -= size;
  for (part& each : std::views::reverse(parts_)) {
    const std::size_t here = std::min(size, each.filled - each.header);
    each.filled -= here;
    size -= here;
  }
}

bool received_dump::part::append(std::string_view bytes) {
  const std::size_t needed = filled + bytes.size();
  if (needed > file.bytes().size()) {
    // Twice as much as is there, so that a dump in small pieces is not copied for each of them.
    const std::size_t whole = header + expected;
    auto larger = owned_storage::make(std::min(std::max(needed, 2 * filled), whole));
    if (!larger) return false;
    if (filled != 0) std::memcpy(larger->writable_bytes().data(), file.bytes().data(), filled);
    file = std::move(*larger);
  }
  if (!bytes.empty()) {
    std::memcpy(file.writable_bytes().data() + filled, bytes.data(), bytes.size());
  }
  filled = needed;
  return true;
}

std::uint64_t received_dump::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const part& each : parts_) sum += each.file.bytes().size();
  return sum;
}

std::span<const std::byte> received_dump::file(std::size_t i) const noexcept {
  return parts_[i].file.bytes().first(parts_[i].filled);
}

std::vector<std::byte> received_dump::header() const {
  std::vector<std::vector<std::byte>> headers;
  headers.reserve(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto bytes = file(i).first(parts_[i].header);
    headers.emplace_back(bytes.begin(), bytes.end());
  }
  return dump_header_of(prefix_, headers);
}

std::vector<std::span<const std::byte>> received_dump::payload() const {
  std::vector<std::span<const std::byte>> pieces;
  pieces.reserve(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    pieces.push_back(file(i).subspan(parts_[i].header));
  }
  return pieces;
}

std::vector<std::byte> dump_header_of(const dump_prefix& prefix,
                                      std::span<const std::vector<std::byte>> parts) {
  const filter_spec& spec = prefix.spec;
  std::vector<std::byte> header(prefix_bytes);
  std::memcpy(header.data(), signature.data(), signature.size());
  put_number(header, at_version, dump_version);
  put_number(header, at_family, static_cast<std::uint8_t>(spec.family));
  put_number(header, at_flags, static_cast<std::uint8_t>(spec.deletable ? flag_deletable : 0));
  put_number(header, at_bucket_size, spec.bucket_size);
  put_number(header, at_expansion, spec.expansion);
  put_number(header, at_iterations, spec.max_iterations);
  put_number(header, at_deleted, prefix.deleted);
  put_number(header, at_rate, spec.error_rate);
  put_number(header, at_capacity, spec.capacity);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    put_number(header, at_part_headers + i * sizeof(std::uint32_t),
               static_cast<std::uint32_t>(parts[i].size()));
  }
  put_number(header, at_checksum, checksum_of(header));
  for (const auto& each : parts) header.insert(header.end(), each.begin(), each.end());
  return header;
}

}  // namespace bloomery::server
