// An order of the bytes of a window of r <= 8 columns, by columns: word c has column c, and column
// 0 again behind the last. Included inside a namespace and target region.

// NOLINTBEGIN(modernize-avoid-c-arrays): an operator of std::array could be emitted there.
struct column_table {
  alignas(64) std::uint8_t by_columns[9][64];
};
constexpr column_table columns_first = [] {
  column_table table{};
  for (unsigned r = 1; r <= 8; ++r) {
    for (unsigned i = 0; i < 64; ++i) {
      const unsigned column = i / 8;
      table.by_columns[r][i] = static_cast<std::uint8_t>(i % 8 * r + (column < r ? column : 0));
    }
  }
  return table;
}();
// NOLINTEND(modernize-avoid-c-arrays)
