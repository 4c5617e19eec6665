// The expandable filter: the three parts of a hash (segment, cell, remainder), the entries that
// keep the remainder's first bits, and growth, by which every entry loses a bit.

#include <bloomset/expandable.hpp>

#include "walk.hpp"

namespace bloomset::explorer {
namespace {

// Enough keys for a fifth segment.
constexpr std::uint64_t largest_crowd = 50'000;

/// The lowest bits of a number, the lowest first.
std::string bits_of(std::uint64_t x, unsigned size) {
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += static_cast<char>('0' + (x >> i & 1));
  return text;
}

class segments_walk {
 public:
  explicit segments_walk(expandable filter) : filter_(std::move(filter)) {}

  /// Inserts 1, 2, ... before the walk begins. False if there is no room for them.
  bool admit(std::uint64_t crowd) {
    for (std::uint64_t i = 1; i <= crowd; ++i) {
      const std::string element = fmt::format("{}", i);
      const insert_outcome outcome = filter_.insert(hash(element));
      if (!is_contained(outcome)) return false;
      insert_verdict(members_, element, outcome);
    }
    return true;
  }

  json tell(const step& each) {
    json now = told(each);
    now["gone"] = members_.erased(each.element);
    const hash64 h = hash(each.element);
    const detail::segment_place at = place(h);
    const expandable_params before = filter_.params();
    now["hash"] = told_hash(h);
    now["segment"] = at.segment;
    now["cell"] = at.cell;
    now["before"] = {{"block", block(at.segment, at.cell)}};
    figures(now["before"]);
    const std::uint64_t copies = filter_.count(h);
    const std::uint64_t matching = entries_for(at);
    if (each.what == verb::insert) {
      const insert_outcome outcome = filter_.insert(h);
      now["verdict"] = insert_verdict(members_, each.element, outcome);
      // A fourth copy is counted beside the table; the table then stays as it is.
      const bool counted = copies >= detail::owned_segments::max_copies_in_cell;
      if (is_contained(outcome) && !counted) now["entry"] = bits_of(at.remainder, at.slot_bits - 1);
      now["counted"] = is_contained(outcome) && counted;
      if (const json growth = growth_since(before); !growth.is_null()) now["growth"] = growth;
    } else if (each.what == verb::check) {
      now["verdict"] = check_verdict(members_, each.element, filter_.may_contain(h));
    } else {
      now["verdict"] = erase_verdict(members_, each.element, filter_.erase(h));
      now["counted"] = copies > matching;
    }
    now["matching"] = matching;
    const detail::segment_place after = place(h);
    now["after"] = {{"segment", after.segment},
                    {"cell", after.cell},
                    {"hash", told_hash(h)},
                    {"block", block(after.segment, after.cell)}};
    state(now);
    return now;
  }

  void state(json& now) const {
    figures(now);
    now["n"] = members_.distinct();
    now["rate"] = filter_.current_fpr();
  }

  /// The first block, for the time before the first step.
  json first_block() const { return block(0, 0); }

 private:
  hash64 hash(const std::string& element) const {
    return filter_.hash_function()(bytes_of(element));
  }
  detail::segment_place place(hash64 h) const { return detail::place_of(filter_.params(), h); }
  /// The bits that choose the segment and the cell, and those that a new entry keeps.
  json told_hash(hash64 h) const {
    const detail::segment_place at = place(h);
    const unsigned level = detail::level_of(filter_.params(), at.segment);
    return {{"segment", bits_of(h.value, level)},
            {"cell", bits_of(at.cell, filter_.params().cell_bits)},
            {"rest", bits_of(at.remainder, at.slot_bits - 1)}};
  }
  /// The bytes of a segment. The payload is the list of segments, then each segment, followed by
  /// its counted copies if it has any.
  std::span<const std::byte> bytes_of_segment(const filter_image& image,
                                              std::uint64_t segment) const {
    std::size_t piece = 1;
    for (std::uint64_t i = 0; i < segment; ++i) {
      const auto entry = detail::load<detail::segment_entry>(image.payload[0].data() +
                                                             i * sizeof(detail::segment_entry));
      piece += entry.counted == 0 ? 1 : 2;
    }
    return image.payload[piece];
  }

  /// How many entries of the place's cell match, without the copies that are counted beside them.
  std::uint64_t entries_for(const detail::segment_place& at) const {
    const filter_image image = filter_.image();
    const detail::segment_view view(detail::shape_of(filter_.params(), at.segment),
                                    bytes_of_segment(image, at.segment));
    return view.copies(at.cell, at.remainder);
  }

  /// The cells of a cell's block, each with the remainders of its entries.
  json block(std::uint64_t segment, std::uint32_t cell) const {
    const expandable_params& params = filter_.params();
    const filter_image image = filter_.image();
    const detail::segment_view view(detail::shape_of(params, segment),
                                    bytes_of_segment(image, segment));
    const std::uint32_t first = cell / detail::block_cells * detail::block_cells;
    json cells = json::array();
    for (std::uint32_t i = first; i < first + detail::block_cells; ++i) {
      json& entries = cells.emplace_back(json::array());
      view.for_cell(i, [&](std::uint64_t entry, std::size_t) {
        // The remainder is below the one that marks its length.
        entries.push_back(bits_of(entry, static_cast<unsigned>(std::bit_width(entry)) - 1));
        return true;
      });
    }
    return {{"segment", segment}, {"first", first}, {"cells", std::move(cells)}};
  }

  /// The entries of each segment, and its longest remainder.
  void figures(json& now) const {
    const expandable_params& params = filter_.params();
    const filter_image image = filter_.image();
    json& all = now["segments"] = json::array();
    for (std::uint64_t i = 0; i < params.segments(); ++i) {
      const detail::segment_shape shape = detail::shape_of(params, i);
      const auto entries = detail::segment_ops().check(shape, bytes_of_segment(image, i));
      all.push_back({{"entries", entries.value_or(0)}, {"remainder_bits", shape.slot_bits - 1}});
    }
    now["cells"] = std::uint64_t{1} << params.cell_bits;
    now["next"] = params.split;
    now["generation"] = params.generation;
    now["most"] = params.max_entries();
  }

  /// The growth since `before`, or null. All entries except those without a remainder are in the
  /// filter once, as before.
  json growth_since(const expandable_params& before) const {
    const expandable_params& now = filter_.params();
    json growth;
    if (now.segments() != before.segments()) {
      growth = {
          {"split", before.split}, {"into", before.segments()}, {"most", before.max_entries()}};
    }
    if (now.cell_bits != before.cell_bits) {
      const std::uint32_t cells = std::uint32_t{1} << before.cell_bits;
      growth["cells"] = cells;
      growth["most"] = before.max_entries();
      // Both halves are drawn while each is a single block.
      if (before.cell_bits == detail::block_cell_bits) {
        growth["halves"] = {block(0, 0), block(0, cells)};
      }
    }
    return growth;
  }

  expandable filter_;
  teach::member_set members_;
};

}  // namespace

result<json> walk_segments(const json& asked, const std::vector<step>& steps) {
  const auto crowd = number_of(asked, "crowd", 0, 0, largest_crowd);
  if (!crowd) return fail(crowd.error());
  const auto rate = parse_rate(asked.value("rate", "5%"));
  if (!rate) return fail(rate.error());
  // The smallest filter: 32 cells.
  auto filter = expandable::make({.capacity = 1, .fpr = *rate});
  if (!filter) return fail(std::move(filter.error()));
  json all = {{"wanted", *rate}};
  segments_walk teller(std::move(*filter));
  if (!teller.admit(*crowd)) {
    return fail(errc::full, fmt::format("there is no room for {} elements at that rate; give a "
                                        "higher one, or fewer elements",
                                        *crowd));
  }
  all["empty"]["block"] = teller.first_block();
  tell_steps(teller, steps, all);
  return all;
}

}  // namespace bloomset::explorer
