#include <algorithm>
#include <array>
#include <bloomery/detail/core/record.hpp>
#include <bloomery/file.hpp>

#include "core/format.hpp"
#include "file/header.hpp"

namespace bloomery {

result<stored_filter> read_stored(const mapped_storage& bytes, verification how,
                                  const std::string& name) {
  const auto file = bytes.bytes();
  auto header = detail::decode_header(file, name);
  if (!header) return fail(std::move(header.error()));
  auto parameters = file.subspan(detail::header_bytes, header->parameter_bytes);
  if (header->filter.parts.of != 0) {
    parameters = parameters.first(parameters.size() - detail::block_bytes);
  }
  const std::array payload = {file.subspan(detail::header_bytes + header->parameter_bytes)};
  const bool verify =
      how == verification::always ||
      (how == verification::automatic && payload[0].size() <= automatic_verification_limit);
  if (verify && detail::checksum(payload) != header->payload_checksum) {
    return fail(errc::corrupt,
                name +
                    ": the payload's checksum does not match; the file is damaged, restore or "
                    "rebuild it");
  }
  return stored_filter{header->filter,
                       {parameters.begin(), parameters.end()},
                       bytes.slice(file.size() - payload[0].size(), payload[0].size())};
}

failure detail::lacks_parts(const key_parts& parts) {
  std::uint64_t missing = parts.of;
  for (std::uint64_t part = 1; part <= parts.of; ++part) missing -= parts.contains(part);
  return format_failure(errc::incompatible,
                        "it lacks the keys of {} of {} parts; write the filter of all parts with "
                        "'bloomery merge', and use that",
                        missing, parts.of);
}

failure detail::needs_key(const std::string& name) {
  return fail(errc::invalid_argument,
              name + ": its keys are hashed with a secret key; give the key that it was made with");
}

result<void> unlock(stored_filter& stored, const std::optional<hash_key>& key,
                    const std::string& name) {
  if (!stored.header.seed.is_locked()) return {};
  if (!key) return detail::needs_key(name);
  const hash_seed seed(*key);
  if (seed != stored.header.seed) {
    return fail(errc::invalid_argument,
                name + ": it was made with another secret key; give the key that it was made with");
  }
  stored.header.seed = seed;
  return {};
}

result<announced_filter> read_header(std::span<const std::byte> bytes, const std::string& name) {
  const auto header = detail::decode_header(bytes, name, false);
  if (!header) return fail(header.error());
  if (header->filter.parts.of != 0) return detail::lacks_parts(header->filter.parts);
  return announced_filter{header->filter, header->payload_bytes};
}

std::vector<std::byte> serialize_header(const filter_image& image) {
  const auto header = detail::header_of(image);
  std::vector<std::byte> bytes(header.size() + image.parameters.size());
  const auto at = std::copy(header.begin(), header.end(), bytes.begin());
  std::copy(image.parameters.begin(), image.parameters.end(), at);
  return bytes;
}

std::size_t serialized_size(const filter_image& image) noexcept {
  std::size_t size = detail::header_bytes + image.parameters.size();
  for (const auto piece : image.payload) size += piece.size();
  return size;
}

void serialize_to(const filter_image& image, std::span<std::byte> into) {
  const auto header = detail::header_of(image);
  auto at = std::copy(header.begin(), header.end(), into.begin());
  at = std::copy(image.parameters.begin(), image.parameters.end(), at);
  for (const auto piece : image.payload) at = std::copy(piece.begin(), piece.end(), at);
}

std::vector<std::byte> serialize(const filter_image& image) {
  std::vector<std::byte> bytes(serialized_size(image));
  serialize_to(image, bytes);
  return bytes;
}

}  // namespace bloomery
