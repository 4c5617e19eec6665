#pragma once

/// Named figures of plans and filters. Every edge shows the same list of them: the command line as
/// text and JSON, SQL and C as JSON, Python as a dictionary.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bloomset {

/// A named figure.
struct property {
  std::string name;  ///< snake_case, with its unit where it has one
  /// std::monostate if the filter has no such value. A vector of properties is a group of figures,
  /// such as those that only one kind has.
  std::variant<std::monostate, bool, std::uint64_t, double, std::string, std::vector<std::string>,
               std::vector<property>>
      value;
};

/// The property of that name, or null.
const property* find_property(const std::vector<property>& list, std::string_view name) noexcept;

/// The list as a JSON object in one line. Groups are objects. Absent values, and real numbers that
/// JSON does not have, such as infinity, are null. Bytes that are not UTF-8 become U+FFFD.
std::string to_json(const std::vector<property>& list);

}  // namespace bloomset
