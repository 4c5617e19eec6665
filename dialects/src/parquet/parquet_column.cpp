// The values of a column as text.

#include <fmt/format.h>

#include <bloomset/dialects/parquet.hpp>
#include <iterator>

#include "options.hpp"
#include "parquet_file.hpp"
#include "parquet_pages.hpp"

namespace bloomset::dialects {
namespace {

constexpr std::size_t batch_bytes = std::size_t{1} << 20;

/// Values as text, one after the other.
class text_batch {
 public:
  void add(std::span<const std::byte> value, encoding how) {
    switch (how) {
      case encoding::int32:
        append_number(little_endian<std::int32_t>(value.data()));
        break;
      case encoding::int64:
        append_number(little_endian<std::int64_t>(value.data()));
        break;
      case encoding::uint32:
        append_number(little_endian<std::uint32_t>(value.data()));
        break;
      case encoding::uint64:
        append_number(little_endian<std::uint64_t>(value.data()));
        break;
      case encoding::uuid:
        append_uuid(value);
        break;
      default:
        text_.append(reinterpret_cast<const char*>(value.data()), value.size());
    }
    ends_.push_back(text_.size());
  }

  bool is_full() const noexcept { return text_.size() + 8 * ends_.size() >= batch_bytes; }

  /// Valid until the next change.
  std::span<const std::string_view> values() {
    views_.clear();
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      views_.push_back(std::string_view(text_).substr(begin, end - begin));
      begin = end;
    }
    return views_;
  }

  void clear() noexcept {
    text_.clear();
    ends_.clear();
  }

 private:
  template <class Number>
  void append_number(Number n) {
    fmt::format_to(std::back_inserter(text_), "{}", n);
  }
  void append_uuid(std::span<const std::byte> value) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) text_.push_back('-');
      fmt::format_to(std::back_inserter(text_), "{:02x}", std::to_integer<unsigned>(value[i]));
    }
  }

  std::string text_;
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> views_;
};

bool has_one_text(encoding how) noexcept {
  return how == encoding::bytes || how == encoding::int32 || how == encoding::int64 ||
         how == encoding::uint32 || how == encoding::uint64 || how == encoding::uuid;
}

}  // namespace

result<void> read_parquet_column(std::span<const std::byte> file, std::string_view column,
                                 const parquet_codec& unpack, const parquet_text_visitor& visit) {
  const auto footer = read_parquet_footer(file, column);
  if (!footer) return fail(footer.error());
  if (auto ok = check_pages(*footer, column); !ok) return ok;
  const parquet_type& type = *footer->column;
  if (!has_one_text(type.form.how)) {
    return fail(errc::unsupported,
                fmt::format("column {} has values that can be written in several ways; only "
                            "strings, whole numbers, times and UUIDs can be read as keys",
                            in_quotes(column)));
  }
  text_batch batch;
  result<void> visited;
  const value_visitor add = [&](auto value) {
    batch.add(value, type.form.how);
    if (!batch.is_full() || !visited) return;
    visited = visit(batch.values());
    batch.clear();
  };
  std::size_t number = 0;
  for (const parquet_group& group : footer->groups) {
    ++number;
    if (group.rows == 0) continue;
    if (auto ok = read_chunk(file.first(footer->at), *find_chunk(group, column), type, unpack, add);
        !ok) {
      return within_group(number, column, ok.error());
    }
    if (!visited) return visited;
  }
  return visit(batch.values());
}

}  // namespace bloomset::dialects
