#include "parquet_pages.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <optional>
#include <utility>
#include <vector>

#include "equal_values.hpp"
#include "options.hpp"
#include "parquet_filter.hpp"
#include "parquet_values.hpp"
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

/// The form that decides which values are equal. Floating-point numbers are, whatever a logical
/// type says of them.
value_form compared_form(const parquet_type& type) {
  constexpr std::int64_t single = 4;
  constexpr std::int64_t real = 5;
  if (type.physical == single) return {.how = encoding::float32};
  if (type.physical == real) return {.how = encoding::float64};
  return type.form;
}

class chunk_reader {
 public:
  chunk_reader(const parquet_chunk& chunk, const parquet_type& type, const parquet_codec& unpack,
               distinct_hashes& into)
      : codec_(chunk.codec),
        type_{.width = type.width, .is_integer = type.physical == 1 || type.physical == 2},
        form_(compared_form(type)),
        levels_(type.levels),
        unpack_(unpack),
        into_(into),
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
      if (used_[i]) into_.add(dictionary_[i]);
    }
    for (const auto& [entry, hash] : equals_) {
      if (used_[entry]) into_.add(hash);
    }
    return {};
  }

 private:
  /// Calls use(hash) for the encodings that engines may query for this value: its own, and the
  /// usual ones of values that they take for equal.
  template <class Use>
  void hashes_of(std::span<const std::byte> value, Use&& use) {
    use(parquet_hash(value));
    if (!has_equal_encodings(form_)) return;
    equal_.assign(value.begin(), value.end());
    if (!first_encoding(form_, equal_)) return;
    use(parquet_hash(equal_));
    // Writers of decimals use the shortest form or one of their own.
    if (form_.how == encoding::short_decimal) return;
    while (next_encoding(form_, equal_)) use(parquet_hash(equal_));
  }

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
    if (!read_values(*bytes, page_encoding::plain, type_, static_cast<std::uint64_t>(header.values),
                     [&](auto value) { add_entry(value); })) {
      return malformed("a dictionary is shorter than it states");
    }
    used_.resize(dictionary_.size());
    return {};
  }

  void add_entry(std::span<const std::byte> value) {
    const std::size_t entry = dictionary_.size();
    hashes_of(value, [&](hash64 hash) {
      if (dictionary_.size() == entry) {
        dictionary_.push_back(hash);
      } else if (hash != dictionary_[entry]) {
        equals_.emplace_back(entry, hash);
      }
    });
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
    if (!read_values(data, how, type_, values, [&](auto value) {
          hashes_of(value, [&](hash64 hash) { into_.add(hash); });
        })) {
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
  value_form form_;
  parquet_levels levels_;
  const parquet_codec& unpack_;
  distinct_hashes& into_;
  std::uint64_t left_;  // values whose pages were not read yet
  std::vector<hash64> dictionary_;
  std::vector<std::pair<std::size_t, hash64>> equals_;  // entries, and other hashes of their values
  std::vector<std::byte> equal_;
  std::vector<bool> used_;
  std::vector<std::byte> unpacked_;
};

}  // namespace

result<void> hash_values(std::span<const std::byte> file, const parquet_chunk& chunk,
                         const parquet_type& type, const parquet_codec& unpack,
                         distinct_hashes& into) {
  const std::int64_t start = chunk.pages_at();
  if (chunk.values < 0 || start < 0 || chunk.bytes < 0 ||
      static_cast<std::uint64_t>(start) > file.size() ||
      static_cast<std::uint64_t>(chunk.bytes) > file.size() - static_cast<std::uint64_t>(start)) {
    return malformed("the column chunk is not within the file");
  }
  return chunk_reader(chunk, type, unpack, into)
      .read(file.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(chunk.bytes)));
}

}  // namespace bloomset::dialects
