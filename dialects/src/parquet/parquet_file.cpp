#include "parquet_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string>

#include "options.hpp"
#include "thrift.hpp"

namespace bloomset::dialects {
namespace {

using thrift::cursor;
using thrift::field;
using thrift::type;

constexpr std::size_t block_bytes = 32;
constexpr std::string_view magic = "PAR1";

bool has_text(std::span<const std::byte> bytes, std::size_t at, std::string_view text) noexcept {
  return bytes.size() >= at + text.size() &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

/// The number of the member that a union of empty structures has; 0 if the field is no such union.
std::int32_t union_member(cursor& from, const field& holder) {
  if (holder.kind != type::structure) {
    from.skip(holder.kind);
    return 0;
  }
  std::int32_t member = 0;
  from.structure([&](const field& each) {
    if (each.kind == type::structure) member = each.id;
    return false;
  });
  return member;
}

std::string read_path(cursor& from) {
  std::string path;
  const auto names = from.list_of(type::binary);
  for (std::uint64_t i = 0; i < names && from.good(); ++i) {
    if (i != 0) path += '.';
    path += from.binary();
  }
  return path;
}

// Field numbers are those of parquet.thrift.
void read_meta(cursor& from, parquet_chunk& into) {
  into.meta_at = from.at();
  from.structure([&](const field& each) {
    if (each.id == 3 && each.kind == type::list) {
      into.path = read_path(from);
      return true;
    }
    if (each.kind != type::i32 && each.kind != type::i64) return false;
    const std::int64_t number = from.number();
    if (each.id == 1) into.kind = number;
    if (each.id == 4) into.codec = number;
    if (each.id == 5) into.values = number;
    if (each.id == 7) into.bytes = number;
    if (each.id == 9) into.data_at = number;
    if (each.id == 11) into.dictionary_at = number;
    if (each.id == 14) into.filter_at = number;
    return true;
  });
  into.meta_bytes = from.at() - into.meta_at;
}

parquet_chunk read_chunk(cursor& from) {
  parquet_chunk made;
  std::uint64_t index_at = 0;
  from.structure([&](const field& each) {
    // Both page indexes: offset, then length.
    if (each.id >= 4 && each.id <= 7 && (each.kind == type::i64 || each.kind == type::i32)) {
      const auto number = static_cast<std::uint64_t>(from.number());
      if (each.id % 2 == 0) index_at = number;
      if (each.id % 2 == 1) made.index_end = std::max(made.index_end, index_at + number);
      return true;
    }
    if (each.id == 1 && each.kind == type::binary) {
      made.elsewhere = !from.binary().empty();
    } else if (each.id == 3 && each.kind == type::structure) {
      read_meta(from, made);
    } else {
      made.encrypted |= each.id == 8 || each.id == 9;
      return false;
    }
    return true;
  });
  return made;
}

// With the fields that the format requires. What is made of them has some 15 times as many bytes.
constexpr std::uint64_t min_chunk_bytes = 8;
constexpr std::uint64_t min_group_bytes = 4;

parquet_group read_group(cursor& from) {
  parquet_group made;
  from.structure([&](const field& each) {
    if (each.id == 1 && each.kind == type::list) {
      const auto chunks = from.list_of(type::structure, min_chunk_bytes);
      for (std::uint64_t i = 0; i < chunks && from.good(); ++i) {
        made.columns.push_back(read_chunk(from));
      }
    } else if (each.id == 3 && each.kind == type::i64) {
      made.rows = from.number();
    } else {
      return false;
    }
    return true;
  });
  return made;
}

failure no_such_column(const parquet_footer& file, std::string_view column) {
  constexpr std::size_t max_names = 10;
  std::set<std::string_view> seen;
  std::vector<std::string> names;
  for (const parquet_group& group : file.groups) {
    for (const parquet_chunk& chunk : group.columns) {
      if (!chunk.filter_at || !seen.insert(chunk.path).second) continue;
      if (names.size() < max_names) names.push_back(in_quotes(chunk.path));
    }
  }
  std::string those = names.empty()
                          ? "no column of the file has one"
                          : fmt::format("these columns have one: {}", fmt::join(names, ", "));
  if (seen.size() > names.size()) those += fmt::format(" and {} more", seen.size() - names.size());
  if (column.empty()) {
    return fail(
        errc::invalid_argument,
        fmt::format("a Parquet file has a filter for each column; name one with --column ({})",
                    those));
  }
  return fail(errc::not_found,
              file.column
                  ? fmt::format("column {} has no Bloom filter; {}", in_quotes(column), those)
                  : fmt::format("there is no column {}; {}", in_quotes(column), those));
}

}  // namespace

result<parquet_footer> read_parquet_footer(std::span<const std::byte> file,
                                           std::string_view column) {
  constexpr std::size_t ends = 12;  // the magic twice and a length
  if (has_text(file, 0, "PARE") ||
      (file.size() >= ends && has_text(file, file.size() - 4, "PARE"))) {
    return fail(errc::unsupported, "the Parquet file's footer is encrypted; decrypt it first");
  }
  if (file.size() < ends || !is_parquet_file(file)) {
    return fail(errc::corrupt,
                "a Parquet file begins and ends with PAR1, but this does not; get the whole file");
  }
  const auto length = little_endian<std::uint32_t>(file.data() + file.size() - 8);
  if (length > file.size() - ends) {
    return fail(errc::corrupt,
                fmt::format("the Parquet file's footer of {} bytes does not fit into it", length));
  }
  parquet_footer made;
  made.at = file.size() - 8 - length;
  made.bytes = length;
  cursor from(file.subspan(made.at, length));
  from.structure([&](const field& each) {
    if (each.id == 2 && each.kind == type::list) {
      made.column = read_parquet_schema(from, column);
    } else if (each.id == 4 && each.kind == type::list) {
      const auto all = from.list_of(type::structure, min_group_bytes);
      for (std::uint64_t i = 0; i < all && from.good(); ++i) {
        made.groups.push_back(read_group(from));
      }
    } else {
      made.encrypted |= each.id == 8;
      return false;
    }
    return true;
  });
  if (!from.good()) {
    return fail(errc::corrupt, "the Parquet file's footer cannot be read; get the file anew");
  }
  return made;
}

std::string in_quotes(std::string_view name) {
  constexpr std::size_t max_shown = 60;
  std::string text(name.substr(0, max_shown));
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return fmt::format("'{}{}'", text, name.size() > max_shown ? "..." : "");
}

const parquet_chunk* find_chunk(const parquet_group& group, std::string_view column) {
  const auto chunk = std::find_if(group.columns.begin(), group.columns.end(),
                                  [&](const auto& each) { return each.path == column; });
  return chunk == group.columns.end() ? nullptr : &*chunk;
}

failure lacks_column(std::size_t group, std::string_view column) {
  return fail(errc::corrupt, fmt::format("row group {} lacks column {}, which the schema has; get "
                                         "the file anew",
                                         group, in_quotes(column)));
}

failure contradicts_schema(std::size_t group, const parquet_chunk& chunk,
                           const parquet_type& schema) {
  return fail(errc::corrupt,
              fmt::format("row group {} says that column {} is of physical type {}, but the schema "
                          "says {}; get the file anew",
                          group, in_quotes(chunk.path), chunk.kind, schema.physical));
}

failure lies_elsewhere(std::string_view column) {
  return fail(errc::unsupported,
              fmt::format("column {} is in another file than the footer", in_quotes(column)));
}

result<parquet_blocks> read_parquet_header(std::span<const std::byte> bytes) {
  cursor from(bytes);
  std::int64_t size = -1;
  std::int32_t algorithm = 0;
  std::int32_t hash = 0;
  std::int32_t compression = 0;
  bool plain_number = false;
  from.structure([&](const field& each) {
    if (each.id == 1 && each.kind == type::i32) {
      size = from.number();
      return true;
    }
    std::int32_t* const into = each.id == 2   ? &algorithm
                               : each.id == 3 ? &hash
                               : each.id == 4 ? &compression
                                              : nullptr;
    if (into == nullptr) return false;
    plain_number |= each.kind != type::structure;
    *into = union_member(from, each);
    return true;
  });
  if (!from.good() || size < 0) {
    return fail(errc::corrupt, "a Parquet Bloom filter begins with a header, but this does not");
  }
  if (plain_number || hash != 1) {
    return fail(errc::unsupported,
                "the Parquet Bloom filter's hash function is not XXH64 but an "
                "older one (Murmur3) or a newer; write the file anew with a "
                "current writer");
  }
  if (algorithm != 1 || compression != 1) {
    return fail(
        errc::unsupported,
        "the Parquet Bloom filter is not made of uncompressed split blocks, the only known form");
  }
  const auto count = static_cast<std::uint64_t>(size);
  if (count == 0 || count % block_bytes != 0 || count > bytes.size() - from.at()) {
    return fail(
        errc::corrupt,
        fmt::format(
            "the Parquet Bloom filter's header says {} bytes of blocks of 32, but {} follow", count,
            bytes.size() - from.at()));
  }
  return parquet_blocks{from.at(), static_cast<std::size_t>(count)};
}

std::vector<std::byte> parquet_header(std::uint64_t block_bytes_in_all) {
  std::vector<std::byte> head;
  thrift::put_field(head, 0, {type::i32, 1});
  thrift::put_varint(head, block_bytes_in_all * 2);
  // Algorithm, hash function and compression: each is a structure in a structure, without fields.
  for (int each = 0; each < 3; ++each) {
    for (const unsigned byte : {0x1cU, 0x1cU, 0U, 0U}) {
      put_little(head, static_cast<std::uint8_t>(byte));
    }
  }
  put_little(head, std::uint8_t{0});
  return head;
}

bool is_parquet_file(std::span<const std::byte> bytes) noexcept {
  return has_text(bytes, 0, magic) && bytes.size() >= 8 && has_text(bytes, bytes.size() - 4, magic);
}

result<parquet_column> find_parquet_column(std::span<const std::byte> file,
                                           std::string_view column) {
  const auto footer = read_parquet_footer(file, column);
  if (!footer) return fail(footer.error());
  if (column.empty() || !footer->column) return no_such_column(*footer, column);
  parquet_column made{in_quotes(column), *footer->column, {}};
  std::size_t number = 0;
  std::optional<std::size_t> without;
  bool rows = false;
  for (const parquet_group& group : footer->groups) {
    ++number;
    if (group.rows == 0) continue;
    rows = true;
    const parquet_chunk* const chunk = find_chunk(group, column);
    if (chunk == nullptr) return lacks_column(number, column);
    if (!chunk->filter_at) {
      without = number;
      continue;
    }
    if (chunk->kind != made.type.physical) return contradicts_schema(number, *chunk, made.type);
    if (chunk->elsewhere) return lies_elsewhere(column);
    const auto at = *chunk->filter_at;
    if (at < 0 || static_cast<std::uint64_t>(at) >= file.size()) {
      return fail(errc::corrupt,
                  fmt::format("row group {} says that the filter of column {} is at byte {}, "
                              "which is not in the file",
                              number, made.name, at));
    }
    auto blocks = read_parquet_header(file.subspan(static_cast<std::size_t>(at)));
    if (!blocks) {
      return fail(blocks.error().code, fmt::format("row group {}, column {}: {}", number, made.name,
                                                   blocks.error().message));
    }
    blocks->at += static_cast<std::size_t>(at);
    made.row_groups.push_back(*blocks);
  }
  if (rows && made.row_groups.empty()) return no_such_column(*footer, column);
  if (without) {
    return fail(errc::unsupported, fmt::format("row group {} has no Bloom filter for column {}, so "
                                               "no key can be excluded from the file",
                                               *without, made.name));
  }
  return made;
}

}  // namespace bloomset::dialects
