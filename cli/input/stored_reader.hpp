#pragma once

// The reader that made the keys of a filter. The filter's labels name it.

#include <bloomset/any_filter.hpp>
#include <bloomset/result.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filters/opened.hpp"
#include "input/input_options.hpp"
#include "input/key_input.hpp"

namespace bloomset::cli {

/// The label with the text of --keys, and the label with the size of all keys in bytes.
inline constexpr std::string_view reader_label = "keys";
inline constexpr std::string_view key_bytes_label = "key-bytes";
/// The label with the text of --partition.
inline constexpr std::string_view partition_label = "partition";

/// A filter that a verb reads keys for, and its labels; null for a filter of another program, whose
/// format may have a reader for its keys.
struct labelled_filter {
  std::string_view name;
  const label_list* labels;
  std::string_view reader = {};
};
labelled_filter labelled(std::string_view name, const opened_filter& filter);

/// Sets the reader in `options` to the one that the filters name, unless it is given. Another than
/// they name is a warning, or a failure if `strict`. Fails if the filters do not agree.
result<void> choose_reader(input_options& options, std::span<const labelled_filter> filters,
                           std::string_view verb, bool strict);

/// Opens the input of a verb that reads keys for these filters, after choose_reader().
result<std::unique_ptr<key_input>> open_keys(input_options& options,
                                             std::span<const labelled_filter> filters,
                                             std::string_view verb, bool strict);

/// Warns if the keys of two filters that are combined were made by different readers. Filters
/// without a label, which another program may have made, are passed over.
void warn_of_readers(const labelled_filter& one, const labelled_filter& other,
                     std::string_view verb);

/// Whether filters with these labels make the same keys of an input.
bool have_one_reader(const label_list& one, const label_list& other);

/// A sentence if no key of the input has the size of all keys in the filter; empty if some may have
/// it, or if the size is not known.
std::string other_key_size(const labelled_filter& filter, const key_input& input);

/// Fails if a reader's text, given by this option, cannot be a filter's label: names of columns and
/// fields have no control characters.
result<void> check_name(std::string_view option, std::string_view reader);

/// Sets the labels of a filter whose keys were all read from this input. Lines that are keys
/// themselves, as other programs insert them too, leave no label.
result<void> label_keys(label_list& labels, const key_input& input);
/// Updates them after more keys were added.
void label_more_keys(label_list& labels, const key_input& input);

/// Reads NAME=VALUE texts of --label into labels.
result<label_list> read_labels(const std::vector<std::string>& pairs);

}  // namespace bloomset::cli
