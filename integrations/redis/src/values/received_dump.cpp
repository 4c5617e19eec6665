#include "values/received_dump.hpp"

#include <algorithm>
#include <bloomset/file.hpp>
#include <cstring>
#include <new>
#include <ranges>

namespace bloomset::server {

wire_error received_dump::begin(std::string_view header) {
  if (!is_native_header(header)) return begin_compatible(header);
  std::vector<dump_section> sections;
  if (const auto error = read_dump_header(header, prefix_, sections)) return error;
  for (const dump_section& section : sections) {
    const auto error =
        prefix_.spec.window != 0 ? add_generation(section) : add_file(as_chars(section.header));
    if (error != nullptr) return error;
  }
  return nullptr;
}

wire_error received_dump::begin_compatible(std::string_view header) {
  prefix_.spec.engine = filter_engine::compatible;
  if (auto cuckoo = read_cuckoo_header(header)) {
    prefix_.spec.family = filter_family::cuckoo;
    expected_ = payload_bytes(*cuckoo);
    shape_ = *cuckoo;
  } else if (auto chain = read_chain_header(header)) {
    prefix_.spec.family = filter_family::bloom;
    for (const link_shape& link : chain->links) expected_ += link.bytes;
    shape_ = std::move(*chain);
  } else {
    return bad_data;
  }
  return nullptr;
}

wire_error received_dump::add_file(std::string_view header) {
  const auto announced = read_header(std::as_bytes(std::span(header)), "dump");
  if (!announced || announced->payload_bytes == 0 || announced->payload_bytes > max_payload_bytes) {
    return bad_data;
  }
  part& added = parts_.emplace_back();
  added.expected = announced->payload_bytes;
  added.header = header.size();
  expected_ += added.expected;
  return added.append(header) ? nullptr : no_memory;
}

wire_error received_dump::add_generation(const dump_section& section) {
  generation& added = generations_.emplace_back(section.slice, received_dump());
  if (const auto error = added.dump.begin(as_chars(section.header))) return error;
  expected_ += added.dump.expected_;
  return added.dump.prefix_.spec == generation_spec(prefix_.spec) ? nullptr : bad_data;
}

bool received_dump::add_compatible_part() noexcept try {
  const std::size_t i = parts_.size();
  part& added = parts_.emplace_back();
  if (const auto* const chain = std::get_if<chain_shape>(&shape_)) {
    added.expected = chain->links[i].bytes;
  } else if (const auto* const cuckoo = std::get_if<cuckoo_shape>(&shape_)) {
    added.expected = cuckoo->bytes_of(static_cast<std::uint32_t>(i));
  }
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

std::vector<owned_storage> received_dump::release() {
  std::vector<owned_storage> files;
  files.reserve(parts_.size());
  for (part& complete : parts_) files.push_back(std::move(complete.file));
  *this = {};
  return files;
}

wire_error received_dump::append(std::uint64_t offset, std::string_view bytes) {
  if (offset != received_) return "ERR invalid offset - no link found";
  if (bytes.size() > expected_ - received_) {
    return "ERR invalid chunk - Too big for current filter";
  }
  const wire_error error =
      generations_.empty() ? append_to_parts(bytes) : append_to_generations(bytes);
  if (error != nullptr) remove_last(received_ - offset);
  return error;
}

wire_error received_dump::append_to_generations(std::string_view bytes) {
  for (auto& [slice, dump] : generations_) {
    const auto size = static_cast<std::size_t>(
        std::min<std::uint64_t>(bytes.size(), dump.expected_ - dump.received_));
    if (const auto error = dump.append(dump.received_, bytes.substr(0, size))) return error;
    received_ += size;
    bytes.remove_prefix(size);
  }
  return nullptr;
}

wire_error received_dump::append_to_parts(std::string_view bytes) {
  for (std::size_t i = 0; !bytes.empty(); ++i) {
    if (i == parts_.size() && !add_compatible_part()) return no_memory;
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), parts_[i].missing()));
    if (!parts_[i].append(bytes.substr(0, size))) return no_memory;
    received_ += size;
    bytes.remove_prefix(size);
  }
  return nullptr;
}

void received_dump::remove_last(std::size_t size) noexcept {
  received_ -= size;
  for (generation& held : std::views::reverse(generations_)) {
    const auto removed = std::min<std::size_t>(size, held.dump.received_);
    held.dump.remove_last(removed);
    size -= removed;
  }
  for (part& partial : std::views::reverse(parts_)) {
    const std::size_t removed = std::min(size, partial.filled - partial.header);
    partial.filled -= removed;
    size -= removed;
  }
}

bool received_dump::part::append(std::string_view bytes) {
  const std::size_t needed = filled + bytes.size();
  if (needed > file.bytes().size()) {
    // Doubles, so that small pieces do not copy the dump each time.
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
  for (const generation& held : generations_) sum += held.dump.bytes();
  for (const part& partial : parts_) sum += partial.file.bytes().size();
  return sum;
}

std::uint64_t received_dump::spare_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const generation& held : generations_) sum += held.dump.spare_bytes();
  for (const part& partial : parts_) sum += partial.file.bytes().size() - partial.filled;
  return sum;
}

std::span<const std::byte> received_dump::file(std::size_t i) const noexcept {
  return parts_[i].file.bytes().first(parts_[i].filled);
}

std::vector<std::byte> received_dump::header() const {
  if (const auto* const chain = std::get_if<chain_shape>(&shape_)) return header_of(*chain);
  if (const auto* const cuckoo = std::get_if<cuckoo_shape>(&shape_)) return header_of(*cuckoo);
  std::vector<dump_section> sections;
  sections.reserve(generations_.size() + parts_.size());
  for (const generation& held : generations_) {
    sections.push_back({held.dump.header(), held.slice});
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto bytes = file(i).first(parts_[i].header);
    sections.push_back({{bytes.begin(), bytes.end()}});
  }
  return make_dump_header(prefix_, sections);
}

byte_pieces received_dump::payload() const {
  byte_pieces pieces;
  for (const generation& held : generations_) {
    const byte_pieces payload = held.dump.payload();
    pieces.insert(pieces.end(), payload.begin(), payload.end());
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    pieces.push_back(file(i).subspan(parts_[i].header));
  }
  return pieces;
}

}  // namespace bloomset::server
