// The split-block Bloom filter of Apache Parquet: a single filter with its thrift header, or all
// filters of a column in a Parquet file, one per row group. The blocks are blocked_bloom's layout
// parquet_256. The hash is XXH64 of the value's plain bytes; Bloomset's own filters use XXH3.

#include <bloomset/blocked_bloom.hpp>
#include <bloomset/defaults.hpp>

#include "bloom_model.hpp"
#include "equal_values.hpp"
#include "parquet_file.hpp"
#include "parquet_filter.hpp"

namespace bloomset::dialects {
namespace {
namespace parquet_format {

constexpr std::string_view types =
    "bytes (or string), int32, int64, uint32, uint64, date, uuid, float16, float or double";
constexpr std::array options = {
    kind_option{"column", "a column's path, with dots",
                "the column whose filters are meant, in a Parquet file"},
    kind_option{"type", types, "the column's type, for a bare filter, which does not store it"},
    kind_option{"blocks", "1 to 67108863",
                "for building: the number of blocks of 32 bytes (default: a power of two)"}};

result<encoding> type_of(const option_list& given) {
  const auto text = find_option(given, "type");
  if (!text) return encoding::unknown;
  if (*text == "bytes" || *text == "string") return encoding::bytes;
  if (*text == "int32") return encoding::int32;
  if (*text == "int64") return encoding::int64;
  if (*text == "uint32") return encoding::uint32;
  if (*text == "uint64") return encoding::uint64;
  if (*text == "date") return encoding::date;
  if (*text == "uuid") return encoding::uuid;
  if (*text == "float16") return encoding::float16;
  if (*text == "float") return encoding::float32;
  if (*text == "double") return encoding::float64;
  return fail(errc::invalid_argument, fmt::format("--with type={}: give {}", *text, types));
}

/// The interface of one filter, or of the filters of all row groups.
class parquet_face : public foreign_filter::model {
 public:
  virtual std::vector<std::span<const std::byte>> groups() const = 0;
  virtual value_form type() const noexcept = 0;
};

/// A bare filter in its own memory.
result<foreign_filter> bare(result<blocked_bloom> filter, value_form form);

template <storage Storage>
class parquet_model final : public parquet_face {
  using filter_type = basic_blocked_bloom<Storage>;
  static constexpr bool writable = writable_storage<Storage>;

 public:
  /// `column` describes the type of a file's column. It is empty for a single filter.
  parquet_model(std::vector<filter_type> filters, value_form form, std::string column = {})
      : filters_(std::move(filters)), form_(form), column_(std::move(column)) {}

  const dialect& format() const noexcept override { return row_of(row::parquet); }
  value_form type() const noexcept override { return form_; }
  std::vector<std::span<const std::byte>> groups() const override {
    std::vector<std::span<const std::byte>> all;
    all.reserve(filters_.size());
    for (const auto& each : filters_) all.push_back(each.bits());
    return all;
  }

  foreign_info info() const override {
    foreign_info info;
    info.format = format().name;
    info.variant = in_file() ? "a column of a Parquet file" : "bare";
    info.kind = "blocked_bloom";
    info.hashes = 8;
    double none = 1;
    double ones = 0;
    double keys = 0;
    for (const auto& each : filters_) {
      const auto bits = static_cast<double>(each.params().bits());
      info.bits += each.params().bits();
      keys += each.estimate_size();
      none *= 1 - each.current_fpr();
      ones += each.fill() * bits;
    }
    info.estimated_size = keys;
    // A non-member passes if any of them lets it.
    info.current_fpr = filters_.size() == 1 ? filters_.front().current_fpr() : 1 - none;
    info.fill = info.bits == 0 ? 0 : ones / static_cast<double>(info.bits);
    info.can_merge = !in_file();
    info.extras.push_back({"blocks", info.bits / 256});
    if (in_file()) info.extras.push_back({"row_groups", std::uint64_t{filters_.size()}});
    return info;
  }

  result<void> askable() const override {
    if (in_file() && form_.how == encoding::unknown) return fail(errc::unsupported, column_);
    return form().known();
  }
  bool takes_any_key() const noexcept override { return form().takes_any(); }
  bool stores_key_type() const noexcept override { return in_file(); }
  result<void> accepts(std::string_view key) const override {
    std::vector<std::byte> scratch;
    if (form().bytes_of(key, scratch)) return {};
    if (in_file()) return fail(errc::invalid_argument, column_);
    return form().refusal(key);
  }
  std::string_view key_form_name() const noexcept override { return form().noun(); }
  bool fits(std::string_view key) const override { return form().fits(key); }

  void may_contain(std::span<const std::string_view> keys,
                   std::span<bool> answers) const noexcept override {
    constexpr std::size_t batch = 256;
    const key_form how = form();
    std::vector<std::byte> scratch;
    std::array<hash64, batch> hashes;  // not zeroed: written before it is read
    std::array<bool, batch> accepted{};
    std::array<bool, batch> maybe{};
    for (std::size_t at = 0; at < keys.size(); at += batch) {
      const std::size_t n = std::min(batch, keys.size() - at);
      for (std::size_t i = 0; i < n; ++i) {
        const auto bytes = how.bytes_of(keys[at + i], scratch);
        accepted[i] = bytes.has_value();
        hashes[i] = bytes ? parquet_hash(*bytes) : hash64{0};
        answers[at + i] = false;
      }
      for (const auto& each : filters_) {
        each.may_contain(std::span<const hash64>(hashes.data(), n), maybe);
        for (std::size_t i = 0; i < n; ++i) answers[at + i] |= accepted[i] && maybe[i];
      }
      if (!has_equal_encodings(form_)) continue;
      for (std::size_t i = 0; i < n; ++i) {
        if (!accepted[i] || answers[at + i]) continue;
        (void)how.bytes_of(keys[at + i], scratch);
        answers[at + i] = may_contain_equal(scratch);
      }
    }
  }

  result<insert_summary> insert(std::span<const std::string_view> keys) override {
    if constexpr (writable) {
      const key_form how = form();
      std::vector<std::byte> scratch;
      insert_summary summary;
      for (const std::string_view key : keys) {
        const auto bytes = how.bytes_of(key, scratch);
        if (!bytes) break;
        const bool is_new =
            filters_.front().insert(parquet_hash(*bytes)) == insert_outcome::inserted;
        summary.inserted += is_new;
        summary.maybe_present += !is_new;
        ++summary.done;
      }
      return summary;
    } else {
      return read_only();
    }
  }

  result<void> merge(const foreign_filter::model& other) override {
    if constexpr (writable) {
      const auto& theirs = dynamic_cast<const parquet_face&>(other);
      const auto groups = theirs.groups();
      if (groups.size() != 1) {
        return fail(errc::unsupported,
                    "a column of a Parquet file is merged once it is one bare filter; convert it "
                    "first");
      }
      if (theirs.type() != form_) return fail(errc::incompatible, "their types differ");
      const auto view = basic_blocked_bloom<borrowed_storage>::open(
          parquet_shape(groups.front().size()), borrowed_storage(groups.front()), 0);
      if (!view) return fail(view.error());
      return filters_.front().merge(*view);
    } else {
      return read_only();
    }
  }

  result<foreign_filter> fold(std::uint64_t factor, double fpr) const override {
    if (in_file()) return part_of_file();
    return bare(factor != 0 ? filters_.front().fold(factor) : filters_.front().fold_to(fpr), form_);
  }

  result<foreign_filter> convert(const dialect& to, const option_list& given) const override {
    if (&to != &format()) return other_format(format(), to);
    if (!given.empty()) {
      return fail(errc::invalid_argument,
                  "a bare filter has nothing to choose; leave the options "
                  "of the target out");
    }
    if (filters_.empty()) {
      return fail(errc::unsupported,
                  "the Parquet file has no rows and so no filter to convert; build one of no keys");
    }
    auto merged = parquet_filter_in(owned_storage::copy_of(filters_.front().bits()));
    if (!merged) return fail(std::move(merged.error()));
    for (std::size_t i = 1; i < filters_.size(); ++i) {
      if (filters_[i].params().blocks != merged->params().blocks) {
        return fail(errc::incompatible,
                    fmt::format("the row groups' filters have {} and {} blocks; only filters of "
                                "one size become one filter",
                                merged->params().blocks, filters_[i].params().blocks));
      }
      if (auto ok = merged->merge(filters_[i]); !ok) return fail(std::move(ok.error()));
    }
    return bare(std::move(merged), form_);
  }

  result<foreign_image> image() const override {
    if (in_file()) return part_of_file();
    const auto bits = filters_.front().bits();
    return foreign_image{parquet_header(bits.size()), bits, {}};
  }

 private:
  key_form form() const noexcept { return {form_, "type", types}; }
  static failure part_of_file() {
    return fail(errc::unsupported,
                "the filter is a part of a Parquet file; convert the column to a bare filter "
                "first");
  }

  bool in_file() const noexcept { return !column_.empty(); }

  /// Whether an equal value in any encoding may be in a filter. A NaN may be, unless the filters
  /// are empty.
  bool may_contain_equal(std::vector<std::byte>& value) const {
    const auto any_filter = [&](auto&& is_true) {
      return std::any_of(filters_.begin(), filters_.end(), is_true);
    };
    if (is_nan(form_, value)) {
      return any_filter([](const auto& each) {
        const auto bits = each.bits();
        return std::any_of(bits.begin(), bits.end(), [](std::byte b) { return b != std::byte{0}; });
      });
    }
    if (!first_encoding(form_, value)) return false;
    do {
      const hash64 hash = parquet_hash(value);
      if (any_filter([&](const auto& each) { return each.may_contain(hash); })) return true;
    } while (next_encoding(form_, value));
    return false;
  }

  std::vector<filter_type> filters_;
  value_form form_;
  std::string column_;
};

result<foreign_filter> bare(result<blocked_bloom> filter, value_form form) {
  if (!filter) return fail(std::move(filter.error()));
  std::vector<blocked_bloom> one;
  one.push_back(std::move(*filter));
  return foreign_filter(std::make_unique<parquet_model<owned_storage>>(std::move(one), form));
}

recognition looks_like(std::span<const std::byte> bytes) noexcept {
  if (is_parquet_file(bytes)) return recognition::certain;
  const auto blocks = read_parquet_header(bytes);
  return blocks && blocks->at + blocks->size == bytes.size() ? recognition::certain
                                                             : recognition::no;
}

result<foreign_filter> over_groups(const mapped_storage& bytes,
                                   std::span<const parquet_blocks> groups, value_form form,
                                   std::string column = {}) {
  std::vector<basic_blocked_bloom<mapped_storage>> filters;
  for (const parquet_blocks& each : groups) {
    auto filter = basic_blocked_bloom<mapped_storage>::open(parquet_shape(each.size),
                                                            bytes.slice(each.at, each.size), 0);
    if (!filter) return fail(std::move(filter.error()));
    filters.push_back(std::move(*filter));
  }
  return foreign_filter(
      std::make_unique<parquet_model<mapped_storage>>(std::move(filters), form, std::move(column)));
}

result<foreign_filter> open_column(const mapped_storage& bytes, const open_request& request) {
  if (find_option(request.options, "type")) {
    return fail(errc::invalid_argument, "the file stores the column's type; leave type out");
  }
  if (request.how == access::writable) {
    return fail(errc::unsupported,
                "a filter within a Parquet file can be queried, not changed; convert the column to "
                "a bare filter first");
  }
  const auto column =
      find_parquet_column(bytes.bytes(), find_option(request.options, "column").value_or(""));
  if (!column) return fail(column.error());
  return over_groups(bytes, column->row_groups, column->type.form,
                     fmt::format("column {} {}", column->name, column->type.says));
}

result<foreign_filter> open_filter(const mapped_storage& bytes, const open_request& request) {
  if (find_option(request.options, "blocks")) {
    return fail(errc::invalid_argument, "the number of blocks is stored; leave it out");
  }
  const auto first = bytes.bytes().first(std::min<std::size_t>(4, bytes.bytes().size()));
  if (std::string_view(reinterpret_cast<const char*>(first.data()), first.size())
          .starts_with("PAR")) {
    return open_column(bytes, request);
  }
  if (find_option(request.options, "column")) {
    return fail(errc::invalid_argument,
                "a column is named, but this is not a Parquet file; leave the column out");
  }
  const auto blocks = read_parquet_header(bytes.bytes());
  if (!blocks) return fail(blocks.error());
  if (blocks->at + blocks->size != bytes.bytes().size()) {
    return fail(errc::corrupt, fmt::format("{} bytes follow the filter's blocks",
                                           bytes.bytes().size() - blocks->at - blocks->size));
  }
  const auto form = type_of(request.options);
  if (!form) return fail(form.error());
  if (request.how == access::read_only) return over_groups(bytes, {{*blocks}}, {*form});
  const auto bits = bytes.bytes().subspan(blocks->at, blocks->size);
  return bare(parquet_filter_in(owned_storage::copy_of(bits)), {*form});
}

result<std::uint64_t> bytes_for(const plan_request& request) {
  const auto blocks = number_option(request.options, "blocks", 1, (std::uint64_t{1} << 26) - 1, 0);
  if (!blocks) return fail(blocks.error());
  if (*blocks != 0) {
    if (request.fpr != 0 || request.bits != 0) {
      return fail(errc::invalid_argument,
                  "blocks and a rate or a size contradict each other; give "
                  "one of them");
    }
    return *blocks * 32;
  }
  if (request.bits != 0) {
    if (request.bits % 256 != 0 || request.bits / 8 >= std::uint64_t{1} << 31) {
      return fail(errc::invalid_argument,
                  "the size of a Parquet filter is a whole number of blocks "
                  "of 256 bits, below 2^31 bytes");
    }
    return request.bits / 8;
  }
  if (request.capacity == 0) {
    return fail(errc::invalid_argument, "format parquet needs a capacity, blocks or a size");
  }
  return parquet_bytes(request.capacity, request.fpr == 0 ? default_fpr : request.fpr);
}

result<foreign_filter> create_filter(const plan_request& request) {
  const auto ok = check_request(request, "parquet", {.capacity = false, .fpr = true, .bits = true},
                                "give a capacity and a rate, or --with blocks=N");
  if (!ok) return fail(ok.error());
  if (find_option(request.options, "column")) {
    return fail(errc::invalid_argument, "only the bare filter is written, which has no column");
  }
  const auto form = type_of(request.options);
  if (!form) return fail(form.error());
  const auto bytes = bytes_for(request);
  if (!bytes) return fail(bytes.error());
  return bare(parquet_filter_in(owned_storage::make(*bytes)), {*form});
}

}  // namespace parquet_format
}  // namespace

dialect parquet_dialect() noexcept {
  return {"parquet",
          "Apache Parquet's split block filters: a bare one, or those of a Parquet file's column",
          "XXH64 only; a bare filter does not store its column's type",
          parquet_format::options,
          parquet_format::looks_like,
          parquet_format::open_filter,
          parquet_format::create_filter};
}

}  // namespace bloomset::dialects
