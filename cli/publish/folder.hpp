#pragma once

// The folder that `publish` writes: its files, and the manifest that replaces the one before.

#include <bloomset/file.hpp>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "publish/manifest.hpp"

namespace bloomset::cli {

/// A folder, the manifest that is in it, and the one that is being made.
struct folder_change {
  std::filesystem::path folder;
  std::optional<manifest> before;
  manifest after;
  std::vector<std::string> summary;  ///< parts of a sentence

  std::string path(const std::string& name) const { return (folder / name).string(); }
};

/// Creates the folder in one that exists, unless it is there already.
result<void> make_folder(const std::string& name);

/// Reads the manifest of a folder, if it has one.
result<folder_change> open_folder(const std::string& name);

/// Writes a file of the folder. A file of the same name has the same content.
result<published_file> add_file(const folder_change& change, std::span<const std::byte> bytes,
                                std::string name);

/// A file of the folder. Fails with corrupt if it is not the one of the manifest.
result<mapped_storage> published_bytes(const folder_change& change, const published_file& file);

/// Makes a filter file the base, with a patch to it from the base before. Messages call it `name`.
result<void> replace_base(folder_change& change, const mapped_storage& bytes,
                          const std::string& name);

/// Writes the manifest, which all its files precede. Then removes the published files that neither
/// it nor the manifest before names, so that who reads the one before still finds its files.
result<void> write_manifest(const folder_change& change);

}  // namespace bloomset::cli
