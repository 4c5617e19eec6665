#pragma once

// The manifest of a published filter (docs/reference/format.md, "Published folders").

#include <bloomset/labels.hpp>
#include <bloomset/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomset::cli {

inline constexpr const char* manifest_name = "manifest.json";

struct published_file {
  std::string name;
  std::uint64_t bytes = 0;
  std::string sha256;
};

/// A patch from one base to the next one.
struct published_patch {
  published_file file;
  std::string from;  ///< short_name() of the SHA-256 of the base that it changes
};

/// The first 16 digits of a SHA-256, by which files are named and found.
inline std::string short_name(std::string_view sha256) {
  return std::string(sha256.substr(0, 16));
}

/// Whether it has the form of a short_name().
bool is_short_name(std::string_view text) noexcept;

struct published_layer {
  published_file file;
  std::uint64_t keys = 0;
};

struct manifest {
  static constexpr std::uint64_t max_bytes = std::uint64_t{1} << 20;
  /// A publisher keeps so many patches, because each reader reads their list every time.
  static constexpr std::size_t max_patches = 24;
  /// Readers refuse a list of more.
  static constexpr std::size_t max_layers = 4096;

  std::uint64_t sequence = 0;  ///< higher than that of every manifest before
  std::string published;       ///< RFC 3339, UTC
  std::string valid_until;     ///< the same, or empty
  double max_fpr = 0;          ///< of base and layers together
  std::vector<std::pair<std::string, std::string>> labels;
  published_file base;
  std::vector<published_patch> patches;  ///< each continues the one before; the last one makes base
  std::vector<published_layer> layers;

  std::string text() const;
  /// Reads text(). Messages call it `name`. Fails with corrupt or unsupported.
  static result<manifest> read(std::string_view text, const std::string& name);

  /// The patches from the base with that SHA-256 to the present one; empty if there are none.
  std::vector<published_patch> patches_from(std::string_view sha256) const;
};

/// The time now, and a number of seconds later, in the form of the manifest.
std::string time_text(std::int64_t seconds_from_now);

}  // namespace bloomset::cli
