#pragma once

// The index of a folder of clubcards (upkiidx0 and upkiidx1): per log, the intervals of time that
// each filter covers.

#include <array>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "certificate.hpp"

namespace bloomset::dialects {

struct clubcard_index {
  struct entry {
    std::size_t file = 0;
    std::uint64_t low = 0;
    std::uint64_t high = 0;
  };
  struct log {
    std::span<const std::byte> id;
    std::vector<entry> entries = {};
  };

  unsigned version = 1;
  std::vector<std::string> files;
  std::vector<log> logs;  ///< sorted

  /// The files, each once, with an interval that holds one of the entries.
  std::vector<std::size_t> files_for(std::span<const log_entry> of) const;
};

/// Whether the bytes begin as an index.
bool is_clubcard_index(std::span<const std::byte> bytes) noexcept;

/// Fails with corrupt. Memory is in proportion to the bytes.
result<clubcard_index> read_clubcard_index(std::span<const std::byte> bytes);

}  // namespace bloomset::dialects
