#pragma once

// Records on disk, grouped by their hashes, so that each part touches one piece of the filter
// (docs/maintain/decisions/edges/larger-than-memory.md).

#include <algorithm>
#include <array>
#include <bloomset/detail/core/valued_hash.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "memory/temporary_file.hpp"

namespace bloomset::cli {

/// Memory for n values, which are not initialised. Fails with out_of_memory.
template <class T>
result<std::unique_ptr<T[]>> make_room(std::size_t n) {  // NOLINT(modernize-avoid-c-arrays)
  std::unique_ptr<T[]> room(new (std::nothrow) T[n]);    // NOLINT(modernize-avoid-c-arrays)
  if (room == nullptr) return fail(errc::out_of_memory, "memory ran out; lower --memory-limit");
  return room;
}

inline hash64 hash_of(hash64 h) noexcept {
  return h;
}
inline hash64 hash_of(const detail::valued_hash& entry) noexcept {
  return entry.hash();
}

/// Records in a temporary file. Each call of append() writes one sequential run. With several
/// parts a run is sorted by the first bits of the records' hashes, so that each part can be read
/// alone. `hash_of(record)` is the record's hash.
template <class Record>
class parted_file {
 public:
  /// Precondition: `parts` is a power of two, at least 1 and at most 256.
  static result<parted_file> make(unsigned parts) {
    auto file = temporary_file::make();
    if (!file) return fail(std::move(file.error()));
    return parted_file(std::move(*file), parts);
  }

  const std::string& folder() const noexcept { return file_.folder(); }
  bool in_parts() const noexcept { return parts_ > 1; }

  /// Appends a run. Needs as much memory again, unless there is one part.
  result<void> append(std::span<const Record> records) {
    run now{file_.size(), std::vector<std::uint64_t>(parts_ + 1)};
    if (!in_parts()) {
      now.ends[1] = records.size();
      runs_.push_back(std::move(now));
      return file_.append(std::as_bytes(records));
    }
    auto sorted = make_room<Record>(records.size());
    if (!sorted) return fail(std::move(sorted.error()));
    // ends[i + 1] counts part i; then it is where part i begins, and at last where it ends.
    for (const Record& one : records) ++now.ends[part_of(one) + 1];
    std::array<std::uint64_t, 256> next{};
    for (unsigned i = 0; i < parts_; ++i) {
      next[i] = now.ends[i];
      now.ends[i + 1] += now.ends[i];
    }
    for (const Record& one : records) (*sorted)[next[part_of(one)]++] = one;
    runs_.push_back(std::move(now));
    return file_.append(std::as_bytes(std::span(sorted->get(), records.size())));
  }

  /// Calls `use(records)` for all records, part after part, at most `max_batch` at a time and each
  /// part in the order in which it was appended. `end_of_part()` is called after each part.
  template <class Use, class End>
  result<void> for_each(std::size_t max_batch, Use&& use, End&& end_of_part) const {
    return for_each_in(0, parts_, max_batch, use, end_of_part);
  }
  /// The same for the parts [begin, end).
  template <class Use, class End>
  result<void> for_each_in(unsigned begin, unsigned end, std::size_t max_batch, Use&& use,
                           End&& end_of_part) const {
    std::size_t room = 0;
    std::unique_ptr<Record[]> batch;  // NOLINT(modernize-avoid-c-arrays)
    for (unsigned part = begin; part < end; ++part) {
      const std::size_t needed = std::min<std::uint64_t>(max_batch, size_of(part));
      if (needed > room) {
        batch.reset();
        auto larger = make_room<Record>(needed);
        if (!larger) return fail(std::move(larger.error()));
        batch = std::move(*larger);
        room = needed;
      }
      std::size_t filled = 0;
      for (const run& from : runs_) {
        for (std::uint64_t at = from.ends[part]; at < from.ends[part + 1];) {
          const auto now = std::min<std::uint64_t>(from.ends[part + 1] - at, room - filled);
          const std::span<Record> into(batch.get() + filled, now);
          if (auto ok = file_.read(from.begin + at * sizeof(Record), std::as_writable_bytes(into));
              !ok) {
            return ok;
          }
          at += now;
          filled += now;
          if (filled < room) continue;
          if (auto ok = use(std::span<const Record>(batch.get(), filled)); !ok) return ok;
          filled = 0;
        }
      }
      if (filled != 0) {
        if (auto ok = use(std::span<const Record>(batch.get(), filled)); !ok) return ok;
      }
      end_of_part();
    }
    return {};
  }

 private:
  /// The records of part i are [ends[i], ends[i + 1]), counted from `begin`.
  struct run {
    std::uint64_t begin;  // in bytes
    std::vector<std::uint64_t> ends;
  };

  parted_file(temporary_file file, unsigned parts) noexcept
      : file_(std::move(file)), parts_(parts) {}

  std::size_t part_of(const Record& one) const noexcept {
    return static_cast<std::size_t>((hash_of(one).value >> 56) * parts_ >> 8);
  }
  std::uint64_t size_of(unsigned part) const noexcept {
    std::uint64_t sum = 0;
    for (const run& one : runs_) sum += one.ends[part + 1] - one.ends[part];
    return sum;
  }

  temporary_file file_;
  unsigned parts_;
  std::vector<run> runs_;
};

}  // namespace bloomset::cli
