// The state of an elimination, included before ribbon_loops.inl.

// The equations whose windows reach the group at hand, in reduced row echelon form: slot s of the
// shard is bit s mod 64 of a row, and row p is the one whose lowest slot, in the order of the shard,
// is p: its pivot, which no other row has. So a new equation is reduced by all rows at once, without
// waiting for one XOR to know the next, which is what Gaussian elimination otherwise spends its time
// on. Pivots, and so the solution, are those of the usual elimination.
// std::array would do, but one of its operators could be emitted with this target.
// NOLINTBEGIN(modernize-avoid-c-arrays)
struct band {
  alignas(64) std::uint64_t rows[64] = {};
  alignas(64) std::uint32_t results[64] = {};
  std::uint64_t pivots = 0;
};

// NOLINTEND(modernize-avoid-c-arrays)
inline std::uint64_t turn_left(std::uint64_t x, unsigned by) {
  return (x << by) | (x >> (-by & 63));
}
inline std::uint64_t turn_right(std::uint64_t x, unsigned by) {
  return (x >> by) | (x << (-by & 63));
}
