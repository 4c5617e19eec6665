#include "parquet_pages.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <optional>
#include <utility>
#include <vector>

#include "options.hpp"
#include "thrift.hpp"

namespace bloomset::dialects {
namespace {

// Of parquet.thrift's enumeration PageType.
constexpr std::int64_t data_page = 0;
constexpr std::int64_t index_page = 1;
constexpr std::int64_t dictionary_page = 2;
constexpr std::int64_t data_page_v2 = 3;

struct page_header {
  std::int64_t kind = -1;
  std::int64_t size = -1;
  std::int64_t packed_size = -1;
  std::optional<std::int64_t> crc;
  // Of the header of the page's kind.
  std::int64_t values = -1;
  std::int64_t encoding = -1;
  std::int64_t definition_encoding = -1;
  std::int64_t repetition_encoding = -1;
  std::int64_t definition_bytes = 0;
  std::int64_t repetition_bytes = 0;
  bool is_packed = true;
};

page_header read_page_header(thrift::cursor& from) {
  page_header made;
  // The second form has other fields after the number of values.
  const auto read_kind = [&](bool second) {
    from.structure([&](const thrift::field& each) {
      if (second && each.id == 7 && each.kind == thrift::type::no) made.is_packed = false;
      if (each.kind != thrift::type::i32) return false;
      const std::int64_t number = from.number();
      if (each.id == 1) made.values = number;
      if (each.id == (second ? 4 : 2)) made.encoding = number;
      if (each.id == 3 && !second) made.definition_encoding = number;
      if (each.id == 4 && !second) made.repetition_encoding = number;
      if (each.id == 5 && second) made.definition_bytes = number;
      if (each.id == 6 && second) made.repetition_bytes = number;
      return true;
    });
  };
  from.structure([&](const thrift::field& each) {
    if (each.kind == thrift::type::structure && (each.id == 5 || each.id == 7 || each.id == 8)) {
      read_kind(each.id == 8);
      return true;
    }
    if (each.kind != thrift::type::i32) return false;
    const std::int64_t number = from.number();
    if (each.id == 1) made.kind = number;
    if (each.id == 2) made.size = number;
    if (each.id == 3) made.packed_size = number;
    if (each.id == 4) made.crc = number;
    return true;
  });
  return made;
}

failure malformed(std::string_view what) {
  return fail(errc::corrupt, fmt::format("{}; get the file anew", what));
}

class chunk_reader {
 public:
  chunk_reader(const parquet_chunk& chunk, const parquet_type& type, const parquet_codec& unpack,
               const value_visitor& visit)
      : codec_(chunk.codec),
        type_{.width = type.width, .is_integer = type.physical == 1 || type.physical == 2},
        levels_(type.levels),
        unpack_(unpack),
        visit_(visit),
        left_(static_cast<std::uint64_t>(chunk.values)) {}

  result<void> read(std::span<const std::byte> pages) {
    while (left_ != 0) {
      thrift::cursor from(pages);
      const page_header header = read_page_header(from);
      if (!from.good() || header.packed_size < 0 || header.size < 0) {
        return malformed("a page's header cannot be read");
      }
      const auto body = from.take(static_cast<std::uint64_t>(header.packed_size));
      if (!from.good()) return malformed("a page does not fit into the column chunk");
      pages = pages.subspan(from.at());
      if (auto ok = read_page(header, body); !ok) return ok;
    }
    for (std::size_t i = 0; i < dictionary_.size(); ++i) {
      if (used_[i]) visit_(dictionary_[i]);
    }
    return {};
  }

 private:
  result<void> read_page(const page_header& header, std::span<const std::byte> body) {
    if (header.kind == index_page) return {};
    if (header.kind != data_page && header.kind != data_page_v2 && header.kind != dictionary_page) {
      return fail(errc::unsupported, fmt::format("a page of the unknown kind {}", header.kind));
    }
    if (header.values < 0) return malformed("a page does not state its number of values");
    if (header.crc && ::crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size()) !=
                          static_cast<std::uint32_t>(*header.crc)) {
      return malformed("a page does not fit its checksum");
    }
    if (header.kind == dictionary_page) return read_dictionary(header, body);
    const auto values = static_cast<std::uint64_t>(header.values);
    if (values > left_) return malformed("the pages have more values than the column chunk");
    left_ -= values;
    return header.kind == data_page ? read_first_form(header, body, values)
                                    : read_second_form(header, body, values);
  }

  /// The body of a page, or its memory in unpacked_.
  result<std::span<const std::byte>> unpacked(std::span<const std::byte> body, std::int64_t size) {
    // Writers pack nothing as no bytes, or as a codec's empty frame.
    if (size == 0) return std::span<const std::byte>();
    if (codec_ == 0) {
      if (body.size() != static_cast<std::uint64_t>(size))
        return malformed("a page's size differs");
      return body;
    }
    if (auto ok = unpack_(codec_, body, static_cast<std::size_t>(size), unpacked_); !ok) {
      return fail(std::move(ok.error()));
    }
    return std::span<const std::byte>(unpacked_);
  }

  result<void> read_dictionary(const page_header& header, std::span<const std::byte> body) {
    if (!dictionary_.empty()) return malformed("a second dictionary in a column chunk");
    if (header.encoding != 0 && header.encoding != 2) return unknown_encoding(header.encoding);
    const auto bytes = unpacked(body, header.size);
    if (!bytes) return fail(bytes.error());
    // The values stay where they are: in the file, or in the memory of this page.
    if (!read_values(*bytes, page_encoding::plain, type_, static_cast<std::uint64_t>(header.values),
                     [&](auto value) { dictionary_.push_back(value); })) {
      return malformed("a dictionary is shorter than it states");
    }
    dictionary_bytes_ = std::move(unpacked_);
    unpacked_.clear();
    used_.resize(dictionary_.size());
    return {};
  }

  /// Levels with their lengths in front, then values, all of it packed.
  result<void> read_first_form(const page_header& header, std::span<const std::byte> body,
                               std::uint64_t values) {
    auto bytes = unpacked(body, header.size);
    if (!bytes) return fail(bytes.error());
    std::span<const std::byte> definitions;
    const auto take_levels = [&](unsigned max, std::int64_t encoding,
                                 std::span<const std::byte>& into) -> result<void> {
      if (max == 0) return {};
      if (encoding != static_cast<std::int64_t>(page_encoding::rle)) {
        return unknown_encoding(encoding);
      }
      if (bytes->size() < 4) return malformed("a page ends within its levels");
      const auto length = little_endian<std::uint32_t>(bytes->data());
      if (length > bytes->size() - 4) return malformed("a page ends within its levels");
      into = bytes->subspan(4, length);
      *bytes = bytes->subspan(4 + std::size_t{length});
      return {};
    };
    std::span<const std::byte> repetitions;
    if (auto ok = take_levels(levels_.repetition, header.repetition_encoding, repetitions); !ok) {
      return ok;
    }
    if (auto ok = take_levels(levels_.definition, header.definition_encoding, definitions); !ok) {
      return ok;
    }
    return read_data(header.encoding, definitions, *bytes, values);
  }

  /// Levels that are not packed, their lengths in the header, then values.
  result<void> read_second_form(const page_header& header, std::span<const std::byte> body,
                                std::uint64_t values) {
    const auto within = [&](std::int64_t bytes) {
      return bytes >= 0 && static_cast<std::uint64_t>(bytes) <= body.size();
    };
    if (!within(header.repetition_bytes) || !within(header.definition_bytes) ||
        !within(header.repetition_bytes + header.definition_bytes) ||
        header.repetition_bytes + header.definition_bytes > header.size) {
      return malformed("a page ends within its levels");
    }
    const std::int64_t levels = header.repetition_bytes + header.definition_bytes;
    const auto definitions = body.subspan(static_cast<std::size_t>(header.repetition_bytes),
                                          static_cast<std::size_t>(header.definition_bytes));
    auto data = body.subspan(static_cast<std::size_t>(levels));
    if (header.is_packed) {
      const auto bytes = unpacked(data, header.size - levels);
      if (!bytes) return fail(bytes.error());
      data = *bytes;
    }
    return read_data(header.encoding, definitions, data, values);
  }

  result<void> read_data(std::int64_t encoding, std::span<const std::byte> definitions,
                         std::span<const std::byte> data, std::uint64_t values) {
    if (levels_.definition != 0) {
      const auto present = count_levels(definitions, levels_.definition, values);
      if (!present) return malformed("a page's levels cannot be read");
      values = *present;
    }
    if (encoding < 0 || encoding > 255) return unknown_encoding(encoding);
    const auto how = static_cast<page_encoding>(encoding);
    if (how == page_encoding::plain_dictionary || how == page_encoding::rle_dictionary) {
      if (!mark_entries(data, values, used_)) {
        return malformed("a page refers to values that its dictionary does not have");
      }
      return {};
    }
    if (!can_read(how, type_)) return unknown_encoding(encoding);
    if (!read_values(data, how, type_, values, visit_)) {
      return malformed("a page's values cannot be read");
    }
    return {};
  }

  static failure unknown_encoding(std::int64_t encoding) {
    return fail(errc::unsupported,
                fmt::format("its pages have the encoding {}, which is not known for them; write "
                            "the file anew with another one",
                            encoding));
  }

  std::int64_t codec_;
  value_type type_;
  parquet_levels levels_;
  const parquet_codec& unpack_;
  const value_visitor& visit_;
  std::uint64_t left_;  // values whose pages were not read yet
  std::vector<std::span<const std::byte>> dictionary_;
  std::vector<std::byte> dictionary_bytes_;
  std::vector<bool> used_;
  std::vector<std::byte> unpacked_;
};

result<void> check_type(const parquet_type& type, std::string_view column) {
  constexpr std::int64_t boolean = 0;
  constexpr std::int64_t int96 = 3;
  constexpr std::int64_t byte_array = 6;
  if (type.physical == boolean || type.physical == int96) {
    return fail(errc::unsupported,
                fmt::format("column {} is of type {}, for which Parquet has no filters",
                            in_quotes(column), type.physical == boolean ? "BOOLEAN" : "INT96"));
  }
  if (type.width == 0 && type.physical != byte_array) {
    return fail(errc::unsupported,
                fmt::format("column {} is of a type that is not known", in_quotes(column)));
  }
  return {};
}

}  // namespace

result<void> check_pages(const parquet_footer& footer, std::string_view column) {
  bool encrypted = footer.encrypted;
  for (const auto& group : footer.groups) {
    for (const auto& chunk : group.columns) encrypted |= chunk.encrypted;
  }
  if (encrypted) {
    return fail(errc::unsupported,
                "columns of the Parquet file are encrypted, and its footer is signed; decrypt it "
                "first");
  }
  if (!footer.column) {
    return fail(errc::not_found,
                fmt::format("there is no column {}; the path of a nested one has the names of its "
                            "groups, with dots",
                            in_quotes(column)));
  }
  if (auto ok = check_type(*footer.column, column); !ok) return ok;
  std::size_t number = 0;
  for (const parquet_group& group : footer.groups) {
    ++number;
    const parquet_chunk* const chunk = find_chunk(group, column);
    if (chunk == nullptr) return lacks_column(number, column);
    if (chunk->kind != footer.column->physical) {
      return contradicts_schema(number, *chunk, *footer.column);
    }
    if (chunk->elsewhere) return lies_elsewhere(column);
  }
  return {};
}

failure within_group(std::size_t group, std::string_view column, const failure& why) {
  return fail(why.code,
              fmt::format("row group {}, column {}: {}", group, in_quotes(column), why.message));
}

result<void> read_chunk(std::span<const std::byte> file, const parquet_chunk& chunk,
                        const parquet_type& type, const parquet_codec& unpack,
                        const value_visitor& visit) {
  const std::int64_t start = chunk.pages_at();
  if (chunk.values < 0 || start < 0 || chunk.bytes < 0 ||
      static_cast<std::uint64_t>(start) > file.size() ||
      static_cast<std::uint64_t>(chunk.bytes) > file.size() - static_cast<std::uint64_t>(start)) {
    return malformed("the column chunk is not within the file");
  }
  return chunk_reader(chunk, type, unpack, visit)
      .read(file.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(chunk.bytes)));
}

}  // namespace bloomset::dialects
