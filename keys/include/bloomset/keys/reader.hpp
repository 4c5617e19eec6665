#pragma once

/// Key readers turn records, such as lines of an application's file, into the keys of a filter.
///
///     bloomset::blocked_bloom filter({.capacity = 1'000'000, .fpr = 0.01});
///     auto emails = bloomset::keys::make_reader("fields:2,;");
///     bloomset::keys::key_list keys;
///     if (auto ok = (*emails)->read("7;alice@example.com;2026", keys); !ok) report(ok.error());
///     filter.insert(keys.all());
///
/// A text names a reader: `NAME` or `NAME:ARGUMENT`. all() lists the names. Use the same reader to
/// build a filter and to query it.

#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)  // a shared build shows it

namespace bloomset::keys {

/// The keys of many records, one after the other. A list that is cleared and filled again allocates
/// nothing once it has the size of a batch. Keys do not move until clear(). Two threads must not
/// use one list at once.
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

  /// Appends a key of that size. The caller writes its bytes.
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
  /// Appends a key without copying it. Its bytes, for example in the record, must stay valid until
  /// clear().
  void refer(std::string_view key) { keys_.push_back(key); }

  /// Drops all keys except the first `size`. Precondition: there are at least so many.
  void truncate(std::size_t size) noexcept { keys_.resize(size); }
  void clear() noexcept;
  /// Like clear(), and also erases the copied bytes from memory.
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

/// The use of the keys. In some lists one entry stands for many keys. An insert uses the entry; a
/// query tries all keys that it may stand for.
enum class purpose : std::uint8_t { insert, ask };

/// Reads records of one form. Each thread needs its own reader, because a reader may have working
/// memory. make_reader() with the same text makes an equal reader.
class reader {
 public:
  reader() = default;
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;
  virtual ~reader() = default;

  /// Appends the record's keys: none, one or several. A record is any bytes, without its line end.
  /// An empty record has no key. If the record is wrong, appends
  /// nothing and fails with one sentence, which does not contain the record's position. Keys may
  /// refer to the record's bytes.
  result<void> read(std::string_view record, key_list& keys) {
    if (record.empty()) return {};
    const std::size_t before = keys.size();
    auto ok = read_record(record, keys);
    if (!ok) keys.truncate(before);
    return ok;
  }

  /// Whether the next line belongs to the record of the last one, as in a quoted field of CSV.
  virtual bool is_within_record() const noexcept { return false; }

  /// Sets the file of the following records. In some formats the file's name is part of the keys.
  virtual void begin_file(std::string_view name);

  /// The number of records so far that permit what other records of a list block. They have no key,
  /// because a filter has no exceptions for them.
  std::uint64_t exceptions() const noexcept { return exceptions_; }

  /// Key `number` of those that read() made of the record, for display. Binary keys are shown as
  /// hexadecimal digits. A text is unchanged, and may have any bytes that the record has.
  virtual std::string shown(std::string_view record, std::size_t number,
                            std::string_view key) const;

 protected:
  void count_exception() noexcept { ++exceptions_; }

 private:
  /// `record` is not empty.
  virtual result<void> read_record(std::string_view record, key_list& keys) = 0;

  std::uint64_t exceptions_ = 0;
};

/// When a reader's keys are bytes and not text.
enum class byte_keys : std::uint8_t { never, without_argument, always };

/// One row of the registry.
struct reader_kind {
  std::string_view name;
  std::string_view argument;  ///< for help, with the colon: ":N[,SEP]"; empty if there is none
  std::string_view summary;   ///< record and key in one sentence, without its full stop
  result<std::unique_ptr<reader>> (*make)(std::string_view argument, purpose why);
  /// Records must not be shown, copied or kept, and no filter may be built from them.
  bool secret = false;
  /// When keys are bytes such as those of a digest, and not text. Readers of this form may make the
  /// same keys of different records.
  byte_keys gives_bytes = byte_keys::never;
  /// Queries skip wrong records and count them, because other people wrote the records.
  bool skips_asked = false;
  /// Whether a file's name belongs to the reader's format. Null if the format has no folders.
  bool (*in_folder)(std::string_view name) noexcept = nullptr;
  std::uint64_t whole_folder = 0;  ///< the number of such files in a complete folder; 0: any
  /// Whether a CR that ends a record, or a byte-order mark that begins it, may become part of a
  /// key.
  bool keeps_cr = false;
  bool keeps_mark = false;
  /// Whether a reader needs all records of a file, in their order, so that threads cannot share it.
  bool in_order = false;
  /// Whether a key is a part of its record, so that a person who has a key has no record of it.
  bool finds_part = false;
};

/// All readers, in the order in which they are shown. The first, `lines`, uses records unchanged.
std::span<const reader_kind> all() noexcept;

/// The row that a text names. Fails with invalid_argument for an unknown name; the error lists the
/// names.
result<const reader_kind*> find(std::string_view text);

/// The reader for a text, `NAME` or `NAME:ARGUMENT`. Fails with invalid_argument if either is
/// wrong.
result<std::unique_ptr<reader>> make_reader(std::string_view text, purpose why = purpose::ask);

}  // namespace bloomset::keys

#pragma GCC visibility pop
