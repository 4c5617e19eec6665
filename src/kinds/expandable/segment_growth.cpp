// The growth of an expandable filter by one step: its only segment gets twice the cells, or the
// next segment is split.

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include <bloomery/detail/core/bits.hpp>
#include <bloomery/detail/expandable/owned_segments.hpp>

namespace bloomery::detail {
namespace {

// A segment's counted copies, divided between the two that it is split into.
struct divided_copies {
  std::array<owned_storage, 2> lists;
  std::array<std::size_t, 2> sizes{};
};

// By the hash's bit number `level`. Nothing if memory runs out.
std::optional<divided_copies> divide(std::span<const std::byte> list, std::size_t size,
                                     unsigned level) {
  const auto side_of = [&](const counted_copies& each) -> std::size_t {
    return each.hash >> level & 1;
  };
  divided_copies divided;
  for (std::size_t i = 0; i < size; ++i) ++divided.sizes.at(side_of(copies_at(list, i)));
  std::array<std::byte*, 2> next{};
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    auto made = owned_storage::make(divided.sizes.at(side) * sizeof(counted_copies));
    if (!made) return std::nullopt;
    divided.lists.at(side) = std::move(*made);
    next.at(side) = divided.lists.at(side).writable_bytes().data();
  }
  for (std::size_t i = 0; i < size; ++i) {
    const counted_copies each = copies_at(list, i);
    std::byte*& to = next.at(side_of(each));
    store(to, each);
    to += sizeof each;
  }
  return divided;
}

}  // namespace

bool owned_segments::grow(expandable_params& params) noexcept {
  const auto next = params.grown();
  if (!next) return false;
  try {
    return next->cell_bits != params.cell_bits ? widen(params, *next) : split(params, *next);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool owned_segments::widen(expandable_params& params, const expandable_params& next) noexcept {
  const auto wide =
      segment_ops().widen(shape_of(params, 0), segments[0].bytes.bytes(), next.slot_bits);
  if (!wide || !put_built(shape_of(next, 0), 0, *wide)) return false;
  params = next;
  params.entries = wide->entries();
  return true;
}

bool owned_segments::split(expandable_params& params, const expandable_params& next) {
  const std::uint64_t segment = params.split;
  const auto split_with = [&](const gap_plan& gaps) {
    segment_shape shape = shape_of(params, segment);
    shape.gaps = gaps;
    const auto pair =
        segment_ops().split(shape, segments[segment].bytes.bytes(), next.newest_slot_bits());
    return pair && put_pair(params, next, *pair);
  };
  // Chosen keys may all go to one of the two, which then has no room for gaps.
  return split_with(gaps_for(params.growth)) || split_with(no_gaps);
}

// Replaces the next segment to be split by two. Changes nothing if it fails or throws.
bool owned_segments::put_pair(expandable_params& params, const expandable_params& next,
                              const segment_pair& pair) {
  const std::uint64_t from = params.split;
  const std::uint64_t to = segments.size();
  const segment_shape shape{params.cell_bits, next.newest_slot_bits()};
  const auto first_size = pair.first.stored_bytes(shape);
  const auto second_size = pair.second.stored_bytes(shape);
  if (!first_size || !second_size) return false;
  auto copies = divide(segments[from].counted.bytes(), list[from].counted, params.level);
  if (!copies) return false;
  if (to == segments.capacity()) segments.reserve(2 * to);
  if (to == list.capacity()) list.reserve(2 * to);
  auto first = arena_.make(*first_size, pages_);
  if (!first) return false;
  auto second = arena_.make(*second_size, pages_);
  if (!second) {
    arena_.give_back(*first);
    return false;
  }
  pair.first.write(shape, first->writable_bytes());
  pair.second.write(shape, second->writable_bytes());
  segments.emplace_back();
  list.emplace_back();
  put(from, *first);
  put(to, *second);
  for (const auto& [side, segment] : {std::pair{0U, from}, std::pair{1U, to}}) {
    segments[segment].counted = std::move(copies->lists.at(side));
    list[segment].counted = static_cast<std::uint32_t>(copies->sizes.at(side));
  }
  params = next;
  params.entries += pair.gained;
  return true;
}

}  // namespace bloomery::detail
