#pragma once

// The headers of HTTP answers, and their agreement with what was requested.

#include <bloomset/detail/core/byte_interval.hpp>
#include <bloomset/result.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "remote/byteranges.hpp"
#include "remote/transfer.hpp"

namespace bloomset::cli {

/// The headers of an answer.
struct answer {
  long status = 0;
  std::optional<std::uint64_t> length;
  std::string type;
  std::string range;
  std::string etag;
  std::string modified;
  std::string encoding;

  /// Reads a header line. A status line begins a new answer: redirects have answers, too.
  void take(std::string_view line);
};

/// The text without space at both ends.
std::string_view trimmed(std::string_view text) noexcept;

/// The state of a file of that size, by an answer.
file_version version_of(const answer& head, std::uint64_t size);

/// Checks that an answer is a part of the same file that begins where it was requested to and ends
/// there at the latest. `known` is null before the first answer.
result<content_range> part_of(const answer& head, byte_interval wanted, const file_version* known);

// Failures of a transfer.
failure changed_on_server();
failure wrong_range(const answer& head, std::string_view wanted);
failure more_than_told();
failure less_than_told();

}  // namespace bloomset::cli
