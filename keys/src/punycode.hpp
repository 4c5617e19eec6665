#pragma once

#include <bloomset/result.hpp>
#include <string>
#include <string_view>

namespace bloomset::keys {

/// A label of a host name, or several, in ASCII by UTS #46, non-transitional, as browsers convert
/// it (symbols are allowed). Fails with a sentence's end: the reason. O(size) for each label.
result<std::string> ascii_label(std::string_view label);

}  // namespace bloomset::keys
