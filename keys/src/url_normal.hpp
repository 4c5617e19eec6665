#pragma once

#include <bloomset/result.hpp>
#include <string>
#include <string_view>

namespace bloomset::keys {

/// Appends the normal form of a URL, as normalise_url() returns it. After a failure `to` may have
/// the beginning of one.
result<void> append_normal_url(std::string& to, std::string_view url);

}  // namespace bloomset::keys
