#pragma once

#include <bloomset/result.hpp>
#include <string>
#include <string_view>

namespace bloomset::keys {

struct canonical_host {
  std::string text;  ///< not escaped
  bool is_address = false;
};

/// The canonical form of a host that is fully unescaped: a name, an IPv4 address in any encoding,
/// or an IPv6 address in its brackets. Fails for an empty host, and for one of more than 255 bytes.
result<canonical_host> canonicalise_host(std::string_view host);

}  // namespace bloomset::keys
