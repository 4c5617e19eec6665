// DCSO's bloom, version 1 (github.com/DCSO/bloom), which CIRCL's hashlookup and others publish. It
// has a little-endian header of 48 bytes, words of 64 bits, then any data. The whole may be in
// gzip.

#include <bloomset/defaults.hpp>
#include <bloomset/plan/numeric.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "bloom_model.hpp"
#include "gzip.hpp"

namespace bloomset::dialects {
namespace {
namespace dcso_format {

constexpr std::size_t header_bytes = 48;
constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
// The most data behind the filter in a gzip file. A few bytes of gzip could unpack to any amount.
constexpr std::size_t max_packed_data = std::size_t{16} << 20;
constexpr std::array options = {
    kind_option{"gzip", "yes or no (default: as in the file that was read, otherwise no)",
                "compress the whole file with gzip when it is written"}};

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
    if (packed && data.size() > max_packed_data) {
      return fail(errc::unsupported,
                  fmt::format("{} bytes of data follow the filter, but a packed file may have at "
                              "most 16 MiB of them; write it with gzip=no",
                              data.size()));
    }
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
    const auto pack = flag_option(given, "gzip", packed, "--to-with");
    if (!pack) return fail(pack.error());
    dcso_container other = *this;
    other.packed = *pack;
    return other;
  }
};

failure missing_bits(std::uint64_t bits, std::uint64_t rest) {
  return fail(errc::corrupt,
              fmt::format("its header says m = {} bits, but {} bytes follow; get the whole file",
                          bits, rest));
}

/// The header's values, if they can be those of a filter with `rest` bytes after the header.
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
                fmt::format("its version (low byte of the flags) is {}; only version 1 is known",
                            made.flags & 0xff));
  }
  if (made.capacity == 0) {
    return fail(errc::corrupt, "its header's capacity (n) is 0; a filter is for at least 1 key");
  }
  if (!(made.fpr > 0 && made.fpr < 1)) {
    return fail(
        errc::corrupt,
        fmt::format(
            "its header's rate (p) is {:g}, which is not between 0 and 1; get the whole file",
            made.fpr));
  }
  if (made.hashes == 0 || made.hashes > rules::dcso::max_hashes()) {
    return fail(
        errc::corrupt,
        fmt::format("its header's number of hash functions (k) is {}; a filter has 1 to 255",
                    made.hashes));
  }
  if (made.bits == 0 || (made.bits - 1) / 64 >= rest / 8) return missing_bits(made.bits, rest);
  return made;
}

recognition looks_like(std::span<const std::byte> bytes) noexcept {
  std::array<std::byte, header_bytes> first{};
  const auto made = is_gzip(bytes)
                        ? read_header(std::span(first).first(gunzip_front(bytes, first)), no_limit)
                        : read_header(bytes, bytes.size() - std::min(bytes.size(), header_bytes));
  if (!made) return recognition::no;
  return made->flags == 1 ? recognition::certain : recognition::maybe;
}

/// The parts of a file.
struct parts {
  dcso_container header;
  std::uint64_t count = 0;
  mapped_storage words;
};

result<parts> split(const mapped_storage& file) {
  const auto all = file.bytes();
  auto header = read_header(all, all.size() - std::min(all.size(), header_bytes));
  if (!header) return fail(std::move(header.error()));
  const auto words = static_cast<std::size_t>((header->bits - 1) / 64 + 1) * 8;
  const auto data = all.subspan(header_bytes + words);
  header->data.assign(data.begin(), data.end());
  return parts{std::move(*header), little_endian<std::uint64_t>(all.data() + 40),
               file.slice(header_bytes, words)};
}

/// The data at the end of a packed file.
result<std::vector<std::byte>> unpack_data(gunzip_stream& stream) {
  std::vector<std::byte> data;
  std::size_t had = 0;
  do {
    had = data.size();
    data.resize(std::clamp<std::size_t>(had * 2, std::size_t{64} << 10, max_packed_data + 1));
    data.resize(had + stream.fill(std::span(data).subspan(had)));
    if (data.size() > max_packed_data) {
      return fail(errc::unsupported,
                  "more than 16 MiB of data follow the filter in its gzip data; unpack the "
                  "file first, or get the whole and right one");
    }
  } while (data.size() > had);
  return data;
}

/// Allocates the bits that the header announces, if the file can hold that many, and a bounded
/// amount for the data after them.
result<parts> unpack(std::span<const std::byte> packed) {
  auto stream = gunzip_stream::open(packed);
  if (!stream) return fail(std::move(stream.error()));
  std::array<std::byte, header_bytes> first{};
  const auto head = std::span(first).first(stream->fill(first));
  if (head.size() < header_bytes) {
    if (auto ok = stream->ended_well(); !ok) return fail(std::move(ok.error()));
  }
  auto header = read_header(head, no_limit);
  if (!header) return fail(std::move(header.error()));
  const std::uint64_t words = ((header->bits - 1) / 64 + 1) * 8;
  if (words > max_unpacked(packed.size())) {
    return fail(errc::corrupt,
                fmt::format("its header says m = {} bits, more than {} bytes of gzip can hold; get "
                            "the whole file",
                            header->bits, packed.size()));
  }
  auto memory = owned_storage::make(words);
  if (!memory) return fail(std::move(memory.error()));
  if (const auto came = stream->fill(memory->writable_bytes()); came < words) {
    if (auto ok = stream->ended_well(); !ok) return fail(std::move(ok.error()));
    return missing_bits(header->bits, came);
  }
  auto data = unpack_data(*stream);
  if (!data) return fail(std::move(data.error()));
  if (auto ok = stream->ended_well(); !ok) return fail(std::move(ok.error()));
  header->data = std::move(*data);
  auto owner = std::make_shared<owned_storage>(std::move(*memory));
  const auto bytes = owner->bytes();
  return parts{std::move(*header), little_endian<std::uint64_t>(head.data() + 40),
               mapped_storage(std::move(owner), bytes)};
}

result<foreign_filter> open_filter(const mapped_storage& file, const open_request& request) {
  const bool packed = is_gzip(file.bytes());
  const auto pack = flag_option(request.options, "gzip", packed);
  if (!pack) return fail(pack.error());
  auto made = packed ? unpack(file.bytes()) : split(file);
  if (!made) return fail(std::move(made.error()));
  made->header.packed = *pack;
  const std::uint64_t bits = made->header.bits;
  const auto used = static_cast<std::size_t>(bits / 8 + (bits % 8 != 0));
  const auto padding = made->words.bytes().subspan(used);
  if (std::any_of(padding.begin(), padding.end(), [](std::byte b) { return b != std::byte{0}; })) {
    return fail(errc::corrupt, "bits are set beyond the last place; get the filter anew");
  }
  return over_bytes(std::move(made->header), made->words.slice(0, used), request.how, made->count);
}

result<foreign_filter> create_filter(const plan_request& request) {
  const auto ok = check_request(request, "dcso", {.fpr = true}, "give a capacity and a rate");
  if (!ok) return fail(ok.error());
  const auto pack = flag_option(request.options, "gzip", false);
  if (!pack) return fail(pack.error());
  const double p = request.fpr == 0 ? default_fpr : request.fpr;
  const auto n = static_cast<double>(request.capacity);
  // The original takes the ceil of a negative number: m is rounded towards zero.
  const double m =
      std::fabs(std::ceil(n * numeric::log(p) / (std::numbers::ln2 * std::numbers::ln2)));
  const double k = std::ceil(std::numbers::ln2 * m / n);
  if (!(m >= 1 && m < static_cast<double>(max_bits) && k <= rules::dcso::max_hashes())) {
    return fail(
        errc::invalid_argument,
        fmt::format("format dcso's formulas give m = {:g} bits and k = {:g} functions for a "
                    "capacity of {} at a rate of {:g}; a filter has at least 1 bit, less than 2^{} "
                    "bits and at most {} functions; give another capacity or rate",
                    m, k, request.capacity, p, std::bit_width(max_bits) - 1,
                    rules::dcso::max_hashes()));
  }
  return empty_filter(dcso_container{.capacity = request.capacity,
                                     .fpr = p,
                                     .hashes = static_cast<std::uint64_t>(k),
                                     .bits = static_cast<std::uint64_t>(m),
                                     .packed = *pack});
}

}  // namespace dcso_format
}  // namespace

dialect dcso_dialect() noexcept {
  return {"dcso",
          "DCSO bloom version 1, which the bloom command and CIRCL hashlookup use, plain or gzip",
          "the capacity and the rate are stored; keys are strings of bytes",
          dcso_format::options,
          dcso_format::looks_like,
          dcso_format::open_filter,
          dcso_format::create_filter};
}

}  // namespace bloomset::dialects
