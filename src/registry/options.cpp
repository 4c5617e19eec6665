#include "registry/options.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <type_traits>

#include "core/format.hpp"

namespace bloomset::detail {
namespace {

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  if constexpr (std::is_floating_point_v<Number>) {
    return real_number(text);
  } else {
    Number value{};
    const char* end = text.data() + text.size();
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): its size is in `end`
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return value;
  }
}

template <class Number>
result<void> read(const plan_request& request, std::string_view name, Number& value,
                  std::string_view what) {
  const std::string_view text = option_text(request, name, "");
  if (text.empty()) return {};
  const auto number = number_of<Number>(text);
  if (!number) {
    return format_failure(errc::invalid_argument, "the option {}={} is not {}; give a number", name,
                          text, what);
  }
  value = *number;
  return {};
}

}  // namespace

result<void> check_options(const plan_request& request, std::string_view kind,
                           std::span<const kind_option> known) {
  std::vector<std::string_view> names;
  for (const kind_option& option : known) names.push_back(option.name);
  for (const auto& [name, text] : request.options) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return format_failure(errc::invalid_argument,
                          "a filter of kind {} has no option '{}'; it has {}", kind, name,
                          names.empty() ? "none" : join(names, ", "));
  }
  return {};
}

std::string_view option_text(const plan_request& request, std::string_view name,
                             std::string_view otherwise) noexcept {
  std::string_view text = otherwise;
  for (const auto& given : request.options) {
    if (given.first == name) text = given.second;
  }
  return text;
}

result<void> read_foldable(const plan_request& request, bool& value) {
  const std::string_view text = option_text(request, foldable_option.name, "no");
  value = text == "yes";
  if (value || text == "no") return {};
  return format_failure(errc::invalid_argument, "the option foldable={} is not yes or no", text);
}

result<void> read_option(const plan_request& request, std::string_view name, unsigned& value) {
  return read(request, name, value, "a whole number");
}

result<void> read_option(const plan_request& request, std::string_view name, double& value) {
  return read(request, name, value, "a number");
}

result<void> read_positive_option(const plan_request& request, std::string_view name,
                                  unsigned& value) {
  if (auto ok = read_option(request, name, value); !ok) return ok;
  if (value != 0 || option_text(request, name, "").empty()) return {};
  return format_failure(errc::invalid_argument,
                        "the option {}=0 is not possible; leave it out to have it chosen", name);
}

}  // namespace bloomset::detail
