#include "values/dump_header.hpp"

#include <array>
#include <bloomset/hash.hpp>
#include <utility>

#include "other_modules/packed_numbers.hpp"

namespace bloomset::server {
namespace {

constexpr std::string_view signature = "BLMSTDMP";
// Version 2 is for filters with a secret key.
constexpr std::uint32_t dump_version = 2;
constexpr std::size_t prefix_bytes = 64;
constexpr std::size_t max_parts = 2;
// A bound for header and parameters of a filter file. All present kinds have 128 bytes.
constexpr std::size_t max_file_header = 4096;
constexpr std::size_t max_generation_header = prefix_bytes + max_parts * max_file_header;
// A bound for times since 1970; it lasts some million years.
constexpr std::uint64_t max_milliseconds = std::uint64_t{1} << 57;
constexpr unsigned deletable_flag = 1;
constexpr unsigned window_flag = 2;
constexpr unsigned key_flag = 4;
constexpr std::size_t key_block_bytes = hash_key::size + sizeof(std::uint64_t);

using section_sizes = std::array<std::uint32_t, max_parts>;

std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
  return xxh3_hasher(0)(bytes).value;
}

/// Whether the last eight bytes are the checksum of those before.
bool is_sealed(std::string_view bytes) noexcept {
  if (bytes.size() < sizeof(std::uint64_t)) return false;
  const std::size_t size = bytes.size() - sizeof(std::uint64_t);
  std::uint64_t checksum = 0;
  packed_reader{bytes.substr(size)} >> checksum;
  return checksum == checksum_of(std::as_bytes(std::span(bytes.substr(0, size))));
}

/// With a window, `sizes` are the size of the block and 0; else those of the parts' headers.
wire_error read_prefix(std::string_view bytes, dump_prefix& prefix, section_sizes& sizes,
                       bool& has_key) noexcept {
  if (bytes.size() != prefix_bytes || !is_sealed(bytes)) return bad_data;
  filter_spec& spec = prefix.spec;
  std::uint32_t version = 0;
  std::uint8_t flags = 0;
  std::uint16_t unused = 0;
  packed_reader input{bytes.substr(signature.size())};
  input >> version >> spec.family >> flags >> spec.bucket_size >> spec.expansion >>
      spec.max_iterations >> unused >> prefix.deleted >> spec.error_rate >> spec.capacity >>
      sizes[0] >> sizes[1];
  if (version > dump_version) return newer_data;
  spec.deletable = (flags & deletable_flag) != 0;
  spec.window = (flags & window_flag) != 0 ? 1 : 0;  // read_block() reads its length
  has_key = (flags & key_flag) != 0;
  const bool is_bloom = spec.family == filter_family::bloom;
  const bool is_cuckoo = spec.family == filter_family::cuckoo && spec.bucket_size != 0 &&
                         spec.bucket_size <= max_bucket_size && !spec.deletable && spec.window == 0;
  const bool is_sound = version == (has_key ? 2U : 1U) && (is_bloom || is_cuckoo) &&
                        (spec.window == 0 || (!spec.deletable && spec.expansion != 0)) &&
                        (flags & ~(deletable_flag | window_flag | key_flag)) == 0 && unused == 0 &&
                        spec.expansion <= max_expansion && spec.capacity >= 1 &&
                        std::in_range<std::int64_t>(spec.capacity) && spec.error_rate > 0 &&
                        spec.error_rate <= max_error_rate;
  return is_sound ? nullptr : bad_data;
}

/// Reads the block of a filter with a secret key: the key and a checksum. False if it is damaged.
bool read_key(std::string_view bytes, filter_spec& spec) noexcept {
  if (bytes.size() != key_block_bytes || !is_sealed(bytes)) return false;
  spec.seed = hash_key::of(std::as_bytes(std::span(bytes)).first<hash_key::size>());
  return true;
}

/// Reads the block of a windowed filter, and sections without their headers. `sizes` are those of
/// the headers. False if the block is damaged.
bool read_block(std::string_view bytes, dump_prefix& prefix, std::vector<dump_section>& sections,
                std::vector<std::uint64_t>& sizes) {
  constexpr std::size_t fixed_bytes = 32;
  if (bytes.size() < fixed_bytes || !is_sealed(bytes)) return false;
  filter_spec& spec = prefix.spec;
  std::uint32_t generations = 0;
  std::uint32_t held = 0;
  packed_reader input{bytes};
  input >> spec.window >> generations >> held >> prefix.newest_slice;
  if (spec.window < 1 || spec.window > max_window || generations < 1 ||
      generations > max_generations || held > generations + 1 ||
      bytes.size() != fixed_bytes + 2 * sizeof(std::uint64_t) * held) {
    return false;
  }
  spec.generations = static_cast<std::uint16_t>(generations);
  if (prefix.newest_slice > max_milliseconds / slice_milliseconds(spec)) return false;
  for (std::uint32_t i = 0; i < held; ++i) {
    std::uint64_t slice = 0;
    std::uint64_t size = 0;
    input >> slice >> size;
    if (slice > prefix.newest_slice || slice + generations < prefix.newest_slice ||
        (i != 0 && slice <= sections.back().slice) || size > max_generation_header) {
      return false;
    }
    sections.push_back({.header = {}, .slice = slice});
    sizes.push_back(size);
  }
  return true;
}

}  // namespace

bool is_native_header(std::string_view header) noexcept {
  return header.starts_with(signature);
}

wire_error read_dump_header(std::string_view header, dump_prefix& prefix,
                            std::vector<dump_section>& sections) {
  section_sizes part_sizes = {};
  bool has_key = false;
  const wire_error error = read_prefix(header.substr(0, prefix_bytes), prefix, part_sizes, has_key);
  if (error != nullptr) return error;
  std::string_view remaining = header.substr(prefix_bytes);
  if (has_key) {
    if (!read_key(remaining.substr(0, key_block_bytes), prefix.spec)) return bad_data;
    remaining.remove_prefix(key_block_bytes);
  }
  std::vector<std::uint64_t> sizes;
  if (prefix.spec.window != 0) {
    const std::size_t block_bytes = part_sizes[0];
    if (block_bytes > remaining.size() || part_sizes[1] != 0 ||
        !read_block(remaining.substr(0, block_bytes), prefix, sections, sizes)) {
      return bad_data;
    }
    remaining.remove_prefix(block_bytes);
  } else {
    for (const std::uint32_t size : part_sizes) {
      if (size == 0) break;
      if (size > max_file_header) return bad_data;
      sizes.push_back(size);
    }
    if (sizes.empty()) return bad_data;
    sections.resize(sizes.size());
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > remaining.size()) return bad_data;
    const auto bytes = std::as_bytes(std::span(remaining)).first(sizes[i]);
    sections[i].header.assign(bytes.begin(), bytes.end());
    remaining.remove_prefix(sizes[i]);
  }
  return remaining.empty() ? nullptr : bad_data;
}

std::vector<std::byte> make_dump_header(const dump_prefix& prefix,
                                        std::span<const dump_section> sections) {
  const filter_spec& spec = prefix.spec;
  packed_writer block;
  section_sizes sizes = {};
  if (spec.window != 0) {
    block << spec.window << std::uint32_t{spec.generations}
          << static_cast<std::uint32_t>(sections.size()) << prefix.newest_slice;
    for (const dump_section& section : sections) {
      block << section.slice << std::uint64_t{section.header.size()};
    }
    block << checksum_of(block.bytes);
    sizes[0] = static_cast<std::uint32_t>(block.bytes.size());
  } else {
    for (std::size_t i = 0; i < sections.size(); ++i) {
      sizes.at(i) = static_cast<std::uint32_t>(sections[i].header.size());
    }
  }
  const bool has_key = spec.seed.is_keyed();
  const unsigned flags = (spec.deletable ? deletable_flag : 0) |
                         (spec.window != 0 ? window_flag : 0) | (has_key ? key_flag : 0);
  packed_writer output;
  for (const char letter : signature) output << letter;
  output << (has_key ? dump_version : 1U) << spec.family << static_cast<std::uint8_t>(flags)
         << spec.bucket_size << spec.expansion << spec.max_iterations << std::uint16_t{0}
         << prefix.deleted << spec.error_rate << spec.capacity << sizes[0] << sizes[1];
  output << checksum_of(output.bytes);
  if (has_key) {
    packed_writer key;
    for (const std::byte byte : spec.seed.key().bytes()) key << byte;
    key << checksum_of(key.bytes);
    output.bytes.insert(output.bytes.end(), key.bytes.begin(), key.bytes.end());
  }
  output.bytes.insert(output.bytes.end(), block.bytes.begin(), block.bytes.end());
  for (const auto& [header, slice] : sections) {
    output.bytes.insert(output.bytes.end(), header.begin(), header.end());
  }
  return std::move(output.bytes);
}

}  // namespace bloomset::server
