#include "file/header.hpp"

#include <cstring>

#include <bloomery/detail/core/bits.hpp>
#include <bloomery/detail/core/record.hpp>

#include "core/format.hpp"

namespace bloomery::detail {
namespace {

// The first byte is no text and has its top bit set, and the line ends are in both styles. A
// transfer in text mode therefore damages it visibly, as with PNG's signature.
constexpr std::array<unsigned char, 8> magic = {0x89, 'B', 'L', 'O', 'O', 'M', '\r', '\n'};
constexpr std::uint16_t format_version = 1;
constexpr std::uint32_t known_required_flags = 0;

// Offsets of the fields; docs/format.md draws them.
constexpr std::size_t at_format_version = 8;
constexpr std::size_t at_kind = 10;
constexpr std::size_t at_kind_version = 12;
constexpr std::size_t at_hash = 14;
constexpr std::size_t at_flags = 16;
constexpr std::size_t at_parameter_bytes = 20;
constexpr std::size_t at_seed = 24;
constexpr std::size_t at_count = 32;
constexpr std::size_t at_payload_bytes = 40;
constexpr std::size_t at_payload_checksum = 48;
constexpr std::size_t at_header_checksum = 56;
static_assert(at_header_checksum + 8 == header_bytes);

std::uint64_t seal(std::span<const std::byte> header, std::span<const std::byte> parameters) {
  const std::array pieces = {header.first(at_header_checksum), parameters};
  return checksum(pieces);
}

}  // namespace

std::uint64_t checksum(std::span<const std::span<const std::byte>> pieces) noexcept {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_64bits_reset(&state);
  for (const auto piece : pieces) XXH3_64bits_update(&state, piece.data(), piece.size());
  return XXH3_64bits_digest(&state);
}

raw_header encode_header(const file_header& header, std::span<const std::byte> parameters) {
  raw_header raw{};
  std::memcpy(raw.data(), magic.data(), magic.size());
  store(raw.data() + at_format_version, format_version);
  store(raw.data() + at_kind, static_cast<std::uint16_t>(header.filter.kind));
  store(raw.data() + at_kind_version, header.filter.kind_version);
  store(raw.data() + at_hash, static_cast<std::uint16_t>(header.filter.hash));
  store(raw.data() + at_flags, known_required_flags);
  store(raw.data() + at_parameter_bytes, header.parameter_bytes);
  store(raw.data() + at_seed, header.filter.seed);
  store(raw.data() + at_count, header.filter.count);
  store(raw.data() + at_payload_bytes, header.payload_bytes);
  store(raw.data() + at_payload_checksum, header.payload_checksum);
  store(raw.data() + at_header_checksum, seal(raw, parameters));
  return raw;
}

raw_header header_of(const filter_image& image) {
  std::uint64_t payload_bytes = 0;
  for (const auto piece : image.payload) payload_bytes += piece.size();
  return encode_header({image.header, static_cast<std::uint32_t>(image.parameters.size()),
                        payload_bytes, checksum(image.payload)},
                       image.parameters);
}

bool has_magic(std::span<const std::byte> file) noexcept {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

result<file_header> decode_header(std::span<const std::byte> file, const std::string& name,
                                  bool with_payload) {
  const auto is_damaged = [&](const std::string& how) {
    return format_failure(errc::corrupt, "{}: {}; the file is damaged, restore or rebuild it", name,
                          how);
  };
  if (!has_magic(file)) {
    return format_failure(errc::corrupt,
                          "{}: this is not a Bloomery filter (its first 8 bytes are not the "
                          "signature); give a file that a filter was saved to",
                          name);
  }
  if (file.size() < header_bytes) {
    return is_damaged(format_text("it ends after {} of the header's 64 bytes", file.size()));
  }
  const std::byte* raw = file.data();
  // A newer version may lay out everything that follows differently, so the version is read first.
  // Damage to this field is reported as a newer version; either way the file is refused.
  if (const auto version = load<std::uint16_t>(raw + at_format_version);
      version != format_version) {
    return format_failure(
        errc::unsupported,
        "{}: the file has format version {}, and version {} is known here; use a newer bloomery",
        name, version, format_version);
  }
  file_header header{};
  header.parameter_bytes = load<std::uint32_t>(raw + at_parameter_bytes);
  header.payload_bytes = load<std::uint64_t>(raw + at_payload_bytes);
  header.payload_checksum = load<std::uint64_t>(raw + at_payload_checksum);
  const std::uint64_t rest = file.size() - header_bytes;
  if (header.parameter_bytes % block_bytes != 0 || header.parameter_bytes > rest) {
    return is_damaged("its parameters do not fit into it");
  }
  const auto parameters = file.subspan(header_bytes, header.parameter_bytes);
  if (load<std::uint64_t>(raw + at_header_checksum) != seal(file.first(header_bytes), parameters)) {
    return is_damaged("the header's checksum does not match");
  }
  if (rest - header.parameter_bytes != (with_payload ? header.payload_bytes : 0)) {
    return is_damaged(format_text("its payload has {} bytes where the header says {}",
                                  rest - header.parameter_bytes,
                                  with_payload ? header.payload_bytes : 0));
  }
  if (const auto flags = load<std::uint32_t>(raw + at_flags);
      (flags & ~known_required_flags) != 0) {
    return format_failure(
        errc::unsupported,
        "{}: the file needs features (flags {:#x}) that are not known here; use a newer bloomery",
        name, flags);
  }
  header.filter = {static_cast<filter_kind>(load<std::uint16_t>(raw + at_kind)),
                   load<std::uint16_t>(raw + at_kind_version),
                   static_cast<hash_id>(load<std::uint16_t>(raw + at_hash)),
                   load<std::uint64_t>(raw + at_seed), load<std::uint64_t>(raw + at_count)};
  return header;
}

}  // namespace bloomery::detail
