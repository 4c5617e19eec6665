// The filter of Bitcoin's filterload message (BIP37): a length, the bits, k, a tweak of the hash
// functions and a byte of flags.

#include <bloomset/defaults.hpp>
#include <bloomset/plan/numeric.hpp>
#include <limits>
#include <numbers>

#include "bloom_model.hpp"

namespace bloomset::dialects {
namespace {
namespace bip37_format {

constexpr std::uint64_t max_bytes = 36000;
constexpr unsigned max_hashes = 50;
constexpr std::size_t trailer_bytes = 9;

constexpr std::array options = {
    kind_option{"flags", "0 to 255 (default 0)",
                "what a node adds to the filter when it matches; not used here"}};

struct bip37_container {
  using rule = rules::bip37;
  static constexpr row id = row::bip37;
  static constexpr counting counts = counting::nothing;

  std::uint64_t size = 0;  // bytes
  unsigned hashes = 0;
  std::uint32_t tweak = 0;
  std::uint8_t flags = 0;

  bloom_params shape() const { return {.bits = size * 8, .hashes = hashes, .seed = tweak}; }
  rule probe() const { return {}; }
  key_form form() const { return {}; }
  bit_order order() const { return bit_order::bytes; }

  void describe(foreign_info& info) const {
    info.variant = "filterload";
    info.extras.push_back({"tweak", std::uint64_t{tweak}});
    info.extras.push_back({"flags", std::uint64_t{flags}});
  }
  result<void> check_merge(const bip37_container& other) const {
    if (flags == other.flags) return {};
    return fail(errc::incompatible, "their flags differ");
  }
  result<foreign_image> image(std::span<const std::byte> array, std::uint64_t) const {
    foreign_image image;
    if (size < 0xfd) {
      put_little(image.head, static_cast<std::uint8_t>(size));
    } else {
      put_little(image.head, std::uint8_t{0xfd});
      put_little(image.head, static_cast<std::uint16_t>(size));
    }
    image.bits = array;
    put_little(image.tail, std::uint32_t{hashes});
    put_little(image.tail, tweak);
    put_little(image.tail, flags);
    return image;
  }
  result<bip37_container> convert(const option_list&) const { return only_container(id); }
};

struct parsed {
  bip37_container container;
  std::size_t bits_at;
};

result<parsed> read(std::span<const std::byte> bytes) {
  if (bytes.empty()) return fail(errc::corrupt, "it is empty; a filter has at least 11 bytes");
  // A CompactSize: one byte below 253, else fd and two bytes. Longer forms exceed the size of any
  // filter.
  std::size_t at = 1;
  std::uint64_t size = std::to_integer<std::uint8_t>(bytes[0]);
  if (size == 0xfd && bytes.size() >= 3) {
    size = little_endian<std::uint16_t>(bytes.data() + 1);
    at = 3;
    if (size < 0xfd) return fail(errc::corrupt, "its length is not written in the shortest way");
  } else if (size >= 0xfd) {
    return fail(errc::corrupt, "its length is more than the 36,000 bytes that a filter may have");
  }
  if (size == 0 || size > max_bytes || bytes.size() - at != size + trailer_bytes) {
    return fail(errc::corrupt, fmt::format("its length says {} bytes of filter and 9 more, but {} "
                                           "follow (a filter has 1 to 36,000)",
                                           size, bytes.size() - at));
  }
  const std::byte* const end = bytes.data() + at + size;
  const auto hashes = little_endian<std::uint32_t>(end);
  if (hashes == 0 || hashes > max_hashes) {
    return fail(errc::corrupt,
                fmt::format("it says {} hash functions; a filter has 1 to 50", hashes));
  }
  return parsed{
      {size, hashes, little_endian<std::uint32_t>(end + 4), little_endian<std::uint8_t>(end + 8)},
      at};
}

recognition looks_like(std::span<const std::byte> bytes) noexcept {
  const auto made = read(bytes);
  if (!made) return recognition::no;
  // By chance, length, k and flags agree once in 2^40; three flags are defined.
  return made->container.flags <= 2 ? recognition::certain : recognition::maybe;
}

result<foreign_filter> open_filter(const mapped_storage& bytes, const open_request& request) {
  const auto made = read(bytes.bytes());
  if (!made) return fail(made.error());
  if (!request.options.empty()) {
    return fail(errc::invalid_argument, "the flags are stored in the filter; leave them out");
  }
  return over_bytes(made->container, bytes.slice(made->bits_at, made->container.size), request.how);
}

result<foreign_filter> create_filter(const plan_request& request) {
  const auto ok =
      check_request(request, "bip37", {.fpr = true, .seed = true}, "give a capacity and a rate");
  if (!ok) return fail(ok.error());
  if (request.seed.value() > std::numeric_limits<std::uint32_t>::max()) {
    return fail(errc::invalid_argument, "the seed is BIP37's tweak, a number of 32 bits");
  }
  const auto flags = number_option(request.options, "flags", 0, 255, 0);
  if (!flags) return fail(flags.error());
  const auto n = static_cast<double>(request.capacity);
  const double ln2 = std::numbers::ln2;
  const double p = request.fpr == 0 ? default_fpr : request.fpr;
  const double bits = -1 / (ln2 * ln2) * n * numeric::log(p);
  // Bitcoin cuts the size to that of the largest filter, which then misses the rate without a
  // warning. A build must not do that.
  if (bits > static_cast<double>(max_bytes * 8)) return too_large("bip37", "36,000 bytes");
  const auto size = static_cast<std::uint64_t>(bits) / 8;
  if (size == 0) {
    return fail(errc::invalid_argument,
                "BIP37's formula gives no whole byte for this capacity and rate; give a smaller "
                "rate");
  }
  // Bitcoin Core divides whole numbers. Its filters thus have fewer functions than the formula in
  // BIP37.
  const std::uint64_t bits_a_key = size * 8 / request.capacity;
  const auto hashes =
      static_cast<unsigned>(std::min<double>(static_cast<double>(bits_a_key) * ln2, max_hashes));
  if (hashes == 0) {
    return fail(errc::invalid_argument,
                "BIP37's formula gives no hash function for this capacity and rate; give a smaller "
                "rate");
  }
  return empty_filter(bip37_container{size, hashes,
                                      static_cast<std::uint32_t>(request.seed.value()),
                                      static_cast<std::uint8_t>(*flags)});
}

}  // namespace bip37_format
}  // namespace

dialect bip37_dialect() noexcept {
  return {"bip37",
          "the filter of Bitcoin's filterload message (BIP37)",
          "at most 36,000 bytes and 50 functions; the seed is its tweak, of 32 bits",
          bip37_format::options,
          bip37_format::looks_like,
          bip37_format::open_filter,
          bip37_format::create_filter};
}

}  // namespace bloomset::dialects
