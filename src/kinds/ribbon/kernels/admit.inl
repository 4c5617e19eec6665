#include "kinds/ribbon/kernels/band.inl"

// One more equation for a band, in loops that the compiler makes vectors of as far as the target
// has them. False if it contradicts the others; one that follows from them changes nothing.
inline bool admit(band& now, std::uint64_t row, std::uint32_t result, unsigned turn) {
  for (std::uint64_t left = row & now.pivots; left != 0; left &= left - 1) {
    const int pivot = __builtin_ctzll(left);
    row ^= now.rows[pivot];
    result ^= now.results[pivot];
  }
  if (row == 0) return result == 0;
  const unsigned pivot =
      (static_cast<unsigned>(__builtin_ctzll(turn_right(row, turn))) + turn) % 64;
  for (unsigned i = 0; i < 64; ++i) {
    const std::uint64_t has = -((now.rows[i] >> pivot) & 1);
    now.rows[i] ^= has & row;
    now.results[i] ^= static_cast<std::uint32_t>(has) & result;
  }
  now.rows[pivot] = row;
  now.results[pivot] = result;
  now.pivots |= std::uint64_t{1} << pivot;
  return true;
}
