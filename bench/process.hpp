#pragma once

// What the kernel knows of memory, and other programs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// Bytes of this process that are in memory.
std::uint64_t memory_now();
/// Forgets this process's peak; the bytes in memory, or nothing where the kernel has no such
/// switch.
std::optional<std::uint64_t> begin_peak();
/// The most bytes of this process that were in memory since then.
std::uint64_t peak_memory();
/// Bytes that programs may still have without swapping.
std::uint64_t memory_left();

/// Where the shell would find a program; empty if nowhere.
std::string find_program(const std::string& name);

struct finished {
  double seconds = 0;      ///< of the wall
  std::uint64_t peak = 0;  ///< bytes in memory at most
};

/// Runs a program with that file as its stdin and its output thrown away. Throws std::runtime_error
/// where it cannot be started, is ended by a signal or ends with a status other than 0.
finished run_program(const std::vector<std::string>& words, const std::string& input = "/dev/null");

/// A new folder in that one, removed with all that is in it.
class scratch_folder {
 public:
  explicit scratch_folder(const std::string& in);
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder();

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::uint64_t room() const;  ///< bytes that may still be written

 private:
  std::string path_;
};

}  // namespace bench
