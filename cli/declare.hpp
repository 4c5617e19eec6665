#pragma once

// How verbs declare their arguments: those few things of CLI11 that they need, so that its header
// is compiled in few files.

#include <string>
#include <vector>

#include "cli11_fwd.hpp"

namespace bloomery::cli {

/// An argument that was declared. Each call says more of it.
class declared {
 public:
  explicit declared(CLI::Option& option) noexcept : option_(&option) {}

  declared required() const;
  /// What help calls its value: "FILE".
  declared value(const std::string& name) const;
  /// One value each time, however often it is given, so that what follows is never swallowed.
  declared one_value_a_time() const;
  declared at_least(int values) const;
  declared one_of(const std::vector<std::string>& choices) const;
  /// In the place of the meaning that it was declared with.
  declared meaning(const std::string& text) const;

 private:
  CLI::Option* option_;
};

/// An option by its names ("-o,--output"), or an argument by its place ("FILE"). `into` has to live
/// until the command line is parsed.
declared option(CLI::App& app, const std::string& names, std::string& into,
                const std::string& meaning);
declared option(CLI::App& app, const std::string& names, std::vector<std::string>& into,
                const std::string& meaning);
declared flag(CLI::App& app, const std::string& names, bool& into, const std::string& meaning);

/// The one that was declared by that name; there has to be one.
declared declared_before(CLI::App& app, const std::string& name);

}  // namespace bloomery::cli
