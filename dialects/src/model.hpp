#pragma once

// The interface behind a foreign filter.

#include <algorithm>
#include <bloomset/dialects/dialect.hpp>

namespace bloomset::dialects {

class foreign_filter::model {
 public:
  model() = default;
  model(const model&) = delete;
  model& operator=(const model&) = delete;
  virtual ~model() = default;

  virtual const dialect& format() const noexcept = 0;
  virtual foreign_info info() const = 0;
  virtual result<void> askable() const = 0;
  virtual bool takes_any_key() const noexcept = 0;
  virtual bool stores_key_type() const noexcept { return false; }
  virtual result<void> accepts(std::string_view key) const = 0;
  virtual std::string_view key_form_name() const noexcept = 0;
  virtual std::string_view key_reader() const noexcept { return {}; }
  virtual bool fits(std::string_view key) const = 0;
  virtual void may_contain(std::span<const std::string_view> keys,
                           std::span<bool> answers) const noexcept = 0;
  virtual bool covers_all_keys() const noexcept { return true; }
  virtual void covers(std::span<const std::string_view> keys,
                      std::span<bool> covered) const noexcept {
    std::fill_n(covered.begin(), keys.size(), true);
  }
  virtual result<insert_summary> insert(std::span<const std::string_view> keys) = 0;
  virtual result<void> merge(const model& other) = 0;
  /// Folds by the factor, or to the rate if the factor is 0.
  virtual result<foreign_filter> fold(std::uint64_t, double) const {
    return fail(errc::unsupported, "a filter of format " + std::string(format().name) +
                                       " cannot be folded; only Parquet filters can");
  }
  virtual result<foreign_filter> convert(const dialect& to, const option_list& options) const = 0;
  virtual result<foreign_image> image() const = 0;
};

/// The failure to change a filter that was opened read-only.
inline failure read_only() {
  return fail(errc::unsupported, "the filter was opened to be read only");
}

/// The failure for filters of two formats that have no bits in common.
failure other_format(const dialect& from, const dialect& to);

}  // namespace bloomset::dialects
