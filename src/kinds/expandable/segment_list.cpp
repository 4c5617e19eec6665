#include <bloomset/detail/expandable/segment_list.hpp>

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/detail/expandable/segment_address.hpp>
#include <bloomset/detail/expandable/segment_kernels.hpp>

namespace bloomset::detail {

failure no_segment_memory() noexcept {
  return no_memory(
      "memory for the filter's segments could not be allocated; plan a smaller one, or use a "
      "machine with more memory");
}

failure segment_mismatch() {
  return fail(errc::corrupt, "the expandable filter's segments do not fit its parameters");
}

result<segment_spans> read_segment_list(const expandable_params& params,
                                        std::span<const std::byte> payload, std::uint64_t count) {
  const std::uint64_t n = params.segments();
  if (n > payload.size() / sizeof(segment_entry)) return segment_mismatch();
  if (params.entries > 8 * payload.size()) return segment_mismatch();
  // The filter has grown from its plan, so it has at least the plan's cells.
  const auto plan = plan_expandable({params.capacity, params.fpr, 0, params.growth, params.seed});
  if (!plan || plan->cells() > params.cells()) return segment_mismatch();
  segment_spans all;
  all.reserve(n);
  std::size_t at = n * sizeof(segment_entry);
  std::uint64_t copies = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto entry = load<segment_entry>(payload.data() + i * sizeof(segment_entry));
    const std::uint64_t claimed_size = std::uint64_t{entry.words} * 8;
    const std::uint64_t claimed_counted = std::uint64_t{entry.counted} * sizeof(counted_copies);
    if (claimed_size < shape_of(params, i).min_bytes() || claimed_size > payload.size() - at ||
        claimed_counted > payload.size() - at - claimed_size) {
      return segment_mismatch();
    }
    const auto size = static_cast<std::size_t>(claimed_size);
    const auto counted = static_cast<std::size_t>(claimed_counted);
    all.push_back({payload.subspan(at, size), payload.subspan(at + size, counted)});
    at += size + counted;
    copies += entry.counted;
  }
  if (at != payload.size() || copies > count) return segment_mismatch();
  return all;
}

result<void> check_segments(const expandable_params& params, const segment_spans& segments,
                            std::uint64_t count) {
  std::uint64_t entries = 0;
  std::uint64_t counted = 0;
  for (std::uint64_t i = 0; i < segments.size(); ++i) {
    const auto here = segment_ops().check(shape_of(params, i), segments[i].bytes);
    if (!here) return segment_mismatch();
    entries += *here;
    const auto copies = segments[i].copies;
    for (std::size_t k = 0; k < copies.size() / sizeof(counted_copies); ++k) {
      const counted_copies each = copies_at(copies, k);
      const bool in_order = k == 0 || copies_at(copies, k - 1).hash < each.hash;
      if (!in_order || place_of(params, {each.hash}).segment != i || each.copies == 0 ||
          each.copies > count - counted) {
        return segment_mismatch();
      }
      counted += each.copies;
    }
  }
  // An entry in two cells counts twice and stays when one is erased, so there may be more entries
  // than copies, never fewer.
  if (entries != params.entries || entries < count - counted) return segment_mismatch();
  return {};
}

}  // namespace bloomset::detail
