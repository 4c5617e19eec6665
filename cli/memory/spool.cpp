#include "memory/spool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/plan/units.hpp>
#include <cmath>
#include <utility>

#include "terminal/system.hpp"

namespace bloomset::cli {

void copy_sample::thin() {
  mask_ = 2 * mask_ + 1;
  std::erase_if(copies_, [this](const auto& one) { return (one.first >> first_bit & mask_) != 0; });
}

double copy_sample::copies_up_to(std::uint64_t max_copies) const noexcept {
  double sum = 0;
  for (const auto& [hash, copies] : copies_)
    sum += static_cast<double>(std::min(copies, max_copies));
  return sum * static_cast<double>(mask_ + 1);
}

// Each key is in the sample independently and with equal probability.
double copy_sample::standard_error(std::uint64_t max_copies) const noexcept {
  if (mask_ == 0) return 0;
  double sum = 0;
  double squares = 0;
  for (const auto& [hash, copies] : copies_) {
    const auto here = static_cast<double>(std::min(copies, max_copies));
    sum += here;
    squares += here * here;
  }
  return sum == 0 ? 1 : std::sqrt(squares) / sum;
}

void key_counter::count(std::span<const hash64> hashes) {
  for (const hash64 h : hashes) {
    distinct_.add(h);
    copies_.add(h);
  }
  keys_ += hashes.size();
}

std::uint64_t key_counter::keys_in_copies(std::uint64_t max_copies) const noexcept {
  if (max_copies >= keys_) return std::max<std::uint64_t>(1, keys_);
  const double raised =
      std::ceil(copies_.copies_up_to(max_copies) * (1 + 4 * copies_.standard_error(max_copies)));
  const bool is_less = raised < static_cast<double>(keys_);
  return std::max<std::uint64_t>(1, is_less ? static_cast<std::uint64_t>(raised) : keys_);
}

template <class Entry>
entry_spool<Entry>::entry_spool(std::function<void(const std::string& folder)> notice,
                                std::size_t limit, unsigned parts)
    : notice_(std::move(notice)),
      parts_(parts),
      // Filters insert large batches fastest: 64 MiB of hashes if the limit allows it. A chunk is
      // sorted into memory of the same size.
      chunk_entries_(std::clamp(limit / sizeof(Entry) / (parts > 1 ? 2 : 1), std::size_t{1} << 17,
                                std::size_t{1} << 23)) {
  const std::size_t chunks = limit / (chunk_entries_ * sizeof(Entry));
  max_chunks_ = std::max<std::size_t>(1, parts > 1 && chunks > 1 ? chunks - 1 : chunks);
}

template <class Entry>
result<void> entry_spool<Entry>::keep(std::span<const Entry> entries) {
  while (!entries.empty()) {
    if (chunks_.empty() || chunks_.back().size == chunk_entries_) {
      if (chunks_.size() == max_chunks_) {
        if (auto ok = spill(); !ok) return ok;
      }
      auto memory = owned_storage::make(chunk_entries_ * sizeof(Entry));
      if (!memory) return fail(std::move(memory.error()));
      chunks_.push_back({std::move(*memory)});
    }
    chunk& into = chunks_.back();
    const auto now = entries.first(std::min(entries.size(), chunk_entries_ - into.size));
    std::copy(now.begin(), now.end(), into.begin() + into.size);
    into.size += now.size();
    entries = entries.subspan(now.size());
  }
  return {};
}

template <class Entry>
result<void> entry_spool<Entry>::spill() {
  if (!file_) {
    auto made = parted_file<Entry>::make(parts_);
    if (!made) return fail(std::move(made.error()));
    file_.emplace(std::move(*made));
    notice_(file_->folder());
  }
  for (const chunk& one : chunks_) {
    if (auto ok = file_->append(one.entries()); !ok) return ok;
  }
  chunks_.clear();
  return {};
}

template <class Entry>
result<void> entry_spool<Entry>::for_each(const sink& use) const {
  if (file_) {
    if (auto ok = file_->for_each(chunk_entries_, use, [] {}); !ok) return ok;
  }
  for (const chunk& one : chunks_) {
    if (auto ok = use(one.entries()); !ok) return ok;
  }
  return {};
}

template class entry_spool<hash64>;
template class entry_spool<detail::valued_hash>;

key_spool::key_spool(std::function<void(const std::string&)> notice, std::size_t limit,
                     unsigned parts)
    : entry_spool(
          [this, notice = std::move(notice)](const std::string& folder) {
            notice(fmt::format("after {} their hashes go to a temporary file in {}",
                               format_count(keys(), "key"), folder));
          },
          limit, parts) {}

std::size_t key_spool::default_limit() noexcept {
  constexpr std::uint64_t mebi = std::uint64_t{1} << 20;
  return std::clamp(machine_memory() / 8, 256 * mebi, 1024 * mebi);
}

}  // namespace bloomset::cli
