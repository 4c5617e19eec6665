// New filters for a Parquet file: behind its pages, with a footer in which only their places are
// new. The old footer is copied around them, so that nothing else in it has to be understood.

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/dialects/parquet.hpp>
#include <limits>
#include <optional>
#include <string_view>

#include "options.hpp"
#include "parquet_file.hpp"
#include "parquet_filter.hpp"
#include "parquet_pages.hpp"
#include "thrift.hpp"

namespace bloomset::dialects {
namespace {

constexpr std::int32_t filter_at_field = 14;
constexpr std::int32_t filter_bytes_field = 15;

/// New bytes in place of some bytes of the footer.
struct replacement {
  std::size_t at = 0;
  std::size_t size = 0;
  std::vector<std::byte> bytes;
};

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// ColumnMetaData with the place of a filter. All other fields keep their order and bytes. None if
/// its fields do not end where it was read to end.
std::optional<std::vector<std::byte>> with_filter(std::span<const std::byte> meta, std::int64_t at,
                                                  std::int64_t size) {
  std::vector<std::byte> made;
  std::int32_t last = 0;
  bool placed = false;
  const auto put = [&](const thrift::field& next) {
    thrift::put_field(made, last, next);
    last = next.id;
  };
  const auto place = [&] {
    put({thrift::type::i64, filter_at_field});
    thrift::put_number(made, at);
    put({thrift::type::i32, filter_bytes_field});
    thrift::put_number(made, size);
    placed = true;
  };
  thrift::cursor from(meta);
  from.structure([&](const thrift::field& each) {
    const std::size_t begin = from.at();
    from.skip(each.kind);
    if (each.id == filter_at_field || each.id == filter_bytes_field) return true;
    if (each.id > filter_bytes_field && !placed) place();
    put(each);
    append(made, meta.subspan(begin, from.at() - begin));
    return true;
  });
  if (!from.good() || from.at() != meta.size()) return std::nullopt;
  if (!placed) place();
  made.push_back(std::byte{0});
  return made;
}

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

/// 0 if the numbers make no sense.
std::uint64_t pages_end(const parquet_chunk& chunk) {
  const std::int64_t start = chunk.pages_at();
  return start < 0 || chunk.bytes < 0
             ? 0
             : static_cast<std::uint64_t>(start) + static_cast<std::uint64_t>(chunk.bytes);
}

class attaching {
 public:
  attaching(std::span<const std::byte> file, const parquet_attach_request& request)
      : file_(file), request_(request) {}

  result<parquet_attachment> run() {
    for (const std::string& column : request_.columns) {
      auto footer = read_parquet_footer(file_, column);
      if (!footer) return fail(std::move(footer.error()));
      if (auto ok = check_file(*footer); !ok) return fail(std::move(ok.error()));
      if (auto ok = check_column(*footer, column); !ok) return fail(std::move(ok.error()));
      footers_.push_back(std::move(*footer));
    }
    made_.kept = without_last_filters();
    for (std::size_t i = 0; i < footers_.size(); ++i) {
      if (auto ok = add_column(footers_[i], request_.columns[i]); !ok) {
        return fail(std::move(ok.error()));
      }
    }
    return finish();
  }

 private:
  result<void> check_column(const parquet_footer& footer, std::string_view column) const {
    if (!footer.column) {
      return fail(errc::not_found,
                  fmt::format("there is no column {}; the path of a nested one has the names of "
                              "its groups, with dots",
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
      if (chunk->filter_at && !request_.replace) {
        return fail(errc::exists, fmt::format("column {} has filters already; give --replace to "
                                              "replace them",
                                              in_quotes(column)));
      }
    }
    return {};
  }

  /// The end of the file's bytes before the footer, without the filters at their end that are
  /// replaced. Filters elsewhere stay, as bytes that nothing refers to.
  std::size_t without_last_filters() const {
    const std::size_t all = footers_.front().at;
    std::vector<parquet_blocks> replaced;  // with their headers
    std::uint64_t used = 4;                // the end of everything else that the footer names
    for (const parquet_group& group : footers_.front().groups) {
      for (const parquet_chunk& chunk : group.columns) {
        used = std::max({used, chunk.index_end, pages_end(chunk)});
        if (!chunk.filter_at) continue;
        const auto at = static_cast<std::uint64_t>(*chunk.filter_at);
        const auto filter = at < all ? read_parquet_header(file_.first(all).subspan(at))
                                     : result<parquet_blocks>(parquet_blocks{});
        if (!filter || filter->size == 0) return all;
        const parquet_blocks whole{static_cast<std::size_t>(at), filter->at + filter->size};
        if (std::find(request_.columns.begin(), request_.columns.end(), chunk.path) !=
            request_.columns.end()) {
          replaced.push_back(whole);
        } else {
          used = std::max<std::uint64_t>(used, whole.at + whole.size);
        }
      }
    }
    std::sort(replaced.begin(), replaced.end(),
              [](const auto& a, const auto& b) { return a.at > b.at; });
    std::size_t end = all;
    for (const parquet_blocks& each : replaced) {
      if (each.at + each.size == end && each.at >= used) end = each.at;
    }
    return end;
  }

  result<void> add_column(const parquet_footer& footer, std::string_view column) {
    attached_filters made{.column = std::string(column)};
    std::size_t number = 0;
    for (const parquet_group& group : footer.groups) {
      ++number;
      if (group.rows == 0) continue;
      if (auto ok = add_filter(*find_chunk(group, column), footer, made); !ok) {
        return fail(ok.error().code, fmt::format("row group {}, column {}: {}", number,
                                                 in_quotes(column), ok.error().message));
      }
    }
    made_.columns.push_back(std::move(made));
    return {};
  }

  static result<void> check_file(const parquet_footer& footer) {
    bool encrypted = footer.encrypted;
    for (const auto& group : footer.groups) {
      for (const auto& chunk : group.columns) encrypted |= chunk.encrypted;
    }
    if (!encrypted) return {};
    return fail(errc::unsupported,
                "columns of the Parquet file are encrypted, and its footer is signed; decrypt it "
                "first");
  }

  result<void> add_filter(const parquet_chunk& chunk, const parquet_footer& footer,
                          attached_filters& made) {
    const parquet_type& type = *footer.column;
    distinct_hashes values;
    if (auto ok = hash_values(file_.first(footer.at), chunk, type, request_.unpack, values); !ok) {
      return ok;
    }
    const auto hashes = values.sorted();
    const auto bytes = parquet_bytes(hashes.size(), request_.fpr);
    if (!bytes) {
      return fail(errc::unsupported,
                  fmt::format("a filter of its {} distinct values at this rate is larger than 128 "
                              "MiB; give a greater --fpr",
                              hashes.size()));
    }
    auto filter = parquet_filter_in(owned_storage::make(*bytes));
    if (!filter) return fail(std::move(filter.error()));
    filter->insert(hashes);
    const auto header = parquet_header(*bytes);
    const std::size_t at = made_.kept + made_.appended.size();
    append(made_.appended, header);
    append(made_.appended, filter->bits());
    auto meta = with_filter(file_.subspan(footer.at + chunk.meta_at, chunk.meta_bytes),
                            static_cast<std::int64_t>(at),
                            static_cast<std::int64_t>(header.size() + filter->bits().size()));
    if (!meta) return fail(errc::corrupt, "its part of the footer is malformed; get the file anew");
    changes_.push_back({chunk.meta_at, chunk.meta_bytes, std::move(*meta)});
    ++made.row_groups;
    made.values += hashes.size();
    made.bytes += *bytes;
    made.max_fpr = std::max(made.max_fpr, filter->current_fpr());
    return {};
  }

  result<parquet_attachment> finish() {
    std::sort(changes_.begin(), changes_.end(),
              [](const auto& a, const auto& b) { return a.at < b.at; });
    const auto footer = file_.subspan(footers_.front().at, footers_.front().bytes);
    const std::size_t begin = made_.appended.size();
    std::size_t done = 0;
    for (const replacement& each : changes_) {
      if (each.at < done)
        return fail(errc::invalid_argument, "a column is named twice; name it once");
      append(made_.appended, footer.subspan(done, each.at - done));
      append(made_.appended, each.bytes);
      done = each.at + each.size;
    }
    append(made_.appended, footer.subspan(done));
    const std::size_t size = made_.appended.size() - begin;
    if (size > std::numeric_limits<std::int32_t>::max()) {
      return fail(errc::unsupported, "the new footer is larger than 2 GiB");
    }
    put_little(made_.appended, static_cast<std::uint32_t>(size));
    for (const char each : std::string_view("PAR1")) put_little(made_.appended, each);
    return std::move(made_);
  }

  std::span<const std::byte> file_;
  const parquet_attach_request& request_;
  std::vector<parquet_footer> footers_;  // one for each column of the request
  std::vector<replacement> changes_;
  parquet_attachment made_;
};

}  // namespace

result<parquet_attachment> attach_parquet_filters(std::span<const std::byte> file,
                                                  const parquet_attach_request& request) {
  if (request.columns.empty()) return fail(errc::invalid_argument, "name a column");
  if (!(request.fpr > 0 && request.fpr < 1)) {
    return fail(errc::invalid_argument, "the rate is not between 0 and 1");
  }
  return attaching(file, request).run();
}

}  // namespace bloomset::dialects
