#pragma once

// The keys of many files with the numbers of their files, for an index that need not fit into
// memory.

#include <array>
#include <bloomset/file_index.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "memory/spool.hpp"

namespace bloomset::cli {

/// Keeps keys in memory up to a limit in bytes, then in a temporary file.
class file_key_spool final : public file_key_store {
 public:
  /// `notice` is called with the folder of the file.
  file_key_spool(std::function<void(const std::string& folder)> notice, std::size_t limit);

  result<void> add(std::span<const file_key> keys) override;
  result<file_key_source> source() override;

 private:
  entry_spool<file_key> spool_;
  std::uint64_t size_ = 0;
};

/// Adds the hashes of the keys of a file to a store, without most repetitions: a hash that another
/// of the same file has followed in 2^16 places is dropped if it is still there.
class file_keys {
 public:
  explicit file_keys(file_key_store& store) : store_(store), recent_(places, none) {}

  /// Adds keys of a file. Precondition: its number is not less than in the calls before.
  result<void> add(std::size_t file, std::span<const hash64> hashes);
  std::uint64_t read() const noexcept { return read_; }  ///< keys, with all repetitions

 private:
  static constexpr std::size_t places = std::size_t{1} << 16;
  static constexpr std::size_t batch = 1024;
  static constexpr file_key none{hash64{0}, 0xffffffff};  // no file has this number

  file_key_store& store_;
  std::vector<file_key> recent_;
  std::array<file_key, batch> kept_;
  std::uint64_t read_ = 0;
};

}  // namespace bloomset::cli
