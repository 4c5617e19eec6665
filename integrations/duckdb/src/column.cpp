#include "column.hpp"

#include <array>

namespace bloomset::duckdb {
namespace {

__extension__ using uint128 = unsigned __int128;

/// Room for a number of 8 bytes, or a decimal: 39 digits of 128 bits, a point and a sign.
constexpr std::size_t max_made_key = 48;

}  // namespace

column::column(duckdb_data_chunk chunk, idx_t at) {
  duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, at);
  data_ = duckdb_vector_get_data(vector);
  valid_ = duckdb_vector_get_validity(vector);
  duckdb_logical_type logical = duckdb_vector_get_column_type(vector);
  type_ = duckdb_get_type_id(logical);
  const bool is_decimal = type_ == DUCKDB_TYPE_DECIMAL;
  stored_ = is_decimal ? duckdb_decimal_internal_type(logical) : type_;
  scale_ = is_decimal ? duckdb_decimal_scale(logical) : 0;
  duckdb_destroy_logical_type(&logical);
}

result<void> column::has_keys() const {
  switch (type_) {
    case DUCKDB_TYPE_VARCHAR:
    case DUCKDB_TYPE_BLOB:
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_DATE:
    case DUCKDB_TYPE_DECIMAL:
    case DUCKDB_TYPE_UUID:
    case DUCKDB_TYPE_SQLNULL:
      return {};
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
      return fail(errc::invalid_argument,
                  "a floating-point number is not a key, because equal numbers can have different "
                  "bytes; write value::bigint, value::decimal(18, 2) or value::varchar");
    case DUCKDB_TYPE_TIMESTAMP:
    case DUCKDB_TYPE_TIMESTAMP_S:
    case DUCKDB_TYPE_TIMESTAMP_MS:
    case DUCKDB_TYPE_TIMESTAMP_NS:
    case DUCKDB_TYPE_TIMESTAMP_TZ:
      return fail(errc::invalid_argument,
                  "a timestamp is not a key, because its number does not say its unit and time "
                  "zone; write value::date, epoch_us(value) or value::varchar");
    default:
      return fail(errc::invalid_argument,
                  "keys are texts, blobs, integers of up to 64 bits, dates, decimals and UUIDs; "
                  "cast this value to one of them, for example value::varchar");
  }
}

std::string_view column::text(idx_t row) const noexcept {
  constexpr std::uint32_t max_inlined = 12;
  const auto& string = value<duckdb_string_t>(row).value;
  const std::uint32_t size = string.inlined.length;
  return {size <= max_inlined ? string.inlined.inlined : string.pointer.ptr, size};
}

std::int64_t column::integer(idx_t row) const noexcept {
  switch (stored_) {
    case DUCKDB_TYPE_TINYINT:
      return value<std::int8_t>(row);
    case DUCKDB_TYPE_SMALLINT:
      return value<std::int16_t>(row);
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_DATE:
      return value<std::int32_t>(row);
    case DUCKDB_TYPE_UTINYINT:
      return value<std::uint8_t>(row);
    case DUCKDB_TYPE_USMALLINT:
      return value<std::uint16_t>(row);
    case DUCKDB_TYPE_UINTEGER:
      return value<std::uint32_t>(row);
    default:
      return value<std::int64_t>(row);
  }
}

void column::append_decimal(idx_t row, std::string& room) const {
  bool is_negative = false;
  uint128 magnitude = 0;
  if (stored_ == DUCKDB_TYPE_HUGEINT) {
    const auto& huge = value<duckdb_hugeint>(row);
    is_negative = huge.upper < 0;
    magnitude = uint128{static_cast<std::uint64_t>(huge.upper)} << 64 | huge.lower;
  } else {
    const std::int64_t digits = integer(row);
    is_negative = digits < 0;
    magnitude = static_cast<uint128>(digits);
  }
  if (is_negative) magnitude = -magnitude;
  std::array<char, max_made_key> digits;
  char* const end = digits.data() + digits.size();
  char* at = end;
  for (unsigned count = 0; magnitude != 0 || count <= scale_;) {
    *--at = static_cast<char>('0' + static_cast<unsigned>(magnitude % 10));
    magnitude /= 10;
    if (++count == scale_) *--at = '.';
  }
  if (is_negative) *--at = '-';
  room.append(at, end);
}

/// DuckDB keeps a UUID as a signed number whose order is that of the texts: its first bit is
/// flipped.
void column::append_uuid(idx_t row, std::string& room) const {
  const auto& stored = value<duckdb_hugeint>(row);
  const std::uint64_t first = static_cast<std::uint64_t>(stored.upper) ^ std::uint64_t{1} << 63;
  for (const std::uint64_t half : {first, stored.lower}) {
    for (int shift = 56; shift >= 0; shift -= 8) room.push_back(static_cast<char>(half >> shift));
  }
}

void column::append_key(idx_t row, std::string& room) const {
  if (type_ == DUCKDB_TYPE_DECIMAL) return append_decimal(row, room);
  if (type_ == DUCKDB_TYPE_UUID) return append_uuid(row, room);
  const std::int64_t number = integer(row);
  room.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string_view column::key(idx_t row, std::string& room) const {
  if (has_keys_in_place()) return text(row);
  room.clear();
  append_key(row, room);
  return room;
}

std::vector<std::string_view> column::keys(idx_t first, idx_t last, std::string& room) const {
  std::vector<std::string_view> keys;
  keys.reserve(last - first);
  room.clear();
  if (!has_keys_in_place()) room.reserve((last - first) * max_made_key);  // keys do not move
  for (idx_t row = first; row < last; ++row) {
    if (is_null(row)) continue;
    if (has_keys_in_place()) {
      keys.push_back(text(row));
    } else {
      const std::size_t begin = room.size();
      append_key(row, room);
      keys.emplace_back(room.data() + begin, room.size() - begin);
    }
  }
  return keys;
}

}  // namespace bloomset::duckdb
