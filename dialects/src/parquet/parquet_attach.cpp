// New filters for a Parquet file: behind its pages, with a footer in which only their places are
// new. The old footer is copied around them, so that nothing else in it has to be understood.

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/dialects/parquet.hpp>
#include <limits>
#include <optional>
#include <string_view>

#include "distinct_hashes.hpp"
#include "equal_values.hpp"
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

/// The form that decides which values are equal. Floating-point numbers are, whatever a logical
/// type says of them.
value_form compared_form(const parquet_type& type) {
  constexpr std::int64_t single = 4;
  constexpr std::int64_t real = 5;
  if (type.physical == single) return {.how = encoding::float32};
  if (type.physical == real) return {.how = encoding::float64};
  return type.form;
}

/// Adds the hashes of the encodings that engines may query for this value: its own, and the usual
/// ones of values that they take for equal. `scratch` is reused from value to value.
void add_hashes(std::span<const std::byte> value, const value_form& form,
                std::vector<std::byte>& scratch, distinct_hashes& into) {
  into.add(parquet_hash(value));
  if (!has_equal_encodings(form)) return;
  scratch.assign(value.begin(), value.end());
  if (!first_encoding(form, scratch)) return;
  into.add(parquet_hash(scratch));
  // Writers of decimals use the shortest form or one of their own.
  if (form.how == encoding::short_decimal) return;
  while (next_encoding(form, scratch)) into.add(parquet_hash(scratch));
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
      if (auto ok = check_pages(*footer, column); !ok) return fail(std::move(ok.error()));
      if (auto ok = check_filters(*footer, column); !ok) return fail(std::move(ok.error()));
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
  result<void> check_filters(const parquet_footer& footer, std::string_view column) const {
    for (const parquet_group& group : footer.groups) {
      if (find_chunk(group, column)->filter_at && !request_.replace) {
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
        return within_group(number, column, ok.error());
      }
    }
    made_.columns.push_back(std::move(made));
    return {};
  }

  result<void> add_filter(const parquet_chunk& chunk, const parquet_footer& footer,
                          attached_filters& made) {
    const parquet_type& type = *footer.column;
    distinct_hashes values;
    const value_form form = compared_form(type);
    std::vector<std::byte> scratch;
    const value_visitor add = [&](auto value) { add_hashes(value, form, scratch, values); };
    if (auto ok = read_chunk(file_.first(footer.at), chunk, type, request_.unpack, add); !ok) {
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
