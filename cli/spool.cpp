#include "spool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bloomery/plan/units.hpp>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "system.hpp"

namespace bloomery::cli {
namespace {

std::string temporary_folder() {
  const char* const named = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  return named == nullptr || *named == '\0' ? "/tmp" : named;
}

/// A file whose name is removed at once, so that the file ends with the process.
int open_nameless(const std::string& folder) {
  std::string name = folder + "/bloomery-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

failure no_room(const std::string& folder, std::string_view what) {
  auto why = system_failure(folder, what);
  why.message += "; set TMPDIR to a folder with room for 8 or 16 bytes per key, or give --capacity";
  return why;
}

}  // namespace

void copy_sample::thin() {
  mask_ = 2 * mask_ + 1;
  std::erase_if(copies_, [this](const auto& one) { return (one.first >> first_bit & mask_) != 0; });
}

double copy_sample::copies_up_to(std::uint64_t most) const noexcept {
  double sum = 0;
  for (const auto& [hash, copies] : copies_) sum += static_cast<double>(std::min(copies, most));
  return sum * static_cast<double>(mask_ + 1);
}

// Each key is in the sample independently and with equal probability.
double copy_sample::standard_error(std::uint64_t most) const noexcept {
  if (mask_ == 0) return 0;
  double sum = 0;
  double squares = 0;
  for (const auto& [hash, copies] : copies_) {
    const auto here = static_cast<double>(std::min(copies, most));
    sum += here;
    squares += here * here;
  }
  return sum == 0 ? 1 : std::sqrt(squares) / sum;
}

key_spool::key_spool(std::function<void(const std::string&)> notice, std::size_t limit)
    : notice_(std::move(notice)),
      // Filters insert large batches fastest: 64 MiB of hashes if the limit allows it.
      chunk_hashes_(std::clamp(limit / sizeof(hash64), std::size_t{1} << 17, std::size_t{1} << 23)),
      max_chunks_(std::max<std::size_t>(1, limit / (chunk_hashes_ * sizeof(hash64)))) {}

std::size_t key_spool::default_limit() noexcept {
  constexpr std::uint64_t mebi = std::uint64_t{1} << 20;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  const std::uint64_t memory =
      pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
                            : 0;
  return std::clamp(memory / 8, 256 * mebi, 1024 * mebi);
}

key_spool::~key_spool() {
  if (file_ >= 0) ::close(file_);
}

result<void> key_spool::add(std::span<const hash64> hashes) {
  while (!hashes.empty()) {
    if (chunks_.empty() || chunks_.back().size == chunk_hashes_) {
      if (chunks_.size() == max_chunks_) {
        if (auto ok = spill(); !ok) return ok;
      }
      auto memory = owned_storage::make(chunk_hashes_ * sizeof(hash64));
      if (!memory) return fail(std::move(memory.error()));
      chunks_.push_back({std::move(*memory)});
    }
    chunk& into = chunks_.back();
    const auto now = hashes.first(std::min(hashes.size(), chunk_hashes_ - into.size));
    for (const hash64 h : now) {
      distinct_.add(h);
      copies_.add(h);
    }
    std::copy(now.begin(), now.end(), into.begin() + into.size);
    into.size += now.size();
    keys_ += now.size();
    hashes = hashes.subspan(now.size());
  }
  return {};
}

result<void> key_spool::spill() {
  if (file_ < 0) {
    folder_ = temporary_folder();
    file_ = open_nameless(folder_);
    if (file_ < 0) return no_room(folder_, "make a temporary file");
    notice_(fmt::format("after {} keys their hashes go to a temporary file in {}",
                        format_count(keys_), folder_));
  }
  for (const chunk& one : chunks_) {
    auto bytes = std::as_bytes(one.hashes());
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR) return no_room(folder_, "write a temporary file");
      bytes = bytes.subspan(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
  }
  chunks_.clear();
  return {};
}

std::uint64_t key_spool::keys_in_copies(std::uint64_t most) const noexcept {
  if (most >= keys_) return std::max<std::uint64_t>(1, keys_);
  const double raised =
      std::ceil(copies_.copies_up_to(most) * (1 + 4 * copies_.standard_error(most)));
  const bool is_less = raised < static_cast<double>(keys_);
  return std::max<std::uint64_t>(1, is_less ? static_cast<std::uint64_t>(raised) : keys_);
}

result<void> key_spool::for_each(
    const std::function<result<void>(std::span<const hash64>)>& use) const {
  if (file_ >= 0) {
    auto memory = owned_storage::make(chunk_hashes_ * sizeof(hash64));
    if (!memory) return fail(std::move(memory.error()));
    chunk now{std::move(*memory)};
    for (off_t at = 0;;) {
      // The file has whole chunks, and a read of a regular file is short only at its end.
      const ssize_t got = ::pread(file_, now.begin(), chunk_hashes_ * sizeof(hash64), at);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return system_failure(folder_, "read the temporary file in");
      now.size = static_cast<std::size_t>(got) / sizeof(hash64);
      if (now.size == 0) break;
      if (auto ok = use(now.hashes()); !ok) return ok;
      at += static_cast<off_t>(now.size * sizeof(hash64));
    }
  }
  for (const chunk& one : chunks_) {
    if (auto ok = use(one.hashes()); !ok) return ok;
  }
  return {};
}

}  // namespace bloomery::cli
