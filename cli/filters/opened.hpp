#pragma once

// The filters of a verb: Bloomset files, or files of other programs.

#include <bloomset/any_filter.hpp>
#include <bloomset/dialects/dialect.hpp>
#include <bloomset/result.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "input/input_options.hpp"
#include "input/key_input.hpp"
#include "terminal/cli11_fwd.hpp"
#include "terminal/secret_key.hpp"

namespace bloomset::cli {

/// How to read a file of another program, the same for every verb that reads one.
struct format_options {
  std::string format;             ///< a dialect's name; empty: recognised by content
  std::string column;             ///< of a Parquet file
  std::vector<std::string> with;  ///< NAME=VALUE, the options of the dialect
  secret_key_option key;          ///< of Bloomset filters

  /// Declares --format, --column, --with and --key-file.
  void declare(CLI::App& app);
};

/// Splits NAME=VALUE pairs. A failure shows the flag with the example.
result<dialects::option_list> read_pairs(const std::vector<std::string>& pairs,
                                         std::string_view flag, std::string_view example);

/// The dialect of that name. A failure begins with "--format".
result<const dialects::dialect*> find_format(const std::string& name);

using opened_filter = std::variant<any_filter, dialects::foreign_filter>;

/// Opens the filters of a verb, which may be of several programs. Each receives only the options
/// that its format has.
class filter_opener {
 public:
  static result<filter_opener> make(const format_options& options);

  /// Opens a filter file, the folder of a published filter, or stdin if the name is "-". A file
  /// with the Bloomset signature is a Bloomset filter, whatever the options are. Another file has
  /// the format that they name, or else the one recognised by content. A filter that lacks parts of
  /// its keys is opened only with `parts`, which receives those that it has.
  result<opened_filter> open(const std::string& given, access how = access::read_only,
                             verification verify = verification::automatic,
                             key_parts* parts = nullptr);
  /// Opens the filter in these bytes, as open() opens a file's. Messages call it `name`.
  result<opened_filter> open_bytes(const mapped_storage& bytes, const std::string& name, access how,
                                   verification verify, key_parts* parts = nullptr);

  /// The info() of the filter in a file, which open() would open, or the figures of an index of
  /// files. It needs no secret key, but fails if one is given that is not the filter's.
  result<std::variant<filter_info, dialects::foreign_info, std::vector<property>>> info(
      const std::string& given);

  /// Fails if no filter opened so far has used one of the options.
  result<void> all_used() const;

 private:
  filter_opener() = default;
  /// The bytes of a filter. `shown` becomes its name in messages.
  result<mapped_storage> bytes_of(const std::string& name, std::string& shown);
  result<opened_filter> open_ours(result<stored_filter> stored, const std::string& name, access how,
                                  key_parts* parts);
  result<opened_filter> open_foreign(const std::string& name, const mapped_storage& bytes,
                                     access how, verification verify);

  std::optional<hash_key> key_;
  const dialects::dialect* format_ = nullptr;  // null: by content
  bool column_ = false;                        // whether --column is given
  bool has_read_stdin_ = false;
  dialects::option_list options_;
  std::vector<bool> used_;                      // per option
  std::vector<const dialects::dialect*> seen_;  // formats of the filters opened so far
  std::string ours_;                            // the last Bloomset file opened
};

/// The path of a filter that is read: that of stdin for "-".
inline std::string path_of_filter(const std::string& name) {
  return name == "-" ? "/dev/stdin" : name;
}

/// Opens the one filter of a verb, read-only.
result<opened_filter> open_filter(const std::string& name, const format_options& options,
                                  verification verify = verification::automatic);

/// The failure of a verb that accepts only Bloomset filters: `why`, or a sentence that names the
/// file's format if it is of another program.
failure not_ours(failure why, std::string_view verb, const std::string& name);

/// Writes a filter to a file, or to stdout if `target` is "-". `force` replaces an existing file.
/// `parts` are those that the filter has, unless it has all keys.
result<void> write_filter(const any_filter& filter, const std::string& target, bool force,
                          const key_parts& parts = {});
result<void> write_filter(const dialects::foreign_filter& filter, const std::string& target,
                          bool force);

/// The options of verbs that change a filter file by keys.
struct change_options {
  std::string target;
  input_options input;
  secret_key_option key;
  bool strict = false;
  bool quiet = false;

  /// Declares FILTER and --strict with these meanings, -q, --key-file and the options of keys.
  void declare(CLI::App& app, const std::string& filter, const std::string& strict_meaning);
};

/// A filter that a verb changes. Its file stays locked as long as this object lives.
struct filter_change {
  file_lock lock;
  any_filter filter;
  std::unique_ptr<key_input> input;
};

/// Locks the file, loads its filter and opens the keys for it. `check` refuses filters that the
/// verb cannot change.
result<filter_change> open_to_change(
    change_options& options, std::string_view verb,
    const std::function<result<void>(const any_filter& filter)>& check);

}  // namespace bloomset::cli
