#include <bloomset/detail/vector_quotient/overflow_table.hpp>

#include <algorithm>
#include <utility>

namespace bloomset::detail {
namespace {

constexpr std::uint64_t min_entries = 4;  // a cache line

// At a load of three quarters a search for an absent tag takes 8 steps, and more above.
constexpr bool is_full(std::uint64_t used, std::uint64_t entries) noexcept {
  return 4 * (used + 1) > 3 * entries;
}

}  // namespace

std::uint64_t vq_overflow_table::next_growth() const noexcept {
  if (!is_full(used_, entries())) return 0;
  return std::max(min_entries, entries()) * sizeof(vq_entry);
}

result<vq_overflow_table> vq_overflow_table::open(std::span<const std::byte> bytes) {
  auto memory = owned_storage::copy_of(bytes);
  if (!memory) return fail(std::move(memory.error()));
  vq_overflow_table table;
  table.memory_ = std::move(*memory);
  const vq_overflow_view view = table.view();
  for (std::uint64_t i = 0; i < view.entries(); ++i) table.used_ += view.entry(i).copies != 0;
  if (4 * table.used_ > 3 * view.entries()) {
    return fail(errc::corrupt, "its table of copies is fuller than any filter's");
  }
  return table;
}

bool vq_overflow_table::insert(std::uint64_t pair, std::uint64_t copies) noexcept {
  const std::uint64_t at = view().find(pair);
  if (at < entries()) {
    const std::uint64_t sum = view().entry(at).copies + copies;
    if (sum < copies) return false;
    set(at, {pair, sum});
    return true;
  }
  if (is_full(used_, entries()) && !resize(entries() == 0 ? min_entries : 2 * entries())) {
    return false;
  }
  insert_new({pair, copies});
  ++used_;
  return true;
}

bool vq_overflow_table::erase(std::uint64_t pair) noexcept {
  const vq_overflow_view table = view();
  std::uint64_t hole = table.find(pair);
  if (hole >= entries()) return false;
  const std::uint64_t copies = table.entry(hole).copies;
  if (copies > 1) {
    set(hole, {pair, copies - 1});
    return true;
  }
  // Each later entry moves back into the hole, unless the hole is before its home. A damaged table
  // may have no free entry, so that one round has to be the limit.
  const std::uint64_t mask = entries() - 1;
  std::uint64_t at = hole;
  for (std::uint64_t steps = 1; steps < entries(); ++steps) {
    at = table.next(at);
    const vq_entry moving = table.entry(at);
    if (moving.copies == 0) break;
    if (((at - table.home(moving.pair)) & mask) < ((at - hole) & mask)) continue;
    set(hole, moving);
    hole = at;
  }
  set(hole, {0, 0});
  --used_;
  if (used_ == 0) {
    clear();
  } else if (4 * used_ < entries() && entries() > min_entries) {
    resize(entries() / 2);  // without memory for it the larger table stays
  }
  return true;
}

void vq_overflow_table::clear() noexcept {
  memory_ = owned_storage();
  used_ = 0;
}

bool vq_overflow_table::resize(std::uint64_t entries) noexcept {
  auto memory = owned_storage::make(entries * sizeof(vq_entry));
  if (!memory) return false;
  const owned_storage old = std::exchange(memory_, std::move(*memory));
  const vq_overflow_view from(old.bytes());
  for (std::uint64_t i = 0; i < from.entries(); ++i) {
    if (from.entry(i).copies != 0) insert_new(from.entry(i));
  }
  return true;
}

// Precondition: the tag has no entry, and another entry is free.
void vq_overflow_table::insert_new(const vq_entry& entry) noexcept {
  const vq_overflow_view table = view();
  std::uint64_t at = table.home(entry.pair);
  while (table.entry(at).copies != 0) at = table.next(at);
  set(at, entry);
}

}  // namespace bloomset::detail
