#pragma once

// A bucket of passwdqc's filter: up to four fingerprints in 16 bytes. The fewer there are, the more
// bits each has. They are sorted, so that the order of four carries most of their top bits.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bloomset::dialects::passwdqc {

inline constexpr std::size_t bucket_bytes = 16;
inline constexpr unsigned max_entries = 4;

/// The bits that a fingerprint keeps in a bucket of 1, 2, 3 and 4 fingerprints.
inline constexpr std::array<unsigned, max_entries> widths = {64, 61, 41, 33};

constexpr std::uint64_t low_bits(std::uint64_t value, unsigned bits) noexcept {
  return bits == 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

/// The fingerprints of a bucket.
class bucket {
 public:
  /// None if no sequence of fingerprints has these bytes.
  static std::optional<bucket> read(const std::byte* from) noexcept;
  void write(std::byte* to) const noexcept;

  unsigned size() const noexcept { return size_; }
  std::uint64_t operator[](unsigned i) const noexcept { return at_[i]; }
  std::span<const std::uint64_t> all() const noexcept { return {at_.data(), size_}; }

  /// Adds one, and cuts all to the width of their new number. Precondition: size() < max_entries.
  void add(std::uint64_t fingerprint) noexcept;
  /// Puts another in the place of fingerprint i.
  void replace(unsigned i, std::uint64_t fingerprint) noexcept;

 private:
  void settle() noexcept;

  std::array<std::uint64_t, max_entries> at_{};  // the largest first
  unsigned size_ = 0;
};

}  // namespace bloomset::dialects::passwdqc
