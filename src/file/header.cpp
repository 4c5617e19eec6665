#include "file/header.hpp"

#include <bit>
#include <cstddef>
#include <cstring>

#include <bloomery/detail/core/bits.hpp>
#include <bloomery/detail/core/record.hpp>
#include <bloomery/file.hpp>

#include "core/format.hpp"

namespace bloomery::detail {
namespace {

// The first byte is no text and has its top bit set, and the line ends are in both styles. A
// transfer in text mode therefore damages it visibly, as with PNG's signature.
constexpr std::array<unsigned char, 8> magic = {0x89, 'B', 'L', 'O', 'O', 'M', '\r', '\n'};
constexpr std::uint16_t format_version = 1;
// Required flag: keys are hashed with a secret key, and `seed` is the key's identifier.
constexpr std::uint32_t keyed_flag = 1;
// Required flag: the filter has two halves (image_halves.hpp).
constexpr std::uint32_t halves_flag = 2;
// Required flag: the filter lacks keys, and the last block of the parameters tells which.
constexpr std::uint32_t parts_flag = 4;
constexpr std::uint32_t known_required_flags = keyed_flag | halves_flag | parts_flag;

constexpr std::uint32_t flags_of(hash_id hash) noexcept {
  return (is_keyed(hash) ? keyed_flag : 0) | (has_halves(hash) ? halves_flag : 0);
}

// The first bytes of a file; docs/format.md draws them.
struct stored_header {
  std::array<unsigned char, 8> magic;
  std::uint16_t format_version;
  filter_kind kind;
  std::uint16_t kind_version;
  hash_id hash;
  std::uint32_t flags;
  std::uint32_t parameter_bytes;
  std::uint64_t seed;
  std::uint64_t count;
  std::uint64_t payload_bytes;
  std::uint64_t payload_checksum;
  std::uint64_t header_checksum;  // of the fields above and the parameters
};
static_assert(sizeof(stored_header) == header_bytes);

// The last block of the parameters.
struct stored_parts {
  key_parts parts;
  std::array<std::uint64_t, 3> zero{};
};
static_assert(sizeof(stored_parts) == block_bytes);

/// Whether these are some of at least two parts.
bool is_some(const key_parts& parts) noexcept {
  if (parts.of < 2 || parts.of > key_parts::max_of) return false;
  std::uint64_t count = 0;
  for (std::uint64_t part = 1; part <= parts.of; ++part) count += parts.contains(part);
  std::uint64_t bits = 0;
  for (const std::uint64_t word : parts.has) bits += static_cast<unsigned>(std::popcount(word));
  return count == bits && count != 0 && count != parts.of;
}

std::uint64_t seal(std::span<const std::byte> header, std::span<const std::byte> parameters) {
  const std::array pieces = {header.first(offsetof(stored_header, header_checksum)), parameters};
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

raw_header header_of(const filter_image& image) {
  stored_header header{
      .magic = magic,
      .format_version = format_version,
      .kind = image.header.kind,
      .kind_version = image.header.kind_version,
      .hash = image.header.hash,
      .flags = flags_of(image.header.hash) | (image.header.parts.of != 0 ? parts_flag : 0),
      .parameter_bytes = static_cast<std::uint32_t>(image.parameters.size()),
      .seed = image.header.seed.value(),
      .count = image.header.count,
      .payload_bytes = 0,
      .payload_checksum = checksum(image.payload),
      .header_checksum = 0};
  for (const auto piece : image.payload) header.payload_bytes += piece.size();
  header.header_checksum = seal(std::as_bytes(std::span(&header, 1)), image.parameters);
  return std::bit_cast<raw_header>(header);
}

result<file_header> decode_header(std::span<const std::byte> file, const std::string& name,
                                  bool with_payload) {
  const auto is_damaged = [&](const std::string& how) {
    return format_failure(errc::corrupt, "{}: {}; the file is damaged, restore or rebuild it", name,
                          how);
  };
  if (!has_signature(file)) {
    return format_failure(errc::corrupt,
                          "{}: this is not a Bloomery filter (its first 8 bytes are not the "
                          "signature); give a file that a filter was saved to",
                          name);
  }
  if (file.size() < header_bytes) {
    return is_damaged(format_text("it ends after {} of the header's 64 bytes", file.size()));
  }
  const auto raw = load<stored_header>(file.data());
  // A newer version may lay out everything that follows differently, so the version is read first.
  // Damage to this field is reported as a newer version; either way the file is refused.
  if (raw.format_version != format_version) {
    return format_failure(
        errc::unsupported,
        "{}: the file has format version {}, and version {} is known here; use a newer bloomery",
        name, raw.format_version, format_version);
  }
  const std::uint64_t rest = file.size() - header_bytes;
  if (raw.parameter_bytes % block_bytes != 0 || raw.parameter_bytes > rest) {
    return is_damaged("its parameters do not fit into it");
  }
  const auto parameters = file.subspan(header_bytes, raw.parameter_bytes);
  if (raw.header_checksum != seal(file.first(header_bytes), parameters)) {
    return is_damaged("the header's checksum does not match");
  }
  if (rest - raw.parameter_bytes != (with_payload ? raw.payload_bytes : 0)) {
    return is_damaged(format_text("its payload has {} bytes where the header says {}",
                                  rest - raw.parameter_bytes,
                                  with_payload ? raw.payload_bytes : 0));
  }
  if ((raw.flags & ~known_required_flags) != 0) {
    return format_failure(
        errc::unsupported,
        "{}: the file needs features (flags {:#x}) that are not known here; use a newer bloomery",
        name, raw.flags);
  }
  if ((raw.flags & ~parts_flag) != flags_of(raw.hash)) {
    return is_damaged("its hash function and its flags do not agree");
  }
  stored_parts last{};
  if ((raw.flags & parts_flag) != 0) {
    if (parameters.size() < block_bytes) return is_damaged("it does not tell which parts it has");
    last = load<stored_parts>(parameters.last(block_bytes).data());
    if (!is_some(last.parts) || last.zero != decltype(last.zero){}) {
      return is_damaged("the parts that it tells cannot be");
    }
  }
  const hash_seed seed = is_keyed(raw.hash) ? hash_seed::locked(raw.seed) : hash_seed(raw.seed);
  return file_header{{raw.kind, raw.kind_version, raw.hash, seed, raw.count, last.parts},
                     raw.parameter_bytes,
                     raw.payload_bytes,
                     raw.payload_checksum};
}

}  // namespace bloomery::detail

namespace bloomery {

bool has_signature(std::span<const std::byte> bytes) noexcept {
  using detail::magic;
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

void set_parts(filter_image& image, const key_parts& parts) {
  if (parts.of == 0) return;
  image.header.parts = parts;
  image.parameters.resize(image.parameters.size() + detail::block_bytes);
  detail::store(image.parameters.data() + image.parameters.size() - detail::block_bytes,
                detail::stored_parts{parts});
}

}  // namespace bloomery
