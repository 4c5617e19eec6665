// DCSO's bloom, version 1 (github.com/DCSO/bloom): what CIRCL's hashlookup and others pass around.
// A little-endian header of 48 bytes, words of 64 bits, then any data; also gzip of the whole.

#include <cmath>
#include <limits>
#include <numbers>

#include "bloom_model.hpp"
#include "gzip.hpp"

namespace bloomery::dialects {
namespace {

constexpr std::size_t header_bytes = 48;
constexpr std::array options = {kind_option{"gzip", "yes or no (default as the file was, else no)",
                                            "the whole file packed by gzip, when it is written"}};

struct dcso_container {
  using rule = rules::dcso;
  static constexpr row id = row::dcso;
  static constexpr counting counts = counting::changes;

  std::uint64_t flags = 1;
  std::uint64_t capacity = 0;
  double fpr = 0;
  std::uint64_t hashes = 0;
  std::uint64_t bits = 0;
  std::vector<std::byte> data = {};
  bool packed = false;

  bloom_params shape() const { return {.bits = bits, .hashes = static_cast<unsigned>(hashes)}; }
  rule probe() const { return {}; }
  key_form form() const { return {}; }
  bit_order order() const { return bit_order::bytes; }

  void describe(foreign_info& info) const {
    info.variant = packed ? "version 1, gzip" : "version 1";
    info.capacity = capacity;
    info.planned_fpr = fpr;
    info.extras.push_back({"data_bytes", std::uint64_t{data.size()}});
  }

  result<void> check_merge(const dcso_container& other) const {
    if (capacity != other.capacity || fpr != other.fpr) {
      return fail(errc::incompatible, "they were planned for different capacities or rates");
    }
    return {};
  }

  result<foreign_image> image(std::span<const std::byte> words, std::uint64_t count) const {
    foreign_image image;
    put_little(image.head, flags);
    put_little(image.head, capacity);
    put_little(image.head, fpr);
    put_little(image.head, hashes);
    put_little(image.head, bits);
    put_little(image.head, count);
    image.bits = words;
    image.tail.resize(up_to_eight(words.size()) - words.size());
    image.tail.insert(image.tail.end(), data.begin(), data.end());
    if (packed) {
      auto packed_bytes = gzip(image.pieces());
      if (!packed_bytes) return fail(std::move(packed_bytes.error()));
      return foreign_image{std::move(*packed_bytes), {}, {}};
    }
    return image;
  }

  result<dcso_container> convert(const option_list& given) const {
    const auto pack = flag_option(given, "gzip", packed);
    if (!pack) return fail(pack.error());
    dcso_container other = *this;
    other.packed = *pack;
    return other;
  }
};

/// The header's values if they can be those of a filter in `rest` bytes more.
result<dcso_container> read_header(std::span<const std::byte> head, std::uint64_t rest) {
  if (head.size() < header_bytes) {
    return fail(errc::corrupt, "it ends within the header of 48 bytes; get the whole file");
  }
  dcso_container made{.flags = little_endian<std::uint64_t>(head.data()),
                      .capacity = little_endian<std::uint64_t>(head.data() + 8),
                      .fpr = little_endian<double>(head.data() + 16),
                      .hashes = little_endian<std::uint64_t>(head.data() + 24),
                      .bits = little_endian<std::uint64_t>(head.data() + 32)};
  if ((made.flags & 0xff) != 1) {
    return fail(errc::unsupported,
                fmt::format("its version (low byte of the flags) is {}, and 1 is known",
                            made.flags & 0xff));
  }
  if (made.capacity == 0 || !(made.fpr > 0 && made.fpr < 1)) {
    return fail(errc::corrupt, "its header's capacity (n) or rate (p) is out of range");
  }
  if (made.hashes == 0 || made.hashes > rules::dcso::max_hashes()) {
    return fail(errc::corrupt, fmt::format("its header's number of hash functions (k) is {}, and 1 "
                                           "to 255 can be",
                                           made.hashes));
  }
  if (made.bits == 0 || (made.bits - 1) / 64 >= rest / 8) {
    return fail(errc::corrupt,
                fmt::format("its header says m = {} bits, and {} bytes follow; get the whole file",
                            made.bits, rest));
  }
  return made;
}

recognition looks_like(std::span<const std::byte> bytes) noexcept {
  std::array<std::byte, header_bytes> first{};
  std::uint64_t rest = 0;
  if (is_gzip(bytes)) {
    if (gunzip_front(bytes, first) != first.size()) return recognition::no;
    rest = std::numeric_limits<std::uint64_t>::max();  // not known before all is unpacked
  } else {
    if (bytes.size() < header_bytes) return recognition::no;
    std::copy_n(bytes.begin(), header_bytes, first.begin());
    rest = bytes.size() - header_bytes;
  }
  const auto made = read_header(first, rest);
  if (!made) return recognition::no;
  return made->flags == 1 ? recognition::certain : recognition::maybe;
}

result<foreign_filter> open_filter(const mapped_storage& file, const open_request& request) {
  mapped_storage bytes = file;
  const bool packed = is_gzip(file.bytes());
  if (packed) {
    auto unpacked = gunzip(file.bytes());
    if (!unpacked) return fail(std::move(unpacked.error()));
    auto owner = std::make_shared<std::vector<std::byte>>(std::move(*unpacked));
    const std::span<const std::byte> all = *owner;
    bytes = mapped_storage(std::move(owner), all);
  }
  const auto all = bytes.bytes();
  auto made = read_header(all, all.size() < header_bytes ? 0 : all.size() - header_bytes);
  if (!made) return fail(std::move(made.error()));
  const auto pack = flag_option(request.options, "gzip", packed);
  if (!pack) return fail(pack.error());
  made->packed = *pack;
  const std::uint64_t used = made->bits / 8 + (made->bits % 8 != 0);
  const std::uint64_t words = up_to_eight(used);
  const auto padding = all.subspan(header_bytes + used, words - used);
  if (std::any_of(padding.begin(), padding.end(), [](std::byte b) { return b != std::byte{0}; })) {
    return fail(errc::corrupt, "bits are set beyond the last place; get the filter anew");
  }
  const auto data = all.subspan(header_bytes + words);
  made->data.assign(data.begin(), data.end());
  return over_bytes(std::move(*made), bytes.slice(header_bytes, used), request.how,
                    little_endian<std::uint64_t>(all.data() + 40));
}

result<foreign_filter> create_filter(const plan_request& request) {
  constexpr std::string_view advice = "give a capacity and a rate";
  if (auto ok = check_request(request, "dcso", {.fpr = true}, advice); !ok) {
    return fail(std::move(ok.error()));
  }
  const auto pack = flag_option(request.options, "gzip", false);
  if (!pack) return fail(pack.error());
  const double p = request.fpr == 0 ? 0.01 : request.fpr;
  const auto n = static_cast<double>(request.capacity);
  // The ceil of a negative number: m is rounded towards zero.
  const double m = std::fabs(std::ceil(n * std::log(p) / std::pow(std::numbers::ln2, 2.0)));
  const double k = std::ceil(std::numbers::ln2 * m / n);
  if (!(m >= 1 && m < static_cast<double>(most_bits) && k <= rules::dcso::max_hashes())) {
    return fail(errc::invalid_argument,
                "its formulas give no bits, or more than can be, for this capacity and rate");
  }
  return empty_filter(dcso_container{.capacity = request.capacity,
                                     .fpr = p,
                                     .hashes = static_cast<std::uint64_t>(k),
                                     .bits = static_cast<std::uint64_t>(m),
                                     .packed = *pack});
}

}  // namespace

dialect dcso_dialect() noexcept {
  return {"dcso",
          "DCSO bloom version 1, as CIRCL hashlookup and the bloom command have it, plain or gzip",
          "the capacity and the rate are stored; keys are strings of bytes",
          options,
          looks_like,
          open_filter,
          create_filter};
}

}  // namespace bloomery::dialects
