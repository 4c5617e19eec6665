#pragma once

// Lines on disk, of which some are printed at the end.

#include <bloomset/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memory/temporary_file.hpp"
#include "terminal/output.hpp"

namespace bloomset::cli {

/// Lines in a temporary file, numbered from 0. Memory: a bit for each line.
class waiting_lines {
 public:
  static result<waiting_lines> make(char end);

  const std::string& folder() const noexcept { return file_.folder(); }
  std::uint64_t size() const noexcept { return is_chosen_.size(); }

  result<void> add(std::string_view line, bool is_chosen);
  void choose(std::uint64_t line) noexcept { is_chosen_[line] = true; }
  /// Chooses the other lines instead.
  void invert() noexcept { is_chosen_.flip(); }
  std::uint64_t chosen() const noexcept;

  /// Prints the chosen lines in their order.
  result<void> print(output& out);

 private:
  waiting_lines(temporary_file file, char end) : file_(std::move(file)), end_(end) {}

  result<void> write();

  temporary_file file_;
  char end_;
  std::vector<char> buffer_;
  std::vector<bool> is_chosen_;
};

}  // namespace bloomset::cli
