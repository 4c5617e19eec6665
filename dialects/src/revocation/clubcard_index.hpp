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
#include "clubcard.hpp"

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

/// An interval of a log in which that file covers all certificates.
struct covered_interval {
  log_interval interval;
  std::size_t file = 0;
};
std::vector<covered_interval> intervals_of(const clubcard_index& index);
/// The intervals of one filter, as file 0.
std::vector<covered_interval> intervals_of(const clubcard& card);

/// An index of version 1. Fails with incompatible for a name that an index cannot store, and with
/// full for too many files or intervals of a log.
result<std::vector<std::byte>> write_clubcard_index(std::span<const std::string> files,
                                                    std::vector<covered_interval> intervals);

/// Whether the bytes begin as an index.
bool is_clubcard_index(std::span<const std::byte> bytes) noexcept;

/// Fails with corrupt. Memory is in proportion to the bytes.
result<clubcard_index> read_clubcard_index(std::span<const std::byte> bytes);

}  // namespace bloomset::dialects
