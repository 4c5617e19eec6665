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
result<dialects::option_list> read_pairs(const std::vector<std::string>& pairs,
                                         std::string_view flag);

/// The dialect of that name, for a sentence that begins with --format.
result<const dialects::dialect*> find_format(const std::string& name);

using opened_filter = std::variant<any_filter, dialects::foreign_filter>;

/// Opens the filters of a verb, each with those options that are of its format: they may be of
/// several programs.
class filter_opener {
 public:
  static result<filter_opener> make(const format_options& options);

  /// Opens a filter file. One that has our signature is ours whatever the options say; another is
  /// taken for the format that they name, or for the one that its content tells.
  result<opened_filter> open(const std::string& name, access how = access::read_only,
                             verification verify = verification::automatic);

  /// Fails if an option was given that none of the filters opened so far has a use for.
  result<void> all_used() const;

 private:
  filter_opener() = default;
  result<opened_filter> open_foreign(const std::string& name, const mapped_storage& bytes,
                                     access how, verification verify);

  const dialects::dialect* format_ = nullptr;  // if it is named
  bool column_ = false;                        // whether one is
  dialects::option_list options_;
  std::vector<bool> used_;                      // of each option
  std::vector<const dialects::dialect*> seen_;  // formats of the filters that were opened
  std::string ours_;                            // a file of our own among them
};

/// Opens the one filter of a verb.
result<opened_filter> open_filter(const std::string& name, const format_options& options,
                                  access how = access::read_only,
                                  verification verify = verification::automatic);

/// Why a verb that takes our own filters only could not open this file: `why`, or that it is
/// another program's.
failure not_ours(failure why, std::string_view verb, const std::string& name);

/// Writes a filter of either sort; `target` is a file or - for stdout. `force` replaces a file.
result<void> write_filter(const opened_filter& filter, const std::string& target, bool force);
result<void> write_filter(const any_filter& filter, const std::string& target, bool force);
result<void> write_filter(const dialects::foreign_filter& filter, const std::string& target,
                          bool force);

}  // namespace bloomery::cli
