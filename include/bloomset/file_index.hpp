#pragma once

/// In which of many files is a key? One static structure for all files answers in one probe, where
/// a filter for each file has to be queried file by file.
///
///     const auto index = bloomset::open_file_index("all.which");
///     if (!index) return report(index.error());
///     for (const std::uint32_t file : index->files_of("alice")) print(index->name(file));

#include <bloomset/defaults.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/core/valued_hash.hpp>
#include <bloomset/file.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/hash_source.hpp>
#include <bloomset/image.hpp>
#include <bloomset/property.hpp>
#include <bloomset/result.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomset {

/// The hash of a key, and as its value the number of a file that has the key, from 0.
using file_key = detail::valued_hash;
/// The keys of all files, in any order and with any repetitions.
using file_key_source = basic_hash_source<file_key>;

/// Keeps keys during a build, 12 bytes each, so that they need not fit into memory. A program that
/// has a place for them derives from it.
class file_key_store {
 public:
  file_key_store() = default;
  file_key_store(const file_key_store&) = delete;
  file_key_store& operator=(const file_key_store&) = delete;
  virtual ~file_key_store() = default;

  /// Appends keys. One call at a time.
  virtual result<void> add(std::span<const file_key> keys) = 0;
  /// All keys that were added, once there are no more. The store outlives the source.
  virtual result<file_key_source> source() = 0;
};

/// A request for a build.
struct file_index_spec {
  std::vector<std::string> names;  ///< of the files, by their numbers; at least one byte each
  double fpr = default_fpr;        ///< 1e-8 .. 1/2; see file_index
  hash_seed seed = {};             ///< that the keys were hashed with
  unsigned threads = 0;            ///< 0: one per core; the result is the same
  /// Makes a store; called twice. Without it, stores are in memory.
  std::function<result<std::unique_ptr<file_key_store>>()> make_store = nullptr;
};

/// The files of each key of a batch, one after the other.
struct file_lists {
  std::vector<std::uint32_t> files;  ///< numbers, ascending for each key
  std::vector<std::size_t> ends;     ///< per key, where its files end in `files`

  /// The files of a key of the batch.
  std::span<const std::uint32_t> of(std::size_t key) const noexcept {
    const std::size_t begin = key == 0 ? 0 : ends[key - 1];
    return std::span(files).subspan(begin, ends[key] - begin);
  }
};

/// A static map from the keys of N files to the files that have them.
///
/// Answer      A key of the files: exactly its files. Another key: no file, except with
///             probability fpr, whatever N is. Keys with equal 64-bit hashes are one key.
/// Size        log2(1/fpr) + H bits per distinct key, times 0.95 to 1.04, where H is the entropy of
///             a key's files: log2 N if each key is in one file and files have equal sizes. N
///             filters with the same rate in total need log2(N / fpr) bits, and N probes.
/// Query       O(1) and one cache miss for most other keys; two to three for members. Batches are
///             faster.
/// Build       From all keys at once. Adding a file is a build of a new index. The same keys and
///             names give the same bytes in any order and with any number of threads.
/// Memory      of a build, besides source and stores: at most 192 MiB or 4 bytes per key, whichever
///             is more; up to 256 MiB for lists that several keys share; the result twice.
/// Threads     Concurrent queries are safe.
/// Copies      share the bytes.
class file_index {
 public:
  static constexpr filter_kind kind = filter_kind::file_index;
  static constexpr std::uint16_t kind_version = 1;
  static constexpr std::size_t max_files = std::size_t{1} << 24;

  /// Builds the index of these keys. Fails with invalid_argument if the rate is out of its range, a
  /// name is empty, there are no files or too many, or a key has a file without a name; with
  /// out_of_memory; and as the source or a store does. Reads the source two to four times.
  static result<file_index> build(const file_index_spec& spec, const file_key_source& keys);

  /// Opens the index of a file over its mapped bytes. Fails with incompatible for a filter, with
  /// invalid_argument if the file is locked (see unlock()), with corrupt or unsupported.
  /// O(files + classes).
  static result<file_index> open(const stored_filter& stored);

  filter_hasher hash_function() const noexcept;
  std::size_t files() const noexcept;  ///< N
  /// The name of a file. Precondition: file < files(). Valid while an index shares the bytes.
  std::string_view name(std::size_t file) const noexcept;
  /// Distinct keys.
  std::uint64_t size() const noexcept;
  std::uint64_t size_in_bytes() const noexcept;
  /// The fpr of the build.
  double planned_fpr() const noexcept;
  /// The probability that a key of no file is given one.
  double current_fpr() const noexcept;

  label_list& labels() noexcept { return labels_; }
  const label_list& labels() const noexcept { return labels_; }

  /// The numbers of the files that have a key, ascending.
  std::vector<std::uint32_t> files_of(hash64 h) const;
  /// The same for a key.
  template <key K>
  std::vector<std::uint32_t> files_of(const K& k) const {
    detail::number_bytes number;
    return files_of(detail::hash_of(hash_function(), k, number));
  }
  /// The same for a batch of hashes, in `lists`, whose memory is used again.
  void files_of(std::span<const hash64> hashes, file_lists& lists) const;

  /// Name, size and rate, as `bloomset info` shows them.
  std::vector<property> figures() const;

  /// The stored form, which refers to this index.
  filter_image image() const;

 private:
  explicit file_index(std::shared_ptr<const void> body) noexcept : body_(std::move(body)) {}

  std::shared_ptr<const void> body_;  // a detail::file_index_body, which a shared library hides
  label_list labels_;
};

/// Maps the index in a file. `key` is for an index that was made with a secret key; see unlock().
result<file_index> open_file_index(const std::filesystem::path& path,
                                   verification how = verification::automatic,
                                   const std::optional<hash_key>& key = {});

/// Saves an index in one step; see write_file.
result<void> save(const file_index& index, const std::filesystem::path& path,
                  if_exists policy = if_exists::replace);

}  // namespace bloomset
