#pragma once

/// From records to keys: how lines, as applications have them, become what a filter is asked.
///
///     bloomery::blocked_bloom filter({.capacity = 1'000'000, .fpr = 0.01});
///     auto emails = bloomery::keys::make_reader("fields:2,;");
///     bloomery::keys::key_list keys;
///     if (auto ok = (*emails)->read("7;alice@example.com;2026", keys); !ok) report(ok.error());
///     filter.insert(keys.all());
///
/// A reader is named by a text, `NAME` or `NAME:ARGUMENT`, of which all() lists the names. Whoever
/// builds a filter with one asks it with the same one.

#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)  // a shared build shows it

namespace bloomery::keys {

/// The keys of many records, one after the other. Cleared and filled again it allocates nothing
/// once it has grown to the size of a batch. Keys stay where they are until clear(). Not to be used
/// by two threads at once.
class key_list {
 public:
  key_list() = default;
  key_list(key_list&& other) noexcept { swap(other); }
  key_list& operator=(key_list&& other) noexcept {
    swap(other);
    return *this;
  }
  key_list(const key_list&) = delete;
  key_list& operator=(const key_list&) = delete;
  ~key_list() = default;

  std::size_t size() const noexcept { return keys_.size(); }
  std::span<const std::string_view> all() const noexcept { return keys_; }

  /// Appends a key of that size, whose bytes the caller writes.
  char* make(std::size_t size) {
    if (size > left_) grow(size);
    char* const at = at_;
    keys_.emplace_back(at, size);
    at_ += size;
    left_ -= size;
    return at;
  }
  /// Appends a copy.
  void add(std::string_view key);
  /// Appends a key that stands elsewhere, as in the record, and stays there until clear().
  void refer(std::string_view key) { keys_.push_back(key); }

  /// Drops all keys but the first `size`. Precondition: there are as many.
  void truncate(std::size_t size) noexcept { keys_.resize(size); }
  void clear() noexcept;
  /// As clear(), and nothing that was copied here remains in memory.
  void wipe() noexcept;

 private:
  struct chunk {
    std::unique_ptr<char[]> bytes;  // NOLINT(modernize-avoid-c-arrays)
    std::size_t size;
  };

  void grow(std::size_t size);
  void swap(key_list& other) noexcept;

  std::vector<std::string_view> keys_;
  std::vector<chunk> chunks_;
  std::size_t in_use_ = 0;  // chunks, the last of which has left_ bytes from at_ on
  char* at_ = nullptr;
  std::size_t left_ = 0;
};

/// What keys are read for. Some lists name one thing that stands for many: who asks tries all of
/// those, who inserts means the one.
enum class purpose : std::uint8_t { insert, ask };

/// Reads records of one form. It may keep memory for its work, so that each thread needs a reader
/// of its own: make_reader() with the same text makes one that reads alike.
class reader {
 public:
  reader() = default;
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;
  virtual ~reader() = default;

  /// Appends the record's keys: none, one or several. A record is any bytes, without the end of its
  /// line; an empty one has no key, but with the reader `lines`. A failure says in one sentence
  /// what is wrong with the record (who reads knows where it stands); nothing is appended then.
  /// Keys may refer to the record's bytes.
  result<void> read(std::string_view record, key_list& keys) {
    const std::size_t before = keys.size();
    auto ok = read_record(record, keys);
    if (!ok) keys.truncate(before);
    return ok;
  }

  /// Says which file the records that follow are from: some formats put half of a key into names.
  virtual void begin_file(std::string_view name);

  /// For people: a key that read() made of the record, the one of that number. Bytes are shown as
  /// hexadecimal digits; a text as it is, which may be any bytes if the record has such.
  virtual std::string shown(std::string_view record, std::size_t number,
                            std::string_view key) const;

 private:
  virtual result<void> read_record(std::string_view record, key_list& keys) = 0;
};

/// One row of the registry.
struct reader_kind {
  std::string_view name;
  std::string_view argument;  ///< as help shows it, with the colon: ":N[,SEP]"; empty is none
  std::string_view summary;   ///< one sentence without its full stop: what a record is, and the key
  result<std::unique_ptr<reader>> (*make)(std::string_view argument, purpose why);
  /// Records are not to be shown, copied or kept, and nothing is to be built from them.
  bool secret = false;
  /// Who asks passes wrong records over and counts them: they come from others, such as senders.
  bool skips_asked = false;
  /// Whether a file belongs to the reader's format by its name, where whole folders do; else null.
  bool (*in_folder)(std::string_view name) noexcept = nullptr;
  std::uint64_t whole_folder = 0;  ///< such files that a folder has if none is missing; 0: any
  /// Whether a CR that ends a record, or a byte-order mark that begins it, may become part of a
  /// key.
  bool keeps_cr = false;
  bool keeps_mark = false;
};

/// All readers, in the order in which they are shown. The first, `lines`, takes records as they
/// are.
std::span<const reader_kind> all() noexcept;

/// The row that a text names. An unknown name is invalid_argument, with the names that exist.
result<const reader_kind*> find(std::string_view text);

/// A reader by its text, `NAME` or `NAME:ARGUMENT`. What is wrong with either is invalid_argument.
result<std::unique_ptr<reader>> make_reader(std::string_view text, purpose why = purpose::ask);

}  // namespace bloomery::keys

#pragma GCC visibility pop
