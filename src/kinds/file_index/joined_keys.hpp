#pragma once

// The keys of all files, joined: each distinct hash with the list of its files.

#include <bloomset/file_index.hpp>
#include <bloomset/result.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// Ascending numbers of files, of which short lists need no allocation.
using file_list = std::u32string;
using file_list_view = std::u32string_view;

/// Calls `use(thread, hash, files)` once for each distinct hash, with several threads. The memory
/// is that of for_each_shard().
result<void> for_each_joined_key(
    const file_key_source& keys, unsigned threads,
    const std::function<result<void>(unsigned thread, hash64 h, file_list_view files)>& use);

struct file_list_hash {
  using is_transparent = void;
  std::size_t operator()(file_list_view list) const noexcept;
};
template <class Value>
using file_list_map =
    std::unordered_map<file_list, Value, file_list_hash, std::equal_to<>>;  // NOLINT: transparent

/// The lists of two files or more that are worth an entry in a table, sorted: those that are
/// cheaper there than key by key. They do not depend on the order of the keys. Lists that are held
/// at once have at most `max_bytes`. Beyond that, only a sample of the keys is counted.
result<std::vector<file_list>> choose_lists(const file_key_source& keys, std::size_t files,
                                            unsigned threads, std::uint64_t max_bytes);

}  // namespace bloomset::detail

#pragma GCC visibility pop
