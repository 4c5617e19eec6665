#include <bloomset/detail/vector_quotient/concurrent.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bloomset/detail/vector_quotient/seqlocks.hpp>
#include <cassert>
#include <mutex>
#include <utility>

#include "kinds/vector_quotient/kernels/group.hpp"

namespace bloomset {

struct concurrent_vector_quotient::shared_state {
  detail::vq_seqlocks seqlocks;
  std::mutex mutex;  // for writes, and for reads of the stash and the overflow table
};

concurrent_vector_quotient::concurrent_vector_quotient(const detail::vq_writer& filter,
                                                       const hash_seed& seed)
    : filter_(filter), seed_(seed), state_(new shared_state) {
  filter_.seqlocks = &state_->seqlocks;
}

concurrent_vector_quotient::~concurrent_vector_quotient() {
  delete state_;
}
concurrent_vector_quotient::concurrent_vector_quotient(concurrent_vector_quotient&& other) noexcept
    : filter_(other.filter_), seed_(other.seed_), state_(std::exchange(other.state_, nullptr)) {}
concurrent_vector_quotient& concurrent_vector_quotient::operator=(
    concurrent_vector_quotient&& other) noexcept {
  filter_ = other.filter_;
  seed_ = other.seed_;
  delete std::exchange(state_, std::exchange(other.state_, nullptr));  // also for itself
  return *this;
}

concurrent_vector_quotient::shared_state& concurrent_vector_quotient::state() const noexcept {
  assert(state_ != nullptr && "the handle was moved from");
  return *state_;
}

// A tag moves only between its own two blocks, or from the stash into one of them. If neither block
// was written between the query's begin and end, the answer is thus that of one moment.
bool concurrent_vector_quotient::contains(const vector_quotient_place& at) const noexcept {
  const detail::vq_seqlocks& seqlocks = state().seqlocks;
  alignas(64) std::array<std::byte, detail::vq_block_bytes> copy;
  const auto is_in = [&](std::uint64_t block) noexcept {
    detail::vq_seqlocks::copy(layout().block(filter_.blocks, block), copy.data());
    return layout().copies(copy.data(), at.tag) != 0;
  };
  for (;;) {
    const std::uint32_t first = seqlocks.begin_read(at.first);
    const std::uint32_t second = seqlocks.begin_read(at.second);
    bool found = is_in(at.first) || is_in(at.second);
    if (!found && std::atomic_ref(*filter_.stashed).load(std::memory_order_acquire) != 0) {
      const std::scoped_lock lock(state().mutex);
      found = detail::vq_stashed_copies(filter_.reader(), at) != 0;
    }
    if (seqlocks.is_unchanged(at.first, first) && seqlocks.is_unchanged(at.second, second)) {
      return found;
    }
  }
}

void concurrent_vector_quotient::may_contain(std::span<const hash64> hs,
                                             std::span<bool> answers) const noexcept {
  assert(answers.size() >= hs.size());
  detail::vq_for_each_place(layout(), filter_.blocks, hs,
                            [&](std::size_t i, const vector_quotient_place& at) noexcept {
                              answers[i] = contains(at);
                              return true;
                            });
}

insert_outcome concurrent_vector_quotient::insert_locked(const vector_quotient_place& at) noexcept {
  const detail::vq_block_write first(filter_.seqlocks, at.first);
  const detail::vq_block_write second(filter_.seqlocks, at.second);
  return detail::vq_insert(filter_, at);
}

insert_outcome concurrent_vector_quotient::insert(const hash64& h) noexcept {
  const vector_quotient_place at = layout().place(h);
  const std::scoped_lock lock(state().mutex);
  return insert_locked(at);
}

insert_summary concurrent_vector_quotient::insert(std::span<const hash64> hs) noexcept {
  constexpr std::size_t keys_per_lock = 32;
  insert_summary summary;
  std::array<vector_quotient_place, keys_per_lock> places;
  while (!hs.empty()) {
    const auto part = hs.first(std::min(keys_per_lock, hs.size()));
    hs = hs.subspan(part.size());
    for (std::size_t i = 0; i < part.size(); ++i) {
      places[i] = detail::vq_fetch_place(layout(), filter_.blocks, part[i]);
    }
    const std::scoped_lock lock(state().mutex);
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (!summary.add(insert_locked(places[i]))) return summary;
    }
  }
  return summary;
}

bool concurrent_vector_quotient::erase(const hash64& h) noexcept {
  const vector_quotient_place at = layout().place(h);
  const std::scoped_lock lock(state().mutex);
  const detail::vq_block_write first(filter_.seqlocks, at.first);
  const detail::vq_block_write second(filter_.seqlocks, at.second);
  return detail::vq_erase(filter_, at);
}

std::uint64_t concurrent_vector_quotient::count(const hash64& h) const noexcept {
  const vector_quotient_place at = layout().place(h);
  const std::scoped_lock lock(state().mutex);
  return detail::vq_copies(filter_.reader(), at);
}

}  // namespace bloomset
