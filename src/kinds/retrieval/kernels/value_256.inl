// value_of_slots in vectors of 32 bytes, for AVX2 and AVX-512. Included inside a namespace and
// target region.

// NOLINTBEGIN(modernize-avoid-c-arrays): an operator of std::array could be emitted here.

// A vector holds `groups_per_vector` groups of r columns: the group of each byte, by r. The last
// group is followed by 0x80, for which VPSHUFB gives zero.
struct group_table {
  alignas(32) std::uint8_t by_columns[33][32];
};
constexpr unsigned groups_per_vector(unsigned columns) noexcept {
  return columns <= 8 ? 4 : columns <= 16 ? 2 : 1;
}
constexpr group_table groups = [] {
  group_table table{};
  for (unsigned r = 0; r <= 32; ++r) {
    for (unsigned i = 0; i < 32; ++i) {
      table.by_columns[r][i] =
          static_cast<std::uint8_t>(i < groups_per_vector(r) * r ? i / r : 0x80);
    }
  }
  return table;
}();

// The XOR of the slots's vectors, each masked by the bytes of the row that belong to its groups;
// then the parity of each byte, and the XOR of the groups' parities. Reads at most 32 bytes beyond
// the slots.
template <unsigned Groups>
inline std::uint32_t sum_groups(const std::byte* slots, std::uint32_t columns, std::uint64_t row) {
  const __m256i rows = _mm256_set1_epi64x(static_cast<long long>(row));
  __m256i order = _mm256_load_si256(reinterpret_cast<const __m256i*>(groups.by_columns[columns]));
  __m256i sum = _mm256_setzero_si256();
  for (unsigned group = 0; group < 8; group += Groups) {
    const __m256i bytes =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(slots + std::size_t{group} * columns));
    sum = _mm256_xor_si256(sum, _mm256_and_si256(bytes, _mm256_shuffle_epi8(rows, order)));
    order = _mm256_add_epi8(order, _mm256_set1_epi8(Groups));
  }
  // Into the highest bit of each byte; bits from the neighbour stay below it.
  sum = _mm256_xor_si256(sum, _mm256_slli_epi16(sum, 4));
  sum = _mm256_xor_si256(sum, _mm256_slli_epi16(sum, 2));
  sum = _mm256_xor_si256(sum, _mm256_slli_epi16(sum, 1));
  // NOLINTNEXTLINE(misc-const-correctness): it is changed if Groups > 1.
  std::uint64_t parities = static_cast<std::uint32_t>(_mm256_movemask_epi8(sum));
  if constexpr (Groups == 4) parities ^= parities >> (2 * columns);
  if constexpr (Groups >= 2) parities ^= parities >> columns;
  return static_cast<std::uint32_t>(parities) & column_mask(columns);
}

inline std::uint32_t value_256(const std::byte* slots, std::uint32_t columns, std::uint64_t row) {
  if (columns <= 8) return sum_groups<groups_per_vector(8)>(slots, columns, row);
  if (columns <= 16) return sum_groups<groups_per_vector(16)>(slots, columns, row);
  return sum_groups<1>(slots, columns, row);
}
inline std::size_t bytes_read_256(std::uint32_t columns) {
  return std::size_t{8 - groups_per_vector(columns)} * columns + 32;
}
// NOLINTEND(modernize-avoid-c-arrays)
