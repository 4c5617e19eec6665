#include "received_dump.hpp"

#include <algorithm>
#include <bloomery/file.hpp>
#include <cstring>

#include "settings.hpp"

namespace bloomery::server {
namespace {

constexpr std::string_view signature = "BLMRYDMP";
constexpr std::uint32_t dump_version = 1;
constexpr std::size_t prefix_bytes = 16;
// Header and parameters of a filter file; those of the filters that are used here have 128 bytes.
constexpr std::size_t most_file_header = 4096;
// No machine has more; sums of it and a header do not overflow.
constexpr std::uint64_t most_payload = std::uint64_t{1} << 48;

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

}  // namespace

wire_error received_dump::begin(std::string_view header) {
  if (header.size() < prefix_bytes || !header.starts_with(signature) ||
      number_at<std::uint32_t>(header, 8) != dump_version) {
    return bad_data;
  }
  received_dump next;
  next.expansion_ = number_at<std::uint32_t>(header, 12);
  const std::string_view file_header = header.substr(prefix_bytes);
  if (next.expansion_ > most_expansion || file_header.size() > most_file_header) return bad_data;
  const auto announced = read_header(std::as_bytes(std::span(file_header)), "dump");
  if (!announced || announced->payload_bytes == 0 || announced->payload_bytes > most_payload) {
    return bad_data;
  }
  next.expected_ = announced->payload_bytes;
  next.file_header_ = file_header.size();
  if (!next.append(file_header)) return "ERR Insufficient memory to create filter";
  *this = std::move(next);
  return nullptr;
}

wire_error received_dump::take(std::uint64_t offset, std::string_view bytes) {
  if (offset != filled_ - file_header_) return "ERR invalid offset - no link found";
  if (bytes.size() > expected_ - offset) return "ERR invalid chunk - Too big for current filter";
  return append(bytes) ? nullptr : "ERR Insufficient memory to create filter";
}

bool received_dump::append(std::string_view bytes) {
  const std::size_t needed = filled_ + bytes.size();
  if (needed > file_.bytes().size()) {
    // Twice as much as is there, so that a dump in small pieces is not copied for each of them.
    const std::size_t whole = file_header_ + expected_;
    auto larger = owned_storage::make(std::min(std::max(needed, 2 * filled_), whole));
    if (!larger) return false;
    if (filled_ != 0) std::memcpy(larger->writable_bytes().data(), file().data(), filled_);
    file_ = std::move(*larger);
  }
  if (!bytes.empty()) {
    std::memcpy(file_.writable_bytes().data() + filled_, bytes.data(), bytes.size());
  }
  filled_ = needed;
  return true;
}

std::vector<std::byte> received_dump::header() const {
  return dump_header_of(expansion_, file().first(file_header_));
}

std::vector<std::byte> dump_header_of(std::uint32_t expansion,
                                      std::span<const std::byte> file_header) {
  std::vector<std::byte> header(prefix_bytes + file_header.size());
  std::memcpy(header.data(), signature.data(), signature.size());
  put_number(header, 8, dump_version);
  put_number(header, 12, expansion);
  std::memcpy(header.data() + prefix_bytes, file_header.data(), file_header.size());
  return header;
}

}  // namespace bloomery::server
