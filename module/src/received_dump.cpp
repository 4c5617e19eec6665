#include "received_dump.hpp"

#include <algorithm>
#include <array>
#include <bloomery/file.hpp>
#include <bloomery/hash.hpp>
#include <cstring>
#include <new>
#include <ranges>

#include "native_plan.hpp"
#include "settings.hpp"

namespace bloomery::server {
namespace {

constexpr std::string_view signature = "BLMRYDMP";
constexpr std::uint32_t dump_version = 1;
constexpr std::size_t prefix_bytes = 64;
constexpr std::size_t max_parts = 2;
// Header and parameters of a filter file; those of the filters that are used here have 128 bytes.
constexpr std::size_t max_file_header = 4096;
// No machine has more; sums of it and a header do not overflow.
constexpr std::uint64_t max_payload = std::uint64_t{1} << 47;

// Where each number stands (docs/server/internals.md, "Dumps").
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
constexpr unsigned flag_window = 2;

// Behind the prefix of a filter with a window; then slice and size of the header of each of its
// generations, a checksum of all that, and the headers.
enum window_place : std::size_t {
  at_window = 0,
  at_generations = 8,
  at_held = 12,
  at_newest = 16,
  at_list = 24,
};
constexpr std::size_t list_row = 16;
constexpr std::size_t max_generation_header = prefix_bytes + max_parts * max_file_header;
// Times since 1970 are less for some million years to come.
constexpr std::uint64_t max_milliseconds = std::uint64_t{1} << 57;

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

std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
  return xxh3_hasher()(bytes).value;
}
std::span<const std::byte> as_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span(text));
}

/// Whether a prefix is one, with its sum.
bool is_sealed(std::string_view bytes) noexcept {
  return bytes.size() >= prefix_bytes && bytes.starts_with(signature) &&
         number_at<std::uint64_t>(bytes, at_checksum) ==
             checksum_of(as_bytes(bytes.substr(0, at_checksum)));
}
bool is_newer(std::string_view bytes) noexcept {
  return is_sealed(bytes) && number_at<std::uint32_t>(bytes, at_version) > dump_version;
}

/// What the prefix says, or false if no server wrote it.
bool read_prefix(std::string_view bytes, dump_prefix& out) noexcept {
  if (!is_sealed(bytes) || number_at<std::uint32_t>(bytes, at_version) != dump_version) {
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
  const bool has_window = (flags & flag_window) != 0;
  if (has_window && (spec.family != filter_family::bloom || spec.deletable || spec.expansion == 0))
    return false;
  spec.window = has_window ? 1 : 0;  // its length comes behind
  return known && (flags & ~(flag_deletable | flag_window)) == 0 &&
         number_at<std::uint16_t>(bytes, at_unused) == 0 && spec.expansion <= max_expansion &&
         spec.capacity >= 1 && spec.capacity <= max_capacity && spec.error_rate > 0 &&
         spec.error_rate < 1;
}

}  // namespace

wire_error received_dump::begin(std::string_view header) {
  received_dump next;
  if (!header.starts_with(signature)) return begin_compatible(header);
  if (!read_prefix(header, next.prefix_)) return is_newer(header) ? newer_data : bad_data;
  if (next.prefix_.spec.window != 0) {
    if (const auto why = next.begin_window(header)) return why;
    *this = std::move(next);
    return nullptr;
  }
  std::string_view rest = header.substr(prefix_bytes);
  for (std::size_t i = 0; i < max_parts; ++i) {
    const auto size = number_at<std::uint32_t>(header, at_part_headers + i * sizeof(std::uint32_t));
    if (size == 0) break;
    if (size > max_file_header || size > rest.size()) return bad_data;
    const std::string_view file_header = rest.substr(0, size);
    rest.remove_prefix(size);
    const auto announced = read_header(std::as_bytes(std::span(file_header)), "dump");
    if (!announced || announced->payload_bytes == 0 || announced->payload_bytes > max_payload) {
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

wire_error received_dump::begin_compatible(std::string_view header) {
  received_dump next;
  filter_spec& spec = next.prefix_.spec;
  spec.engine = filter_engine::compatible;
  if (auto cuckoo = read_cuckoo_header(header)) {
    spec.family = filter_family::cuckoo;
    next.expected_ = payload_bytes(*cuckoo);
    next.shape_ = *cuckoo;
  } else if (auto chain = read_chain_header(header)) {
    spec.family = filter_family::bloom;
    for (const link_shape& link : chain->links) next.expected_ += link.bytes;
    next.shape_ = std::move(*chain);
  } else {
    return bad_data;
  }
  *this = std::move(next);
  return nullptr;
}

bool received_dump::add_part() noexcept try {
  const std::size_t i = parts_.size();
  part& made = parts_.emplace_back();
  if (const auto* const chain = std::get_if<chain_shape>(&shape_)) {
    made.expected = chain->links[i].bytes;
  } else if (const auto* const cuckoo = std::get_if<cuckoo_shape>(&shape_)) {
    made.expected = cuckoo->bytes_of(static_cast<std::uint32_t>(i));
  }
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

std::vector<owned_storage> received_dump::release() {
  std::vector<owned_storage> all;
  all.reserve(parts_.size());
  for (part& each : parts_) all.push_back(std::move(each.file));
  *this = {};
  return all;
}

wire_error received_dump::begin_window(std::string_view header) {
  filter_spec& spec = prefix_.spec;
  const auto block_size = number_at<std::uint32_t>(header, at_part_headers);
  std::string_view rest = header.substr(prefix_bytes);
  if (block_size < at_list + sizeof(std::uint64_t) || block_size > rest.size() ||
      number_at<std::uint32_t>(header, at_part_headers + sizeof block_size) != 0) {
    return bad_data;
  }
  const std::string_view block = rest.substr(0, block_size - sizeof(std::uint64_t));
  if (number_at<std::uint64_t>(rest, block.size()) != checksum_of(as_bytes(block))) return bad_data;
  rest.remove_prefix(block_size);
  spec.window = number_at<std::uint64_t>(block, at_window);
  const auto generations = number_at<std::uint32_t>(block, at_generations);
  const auto held = number_at<std::uint32_t>(block, at_held);
  prefix_.newest = number_at<std::uint64_t>(block, at_newest);
  if (spec.window < 1 || spec.window > max_window || generations < 1 ||
      generations > max_generations || held > generations + 1 ||
      block.size() != at_list + held * list_row) {
    return bad_data;
  }
  spec.generations = static_cast<std::uint16_t>(generations);
  if (prefix_.newest > max_milliseconds / slice_milliseconds(spec)) return bad_data;
  for (std::size_t i = 0; i < held; ++i) {
    const auto slice = number_at<std::uint64_t>(block, at_list + i * list_row);
    const auto size = number_at<std::uint64_t>(block, at_list + i * list_row + sizeof slice);
    const bool is_late = slice <= prefix_.newest && slice + generations >= prefix_.newest &&
                         (i == 0 || slice > generations_.back().slice);
    if (!is_late || size > max_generation_header || size > rest.size()) return bad_data;
    generation& made = generations_.emplace_back(slice, received_dump());
    if (const auto why = made.dump.begin(rest.substr(0, size))) return why;
    if (made.dump.prefix().spec != generation_spec(spec)) return bad_data;
    rest.remove_prefix(size);
    expected_ += made.dump.expected_;
  }
  return rest.empty() ? nullptr : bad_data;
}

wire_error received_dump::take(std::uint64_t offset, std::string_view bytes) {
  if (offset != filled_) return "ERR invalid offset - no link found";
  if (bytes.size() > expected_ - filled_) {
    return "ERR invalid chunk - Too big for current filter";
  }
  return generations_.empty() ? take_parts(bytes) : take_generations(bytes);
}

wire_error received_dump::take_generations(std::string_view bytes) {
  const std::uint64_t before = filled_;
  for (generation& each : generations_) {
    received_dump& dump = each.dump;
    const auto here = static_cast<std::size_t>(
        std::min<std::uint64_t>(bytes.size(), dump.expected_ - dump.filled_));
    if (const auto why = dump.take_parts(bytes.substr(0, here))) {
      give_back(filled_ - before);
      return why;
    }
    filled_ += here;
    bytes.remove_prefix(here);
  }
  return nullptr;
}

wire_error received_dump::take_parts(std::string_view bytes) {
  const std::uint64_t before = filled_;
  for (std::size_t i = 0; !bytes.empty(); ++i) {
    const bool is_there = i < parts_.size() || add_part();
    const auto here = static_cast<std::size_t>(
        is_there ? std::min<std::uint64_t>(bytes.size(), parts_[i].missing()) : 0);
    if (!is_there || !parts_[i].append(bytes.substr(0, here))) {
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
  for (generation& each : std::views::reverse(generations_)) {
    const auto here = std::min<std::size_t>(size, each.dump.filled_);
    each.dump.give_back(here);
    size -= here;
  }
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
  for (const generation& each : generations_) sum += each.dump.bytes();
  for (const part& each : parts_) sum += each.file.bytes().size();
  return sum;
}

std::span<const std::byte> received_dump::file(std::size_t i) const noexcept {
  return parts_[i].file.bytes().first(parts_[i].filled);
}

std::vector<std::byte> received_dump::header() const {
  if (const auto* const chain = std::get_if<chain_shape>(&shape_)) return header_of(*chain);
  if (const auto* const cuckoo = std::get_if<cuckoo_shape>(&shape_)) return header_of(*cuckoo);
  if (prefix_.spec.window != 0) {
    std::vector<generation_header> of_generations;
    of_generations.reserve(generations_.size());
    for (const generation& each : generations_) {
      of_generations.push_back({each.slice, each.dump.header()});
    }
    return window_header_of(prefix_, of_generations);
  }
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
  for (const generation& each : generations_) {
    const auto its = each.dump.payload();
    pieces.insert(pieces.end(), its.begin(), its.end());
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    pieces.push_back(file(i).subspan(parts_[i].header));
  }
  return pieces;
}

namespace {

/// The first 64 bytes, without the checksum.
std::vector<std::byte> prefix_of(const dump_prefix& prefix) {
  const filter_spec& spec = prefix.spec;
  std::vector<std::byte> header(prefix_bytes);
  std::memcpy(header.data(), signature.data(), signature.size());
  const unsigned flags =
      (spec.deletable ? flag_deletable : 0) | (spec.window != 0 ? flag_window : 0);
  put_number(header, at_version, dump_version);
  put_number(header, at_family, static_cast<std::uint8_t>(spec.family));
  put_number(header, at_flags, static_cast<std::uint8_t>(flags));
  put_number(header, at_bucket_size, spec.bucket_size);
  put_number(header, at_expansion, spec.expansion);
  put_number(header, at_iterations, spec.max_iterations);
  put_number(header, at_deleted, prefix.deleted);
  put_number(header, at_rate, spec.error_rate);
  put_number(header, at_capacity, spec.capacity);
  return header;
}

void seal(std::vector<std::byte>& header) noexcept {
  put_number(header, at_checksum, checksum_of(std::span(header).first(at_checksum)));
}

}  // namespace

std::vector<std::byte> dump_header_of(const dump_prefix& prefix,
                                      std::span<const std::vector<std::byte>> parts) {
  std::vector<std::byte> header = prefix_of(prefix);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    put_number(header, at_part_headers + i * sizeof(std::uint32_t),
               static_cast<std::uint32_t>(parts[i].size()));
  }
  seal(header);
  for (const auto& each : parts) header.insert(header.end(), each.begin(), each.end());
  return header;
}

std::vector<std::byte> window_header_of(const dump_prefix& prefix,
                                        std::span<const generation_header> generations) {
  std::vector<std::byte> block(at_list + generations.size() * list_row);
  put_number(block, at_window, prefix.spec.window);
  put_number(block, at_generations, std::uint32_t{prefix.spec.generations});
  put_number(block, at_held, static_cast<std::uint32_t>(generations.size()));
  put_number(block, at_newest, prefix.newest);
  for (std::size_t i = 0; i < generations.size(); ++i) {
    put_number(block, at_list + i * list_row, generations[i].slice);
    put_number(block, at_list + i * list_row + sizeof(std::uint64_t),
               std::uint64_t{generations[i].header.size()});
  }
  const std::uint64_t checksum = checksum_of(block);
  block.resize(block.size() + sizeof checksum);
  put_number(block, block.size() - sizeof checksum, checksum);
  std::vector<std::byte> header = prefix_of(prefix);
  put_number(header, at_part_headers, static_cast<std::uint32_t>(block.size()));
  seal(header);
  header.insert(header.end(), block.begin(), block.end());
  for (const auto& each : generations) {
    header.insert(header.end(), each.header.begin(), each.header.end());
  }
  return header;
}

}  // namespace bloomery::server
