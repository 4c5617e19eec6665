#include "input/packing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/dialects/dialect.hpp>
#include <bloomset/file.hpp>
#include <span>
#include <utility>

namespace bloomset::cli {
namespace {

using namespace std::string_view_literals;

enum class verdict : std::uint8_t { no, perhaps, yes };

std::uint8_t byte_at(std::string_view bytes, std::size_t at) noexcept {
  return static_cast<std::uint8_t>(bytes[at]);
}

verdict begins(std::string_view first, std::string_view magic) noexcept {
  if (first.starts_with(magic)) return verdict::yes;
  return magic.starts_with(first) ? verdict::perhaps : verdict::no;
}

/// For signatures of letters: a byte that no text has must follow soon.
verdict begins_binary(std::string_view first, std::string_view letters) noexcept {
  if (const verdict said = begins(first, letters); said != verdict::yes) return said;
  constexpr std::size_t soon = 24;
  const auto next = first.substr(letters.size(), soon);
  const auto is_binary = [](char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    return byte < 0x07 || (byte > 0x0d && byte < 0x20 && byte != 0x1b) || byte == 0x7f;
  };
  return std::any_of(next.begin(), next.end(), is_binary) ? verdict::yes : verdict::no;
}

template <const std::string_view& Magic>
verdict with_magic(std::string_view first) noexcept {
  return begins(first, Magic);
}
template <const std::string_view& Letters>
verdict with_letters(std::string_view first) noexcept {
  return begins_binary(first, Letters);
}

constexpr auto gzip_magic = "\x1f\x8b"sv;          // RFC 1952, 2.3.1
constexpr auto zstd_magic = "\x28\xb5\x2f\xfd"sv;  // RFC 8878, 3.1.1
constexpr auto xz_magic = "\xfd\x37zXZ\0"sv;
constexpr auto zip_magic = "PK\3\4"sv;
constexpr auto empty_zip_magic = "PK\5\6"sv;
constexpr auto split_zip_magic = "PK\7\b"sv;
constexpr auto seven_zip_magic = "7z\xbc\xaf\x27\x1c"sv;
constexpr auto rar_magic = "Rar!\x1a\x07"sv;
constexpr auto lz4_magic = "\x04\x22\x4d\x18"sv;
constexpr auto old_lz4_magic = "\x02\x21\x4c\x18"sv;
constexpr auto lzop_magic = "\x89LZO\0\r\n\x1a\n"sv;
constexpr auto snappy_magic = "\xff\x06\0\0sNaPpY"sv;
constexpr auto cab_magic = "MSCF\0\0\0\0"sv;
constexpr auto rpm_magic = "\xed\xab\xee\xdb"sv;
constexpr auto sqlite_magic = "SQLite format 3\0"sv;
constexpr auto arrow_magic = "ARROW1\0\0"sv;
constexpr auto avro_magic = "Obj\1"sv;
constexpr auto commit_graph_magic = "CGPH\1"sv;
constexpr auto parquet_letters = "PAR1"sv;
constexpr auto parquet_encrypted_letters = "PARE"sv;
constexpr auto orc_letters = "ORC"sv;
constexpr auto elf_magic =
    "\x7f"
    "ELF"sv;
constexpr auto hdf5_magic = "\x89HDF\r\n\x1a\n"sv;

/// RFC 8878, 3.1.2: a frame to be skipped begins with a byte 0x50 to 0x5f and three fixed ones.
verdict zstd(std::string_view first) noexcept {
  constexpr auto skippable = "\x2a\x4d\x18"sv;
  if (!first.empty() && (byte_at(first, 0) & 0xf0U) == 0x50U) {
    return begins(first.substr(1), skippable);
  }
  return begins(first, zstd_magic);
}

/// "BZh", the block size, and the first bytes of a block or of the end: digits of pi or its root.
verdict bzip2(std::string_view first) noexcept {
  if (const verdict said = begins(first, "BZh"sv); said != verdict::yes || first.size() == 3) {
    return std::min(said, verdict::perhaps);
  }
  if (first[3] < '1' || first[3] > '9') return verdict::no;
  const auto block = begins(first.substr(4), "1AY&SY"sv);
  return std::max(block, begins(first.substr(4), "\x17rE8P\x90"sv));
}

/// compress: the third byte is the largest code's bits, 9 to 16, and two bits that are 0.
verdict compress(std::string_view first) noexcept {
  constexpr auto magic = "\x1f\x9d"sv;
  if (const verdict said = begins(first, magic); said != verdict::yes || first.size() == 2) {
    return std::min(said, verdict::perhaps);
  }
  const unsigned bits = byte_at(first, 2) & 0x1fU;
  return (byte_at(first, 2) & 0x60U) == 0 && bits >= 9 && bits <= 16 ? verdict::yes : verdict::no;
}

/// "LZIP", version 0 or 1, and the dictionary's size as a power of two from 2^12 to 2^29.
verdict lzip(std::string_view first) noexcept {
  if (const verdict said = begins(first, "LZIP"sv); said != verdict::yes || first.size() < 6) {
    return first.size() > 4 && byte_at(first, 4) > 1 ? verdict::no
                                                     : std::min(said, verdict::perhaps);
  }
  const unsigned power = byte_at(first, 5) & 0x1fU;
  return byte_at(first, 4) <= 1 && power >= 12 && power <= 29 ? verdict::yes : verdict::no;
}

/// The old format of xz: properties, the dictionary's size, and the length or eight bytes 0xff.
verdict lzma(std::string_view first) noexcept {
  constexpr std::size_t header = 13;
  if (const verdict said = begins(first, "\x5d\0\0"sv);
      said != verdict::yes || first.size() < header) {
    return std::min(said, verdict::perhaps);
  }
  if (first.substr(3, 2) == "\0\0"sv) return verdict::no;
  const bool unknown_length = first.substr(5, 8) == "\xff\xff\xff\xff\xff\xff\xff\xff"sv;
  const bool short_length = first.substr(10, 3) == "\0\0\0"sv;
  return unknown_length || short_length ? verdict::yes : verdict::no;
}

std::uint64_t octal(std::string_view digits) noexcept {
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (c >= '0' && c <= '7') value = 8 * value + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

/// The header's checksum is the sum of its bytes, its own field counted as spaces.
verdict tar(std::string_view first) noexcept {
  constexpr std::size_t sum_at = 148;
  constexpr std::size_t sum_size = 8;
  if (first.size() < packing_bytes) {
    // Names are padded with NULs. A list that ends its lines with NUL has not so many in a row.
    return first.find("\0\0\0\0\0\0\0\0"sv) == std::string_view::npos ? verdict::no
                                                                      : verdict::perhaps;
  }
  std::uint64_t sum = sum_size * ' ';
  for (std::size_t i = 0; i < packing_bytes; ++i) {
    if (i < sum_at || i >= sum_at + sum_size) sum += byte_at(first, i);
  }
  const auto field = first.substr(sum_at, sum_size);
  return sum > sum_size * ' ' && octal(field) == sum ? verdict::yes : verdict::no;
}

/// The header is 110 hexadecimal digits, which give the size of the name that follows. The name
/// ends with NUL.
verdict cpio(std::string_view first) noexcept {
  constexpr std::size_t header = 110;
  constexpr std::size_t size_at = 94;
  if (!first.starts_with("070701") && !first.starts_with("070702")) return verdict::no;
  if (first.size() < header) return verdict::no;
  std::size_t size = 0;
  for (const char c : first.substr(size_at, 8)) {
    const auto digit = "0123456789abcdef"sv.find(static_cast<char>(c | 0x20));
    if (digit == std::string_view::npos) return verdict::no;
    size = 16 * size + digit;
  }
  const std::size_t end = header + size - 1;
  return size != 0 && end < first.size() && first[end] == '\0' ? verdict::yes : verdict::no;
}

/// "!<arch>" on a line, and a header of 60 characters that ends in "`" and a newline.
verdict ar(std::string_view first) noexcept {
  constexpr std::size_t header_end = 66;
  return first.starts_with("!<arch>\n") && first.substr(0, header_end + 2).ends_with("`\n") &&
                 first.size() >= header_end + 2
             ? verdict::yes
             : verdict::no;
}

/// A checksum of 8 bytes, "DUCK", and a version in 8 bytes.
verdict duckdb(std::string_view first) noexcept {
  return first.size() >= 20 && first.substr(8, 4) == "DUCK" &&
                 first.substr(14, 6) == "\0\0\0\0\0\0"sv
             ? verdict::yes
             : verdict::no;
}

/// Protocol 2 to 5, which begins with a frame, a global or an empty container.
verdict pickle(std::string_view first) noexcept {
  if (first.size() < 3) return verdict::no;
  return first[0] == '\x80' && first[1] >= 2 && first[1] <= 5 &&
                 "\x95"
                 "c])}("sv.find(first[2]) != std::string_view::npos
             ? verdict::yes
             : verdict::no;
}

verdict bloomset_filter(std::string_view first) noexcept {
  return has_signature(std::as_bytes(std::span(first))) ? verdict::yes : verdict::no;
}

struct packing_row {
  packing form;
  verdict (*is)(std::string_view first) noexcept;
};

constexpr auto filter_remedy =
    "give a filter as FILTER, before the lists; 'bloomset merge' unites filters"sv;
constexpr auto parquet_remedy =
    "query the filters of its columns with --column, as FILTER, or write a column as lines"sv;
constexpr auto database_remedy = "write the keys as lines, for example with its SQL shell"sv;

constexpr std::array packings = {
    packing_row{{"gzip-compressed", "unpack it with 'gzip -dc'", codec::gzip},
                with_magic<gzip_magic>},
    packing_row{{"zstd-compressed", "unpack it with 'zstd -dc'", codec::zstd}, zstd},
    packing_row{{"xz-compressed", "unpack it with 'xz -dc'", codec::xz}, with_magic<xz_magic>},
    packing_row{{"bzip2-compressed", "unpack it with 'bzip2 -dc'", codec::bzip2}, bzip2},
    packing_row{{"lzma-compressed", "unpack it with 'xz --format=lzma -dc'"}, lzma},
    packing_row{{"lzip-compressed", "unpack it with 'lzip -dc'"}, lzip},
    packing_row{{"compressed by 'compress'", "unpack it with 'gzip -dc'"}, compress},
    packing_row{{"lz4-compressed", "unpack it with 'lz4 -dc'"}, with_magic<lz4_magic>},
    packing_row{{"lz4-compressed", "unpack it with 'lz4 -dc'"}, with_magic<old_lz4_magic>},
    packing_row{{"lzop-compressed", "unpack it with 'lzop -dc'"}, with_magic<lzop_magic>},
    packing_row{{"snappy-compressed", "unpack it with 'snzip -dc'"}, with_magic<snappy_magic>},
    packing_row{{"a zip archive", "unpack it with 'unzip -p'"}, with_magic<zip_magic>},
    packing_row{{"a zip archive without files", "give a file of keys"},
                with_magic<empty_zip_magic>},
    packing_row{{"a part of a zip archive", "unpack the archive with 'unzip -p'"},
                with_magic<split_zip_magic>},
    packing_row{{"a 7z archive", "unpack it with '7z x -so'"}, with_magic<seven_zip_magic>},
    packing_row{{"a rar archive", "unpack it with 'unrar p -inul'"}, with_magic<rar_magic>},
    packing_row{{"a cab archive", "unpack it with 'cabextract -p'"}, with_magic<cab_magic>},
    packing_row{{"a tar archive", "unpack it with 'tar -xOf'"}, tar},
    packing_row{{"a cpio archive", "unpack it with 'cpio -i --to-stdout'"}, cpio},
    packing_row{{"an ar archive", "unpack it with 'ar p'"}, ar},
    packing_row{{"an rpm package", "unpack it with 'rpm2cpio'"}, with_magic<rpm_magic>},
    packing_row{{"a Parquet file", parquet_remedy}, with_letters<parquet_letters>},
    packing_row{{"an encrypted Parquet file", parquet_remedy},
                with_letters<parquet_encrypted_letters>},
    packing_row{{"an ORC file", "write a column as lines first"}, with_letters<orc_letters>},
    packing_row{{"an Arrow file", "write a column as lines first"}, with_magic<arrow_magic>},
    packing_row{
        {"an Avro file", "write a field as lines first, for example with 'avro-tools tojson'"},
        with_magic<avro_magic>},
    packing_row{{"an HDF5 file", "write the keys as lines first"}, with_magic<hdf5_magic>},
    packing_row{{"an SQLite database", database_remedy}, with_magic<sqlite_magic>},
    packing_row{{"a DuckDB database", database_remedy}, duckdb},
    packing_row{{"a commit-graph of git", "write the keys as lines first"},
                with_magic<commit_graph_magic>},
    packing_row{{"a pickle of Python", "write the keys as lines first"}, pickle},
    packing_row{{"a program", "give a file of keys"}, with_magic<elf_magic>},
    packing_row{{"a Bloomset filter", filter_remedy}, bloomset_filter},
};

}  // namespace

recognised_packing recognise_packing(std::string_view first) noexcept {
  recognised_packing answer;
  for (const packing_row& each : packings) {
    const verdict said = each.is(first);
    if (said == verdict::yes) return {&each.form, false};
    answer.needs_more |= said == verdict::perhaps;
  }
  return answer;
}

failure unread_packing(const packing& found) {
  return fail(errc::unsupported, fmt::format("this is {}, and keys are read from lines; {}",
                                             found.what, found.remedy));
}

result<void> refuse_filter(std::string_view first, bool is_whole) {
  if (first.find('\0') == std::string_view::npos) return {};
  const auto guess = dialects::recognise(std::as_bytes(std::span(first)));
  const dialects::dialect* format = guess.certain;
  if (!is_whole && format == nullptr && guess.damaged != nullptr) {
    // The lengths of these formats need not agree: their first fields are certain.
    for (const std::string_view name : {"dcso"sv, "squid"sv}) {
      if (guess.damaged->name == name) format = guess.damaged;
    }
  }
  if (format == nullptr) return {};
  return fail(errc::unsupported,
              fmt::format("this is a filter of format {}, and keys are read from lines; {}",
                          format->name, filter_remedy));
}

}  // namespace bloomset::cli
