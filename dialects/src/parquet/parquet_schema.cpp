#include "parquet_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace bloomset::dialects {
namespace {

using thrift::cursor;
using thrift::field;
using thrift::type;

/// The meaning of values beyond their physical type: a LogicalType or the older ConvertedType.
enum class meaning : std::uint8_t {
  none,
  text,     // STRING, ENUM, JSON, BSON: bytes as they are
  integer,  // with a sign
  unsigned_integer,
  decimal,
  date,
  time,
  timestamp,
  uuid,
  interval,
  float16,
  unknown,
};

// Of parquet.thrift's enumeration Type.
constexpr std::int64_t int32 = 1;
constexpr std::int64_t int64 = 2;
constexpr std::int64_t single = 4;
constexpr std::int64_t real = 5;
constexpr std::int64_t byte_array = 6;
constexpr std::int64_t fixed_bytes = 7;

struct element {
  std::optional<std::int64_t> physical;  // a group has none
  std::int64_t size = 0;
  std::int64_t repetition = 0;  // required, optional, repeated
  std::string_view name;
  std::int64_t children = 0;
  std::int64_t scale = 0;
  std::int64_t precision = 0;
  meaning converted = meaning::none;
  std::optional<meaning> logical;
  std::string_view unit;  // of times
};

/// ConvertedType, the older form.
meaning converted_meaning(std::int64_t number) {
  switch (number) {
    case 0:   // UTF8
    case 4:   // ENUM
    case 19:  // JSON
    case 20:  // BSON
      return meaning::text;
    case 5:
      return meaning::decimal;
    case 6:
      return meaning::date;
    case 7:  // in milliseconds
    case 8:  // in microseconds
      return meaning::time;
    case 9:
    case 10:
      return meaning::timestamp;
    case 11:
    case 12:
    case 13:
    case 14:
      return meaning::unsigned_integer;
    case 15:
    case 16:
    case 17:
    case 18:
      return meaning::integer;
    case 21:
      return meaning::interval;
    default:
      return meaning::unknown;
  }
}

/// Reads the fields of LogicalType's members that change a value's bytes.
void read_member(cursor& from, element& into) {
  const meaning what = *into.logical;
  from.structure([&](const field& each) {
    if (what == meaning::decimal && each.id <= 2 && each.kind == type::i32) {
      (each.id == 1 ? into.scale : into.precision) = from.number();
      return true;
    }
    if (what == meaning::integer && each.id == 2 && each.kind == type::no) {
      into.logical = meaning::unsigned_integer;  // a boolean has no bytes to read
    }
    if ((what == meaning::time || what == meaning::timestamp) && each.id == 2 &&
        each.kind == type::structure) {
      from.structure([&](const field& unit) {
        into.unit = unit.id == 1   ? "milliseconds"
                    : unit.id == 2 ? "microseconds"
                    : unit.id == 3 ? "nanoseconds"
                                   : "a newer unit";
        return false;
      });
      return true;
    }
    return false;
  });
}

meaning logical_meaning(std::int32_t member) {
  switch (member) {
    case 1:   // STRING
    case 4:   // ENUM
    case 12:  // JSON
    case 13:  // BSON
      return meaning::text;
    case 5:
      return meaning::decimal;
    case 6:
      return meaning::date;
    case 7:
      return meaning::time;
    case 8:
      return meaning::timestamp;
    case 10:
      return meaning::integer;
    case 11:  // UNKNOWN: every value is null
      return meaning::none;
    case 14:
      return meaning::uuid;
    case 15:
      return meaning::float16;
    default:
      return meaning::unknown;
  }
}

void read_logical(cursor& from, element& into) {
  from.structure([&](const field& member) {
    into.logical = logical_meaning(member.id);
    if (member.kind != type::structure) return false;
    read_member(from, into);
    return true;
  });
}

element read_element(cursor& from) {
  element made;
  from.structure([&](const field& each) {
    if (each.id == 4 && each.kind == type::binary) {
      made.name = from.binary();
    } else if (each.id == 10 && each.kind == type::structure) {
      read_logical(from, made);
    } else if (each.kind == type::i32) {
      const std::int64_t number = from.number();
      if (each.id == 1) made.physical = number;
      if (each.id == 2) made.size = number;
      if (each.id == 3) made.repetition = number;
      if (each.id == 5) made.children = number;
      if (each.id == 6 && !made.logical) {
        made.converted = converted_meaning(number);
        made.unit = number == 7 || number == 9 ? "milliseconds" : "microseconds";
      }
      if (each.id == 7 && !made.logical) made.scale = number;
      if (each.id == 8 && !made.logical) made.precision = number;
    } else {
      return false;
    }
    return true;
  });
  return made;
}

parquet_type cannot_be_asked(std::string_view what) {
  return {{},
          fmt::format("is {}, whose values cannot be given as lines of text; query it in the "
                      "program that reads the file",
                      what)};
}

parquet_type number_of(encoding how) {
  return {{.how = how}, fmt::format("holds numbers; give {}", name_of(how))};
}

/// A decimal in bytes has the most significant one first. Arrays of any length should be as short
/// as they can, but need not be.
parquet_type decimal_of(const element& leaf) {
  constexpr std::int64_t max_bytes = 256;
  constexpr std::int64_t usual_bytes = 16;
  constexpr std::int64_t max_precision = 600;  // less than max_bytes
  value_form form{.how = encoding::decimal, .scale = static_cast<std::uint32_t>(leaf.scale)};
  std::int64_t size = 0;
  switch (leaf.physical.value_or(-1)) {
    case int32:
      size = 4;
      break;
    case int64:
      size = 8;
      break;
    case fixed_bytes:
      size = leaf.size;
      form.big_endian = true;
      break;
    case byte_array:
      // 3.33 bits per digit, and the sign.
      size = std::max(usual_bytes, std::min(leaf.precision, max_precision) * 333 / 800 + 1);
      form.how = encoding::short_decimal;
      break;
    default:
      break;
  }
  const std::int64_t max_places = (size * 8 - 1) * 301 / 1000;  // the digits that always fit
  if (size <= 0 || size > max_bytes || leaf.scale < 0 || leaf.scale > max_places) {
    return cannot_be_asked("a DECIMAL of a size or scale that is not known");
  }
  form.size = static_cast<std::uint32_t>(size);
  return {form,
          fmt::format("is a DECIMAL of scale {} in {}{} bytes; give a number that fits, with no "
                      "more than {} digits after the point",
                      leaf.scale, leaf.physical == byte_array ? "up to " : "", size, leaf.scale)};
}

/// Times are queried as the integers that the file stores.
parquet_type time_of(const element& leaf, std::string_view name, std::string_view since) {
  if (leaf.physical != int32 && leaf.physical != int64) return cannot_be_asked(name);
  return {{.how = leaf.physical == int32 ? encoding::int32 : encoding::int64},
          fmt::format("is a {} in {} since {}; give that integer", name, leaf.unit, since)};
}

parquet_type plain_type(const element& leaf) {
  switch (leaf.physical.value_or(-1)) {
    case int32:
      return number_of(encoding::int32);
    case int64:
      return number_of(encoding::int64);
    case single:
      return number_of(encoding::float32);
    case real:
      return number_of(encoding::float64);
    case byte_array:
      return {{.how = encoding::bytes}, "holds strings of bytes"};
    case fixed_bytes:
      if (leaf.size > 0 && leaf.size <= std::numeric_limits<std::int32_t>::max()) {
        return {{.how = encoding::bytes, .size = static_cast<std::uint32_t>(leaf.size)},
                fmt::format("holds strings of {0} bytes each; give {0} bytes", leaf.size)};
      }
      [[fallthrough]];
    default:  // BOOLEAN and INT96
      return cannot_be_asked("of a physical type that has no Bloom filters");
  }
}

std::uint32_t width_of(const element& leaf) {
  switch (leaf.physical.value_or(-1)) {
    case int32:
    case single:
      return 4;
    case int64:
    case real:
      return 8;
    case fixed_bytes:
      return leaf.size > 0 && leaf.size <= std::numeric_limits<std::int32_t>::max()
                 ? static_cast<std::uint32_t>(leaf.size)
                 : 0;
    default:
      return 0;
  }
}

/// A logical type on a physical type for which it is not defined cannot be queried.
parquet_type type_of(const element& leaf) {
  const auto physical = leaf.physical.value_or(-1);
  const bool whole = physical == int32 || physical == int64;
  switch (leaf.logical.value_or(leaf.converted)) {
    case meaning::none:
      return plain_type(leaf);
    case meaning::text:
      if (physical != byte_array && physical != fixed_bytes) break;
      return plain_type(leaf);
    case meaning::integer:
      if (!whole) break;
      return plain_type(leaf);
    case meaning::unsigned_integer:
      if (!whole) break;
      return number_of(physical == int32 ? encoding::uint32 : encoding::uint64);
    case meaning::decimal:
      return decimal_of(leaf);
    case meaning::date:
      if (physical != int32) break;
      return {{.how = encoding::date}, "is a DATE; give YYYY-MM-DD, or the days since 1970-01-01"};
    case meaning::time:
      return time_of(leaf, "TIME", "midnight");
    case meaning::timestamp:
      return time_of(leaf, "TIMESTAMP", "1970");
    case meaning::uuid:
      if (physical != fixed_bytes || leaf.size != 16) break;
      return {{.how = encoding::uuid},
              "is a UUID; give 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12"};
    case meaning::interval:
      return cannot_be_asked("an INTERVAL");
    case meaning::float16:
      if (physical != fixed_bytes || leaf.size != 2) break;
      return number_of(encoding::float16);
    case meaning::unknown:
      return cannot_be_asked("of a logical type that is not known");
  }
  return cannot_be_asked("of a logical type that its physical type does not have");
}

/// Follows a path down the tree. Its elements are visited depth first.
class descent {
 public:
  explicit descent(std::string_view path) : path_(path) {}

  /// Visits the next element. Returns whether it is the path's leaf.
  bool enter(const element& next) {
    while (!open_.empty() && open_.back().left == 0) open_.pop_back();
    std::optional<std::size_t> reached = 0;
    const bool root = !rooted_;
    rooted_ = true;
    levels_ = {};
    if (!root) {
      // An element outside the tree belongs to no group.
      if (open_.empty()) return false;
      --open_.back().left;
      reached = step(open_.back().reached, next.name);
      levels_ = open_.back().levels;
      if (next.repetition != 0) ++levels_.definition;
      if (next.repetition == 2) ++levels_.repetition;
    }
    if (next.physical) return !root && reached == path_.size();
    if (next.children > 0) open_.push_back({next.children, reached, levels_});
    return false;
  }

  /// Of the element that was entered last.
  parquet_levels levels() const noexcept { return levels_; }

 private:
  struct group {
    std::int64_t left;                   // children not visited yet
    std::optional<std::size_t> reached;  // bytes of the path up to it; none off the path
    parquet_levels levels;
  };

  std::optional<std::size_t> step(std::optional<std::size_t> from, std::string_view name) const {
    if (!from) return std::nullopt;
    std::size_t at = *from;
    if (at != 0) {
      if (at == path_.size() || path_[at] != '.') return std::nullopt;
      ++at;
    }
    if (!path_.substr(at).starts_with(name)) return std::nullopt;
    return at + name.size();
  }

  std::string_view path_;
  std::vector<group> open_;
  parquet_levels levels_;
  bool rooted_ = false;
};

}  // namespace

std::optional<parquet_type> read_parquet_schema(cursor& from, std::string_view column) {
  descent path(column);
  std::optional<parquet_type> found;
  const auto all = from.list_of(type::structure);
  for (std::uint64_t i = 0; i < all && from.good(); ++i) {
    const element next = read_element(from);
    if (!from.good() || !path.enter(next) || found) continue;
    found = type_of(next);
    found->physical = *next.physical;
    found->width = width_of(next);
    found->levels = path.levels();
  }
  return found;
}

}  // namespace bloomset::dialects
