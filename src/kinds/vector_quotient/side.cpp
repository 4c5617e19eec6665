#include <bloomery/detail/vector_quotient/side.hpp>

#include <algorithm>
#include <utility>

namespace bloomery::detail {
namespace {

constexpr std::uint64_t min_slots = 4;  // a cache line

// Beyond three quarters a search for a tag that is not there takes more than 8 steps.
constexpr bool is_full(std::uint64_t used, std::uint64_t slots) noexcept {
  return 4 * (used + 1) > 3 * slots;
}

}  // namespace

std::uint64_t vq_side::next_growth() const noexcept {
  if (!is_full(used_, slots())) return 0;
  return std::max(min_slots, slots()) * sizeof(vq_entry);
}

result<vq_side> vq_side::copy_of(std::span<const std::byte> entries) {
  auto memory = owned_storage::copy_of(entries);
  if (!memory) return fail(std::move(memory.error()));
  vq_side side;
  side.memory_ = std::move(*memory);
  const vq_side_view view = side.view();
  for (std::uint64_t at = 0; at < view.slots(); ++at) side.used_ += view.entry(at).copies != 0;
  return side;
}

bool vq_side::add(std::uint64_t pair, std::uint64_t copies) noexcept {
  vq_side_view table = view();
  std::uint64_t at = table.find(pair);
  if (at < slots()) {
    const std::uint64_t had = table.entry(at).copies;
    if (had + copies < had) return false;
    set(at, {pair, had + copies});
    return true;
  }
  if (is_full(used_, slots()) && !resize(slots() == 0 ? min_slots : 2 * slots())) {
    return false;
  }
  table = view();
  at = table.home(pair);
  while (table.entry(at).copies != 0) at = (at + 1) & (slots() - 1);
  set(at, {pair, copies});
  ++used_;
  return true;
}

bool vq_side::take(std::uint64_t pair) noexcept {
  const vq_side_view table = view();
  std::uint64_t hole = table.find(pair);
  if (hole >= slots()) return false;
  const std::uint64_t had = table.entry(hole).copies;
  if (had > 1) {
    set(hole, {pair, had - 1});
    return true;
  }
  // What follows moves back over the hole, unless that is before its home. A damaged table may have
  // no free entry: one round at most.
  const std::uint64_t mask = slots() - 1;
  std::uint64_t at = hole;
  for (std::uint64_t steps = 1; steps < slots(); ++steps) {
    at = (at + 1) & mask;
    const vq_entry next = table.entry(at);
    if (next.copies == 0) break;
    if (((at - table.home(next.pair)) & mask) < ((at - hole) & mask)) continue;
    set(hole, next);
    hole = at;
  }
  set(hole, {0, 0});
  --used_;
  if (used_ == 0) {
    clear();
  } else if (4 * used_ < slots() && slots() > min_slots) {
    resize(slots() / 2);  // without memory for it the larger one stays
  }
  return true;
}

void vq_side::clear() noexcept {
  memory_ = owned_storage();
  used_ = 0;
}

bool vq_side::resize(std::uint64_t slots) noexcept {
  auto memory = owned_storage::make(slots * sizeof(vq_entry));
  if (!memory) return false;
  const owned_storage before = std::exchange(memory_, std::move(*memory));
  const vq_side_view from(before.bytes().data(), before.bytes().size() / sizeof(vq_entry));
  for (std::uint64_t i = 0; i < from.slots(); ++i) {
    const vq_entry entry = from.entry(i);
    if (entry.copies == 0) continue;
    const vq_side_view to = view();
    std::uint64_t at = to.home(entry.pair);
    while (to.entry(at).copies != 0) at = (at + 1) & (slots - 1);
    set(at, entry);
  }
  return true;
}

}  // namespace bloomery::detail
