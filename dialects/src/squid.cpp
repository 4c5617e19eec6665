// Squid's cache digest: the filter that a web proxy sends to its siblings instead of its list of
// URLs (Rousskov and Wessels, "Cache Digests", 1998). A big-endian header of 128 bytes, then bits.

#include "bloom_model.hpp"

namespace bloomset::dialects {
namespace {
namespace squid_format {

constexpr std::size_t header_bytes = 128;
constexpr std::size_t used_bytes = 22;  // of the header; the others are zero
constexpr std::int16_t current_version = 5;
constexpr std::int16_t min_version = 3;
constexpr std::uint64_t max_mask_bytes = (std::uint64_t{1} << 28) - 1;  // bits that fit into an int

constexpr std::array options = {
    kind_option{"bits_per_entry", "1 to 255 (default 5)", "bits for each entry of the capacity"},
    kind_option{"method", "GET, POST, PUT or HEAD (default GET)",
                "the method of the request, which is part of the key"}};
constexpr std::array<std::string_view, 4> methods = {"GET", "POST", "PUT", "HEAD"};

struct squid_container {
  using rule = rules::squid;
  static constexpr row id = row::squid;
  static constexpr counting counts = counting::inserts;

  std::int16_t current = current_version;
  std::int16_t required = min_version;
  std::int32_t capacity = 0;
  std::int32_t removed = 0;
  std::int32_t mask_bytes = 0;
  std::uint8_t bits_per_entry = 5;
  std::uint64_t method = 1;

  bloom_params shape() const {
    return {.bits = static_cast<std::uint64_t>(mask_bytes) * 8, .hashes = 4, .seed = method};
  }
  rule probe() const { return {}; }
  key_form form() const { return {encoding::url, {}, {}}; }
  bit_order order() const { return bit_order::bytes; }

  void describe(foreign_info& info) const {
    info.variant = fmt::format("version {}", current);
    info.capacity = static_cast<std::uint64_t>(capacity);
    info.extras.push_back({"bits_per_entry", std::uint64_t{bits_per_entry}});
    info.extras.push_back({"method", std::string(methods.at(method - 1))});
  }

  result<void> check_merge(const squid_container& other) const {
    if (capacity != other.capacity || bits_per_entry != other.bits_per_entry) {
      return fail(errc::incompatible, "their capacities or bits per entry differ");
    }
    return {};
  }

  result<foreign_image> image(std::span<const std::byte> mask, std::uint64_t count) const {
    if (count > std::numeric_limits<std::int32_t>::max()) {
      return fail(errc::unsupported,
                  fmt::format("it has {} entries, but a digest counts at most 2^31 - 1", count));
    }
    foreign_image image;
    put_big(image.head, current);
    put_big(image.head, required);
    put_big(image.head, capacity);
    put_big(image.head, static_cast<std::int32_t>(count));
    put_big(image.head, removed);
    put_big(image.head, mask_bytes);
    put_big(image.head, bits_per_entry);
    put_big(image.head, std::uint8_t{4});
    image.head.resize(header_bytes);
    image.bits = mask;
    return image;
  }

  result<squid_container> convert(const option_list&) const { return only_container(id); }
};

/// The mask size that Squid requires for a capacity.
constexpr std::int64_t mask_bytes_for(std::int64_t capacity, std::int64_t per_entry) noexcept {
  return (capacity * per_entry + 7) / 8;
}

result<std::uint64_t> method_of(const option_list& given) {
  const auto text = find_option(given, "method");
  if (!text) return 1;
  const auto found = std::find(methods.begin(), methods.end(), *text);
  if (found == methods.end()) {
    return fail(errc::invalid_argument,
                fmt::format("--with method={}: give GET, POST, PUT or HEAD", *text));
  }
  return static_cast<std::uint64_t>(found - methods.begin()) + 1;
}

/// Checks everything that Squid itself checks, and that all bytes are there.
result<squid_container> read_header(std::span<const std::byte> bytes) {
  if (bytes.size() < header_bytes) {
    return fail(
        errc::corrupt,
        fmt::format("a cache digest begins with a header of 128 bytes, but this has {} bytes",
                    bytes.size()));
  }
  const std::byte* const at = bytes.data();
  const squid_container made{.current = big_endian<std::int16_t>(at),
                             .required = big_endian<std::int16_t>(at + 2),
                             .capacity = big_endian<std::int32_t>(at + 4),
                             .removed = big_endian<std::int32_t>(at + 12),
                             .mask_bytes = big_endian<std::int32_t>(at + 16),
                             .bits_per_entry = big_endian<std::uint8_t>(at + 20)};
  if (made.required > current_version || made.current < min_version ||
      made.required > made.current) {
    return fail(errc::unsupported,
                fmt::format("its header says version {}, readable from version {} on; 3 to 5 are "
                            "known",
                            made.current, made.required));
  }
  if (big_endian<std::uint8_t>(at + 21) != 4) {
    return fail(errc::corrupt, fmt::format("its header says {} hash functions; a digest has 4",
                                           big_endian<std::uint8_t>(at + 21)));
  }
  if (made.capacity <= 0 || made.bits_per_entry == 0 || made.mask_bytes <= 0 ||
      made.mask_bytes != mask_bytes_for(made.capacity, made.bits_per_entry)) {
    return fail(errc::corrupt,
                fmt::format("its header's mask of {} bytes is not that of a capacity of {} at {} "
                            "bits each",
                            made.mask_bytes, made.capacity, made.bits_per_entry));
  }
  if (big_endian<std::int32_t>(at + 8) < 0) {
    return fail(errc::corrupt, "its header's count is negative");
  }
  if (bytes.size() - header_bytes != static_cast<std::uint64_t>(made.mask_bytes)) {
    return fail(errc::corrupt, fmt::format("its header says {} bytes of mask, but {} follow",
                                           made.mask_bytes, bytes.size() - header_bytes));
  }
  const auto reserved = bytes.subspan(used_bytes, header_bytes - used_bytes);
  if (std::any_of(reserved.begin(), reserved.end(),
                  [](std::byte b) { return b != std::byte{0}; })) {
    return fail(errc::corrupt, "the reserved bytes of its header are not zero");
  }
  return made;
}

recognition looks_like(std::span<const std::byte> bytes) noexcept {
  return read_header(bytes) ? recognition::certain : recognition::no;
}

result<foreign_filter> open_filter(const mapped_storage& bytes, const open_request& request) {
  auto made = read_header(bytes.bytes());
  if (!made) return fail(std::move(made.error()));
  if (find_option(request.options, "bits_per_entry")) {
    return fail(errc::invalid_argument, "bits_per_entry is stored in the digest; leave it out");
  }
  const auto method = method_of(request.options);
  if (!method) return fail(method.error());
  made->method = *method;
  const auto mask = bytes.slice(header_bytes, static_cast<std::size_t>(made->mask_bytes));
  return over_bytes(*made, mask, request.how, big_endian<std::uint32_t>(bytes.bytes().data() + 8));
}

result<foreign_filter> create_filter(const plan_request& request) {
  const auto ok =
      check_request(request, "squid", {}, "give a capacity, and --with bits_per_entry=N if not 5");
  if (!ok) return fail(ok.error());
  const auto per_entry = number_option(request.options, "bits_per_entry", 1, 255, 5);
  if (!per_entry) return fail(per_entry.error());
  const auto method = method_of(request.options);
  if (!method) return fail(method.error());
  if (request.capacity > std::numeric_limits<std::int32_t>::max() ||
      (request.capacity * *per_entry + 7) / 8 > max_mask_bytes) {
    return too_large("squid", "256 MiB of mask");
  }
  const auto capacity = static_cast<std::int32_t>(request.capacity);
  return empty_filter(squid_container{.capacity = capacity,
                                      .mask_bytes = static_cast<std::int32_t>(mask_bytes_for(
                                          capacity, static_cast<std::int64_t>(*per_entry))),
                                      .bits_per_entry = static_cast<std::uint8_t>(*per_entry),
                                      .method = *method});
}

}  // namespace squid_format
}  // namespace

dialect squid_dialect() noexcept {
  return {"squid",
          "Squid's cache digest, version 5",
          "always 4 functions; keys are URLs in Squid's normal form, each with a method",
          squid_format::options,
          squid_format::looks_like,
          squid_format::open_filter,
          squid_format::create_filter};
}

}  // namespace bloomset::dialects
