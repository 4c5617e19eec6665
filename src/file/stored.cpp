// The header of a file, its checksums, and filters as byte strings (docs/reference/format.md).

#include <algorithm>
#include <array>
#include <bit>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/record.hpp>
#include <bloomset/file.hpp>
#include <bloomset/unread_formats.hpp>
#include <cstddef>
#include <cstring>

#include "core/format.hpp"
#include "file/announced.hpp"

namespace bloomset {
namespace {

using detail::block_bytes;
using detail::format_failure;
using detail::format_text;

constexpr std::size_t header_bytes = detail::file_header_bytes;
// The first byte is no text and has its top bit set, and the line ends are in both styles. A
// transfer in text mode therefore damages it visibly, as with PNG's signature.
constexpr std::array<unsigned char, 8> magic = {0x89, 'B', 'L', 'O', 'O', 'M', '\r', '\n'};
constexpr std::uint16_t format_version = 1;
// Required flag: keys are hashed with a secret key, and `seed` is the key's identifier.
constexpr std::uint32_t keyed_flag = 1;
// Required flag: the filter has two halves (src/registry/halves.hpp).
constexpr std::uint32_t halves_flag = 2;
// Required flag: the filter lacks keys, and a block behind the exceptions tells which.
constexpr std::uint32_t parts_flag = 4;
// Required flag: labels follow the kind's parameters.
constexpr std::uint32_t labels_flag = 8;
// Required flag: exceptions follow the kind's parameters.
constexpr std::uint32_t exceptions_flag = 16;
// Required flag: layers are the last section of the parameters.
constexpr std::uint32_t layers_flag = 32;
constexpr std::uint32_t known_required_flags =
    keyed_flag | halves_flag | parts_flag | labels_flag | exceptions_flag | layers_flag;

constexpr std::uint32_t flags_of(hash_id hash) noexcept {
  return (detail::is_keyed(hash) ? keyed_flag : 0) | (detail::has_halves(hash) ? halves_flag : 0);
}

std::uint32_t flags_of(const filter_header& header) noexcept {
  return flags_of(header.hash) | (header.parts.of != 0 ? parts_flag : 0) |
         (header.labels.empty() ? 0 : labels_flag) |
         (header.exceptions.empty() ? 0 : exceptions_flag) |
         (header.layers.empty() ? 0 : layers_flag);
}

// The first bytes of a file; docs/reference/format.md ("Header") draws them.
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

// The block of parts.
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

// Labels are a text, zeros up to the last four bytes of a block, and the length of the text.
using label_length = std::uint32_t;

std::size_t label_section(std::size_t text) noexcept {
  return detail::round_up(text + sizeof(label_length), block_bytes);
}

void append_labels(std::vector<std::byte>& parameters, const label_list& labels) {
  if (labels.empty()) return;
  const std::string& text = labels.text();
  const std::size_t at = parameters.size();
  parameters.resize(at + label_section(text.size()));
  std::ranges::copy(std::as_bytes(std::span(text)), parameters.data() + at);
  detail::store(parameters.data() + parameters.size() - sizeof(label_length),
                static_cast<label_length>(text.size()));
}

// Exceptions are their hashes, zeros up to the last eight bytes of a block, and their number.
using exception_count = std::uint64_t;

std::size_t exception_section(std::size_t count) noexcept {
  return detail::round_up(count * sizeof(hash64) + sizeof(exception_count), block_bytes);
}

void append_exceptions(std::vector<std::byte>& parameters, const exception_list& exceptions) {
  if (exceptions.empty()) return;
  const std::size_t at = parameters.size();
  parameters.resize(at + exception_section(exceptions.size()));
  std::ranges::copy(std::as_bytes(exceptions.hashes()), parameters.data() + at);
  detail::store(parameters.data() + parameters.size() - sizeof(exception_count),
                exception_count{exceptions.size()});
}

// Layers are their lengths and bytes, zeros up to the last eight bytes of a block, and the length
// of all that precedes the zeros.
using layers_length = std::uint64_t;
using layer_length = std::uint32_t;

std::size_t layers_section(const layer_list& layers) noexcept {
  std::size_t size = 0;
  for (const auto& layer : layers.all()) size += sizeof(layer_length) + layer.size();
  return detail::round_up(size + sizeof(layers_length), block_bytes);
}

void append_layers(std::vector<std::byte>& parameters, const layer_list& layers) {
  if (layers.empty()) return;
  const std::size_t begin = parameters.size();
  parameters.resize(begin + layers_section(layers));
  std::size_t at = begin;
  for (const auto& layer : layers.all()) {
    detail::store(parameters.data() + at, static_cast<layer_length>(layer.size()));
    at += sizeof(layer_length);
    std::ranges::copy(layer, parameters.data() + at);
    at += layer.size();
  }
  detail::store(parameters.data() + parameters.size() - sizeof(layers_length),
                layers_length{at - begin});
}

void append_parts(std::vector<std::byte>& parameters, const key_parts& parts) {
  if (parts.of == 0) return;
  parameters.resize(parameters.size() + block_bytes);
  detail::store(parameters.data() + parameters.size() - block_bytes, stored_parts{parts});
}

/// Removes the last block of the parameters. Fails without a message.
result<key_parts> take_parts(std::span<const std::byte>& parameters) {
  const auto wrong = [] { return fail(errc::corrupt, "its list of parts is malformed"); };
  if (parameters.size() < block_bytes) return wrong();
  const auto last = detail::load<stored_parts>(parameters.last(block_bytes).data());
  if (!is_some(last.parts) || last.zero != decltype(last.zero){}) return wrong();
  parameters = parameters.first(parameters.size() - block_bytes);
  return last.parts;
}

/// Removes the labels at the end of the parameters.
result<label_list> take_labels(std::span<const std::byte>& parameters) {
  const auto wrong = [] {
    return fail(errc::corrupt, "its labels are longer than its parameters");
  };
  if (parameters.size() < block_bytes) return wrong();
  const auto length = detail::load<label_length>(parameters.last(sizeof(label_length)).data());
  if (length == 0 || length > label_list::max_bytes || label_section(length) > parameters.size()) {
    return wrong();
  }
  const auto section = parameters.last(label_section(length));
  const auto zeros = section.first(section.size() - sizeof(label_length)).subspan(length);
  if (!detail::is_zero(zeros)) return wrong();
  parameters = parameters.first(parameters.size() - section.size());
  return label_list::parse({reinterpret_cast<const char*>(section.data()), length});
}

/// Removes the exceptions at the end of the parameters.
result<exception_list> take_exceptions(std::span<const std::byte>& parameters) {
  const auto wrong = [] {
    return fail(errc::corrupt, "its exceptions are longer than its parameters");
  };
  if (parameters.size() < block_bytes) return wrong();
  const auto count = detail::load<exception_count>(parameters.last(sizeof(exception_count)).data());
  if (count > exception_list::max_size || exception_section(count) > parameters.size()) {
    return wrong();
  }
  const auto section = parameters.last(exception_section(count));
  const std::size_t used = count * sizeof(hash64);
  const auto zeros = section.first(section.size() - sizeof(exception_count)).subspan(used);
  if (!detail::is_zero(zeros)) return wrong();
  parameters = parameters.first(parameters.size() - section.size());
  std::vector<hash64> hashes(count);
  std::ranges::copy(section.first(used), std::as_writable_bytes(std::span(hashes)).begin());
  return exception_list::of(hashes);
}

/// Removes the layers at the end of the parameters, which are not read yet.
result<std::vector<std::vector<std::byte>>> take_layers(std::span<const std::byte>& parameters) {
  const auto wrong = [] {
    return fail(errc::corrupt, "its layers are longer than its parameters");
  };
  if (parameters.size() < block_bytes) return wrong();
  const auto length = detail::load<layers_length>(parameters.last(sizeof(layers_length)).data());
  if (length == 0 || length > parameters.size() - sizeof(layers_length)) return wrong();
  const std::size_t section = detail::round_up(length + sizeof(layers_length), block_bytes);
  if (section > parameters.size()) return wrong();
  auto left = parameters.last(section);
  if (!detail::is_zero(left.first(section - sizeof(layers_length)).subspan(length))) return wrong();
  left = left.first(length);
  parameters = parameters.first(parameters.size() - section);
  std::vector<std::vector<std::byte>> layers;
  while (!left.empty()) {
    if (left.size() < sizeof(layer_length)) return wrong();
    const auto size = detail::load<layer_length>(left.data());
    left = left.subspan(sizeof(layer_length));
    if (size == 0 || size > left.size()) return wrong();
    layers.emplace_back(left.begin(), left.begin() + size);
    left = left.subspan(size);
  }
  return layers;
}

/// XXH3-64 of the pieces, as if they were one run of bytes.
std::uint64_t checksum(byte_pieces pieces) noexcept {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_64bits_reset(&state);
  for (const auto piece : pieces) XXH3_64bits_update(&state, piece.data(), piece.size());
  return XXH3_64bits_digest(&state);
}

std::uint64_t seal(std::span<const std::byte> header, std::span<const std::byte> parameters) {
  const std::array pieces = {header.first(offsetof(stored_header, header_checksum)), parameters};
  return checksum(pieces);
}

/// The checksum that the header would have without exceptions and layers: these come and go while
/// layers stay those of one base. `labels_and_parts` are the sections that follow the exceptions.
std::uint64_t seal_of_base(std::span<const std::byte> header, std::span<const std::byte> parameters,
                           std::span<const std::byte> labels_and_parts) {
  auto base = detail::load<stored_header>(header.data());
  base.flags &= ~(exceptions_flag | layers_flag);
  base.parameter_bytes = static_cast<std::uint32_t>(parameters.size() + labels_and_parts.size());
  const std::array pieces = {
      std::as_bytes(std::span(&base, 1)).first(offsetof(stored_header, header_checksum)),
      parameters, labels_and_parts};
  return checksum(pieces);
}

struct file_header {
  filter_header filter;
  std::span<const std::byte> parameters;        // of the kind
  std::span<const std::byte> labels_and_parts;  // the sections behind the exceptions
  std::uint64_t payload_bytes;
  std::uint64_t payload_checksum;
};

/// Reads a header and checks it against the bytes of the whole file: magic, versions, flags, both
/// lengths, and the checksum of header and parameters. Without `with_payload` the bytes end where
/// the payload begins.
result<file_header> decode_header(std::span<const std::byte> file, const std::string& name,
                                  bool with_payload) {
  const auto is_damaged = [&](const std::string& how) {
    return format_failure(errc::corrupt, "{}: {}; the file is damaged, restore or rebuild it", name,
                          how);
  };
  if (!has_signature(file)) {
    if (const auto* const form = recognise_unread(file, name, certainty::signature)) {
      return not_read(*form, name);
    }
    return format_failure(errc::corrupt,
                          "{}: this is not a Bloomset filter (its first 8 bytes are not the "
                          "signature); give a file that a filter was saved to",
                          name);
  }
  if (file.size() < header_bytes) {
    return is_damaged(format_text("it ends after {} of the header's 64 bytes", file.size()));
  }
  const auto raw = detail::load<stored_header>(file.data());
  // A newer version may lay out everything that follows differently, so the version is read first.
  // Damage to this field is reported as a newer version; either way the file is refused.
  if (raw.format_version != format_version) {
    return format_failure(errc::unsupported,
                          "{}: the file has format version {}, but only version {} is known here; "
                          "use a newer bloomset",
                          name, raw.format_version, format_version);
  }
  const std::uint64_t rest = file.size() - header_bytes;
  if (raw.parameter_bytes % block_bytes != 0 || raw.parameter_bytes > rest) {
    return is_damaged("its parameters are longer than the file");
  }
  auto parameters = file.subspan(header_bytes, raw.parameter_bytes);
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
        "{}: the file needs features (flags {:#x}) that are not known here; use a newer bloomset",
        name, raw.flags);
  }
  if ((raw.flags & ~(parts_flag | labels_flag | exceptions_flag | layers_flag)) !=
      flags_of(raw.hash)) {
    return is_damaged("its hash function and its flags do not agree");
  }
  const hash_seed seed =
      detail::is_keyed(raw.hash) ? hash_seed::locked(raw.seed) : hash_seed(raw.seed);
  filter_header header{raw.kind, raw.kind_version, raw.hash, seed, raw.count};
  std::vector<std::vector<std::byte>> layers;
  if ((raw.flags & layers_flag) != 0) {
    if (raw.hash != hash_id::xxh3_64 && raw.hash != hash_id::siphash_1_3) {
      return is_damaged("its layers need hashes of 64 bits");
    }
    auto taken = take_layers(parameters);
    if (!taken) return is_damaged(taken.error().message);
    layers = std::move(*taken);
  }
  const auto without_layers = parameters;
  if ((raw.flags & parts_flag) != 0) {
    auto parts = take_parts(parameters);
    if (!parts) return is_damaged(parts.error().message);
    header.parts = *parts;
  }
  if ((raw.flags & labels_flag) != 0) {
    auto labels = take_labels(parameters);
    if (!labels) return is_damaged(labels.error().message);
    header.labels = std::move(*labels);
  }
  const auto labels_and_parts = without_layers.subspan(parameters.size());
  if ((raw.flags & exceptions_flag) != 0) {
    if (raw.hash == hash_id::none || detail::has_halves(raw.hash)) {
      return is_damaged("its exceptions need hashes of 64 bits");
    }
    auto exceptions = take_exceptions(parameters);
    if (!exceptions) return is_damaged(exceptions.error().message);
    header.exceptions = std::move(*exceptions);
  }
  if (!layers.empty()) {
    auto list = layer_list::of(
        std::move(layers), seal_of_base(file.first(header_bytes), parameters, labels_and_parts));
    if (!list) return is_damaged(list.error().message);
    header.layers = std::move(*list);
  }
  return file_header{std::move(header), parameters, labels_and_parts, raw.payload_bytes,
                     raw.payload_checksum};
}

}  // namespace

bool has_signature(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

std::uint64_t detail::announced_bytes(std::span<const std::byte> file) noexcept {
  const auto raw = load<stored_header>(file.data());
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  return header_bytes + raw.parameter_bytes + std::min(raw.payload_bytes, most);
}

std::uint64_t detail::announced_payload_at(std::span<const std::byte> file) noexcept {
  const auto raw = load<stored_header>(file.data());
  return header_bytes + (raw.format_version == format_version ? raw.parameter_bytes : 0);
}

result<stored_filter> read_stored(const mapped_storage& bytes, verification how,
                                  const std::string& name) {
  const auto file = bytes.bytes();
  auto header = decode_header(file, name, true);
  if (!header) return fail(std::move(header.error()));
  const std::array payload = {file.last(header->payload_bytes)};
  const bool verify =
      how == verification::always ||
      (how == verification::automatic && payload[0].size() <= automatic_verification_limit);
  if (verify && checksum(payload) != header->payload_checksum) {
    return fail(errc::corrupt,
                name +
                    ": the payload's checksum does not match; the file is damaged, restore or "
                    "rebuild it");
  }
  return stored_filter{std::move(header->filter),
                       {header->parameters.begin(), header->parameters.end()},
                       bytes.slice(file.size() - payload[0].size(), payload[0].size())};
}

failure detail::lacks_parts(const key_parts& parts) {
  std::uint64_t missing = parts.of;
  for (std::uint64_t part = 1; part <= parts.of; ++part) missing -= parts.contains(part);
  return format_failure(errc::incompatible,
                        "it lacks the keys of {} of {} parts; write the filter of all parts with "
                        "'bloomset merge', and use that",
                        missing, parts.of);
}

failure detail::has_exceptions() {
  return fail(errc::unsupported,
              "the file has exceptions, which a filter of a known type does not apply; open it as "
              "any_filter, by bloomset::open(path)");
}

failure detail::has_layers() {
  return fail(errc::unsupported,
              "the file has layers, which a filter of a known type does not apply; open it as "
              "any_filter, by bloomset::open(path)");
}

std::uint64_t layer_base_of(std::span<const std::byte> file) {
  const auto header = decode_header(file, "", true);
  return seal_of_base(file.first(header_bytes), header->parameters, header->labels_and_parts);
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
  const auto header = decode_header(bytes, name, false);
  if (!header) return fail(header.error());
  if (header->filter.parts.of != 0) return detail::lacks_parts(header->filter.parts);
  return announced_filter{header->filter, header->payload_bytes};
}

std::vector<std::byte> serialize_header(const filter_image& image) {
  std::vector<std::byte> parameters = image.parameters;
  append_exceptions(parameters, image.header.exceptions);
  append_labels(parameters, image.header.labels);
  append_parts(parameters, image.header.parts);
  append_layers(parameters, image.header.layers);
  stored_header header{.magic = magic,
                       .format_version = format_version,
                       .kind = image.header.kind,
                       .kind_version = image.header.kind_version,
                       .hash = image.header.hash,
                       .flags = flags_of(image.header),
                       .parameter_bytes = static_cast<std::uint32_t>(parameters.size()),
                       .seed = image.header.seed.value(),
                       .count = image.header.count,
                       .payload_bytes = 0,
                       .payload_checksum = checksum(image.payload),
                       .header_checksum = 0};
  for (const auto piece : image.payload) header.payload_bytes += piece.size();
  header.header_checksum = seal(std::as_bytes(std::span(&header, 1)), parameters);
  std::vector<std::byte> bytes(header_bytes + parameters.size());
  detail::store(bytes.data(), header);
  std::ranges::copy(parameters, bytes.data() + header_bytes);
  return bytes;
}

std::size_t serialized_size(const filter_image& image) noexcept {
  std::size_t size = header_bytes + image.parameters.size();
  const filter_header& header = image.header;
  if (!header.exceptions.empty()) size += exception_section(header.exceptions.size());
  if (!header.labels.empty()) size += label_section(header.labels.text().size());
  if (header.parts.of != 0) size += block_bytes;
  if (!header.layers.empty()) size += layers_section(header.layers);
  for (const auto piece : image.payload) size += piece.size();
  return size;
}

void serialize_to(const filter_image& image, std::span<std::byte> into) {
  const auto header = serialize_header(image);
  auto at = std::copy(header.begin(), header.end(), into.begin());
  for (const auto piece : image.payload) at = std::copy(piece.begin(), piece.end(), at);
}

std::vector<std::byte> serialize(const filter_image& image) {
  std::vector<std::byte> bytes(serialized_size(image));
  serialize_to(image, bytes);
  return bytes;
}

}  // namespace bloomset
