#pragma once

/// Filters that are queried without having their whole file: over a network, for example. Memory
/// has the size of the file, but only the bytes that queries read are fetched into it. The answers
/// are computed by the same code as those of a whole file, so they are the same.
///
///     bloomset::blocked_bloom members({.capacity = 1'000'000, .fpr = 0.01});
///     const auto elsewhere = bloomset::serialize(members.image());  // the file, on a server
///     auto file = bloomset::partial_file::make(elsewhere.size());
///     const auto fetch = [&](const std::vector<bloomset::byte_interval>& missing) {
///       for (const auto [begin, end] : missing) {
///         file->put(begin, std::span(elsewhere).subspan(begin, end - begin));
///       }
///       return !missing.empty();
///     };
///     while (fetch(*bloomset::missing_to_open(*file, "members.bloom"))) {
///     }
///     auto stored = bloomset::read_stored(file->storage(), bloomset::verification::header,
///                                         "members.bloom");
///     auto filter = bloomset::open_any(*stored, bloomset::access::read_only, "members.bloom");
///     const std::vector<std::string_view> keys = {"alice@example.com"};
///     while (fetch(bloomset::missing_to_query(*file, *filter, keys))) {
///     }
///     if (filter->may_contain("alice@example.com")) ask_the_database();
///
/// docs/reference/format.md ("Reading a part of a file") has the number of bytes and steps for each
/// kind. The checksum of the header is checked, that of the payload cannot be.

#include <bloomset/any_filter.hpp>
#include <bloomset/detail/core/byte_interval.hpp>
#include <bloomset/result.hpp>
#include <bloomset/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomset {

/// Memory for a file of which only some bytes are there; the others are zeros.
///
/// Space       Address space for the whole file. Memory for the pages that have bytes, and 50 bytes
///             for each run of bytes.
/// Threads     put() needs exclusive access to this object and to all filters over its storage.
class partial_file {
 public:
  /// Fails with out_of_memory if the system has no address space of that size.
  static result<partial_file> make(std::uint64_t size);

  std::uint64_t size() const noexcept { return size_; }
  /// The whole file, which stays in memory as long as the storage or this object lives.
  const mapped_storage& storage() const noexcept { return storage_; }

  /// Whether all bytes of the range are there. An empty range always is.
  bool has(byte_interval range) const noexcept;
  /// Copies bytes into the file. Precondition: at + bytes.size() <= size().
  void put(std::uint64_t at, std::span<const std::byte> bytes);
  /// The number of bytes that are there.
  std::uint64_t bytes_present() const noexcept { return present_; }

 private:
  partial_file(std::byte* bytes, std::uint64_t size, mapped_storage storage)
      : bytes_(bytes), size_(size), storage_(std::move(storage)) {}

  std::byte* bytes_;
  std::uint64_t size_;
  mapped_storage storage_;
  std::map<std::uint64_t, std::uint64_t> runs_;  // from the begin to the end of each run of bytes
  std::uint64_t present_ = 0;
};

/// The bytes to fetch before the file can be opened, in ascending order and without overlaps. They
/// depend on each other: fetch them and call again, until the list is empty. read_stored() with
/// verification::header then opens the file's storage. The first 4096 bytes are the first step, and
/// mostly the only one.
///
/// Fails with corrupt if the file is damaged as far as that can be seen, and with unsupported if
/// it is of an unknown version or if filters of its kind cannot be queried in part. The messages
/// call the file `name`.
result<std::vector<byte_interval>> missing_to_open(const partial_file& file,
                                                   const std::string& name);

/// The bytes to fetch before `filter`, which is open over the storage of `file`, can answer for
/// these keys, in ascending order and without overlaps. Fetch them and call again, until the list
/// is empty: after at most two rounds in most kinds.
std::vector<byte_interval> missing_to_query(const partial_file& file, const any_filter& filter,
                                            std::span<const std::string_view> keys);

}  // namespace bloomset
