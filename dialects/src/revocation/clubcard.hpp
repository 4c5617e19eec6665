#pragma once

// Clubcard (Schanck, "Clubcards for the WebPKI", 2025): an exact set of certificates among all that
// were issued. Each issuer has a block of rows in two bit matrices. A certificate hashes to 256
// coefficients and a first row, and its product with a column is one bit.
//
// The approximate matrix has one block of `rank` columns per issuer, whose products are 0 for all
// members, and for one other key in 2^rank. The exact matrix is one column, whose product is 0 for
// members and 1 for the others that pass the first. Keys for which the equations have no solution
// are listed as exceptions.

#include <array>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "certificate.hpp"
#include "sha256.hpp"

namespace bloomset::dialects {

/// The coefficients of a certificate, and the number that chooses its first row.
struct clubcard_hash {
  explicit clubcard_hash(const sha256::digest& digest) noexcept;

  std::array<std::uint64_t, 4> coefficients{};
  std::uint64_t row = 0;
};

/// A column of bits over the words of a file, least significant bit first. Bits behind the stored
/// words are 0.
struct clubcard_column {
  std::span<const std::byte> bytes;
  bool big_endian = false;

  std::uint64_t words() const noexcept { return bytes.size() / 8; }
  std::uint64_t word(std::uint64_t i) const noexcept;
  /// The product of the coefficients and the 256 bits from that row on.
  bool is_odd(const std::array<std::uint64_t, 4>& coefficients, std::uint64_t row) const noexcept;
};

struct clubcard_issuer {
  std::span<const std::byte> id;
  std::uint32_t approx_rows = 0;
  std::uint32_t approx_offset = 0;
  std::uint32_t exact_rows = 0;
  std::uint32_t exact_offset = 0;
  std::uint8_t rank = 0;
  bool inverted = false;
  std::vector<std::span<const std::byte>> exceptions = {};  ///< serial numbers, sorted

  bool passes(const clubcard_hash& of, std::span<const clubcard_column> columns) const noexcept;
};

/// A clubcard over the bytes of its file.
struct clubcard {
  std::uint8_t version = 4;
  std::vector<log_interval> coverage;    ///< sorted by log
  std::vector<clubcard_issuer> issuers;  ///< sorted
  std::vector<clubcard_column> columns;  ///< of the approximate matrix
  clubcard_column exact;

  const clubcard_issuer* find(std::span<const std::byte> issuer) const noexcept;
  bool covers(std::span<const log_entry> logs) const noexcept;
  /// False for a certificate of an issuer that the filter does not know.
  bool is_revoked(const certificate& which, sha256& hasher) const noexcept;
};

/// Reads version 3 or 4. Fails with corrupt or unsupported. Memory is in proportion to the bytes.
result<clubcard> read_clubcard(std::span<const std::byte> bytes);

/// The file of a clubcard in its version. Fails with invalid_argument if version 4 cannot store a
/// number.
result<std::vector<std::byte>> write_clubcard(const clubcard& card);

/// Passes the bytes of certificates, an issuer and a serial number each, to `use` until it fails.
/// The same on each call.
using certificate_source =
    std::function<result<void>(const std::function<result<void>(std::span<const std::byte>)>& use)>;

/// A clubcard that has its own memory.
struct built_clubcard {
  clubcard card;
  std::vector<std::vector<std::uint64_t>> words;
  std::deque<std::vector<std::byte>> bytes;  ///< of identifiers and exceptions

  std::span<const std::byte> keep(std::span<const std::byte> some) {
    return bytes.emplace_back(some.begin(), some.end());
  }
};

/// The clubcard of the members among a universe, which may lack members. Sources may repeat
/// certificates. Fails with full if a number exceeds its field.
///
/// Time        One pass over the members and two over the universe.
/// Memory      See clubcard_keys. For the largest issuer, 41 bytes per key that is held and per
///             other key that passes the approximate matrix.
result<built_clubcard> build_clubcard(const certificate_source& members,
                                      const certificate_source& universe);

}  // namespace bloomset::dialects
