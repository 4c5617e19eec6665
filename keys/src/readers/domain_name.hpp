#pragma once

// Names of domains, as DNS has them.

#include <bloomset/result.hpp>
#include <string>
#include <string_view>

namespace bloomset::keys {

/// Sets `name` to the normal form of a domain: in lower case, with Punycode for other letters than
/// those of ASCII (UTS #46, non-transitional, as in browsers and mail programs), and without the
/// dot of the root. Fails with invalid_argument if a part of it is empty or longer than 63 bytes,
/// if it has more than 253 bytes, or other characters than letters, digits, - and _.
result<void> read_domain_name(std::string_view text, std::string& name);

}  // namespace bloomset::keys
