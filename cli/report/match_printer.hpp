#pragma once

// The lines that a check selects, as text or JSON.

#include <cstdint>
#include <span>
#include <string>

#include "filters/query.hpp"
#include "input/key_input.hpp"
#include "terminal/output.hpp"

namespace bloomset::cli {

/// What precedes each printed line, besides the names of filters.
struct shown_places {
  bool files = false;
  bool lines = false;
};

/// Prints the selected lines of a batch. With several filters, the names of the matching
/// filters and a tab precede each line. Then follow the places, as grep prints them.
/// Threads may print at once if places are not shown.
class match_printer {
 public:
  match_printer(const query& asked, const key_input& input, shown_places places)
      : asked_(asked), input_(input), places_(places) {}

  /// Appends the lines to an output or a std::string.
  template <class Out>
  void print(const key_batch& batch, const answers& said, Out& out) const;
  /// The positions of secret lines.
  void print_positions(const key_batch& batch, const answers& said, output& out) const;
  /// A sentence for the one line of a prompt.
  void print_verdict(const answers& said, output& out) const;
  /// One JSON object per selected line.
  void print_json(const key_batch& batch, const answers& said, output& out) const;

  std::string totals_json(std::uint64_t selected, std::span<const std::uint64_t> hits) const;

 private:
  template <class Out, class NameOf>
  void append_names(const answers& said, std::size_t line, Out& out, NameOf&& name_of) const;
  template <class Out>
  void append_place(std::uint64_t line, Out& out) const;
  void append_record(const key_batch& batch, const answers& said, std::size_t line,
                     output& out) const;
  bool names_filters() const noexcept {
    return asked_.filters() > 1 && asked_.selects() == selection::members;
  }

  const query& asked_;
  const key_input& input_;
  shown_places places_;
};

}  // namespace bloomset::cli
