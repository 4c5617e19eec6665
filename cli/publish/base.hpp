#pragma once

// The base of a publication: a filter without layers.

#include <bloomset/any_filter.hpp>
#include <bloomset/file.hpp>
#include <optional>
#include <string>

namespace bloomset::cli {

struct base_filter {
  stored_filter stored;
  any_filter filter;
};

/// Opens a filter without layers. Without its secret key, it shows its figures only. Messages call
/// it `name`.
result<base_filter> open_base(const mapped_storage& bytes, const std::string& name,
                              const std::optional<hash_key>& key);

/// Opens it for layers and exceptions, which need the hashes of keys: fails without its secret key,
/// and with unsupported unless keys have one hash of 64 bits.
result<base_filter> open_for_changes(const mapped_storage& bytes, const std::string& name,
                                     const std::optional<hash_key>& key);

}  // namespace bloomset::cli
