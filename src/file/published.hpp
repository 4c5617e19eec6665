#pragma once

#include <bloomset/file.hpp>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(hidden)

namespace bloomset::detail {

/// The files that a manifest names, as far as a query needs them.
struct published_names {
  std::string base;
  std::vector<std::string> layers;
  std::string valid_until;  ///< empty if there is no limit

  /// Reads a manifest (docs/reference/format.md, "Published folders"). Messages call it `name`.
  /// Fails with corrupt or unsupported.
  static result<published_names> read(std::string_view manifest, const std::string& name);
};

/// Opens the folder as map_file() does.
result<stored_filter> map_folder(const std::filesystem::path& folder, verification how);

}  // namespace bloomset::detail

#pragma GCC visibility pop
