#include "clubcard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "options.hpp"

namespace bloomset::dialects {
namespace {

/// Takes numbers and bytes from the front. The first one that is not there is the failure; all
/// later ones are 0 and empty.
class card_reader {
 public:
  card_reader(std::span<const std::byte> left, bool big_endian) noexcept
      : left_(left), big_endian_(big_endian) {}

  bool failed() const noexcept { return !missing_.empty(); }
  failure why() const {
    return fail(errc::corrupt, fmt::format("it ends within its {}; get the file anew", missing_));
  }
  std::size_t left() const noexcept { return left_.size(); }
  bool big_endian() const noexcept { return big_endian_; }

  template <class Number>
  Number number(std::string_view of) noexcept {
    const auto bytes = take(sizeof(Number), of);
    if (bytes.empty()) return 0;
    return big_endian_ ? big_endian_number<Number>(bytes) : little_endian<Number>(bytes.data());
  }

  std::span<const std::byte> take(std::uint64_t bytes, std::string_view of) noexcept {
    if (failed() || bytes > left_.size()) {
      if (!failed()) missing_ = of;
      return {};
    }
    const auto taken = left_.first(static_cast<std::size_t>(bytes));
    left_ = left_.subspan(taken.size());
    return taken;
  }

  /// A number of things of at least that many bytes each, which are all there.
  template <class Number>
  std::size_t count(std::size_t min_bytes, std::string_view of) noexcept {
    const auto things = number<Number>(of);
    if (things > left_.size() / min_bytes) {
      if (!failed()) missing_ = of;
      return 0;
    }
    return static_cast<std::size_t>(things);
  }

 private:
  template <class Number>
  static Number big_endian_number(std::span<const std::byte> bytes) noexcept {
    return dialects::big_endian<Number>(bytes.data());
  }

  std::span<const std::byte> left_;
  bool big_endian_;
  std::string_view missing_;
};

/// Version 3 is bincode's encoding of the same values as 64-bit numbers, in another order.
constexpr std::uint8_t bincode_version = 3;

constexpr std::string_view in_coverage = "coverage";
constexpr std::string_view in_issuers = "issuers";
constexpr std::string_view in_exceptions = "exceptions";
constexpr std::string_view in_approximate = "approximate columns";
constexpr std::string_view in_exact = "exact column";

/// Numbers of version 3 have 64 bits. Those that version 4 cannot store make no sense in a filter.
std::uint32_t small_number(card_reader& from, bool& too_large) noexcept {
  const auto value = from.number<std::uint64_t>(in_issuers);
  too_large |= value > std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(value);
}

void read_exceptions(card_reader& from, bool bincode, clubcard_issuer& of) {
  const std::size_t count = bincode ? from.count<std::uint64_t>(8, in_exceptions)
                                    : from.count<std::uint16_t>(1, in_exceptions);
  for (std::size_t i = 0; i < count && !from.failed(); ++i) {
    const std::uint64_t size = bincode ? from.number<std::uint64_t>(in_exceptions)
                                       : from.number<std::uint8_t>(in_exceptions);
    of.exceptions.push_back(from.take(size, in_exceptions));
  }
  std::sort(of.exceptions.begin(), of.exceptions.end(), bytes_less);
}

/// Reads an issuer, except for its rank, which is returned: version 3 stores it in 64 bits.
result<clubcard_issuer> read_issuer(card_reader& from, bool bincode, std::size_t number) {
  clubcard_issuer made;
  std::uint64_t rank = 0;
  std::uint8_t inverted = 0;
  bool too_large = false;
  if (bincode) {
    const auto size = from.number<std::uint64_t>(in_issuers);
    if (!from.failed() && size != id_bytes) {
      return fail(errc::corrupt,
                  fmt::format("issuer {} has an identifier of {} bytes, not 32", number, size));
    }
    made.id = from.take(id_bytes, in_issuers);
    made.approx_rows = small_number(from, too_large);
    made.exact_rows = small_number(from, too_large);
    rank = from.number<std::uint64_t>(in_issuers);
    made.approx_offset = small_number(from, too_large);
    made.exact_offset = small_number(from, too_large);
  } else {
    made.id = from.take(id_bytes, in_issuers);
    made.approx_rows = from.number<std::uint32_t>(in_issuers);
    rank = from.number<std::uint8_t>(in_issuers);
    made.approx_offset = from.number<std::uint32_t>(in_issuers);
    made.exact_rows = from.number<std::uint32_t>(in_issuers);
    made.exact_offset = from.number<std::uint32_t>(in_issuers);
  }
  inverted = from.number<std::uint8_t>(in_issuers);
  if (from.failed()) return from.why();
  if (inverted > 1) {
    return fail(errc::corrupt, fmt::format("the field that says whether issuer {} is inverted is "
                                           "{}, neither 0 nor 1",
                                           number, inverted));
  }
  if (too_large || rank > std::numeric_limits<std::uint8_t>::max()) {
    return fail(
        errc::corrupt,
        fmt::format("issuer {} has rows or columns beyond those that version 4 can store", number));
  }
  made.rank = static_cast<std::uint8_t>(rank);
  made.inverted = inverted == 1;
  read_exceptions(from, bincode, made);
  if (from.failed()) return from.why();
  return made;
}

clubcard_column read_column(card_reader& from, bool bincode, std::string_view of) noexcept {
  const std::size_t words =
      bincode ? from.count<std::uint64_t>(8, of) : from.count<std::uint32_t>(8, of);
  return {from.take(std::uint64_t{words} * 8, of), from.big_endian()};
}

result<void> read_coverage(card_reader& from, bool bincode, clubcard& made) {
  constexpr std::size_t entry_bytes = id_bytes + 16;
  const std::size_t logs = bincode ? from.count<std::uint64_t>(entry_bytes, in_coverage)
                                   : from.count<std::uint16_t>(entry_bytes, in_coverage);
  if (from.failed()) return from.why();
  made.coverage.reserve(logs);
  for (std::size_t i = 0; i < logs; ++i) {
    log_interval each;
    each.log = from.take(id_bytes, in_coverage);
    each.low = from.number<std::uint64_t>(in_coverage);
    each.high = from.number<std::uint64_t>(in_coverage);
    made.coverage.push_back(each);
  }
  std::sort(made.coverage.begin(), made.coverage.end(),
            [](const auto& a, const auto& b) { return bytes_less(a.log, b.log); });
  const auto same =
      std::adjacent_find(made.coverage.begin(), made.coverage.end(),
                         [](const auto& a, const auto& b) { return !bytes_less(a.log, b.log); });
  if (same == made.coverage.end()) return {};
  return fail(errc::corrupt, "its coverage names a log twice; get the file anew");
}

/// Writes numbers in a version's order of bytes.
class card_writer {
 public:
  explicit card_writer(bool big_endian) noexcept : big_endian_(big_endian) {}

  template <class Number>
  void number(Number value) {
    if (big_endian_) {
      put_big(bytes, value);
    } else {
      put_little(bytes, value);
    }
  }
  /// A number that version 3 stores in 64 bits.
  template <class Number>
  void sized(std::uint64_t value) {
    if (!big_endian_) {
      number(value);
    } else {
      too_large |= value > std::numeric_limits<Number>::max();
      number(static_cast<Number>(value));
    }
  }
  void append(std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  void column(const clubcard_column& each) {
    sized<std::uint32_t>(each.words());
    for (std::uint64_t i = 0; i < each.words(); ++i) number(each.word(i));
  }

  std::vector<std::byte> bytes;
  bool too_large = false;

 private:
  bool big_endian_;
};

void write_issuer(const clubcard_issuer& each, bool bincode, card_writer& to) {
  if (bincode) to.number(std::uint64_t{id_bytes});
  to.append(each.id);
  to.sized<std::uint32_t>(each.approx_rows);
  if (bincode) {
    to.number(std::uint64_t{each.exact_rows});
    to.number(std::uint64_t{each.rank});
    to.number(std::uint64_t{each.approx_offset});
  } else {
    to.number(each.rank);
    to.number(each.approx_offset);
    to.number(each.exact_rows);
  }
  to.sized<std::uint32_t>(each.exact_offset);
  to.number(static_cast<std::uint8_t>(each.inverted));
  to.sized<std::uint16_t>(each.exceptions.size());
  for (const auto serial : each.exceptions) {
    to.sized<std::uint8_t>(serial.size());
    to.append(serial);
  }
}

}  // namespace

clubcard_hash::clubcard_hash(const sha256::digest& digest) noexcept {
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    coefficients.at(i) = little_endian<std::uint64_t>(digest.data() + 8 * i);
  }
  row = coefficients.back();
  coefficients.front() |= 1;
}

std::uint64_t clubcard_column::word(std::uint64_t i) const noexcept {
  if (i >= words()) return 0;
  const std::byte* const at = bytes.data() + i * 8;
  return big_endian ? dialects::big_endian<std::uint64_t>(at) : little_endian<std::uint64_t>(at);
}

bool clubcard_column::is_odd(const std::array<std::uint64_t, 4>& coefficients,
                             std::uint64_t row) const noexcept {
  const std::uint64_t first = row / 64;
  const auto shift = static_cast<unsigned>(row % 64);
  std::uint64_t sum = 0;
  std::uint64_t low = word(first);
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    const std::uint64_t high = word(first + i + 1);
    sum ^= coefficients.at(i) & (shift == 0 ? low : low >> shift | high << (64 - shift));
    low = high;
  }
  return std::popcount(sum) % 2 != 0;
}

bool clubcard_issuer::passes(const clubcard_hash& of,
                             std::span<const clubcard_column> columns) const noexcept {
  // Without rows all products are 0, but such a block holds nothing.
  if (approx_rows == 0) return false;
  const std::uint64_t row = approx_offset + of.row % approx_rows;
  return std::none_of(columns.begin(), columns.begin() + rank,
                      [&](const auto& column) { return column.is_odd(of.coefficients, row); });
}

const clubcard_issuer* clubcard::find(std::span<const std::byte> issuer) const noexcept {
  const auto at =
      std::lower_bound(issuers.begin(), issuers.end(), issuer,
                       [](const auto& a, const auto& b) { return bytes_less(a.id, b); });
  return at != issuers.end() && std::ranges::equal(at->id, issuer) ? &*at : nullptr;
}

bool clubcard::covers(std::span<const log_entry> logs) const noexcept {
  return std::any_of(logs.begin(), logs.end(), [&](const log_entry& entry) {
    const auto at =
        std::lower_bound(coverage.begin(), coverage.end(), entry.log,
                         [](const auto& a, const auto& b) { return bytes_less(a.log, b); });
    return at != coverage.end() && std::ranges::equal(at->log, entry.log) && at->holds(entry.time);
  });
}

bool clubcard::is_revoked(const certificate& which, sha256& hasher) const noexcept {
  const clubcard_issuer* const issuer = find(which.issuer());
  if (issuer == nullptr) return false;
  const clubcard_hash hash(hasher({which.bytes}));
  const std::uint64_t row =
      issuer->exact_offset + hash.row % std::max<std::uint64_t>(1, issuer->exact_rows);
  const bool held = issuer->passes(hash, columns) && !exact.is_odd(hash.coefficients, row) &&
                    !std::binary_search(issuer->exceptions.begin(), issuer->exceptions.end(),
                                        which.serial(), bytes_less);
  return held != issuer->inverted;
}

result<clubcard> read_clubcard(std::span<const std::byte> bytes) {
  if (bytes.size() < 2) return fail(errc::corrupt, "it ends within its version; get the file anew");
  const auto version = std::to_integer<std::uint8_t>(bytes[0]);
  if ((version != 3 && version != 4) || bytes[1] != std::byte{0}) {
    return fail(
        errc::unsupported,
        fmt::format("its first bytes are {} and {}, and clubcards begin with 3 or 4, then 0",
                    version, std::to_integer<unsigned>(bytes[1])));
  }
  const bool bincode = version == bincode_version;
  clubcard made;
  made.version = version;
  card_reader from(bytes.subspan(2), !bincode);
  if (auto ok = read_coverage(from, bincode, made); !ok) return fail(std::move(ok.error()));
  // An identifier, four numbers, a rank, a flag and the number of exceptions.
  constexpr std::size_t issuer_bytes = id_bytes + 20;
  const std::size_t issuers = bincode ? from.count<std::uint64_t>(issuer_bytes, in_issuers)
                                      : from.count<std::uint32_t>(issuer_bytes, in_issuers);
  if (from.failed()) return from.why();
  made.issuers.reserve(issuers);
  std::uint8_t max_rank = 0;
  for (std::size_t i = 0; i < issuers; ++i) {
    auto issuer = read_issuer(from, bincode, i + 1);
    if (!issuer) return fail(std::move(issuer.error()));
    if (i != 0 && !bytes_less(made.issuers.back().id, issuer->id)) {
      return fail(errc::corrupt, fmt::format("issuer {} is not in the order of the identifiers, "
                                             "which are sorted; get the file anew",
                                             i + 1));
    }
    max_rank = std::max(max_rank, issuer->rank);
    made.issuers.push_back(std::move(*issuer));
  }
  const std::size_t columns = bincode ? from.count<std::uint64_t>(8, in_approximate)
                                      : from.count<std::uint8_t>(4, in_approximate);
  for (std::size_t i = 0; i < columns && !from.failed(); ++i) {
    made.columns.push_back(read_column(from, bincode, in_approximate));
  }
  made.exact = read_column(from, bincode, in_exact);
  if (from.failed()) return from.why();
  if (columns < max_rank) {
    return fail(errc::corrupt,
                fmt::format("it has {} columns, but an issuer has {}; get the file anew", columns,
                            max_rank));
  }
  if (from.left() != 0) {
    return fail(errc::corrupt, fmt::format("{} bytes follow its exact column", from.left()));
  }
  return made;
}

result<std::vector<std::byte>> write_clubcard(const clubcard& card) {
  const bool bincode = card.version == bincode_version;
  card_writer to(!bincode);
  to.bytes = {static_cast<std::byte>(card.version), std::byte{0}};
  to.sized<std::uint16_t>(card.coverage.size());
  for (const log_interval& each : card.coverage) {
    to.append(each.log);
    to.number(each.low);
    to.number(each.high);
  }
  to.sized<std::uint32_t>(card.issuers.size());
  for (const clubcard_issuer& each : card.issuers) write_issuer(each, bincode, to);
  to.sized<std::uint8_t>(card.columns.size());
  for (const clubcard_column& each : card.columns) to.column(each);
  to.column(card.exact);
  if (to.too_large) {
    return fail(errc::invalid_argument,
                "version 4 holds at most 65,535 logs, exceptions of an issuer and 255 columns and "
                "bytes of a serial number, and this filter has more");
  }
  return std::move(to.bytes);
}

}  // namespace bloomset::dialects
