#pragma once

// A certificate as a line of text: what a revocation filter is asked for.

#include <algorithm>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bloomset::dialects {

constexpr std::size_t id_bytes = 32;  ///< of an issuer and of a log: a SHA-256

/// The order of identifiers and serial numbers.
inline bool bytes_less(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  return std::ranges::lexicographical_compare(a, b);
}

/// A log's promise to show the certificate, as the certificate contains it.
struct log_entry {
  std::span<const std::byte> log;
  std::uint64_t time = 0;  ///< milliseconds since 1970
};

/// A certificate. Its bytes are in memory that belongs to the caller.
struct certificate {
  std::span<const std::byte> bytes;  ///< the issuer, then the serial number: what is hashed
  std::vector<log_entry> logs = {};

  std::span<const std::byte> issuer() const noexcept { return bytes.first(id_bytes); }
  std::span<const std::byte> serial() const noexcept { return bytes.subspan(id_bytes); }
};

/// Reads ISSUER:SERIAL or ISSUER:SERIAL:LOG@TIME,LOG@TIME,... in which ISSUER is the SHA-256 of the
/// issuer's public key, SERIAL the serial number's bytes and LOG a log's identifier, all in
/// hexadecimal. `scratch` receives the bytes. Empty if the text is not of this form.
std::optional<certificate> read_certificate(std::string_view text, std::vector<std::byte>& scratch);

/// Reads LOG@LOW-HIGH,...: a log's identifier in `scratch`, and the first and last time.
struct log_interval {
  std::span<const std::byte> log;
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  bool holds(std::uint64_t time) const noexcept { return low <= time && time <= high; }
};
std::optional<std::vector<log_interval>> read_intervals(std::string_view text,
                                                        std::vector<std::byte>& scratch);

}  // namespace bloomset::dialects
