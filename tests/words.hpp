#pragma once

// Keys, results and bytes for tests, without a test framework.

#include <bloomery/file.hpp>
#include <bloomery/result.hpp>
#include <bloomery/storage.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomery::test {

/// The value. A failure ends the test with its sentence.
template <class T>
T value_of(result<T> made) {
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}
inline void value_of(const result<void>& done) {
  if (!done) throw std::runtime_error(done.error().message);
}

/// `prefix` and a number: keys of different prefixes are disjoint.
inline std::string word(std::string_view prefix, std::uint64_t i) {
  return std::string(prefix) + "-" + std::to_string(i);
}
inline std::vector<std::string> words(std::string_view prefix, std::uint64_t n) {
  std::vector<std::string> all;
  for (std::uint64_t i = 0; i < n; ++i) all.push_back(word(prefix, i));
  return all;
}

/// Bytes as in a file, read and verified. They are aligned like a mapping.
inline result<stored_filter> read_bytes(std::span<const std::byte> bytes,
                                        verification how = verification::always,
                                        const std::string& name = "memory") {
  const auto owner = std::make_shared<owned_storage>(value_of(owned_storage::copy_of(bytes)));
  return read_stored(mapped_storage(owner, owner->bytes()), how, name);
}

}  // namespace bloomery::test
