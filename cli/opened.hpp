#pragma once

// Filters as the verbs find them: our own files, or those of other programs.

#include <bloomery/any_filter.hpp>
#include <bloomery/dialects/dialect.hpp>
#include <bloomery/result.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli11_fwd.hpp"

namespace bloomery::cli {

/// How a file of another program is to be read, alike on every verb that reads one.
struct format_options {
  std::string format;             ///< a dialect's name; empty is by content
  std::string column;             ///< of a Parquet file
  std::vector<std::string> with;  ///< NAME=VALUE, the dialect's own options

  /// Declares --format, --column and --with.
  void declare(CLI::App& app);
};

/// NAME=VALUE pairs, apart.
result<dialects::option_list> read_pairs(const std::vector<std::string>& pairs);

/// The dialect of that name, for a sentence that begins with --format.
result<const dialects::dialect*> find_format(const std::string& name);

using opened_filter = std::variant<any_filter, dialects::foreign_filter>;

/// Opens a filter file. One that has our signature is ours whatever the options say; another is
/// taken for the format that they name, or for the one that its content tells.
result<opened_filter> open_filter(const std::string& name, const format_options& options,
                                  access how = access::read_only,
                                  verification verify = verification::automatic);

/// Why a verb that takes our own filters only could not open this file: `why`, or that it is another
/// program's.
failure not_ours(failure why, std::string_view verb, const std::string& name);

/// Writes a filter of either sort; `target` is a file or - for stdout.
result<void> write_filter(const opened_filter& filter, const std::string& target, if_exists policy);
result<void> write_filter(const dialects::foreign_filter& filter, const std::string& target,
                          if_exists policy);

}  // namespace bloomery::cli
