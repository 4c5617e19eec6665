#pragma once

// Declarations of arguments: the part of CLI11 that verbs need. Its header takes ten seconds to
// compile, so few files include it. Also the reading of arguments.

#include <array>
#include <bloomset/result.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "terminal/cli11_fwd.hpp"

namespace bloomset::cli {

/// The headings that options are shown under, in this order.
namespace headings {
inline constexpr const char* filter = "Filter";
inline constexpr const char* input = "Input";
inline constexpr const char* size = "Size";
inline constexpr const char* kind = "Kind and hash";
inline constexpr const char* output = "Output";
inline constexpr const char* limits = "Limits";
inline constexpr std::array in_order = {filter, input, size, kind, output, limits};
}  // namespace headings

/// Comes before a word that CLI11 would not take as it is: behind `--`, one that looks like an
/// option; anywhere, one in brackets, which would be read as a list. An argument removes it. The
/// word `-x` is then the file `./-x`, or the text `-x`.
inline constexpr char word_mark = '\x01';

/// A declared argument. Each call adds a property.
class declared {
 public:
  explicit declared(CLI::Option& option) noexcept : option_(&option) {}

  declared required() const;
  /// The name of its value in help: "FILE". An empty value is refused: a script may have
  /// --option "$N" with N not set.
  declared value(const std::string& name) const;
  /// One value per use, however often it is used, so that the next argument is never part of it.
  declared one_value_per_use() const;
  declared at_least(int values) const;
  declared one_of(const std::vector<std::string>& choices) const;
  /// The heading that it is shown under in the help of a verb with many options: one of `headings`,
  /// or one of them and a remark.
  declared under(const std::string& heading) const;
  /// A positional argument that is text and not a file.
  declared as_text() const;
  /// Replaces the meaning.
  declared meaning(const std::string& text) const;

 private:
  CLI::Option* option_;
};

/// An option ("-o,--output") or a positional argument ("FILE"). `into` must outlive the parsing of
/// the command line.
declared option(CLI::App& app, const std::string& names, std::string& into,
                const std::string& meaning);
declared option(CLI::App& app, const std::string& names, std::vector<std::string>& into,
                const std::string& meaning);
declared flag(CLI::App& app, const std::string& names, bool& into, const std::string& meaning);

/// The argument of that name. Precondition: it is declared.
declared find_declared(CLI::App& app, const std::string& name);

/// The same outcome. "NAME: " of the option or file precedes the sentence of a failure.
template <class T>
result<T> named(std::string_view name, result<T> outcome) {
  if (!outcome) outcome.error().message.insert(0, std::string(name) + ": ");
  return outcome;
}

/// Reads an option's text, for example by parse_rate. An option that was not given has an empty
/// text, and then `into` stays as it is.
template <class T>
result<void> read_option(std::string_view name, std::string_view text,
                         result<T> (*parse)(std::string_view), T& into) {
  if (text.empty()) return {};
  const auto value = named(name, parse(text));
  if (!value) return fail(value.error());
  into = *value;
  return {};
}

}  // namespace bloomset::cli
