#pragma once

// Reading a kind's own options from a request, by name.

#include <bloomset/any_filter.hpp>
#include <bloomset/result.hpp>
#include <span>
#include <string_view>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// Refuses an option that the kind does not have. The message names those that it has.
result<void> check_options(const plan_request& request, std::string_view kind,
                           std::span<const kind_option> known);

/// The text of an option, or `otherwise` if it was not given. If it was given several times, the
/// last one counts.
std::string_view option_text(const plan_request& request, std::string_view name,
                             std::string_view otherwise) noexcept;

/// The option of kinds that fold.
inline constexpr kind_option foldable_option = {
    "foldable", "yes or no (default no)",
    "choose a size with many divisors, so that the filter can be folded to many smaller sizes; it "
    "is at most 0.5% larger, or 1 kB if that is more"};
result<void> read_foldable(const plan_request& request, bool& value);

/// Puts a kind's own option into `value` if it was given; refuses text that is no number.
result<void> read_option(const plan_request& request, std::string_view name, unsigned& value);
result<void> read_option(const plan_request& request, std::string_view name, double& value);

/// The same for numbers where zero in the spec means "find it", but a given zero is an error.
result<void> read_positive_option(const plan_request& request, std::string_view name,
                                  unsigned& value);

}  // namespace bloomset::detail

#pragma GCC visibility pop
