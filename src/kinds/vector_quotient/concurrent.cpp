#include <bloomery/vector_quotient_concurrent.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bloomery/detail/vector_quotient/stripes.hpp>
#include <cassert>

namespace bloomery {
namespace {

// Keys that are fetched together, and that a writer does in one turn.
constexpr std::size_t group = 16;

}  // namespace

struct concurrent_vector_quotient::shared {
  detail::vq_stripes stripes;
  std::mutex turn;  // for whoever writes, or reads what lies outside of the blocks
};

concurrent_vector_quotient::concurrent_vector_quotient(const detail::vq_writer& filter,
                                                       std::uint64_t* side_entries,
                                                       std::uint64_t seed)
    : filter_(filter),
      side_entries_(side_entries),
      seed_(seed),
      shared_(std::make_unique<shared>()) {
  filter_.stripes = &shared_->stripes;
}

concurrent_vector_quotient::~concurrent_vector_quotient() = default;
concurrent_vector_quotient::concurrent_vector_quotient(concurrent_vector_quotient&&) noexcept =
    default;
concurrent_vector_quotient& concurrent_vector_quotient::operator=(
    concurrent_vector_quotient&&) noexcept = default;

concurrent_vector_quotient::shared& concurrent_vector_quotient::in_use() const noexcept {
  assert(shared_ != nullptr && "the door was moved from");
  return *shared_;
}

// A tag moves only between its own two blocks, or from the stash into one of them: an answer for
// which neither has changed from beginning to end is that of one moment.
bool concurrent_vector_quotient::holds(const vector_quotient_place& at) const noexcept {
  const detail::vq_layout& blocks = layout();
  const detail::vq_stripes& stripes = in_use().stripes;
  alignas(64) std::array<std::byte, detail::vq_block_bytes> copy;
  const auto is_in = [&](std::uint64_t block) noexcept {
    detail::vq_stripes::copy(blocks.block(filter_.blocks, block), copy.data());
    return blocks.copies(copy.data(), at.tag) != 0;
  };
  for (;;) {
    const std::uint32_t first = stripes.begin_read(at.first);
    const std::uint32_t second = stripes.begin_read(at.second);
    bool found = is_in(at.first) || is_in(at.second);
    if (!found && std::atomic_ref(*filter_.stashed).load(std::memory_order_acquire) != 0) {
      const std::scoped_lock lock(in_use().turn);
      found = detail::vq_stashed_copies(filter_.reader(), at) != 0;
    }
    if (stripes.is_still(at.first, first) && stripes.is_still(at.second, second)) return found;
  }
}

void concurrent_vector_quotient::may_contain(std::span<const hash64> hs,
                                             std::span<bool> answers) const noexcept {
  assert(answers.size() >= hs.size());
  std::array<vector_quotient_place, group> places;
  for (std::size_t begin = 0; begin < hs.size(); begin += group) {
    const std::size_t n = std::min(group, hs.size() - begin);
    for (std::size_t i = 0; i < n; ++i) {
      places[i] = layout().place(hs[begin + i]);
      __builtin_prefetch(layout().block(filter_.blocks, places[i].first));
      __builtin_prefetch(layout().block(filter_.blocks, places[i].second));
    }
    for (std::size_t i = 0; i < n; ++i) answers[begin + i] = holds(places[i]);
  }
}

insert_outcome concurrent_vector_quotient::insert_at(const vector_quotient_place& at) noexcept {
  const detail::vq_change first(filter_.stripes, at.first);
  const detail::vq_change second(filter_.stripes, at.second);
  return detail::vq_insert(filter_, at);
}

insert_outcome concurrent_vector_quotient::insert(const hash64& h) noexcept {
  const vector_quotient_place at = layout().place(h);
  const std::scoped_lock lock(in_use().turn);
  const insert_outcome outcome = insert_at(at);
  *side_entries_ = filter_.side->slots();
  return outcome;
}

insert_summary concurrent_vector_quotient::insert(std::span<const hash64> hs) noexcept {
  insert_summary summary;
  std::array<vector_quotient_place, group> places;
  for (std::size_t begin = 0; begin < hs.size(); begin += group) {
    const std::size_t n = std::min(group, hs.size() - begin);
    for (std::size_t i = 0; i < n; ++i) {
      places[i] = layout().place(hs[begin + i]);
      __builtin_prefetch(layout().block(filter_.blocks, places[i].first));
      __builtin_prefetch(layout().block(filter_.blocks, places[i].second));
    }
    const std::scoped_lock lock(in_use().turn);
    for (std::size_t i = 0; i < n; ++i) {
      const insert_outcome outcome = insert_at(places[i]);
      *side_entries_ = filter_.side->slots();
      if (!is_contained(outcome)) {
        summary.stopped_by = outcome;
        return summary;
      }
      ++summary.done;
      ++(outcome == insert_outcome::inserted ? summary.inserted : summary.maybe_present);
    }
  }
  return summary;
}

bool concurrent_vector_quotient::erase(const hash64& h) noexcept {
  const vector_quotient_place at = layout().place(h);
  const std::scoped_lock lock(in_use().turn);
  const detail::vq_change first(filter_.stripes, at.first);
  const detail::vq_change second(filter_.stripes, at.second);
  const bool erased = detail::vq_erase(filter_, at);
  *side_entries_ = filter_.side->slots();
  return erased;
}

std::uint64_t concurrent_vector_quotient::count(const hash64& h) const noexcept {
  const vector_quotient_place at = layout().place(h);
  const std::scoped_lock lock(in_use().turn);
  return detail::vq_copies(filter_.reader(), at);
}

}  // namespace bloomery
