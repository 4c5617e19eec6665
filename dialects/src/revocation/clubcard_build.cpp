// Builds clubcards: two systems of linear equations over GF(2), whose rows have 256 coefficients
// from their first column on (a ribbon, Dillinger and Walzer, 2021).

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "clubcard.hpp"
#include "clubcard_keys.hpp"
#include "options.hpp"

namespace bloomset::dialects {
namespace {

using window = std::array<std::uint64_t, 4>;  // 256 bits, the first one is bit 0 of word 0

constexpr window operator^(const window& a, const window& b) noexcept {
  return {a[0] ^ b[0], a[1] ^ b[1], a[2] ^ b[2], a[3] ^ b[3]};
}

unsigned trailing_zeros(const window& bits) noexcept {
  unsigned zeros = 0;
  for (const std::uint64_t word : bits) {
    if (word != 0) return zeros + static_cast<unsigned>(std::countr_zero(word));
    zeros += 64;
  }
  return zeros;
}

/// Removes the first bits, fewer than 256.
window shifted_down(const window& bits, unsigned by) noexcept {
  window moved{};
  const unsigned words = by / 64;
  const unsigned rest = by % 64;
  for (std::size_t i = 0; i + words < bits.size(); ++i) {
    moved.at(i) = bits.at(i + words) >> rest;
    if (rest != 0 && i + words + 1 < bits.size()) {
      moved.at(i) |= bits.at(i + words + 1) << (64 - rest);
    }
  }
  return moved;
}

/// Puts a bit before the first one, and drops the last one.
window with_front(const window& bits, bool front) noexcept {
  return {bits[0] << 1 | std::uint64_t{front}, bits[1] << 1 | bits[0] >> 63,
          bits[2] << 1 | bits[1] >> 63, bits[3] << 1 | bits[2] >> 63};
}

bool is_odd(const window& a, const window& b) noexcept {
  return std::popcount((a[0] & b[0]) ^ (a[1] & b[1]) ^ (a[2] & b[2]) ^ (a[3] & b[3])) % 2 != 0;
}

/// Bits for the columns that no equation decides (SplitMix64). Their seed is fixed, so that the
/// same keys give the same file.
class free_bits {
 public:
  std::uint64_t word() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_ = 0;
};

/// The equations of one issuer in row echelon form: the equation at `i` has its first coefficient
/// in column i.
class band_system {
 public:
  explicit band_system(std::uint32_t rows) : rows_(rows) {}

  std::uint64_t size() const noexcept { return rows_.size(); }

  /// Whether the equation has a solution together with those before it.
  bool add(std::uint64_t first, window coefficients, bool value) {
    for (;;) {
      const unsigned zeros = trailing_zeros(coefficients);
      if (zeros == 256) return !value;
      coefficients = shifted_down(coefficients, zeros);
      first += zeros;
      if (first >= rows_.size()) rows_.resize(first + 1);
      equation& at = rows_[first];
      if (at.coefficients[0] == 0) {
        at = {coefficients, value};
        return true;
      }
      coefficients = coefficients ^ at.coefficients;
      value ^= at.value;
    }
  }

  /// Back substitution. `behind` are the 256 bits behind the last row, and then those from the
  /// first row on.
  std::vector<std::uint64_t> solve(window& behind, free_bits& random) const {
    std::vector<std::uint64_t> bits((rows_.size() + 63) / 64);
    std::uint64_t choice = 0;
    for (std::size_t i = rows_.size(); i-- > 0;) {
      if (i % 64 == 63 || i + 1 == rows_.size()) choice = random.word();
      behind = with_front(behind, false);
      const equation& row = rows_[i];
      const bool bit = row.coefficients[0] == 0 ? (choice >> (i % 64) & 1) != 0
                                                : is_odd(row.coefficients, behind) != row.value;
      behind[0] |= std::uint64_t{bit};
      bits[i / 64] |= std::uint64_t{bit} << (i % 64);
    }
    return bits;
  }

 private:
  struct equation {
    window coefficients{};
    bool value = false;
  };

  std::vector<equation> rows_;
};

/// Appends the first `count` bits of the words.
class bit_string {
 public:
  void append(std::span<const std::uint64_t> from, std::uint64_t count) {
    words_.resize((size_ + count + 63) / 64 + 1);
    const auto shift = static_cast<unsigned>(size_ % 64);
    std::size_t at = size_ / 64;
    for (const std::uint64_t word : from) {
      words_[at] |= word << shift;
      if (shift != 0) words_[at + 1] |= word >> (64 - shift);
      ++at;
    }
    size_ += count;
  }
  /// The words, without those at the end that are 0: a reader takes missing words for 0.
  std::vector<std::uint64_t> finish() && {
    while (!words_.empty() && words_.back() == 0) words_.pop_back();
    return std::move(words_);
  }

 private:
  std::vector<std::uint64_t> words_;
  std::uint64_t size_ = 0;
};

/// Solves the systems of all issuers. Each column's bits follow each other from issuer to issuer,
/// and an equation's coefficients reach into the next issuer's, so the last issuer is first.
class matrix {
 public:
  explicit matrix(std::size_t issuers) : pieces_(issuers), rows_(issuers) {}

  /// Calls fill(i) for the system of each issuer, of which column c < columns(i) is solved. A
  /// column has `tail` bits behind its last issuer.
  template <class Columns, class Fill>
  std::vector<std::vector<std::uint64_t>> solve(Columns&& columns, Fill&& fill, bool tail) {
    std::size_t width = 0;
    for (std::size_t i = 0; i < pieces_.size(); ++i) width = std::max(width, columns(i));
    std::vector<window> behind(width);
    std::vector<std::uint64_t> tails(width);
    if (tail) {
      for (std::size_t c = 0; c < width; ++c) behind[c][0] = tails[c] = random_.word();
    }
    for (std::size_t i = pieces_.size(); i-- > 0;) {
      const band_system system = fill(i);
      rows_[i] = system.size();
      for (std::size_t c = 0; c < columns(i); ++c) {
        pieces_[i].push_back(system.solve(behind[c], random_));
      }
    }
    std::vector<std::vector<std::uint64_t>> words(width);
    for (std::size_t c = 0; c < width; ++c) {
      bit_string column;
      // The issuers with fewer columns are behind all others.
      for (std::size_t i = 0; i < pieces_.size() && c < columns(i); ++i) {
        column.append(pieces_[i][c], rows_[i]);
        pieces_[i][c] = {};
      }
      column.append({&tails[c], 1}, 64);
      words[c] = std::move(column).finish();
    }
    return words;
  }

  std::uint64_t rows(std::size_t issuer) const noexcept { return rows_[issuer]; }

 private:
  std::vector<std::vector<std::vector<std::uint64_t>>> pieces_;  // of each issuer, by column
  std::vector<std::uint64_t> rows_;
  free_bits random_;
};

clubcard_column column_over(const std::vector<std::uint64_t>& words) noexcept {
  return {std::as_bytes(std::span(words)), false};
}

/// Fails if all issuers' rows may be more than their numbers can say.
result<void> check_rows(std::span<const clubcard_keys::issuer_map::pointer> blocks) {
  std::uint64_t rows = 0;
  std::uint64_t keys = 0;
  for (const auto* block : blocks) {
    const std::uint64_t here = block->second.held.size() + block->second.others.size();
    keys += here;
    // Equations can need up to 255 rows more.
    rows += issuer_keys::rows_for(here) + 255;
  }
  if (rows <= std::numeric_limits<std::uint32_t>::max()) return {};
  return fail(errc::full, fmt::format("{} certificates need more than the 2^32 rows of a "
                                      "clubcard; write several filters",
                                      keys));
}

}  // namespace

result<built_clubcard> build_clubcard(const certificate_source& members,
                                      const certificate_source& universe) {
  clubcard_keys all;
  if (auto ok = all.count(members, universe); !ok) return fail(std::move(ok.error()));
  const auto blocks = all.blocks();
  if (auto ok = check_rows(blocks); !ok) return fail(std::move(ok.error()));
  built_clubcard made;
  sha256 hasher;
  const auto hash_of = [&](std::size_t i, std::span<const std::byte> serial) {
    return clubcard_hash(hasher({blocks[i]->first, serial}));
  };
  matrix approximate(blocks.size());
  made.words = approximate.solve(
      [&](std::size_t i) { return std::size_t{blocks[i]->second.rank}; },
      [&](std::size_t i) {
        const issuer_keys& keys = blocks[i]->second;
        band_system system(static_cast<std::uint32_t>(keys.approx_rows()));
        if (keys.rank == 0) return system;
        for (std::size_t k = 0; k < keys.held.size(); ++k) {
          const clubcard_hash hash = hash_of(i, keys.held[k]);
          (void)system.add(hash.row % keys.approx_rows(), hash.coefficients, false);
        }
        return system;
      },
      true);
  for (const auto& words : made.words) made.card.columns.push_back(column_over(words));
  std::uint32_t offset = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const issuer_keys& keys = blocks[i]->second;
    clubcard_issuer issuer;
    issuer.id = made.keep(blocks[i]->first);
    issuer.approx_rows = static_cast<std::uint32_t>(keys.approx_rows());
    issuer.approx_offset = offset;
    issuer.rank = static_cast<std::uint8_t>(keys.rank);
    issuer.inverted = keys.inverted;
    offset += static_cast<std::uint32_t>(approximate.rows(i));
    made.card.issuers.push_back(std::move(issuer));
  }
  const auto passes = [&](std::size_t i, const clubcard_hash& hash) {
    return made.card.issuers[i].passes(hash, made.card.columns);
  };
  auto kept = all.keep_others(universe,
                              [&](const issuer_keys& keys, std::span<const std::byte> certificate) {
                                return passes(keys.number, clubcard_hash(hasher({certificate})));
                              });
  if (!kept) return fail(std::move(kept.error()));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!blocks[i]->second.inverted) continue;
    blocks[i]->second.others.drop_if(
        [&](std::span<const std::byte> serial) { return !passes(i, hash_of(i, serial)); });
  }
  if (auto ok = check_rows(blocks); !ok) return fail(std::move(ok.error()));
  matrix exact(blocks.size());
  auto column = exact.solve(
      [](std::size_t) { return std::size_t{1}; },
      [&](std::size_t i) {
        clubcard_issuer& issuer = made.card.issuers[i];
        const issuer_keys keys = std::move(blocks[i]->second);  // freed when they are equations
        const std::uint64_t needed = issuer_keys::rows_for(keys.held.size() + keys.others.size());
        issuer.exact_rows = static_cast<std::uint32_t>(needed);
        band_system system(issuer.exact_rows);
        // All equations of held keys have the value 0 and thus a solution: only others can be
        // exceptions.
        for (std::size_t k = 0; k < keys.held.size(); ++k) {
          const clubcard_hash hash = hash_of(i, keys.held[k]);
          (void)system.add(hash.row % needed, hash.coefficients, false);
        }
        for (std::size_t k = 0; k < keys.others.size(); ++k) {
          const clubcard_hash hash = hash_of(i, keys.others[k]);
          if (!system.add(hash.row % needed, hash.coefficients, true)) {
            issuer.exceptions.push_back(made.keep(keys.others[k]));
          }
        }
        return system;
      },
      false);
  offset = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    made.card.issuers[i].exact_offset = offset;
    offset += static_cast<std::uint32_t>(exact.rows(i));
  }
  if (!column.empty()) made.words.push_back(std::move(column.front()));
  // Moving the vectors kept their words in place.
  if (!column.empty()) made.card.exact = column_over(made.words.back());
  std::sort(made.card.issuers.begin(), made.card.issuers.end(),
            [](const auto& a, const auto& b) { return bytes_less(a.id, b.id); });
  return made;
}

}  // namespace bloomset::dialects
