#pragma once

// The certificates that the equations of a clubcard are about. The universe is read twice, because
// it may be larger than memory: the first pass counts the certificates of each issuer, which
// decides the columns, and the second pass keeps those that pass them.

#include <array>
#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "certificate.hpp"
#include "clubcard.hpp"

namespace bloomset::dialects {

/// Serial numbers: 16 bytes each, and their own bytes.
class serial_list {
 public:
  std::size_t size() const noexcept { return places_.size(); }
  bool empty() const noexcept { return places_.empty(); }
  std::span<const std::byte> operator[](std::size_t i) const noexcept { return at(places_[i]); }

  void add(std::span<const std::byte> serial);
  /// Sorts the serial numbers, and drops repetitions.
  void make_set();
  /// Precondition: a set.
  bool contains(std::span<const std::byte> serial) const noexcept;
  template <class Drop>
  void drop_if(Drop&& drop) {
    std::erase_if(places_, [&](const place& each) { return drop(at(each)); });
  }

 private:
  struct place {
    std::uint64_t begin;
    std::uint32_t size;
    std::uint32_t first_bytes;  // most significant byte first, so that few comparisons read more
  };

  static std::uint32_t first_bytes_of(std::span<const std::byte> serial) noexcept;
  std::span<const std::byte> at(const place& which) const noexcept {
    return std::span(bytes_).subspan(which.begin, which.size);
  }
  bool is_less(const place& a, const place& b) const noexcept {
    return a.first_bytes != b.first_bytes ? a.first_bytes < b.first_bytes
                                          : bytes_less(at(a), at(b));
  }

  std::vector<std::byte> bytes_;
  std::vector<place> places_;
};

/// The number of distinct hashes: exact up to 1024, beyond that an estimate with a standard error
/// of 4%. It keeps the hashes that have enough low bits of 0 (Flajolet, "On adaptive sampling",
/// 1990), so it does not depend on the order or on repetitions.
class distinct_sample {
 public:
  void add(hash64 h) {
    if ((h.value & mask_) != 0) return;
    hashes_.push_back(h.value);
    if (hashes_.size() == 2 * max_hashes) reduce();
  }
  std::uint64_t count() {
    reduce();
    return hashes_.size() * (mask_ + 1);
  }

 private:
  static constexpr std::size_t max_hashes = 1024;

  void reduce();

  std::uint64_t mask_ = 0;
  std::vector<std::uint64_t> hashes_;
};

/// An issuer's keys. `held` are those whose products are 0: the members, or the others if the
/// issuer is inverted.
struct issuer_keys {
  serial_list held;
  serial_list others;  ///< that pass the approximate matrix
  bool inverted = false;
  unsigned rank = 0;
  std::size_t number = 0;  ///< in the order of the blocks

  /// 2% more rows than equations, as the original software.
  static std::uint64_t rows_for(std::uint64_t keys) noexcept { return keys + keys / 50; }
  std::uint64_t approx_rows() const noexcept { return rows_for(held.size()); }
};

/// The keys of all issuers. The universe may lack members, and sources may repeat certificates.
///
/// Memory      members, and other keys that pass: 16 bytes each and the serial number, up to three
///             times that while a list grows and is sorted; up to 16 KiB per issuer with members.
class clubcard_keys {
 public:
  using issuer_id = std::array<std::byte, id_bytes>;
  using issuer_map = std::map<issuer_id, issuer_keys>;

  /// Reads the members, then the universe to count the others of each issuer. Decides what is held,
  /// the ranks and the order of the blocks. Afterwards inverted issuers have all their keys.
  result<void> count(const certificate_source& members, const certificate_source& universe);

  /// Reads the universe again for all issuers that are not inverted, and keeps the others for which
  /// `passes(issuer, certificate)`.
  result<void> keep_others(
      const certificate_source& universe,
      const std::function<bool(const issuer_keys&, std::span<const std::byte>)>& passes);

  /// All issuers in the order of their blocks: by falling rank, then by identifier.
  std::span<const issuer_map::pointer> blocks() const noexcept { return blocks_; }

 private:
  /// The state of the first pass for an issuer that has members.
  struct counted_issuer {
    distinct_sample universe;
    bool collects = true;  // the others may still be fewer than the members
  };

  issuer_map::pointer find(std::span<const std::byte> id);
  void choose(issuer_keys& keys, counted_issuer& counted) const;

  issuer_map issuers_;
  issuer_map::pointer last_ = nullptr;  // most certificates follow one of the same issuer
  std::vector<issuer_map::pointer> blocks_;
};

}  // namespace bloomset::dialects
