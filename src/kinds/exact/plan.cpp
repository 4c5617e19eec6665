#include <bloomset/plan/exact_plan.hpp>

#include <algorithm>
#include <cmath>

#include <bloomset/detail/retrieval/layout.hpp>
#include <bloomset/plan/numeric.hpp>
#include <bloomset/plan/units.hpp>

#include "kinds/exact/plan_sections.hpp"
#include "plan/checks.hpp"

namespace bloomset {
namespace {

using detail::guided_width;
using detail::is_possible;
using detail::plain_width;
using detail::read_levels;
using detail::retrieval_level;
using detail::write_levels;

constexpr std::uint64_t max_exact_keys = detail::max_retrieval_keys;
// Slots per shard of a guided section. The search needs 64 bytes per other key of a shard.
constexpr std::uint64_t guided_shard_slots = std::uint64_t{1} << 15;
// Up to this many keys nothing is bumped, so that codes need no memory. With 0.88 keys per slot 3
// of 1500 shards had no solution, and then the level is tried with another seed.
constexpr std::uint64_t last_guided_keys = std::uint64_t{1} << 20;
constexpr double max_guided_load = 0.88;

/// The free slots for each other key. With a perfect search the best number is D(f' || 2^-c) / c,
/// 0.0817 and 0.0249, where f' has f' / (1 - f') = 2^-c / (2 (1 - 2^-c)). The beam search finds a
/// little less, so that slightly fewer are best (measured; the curve is flat).
double free_slots_per_other(std::uint32_t columns) noexcept {
  return columns == 1 ? 0.075 : 0.0225;
}

/// The rate at which others pass the guided section (measured).
double guided_rate(std::uint32_t columns) noexcept {
  if (columns == 0) return 1;
  return columns == 1 ? 0.353 : 0.157;
}

/// An entropy in bits: n log2(n) summed up.
double self_information(double n) noexcept {
  return n == 0 ? 0 : n * numeric::log2(n);
}

std::uint64_t bytes_of_levels(std::uint64_t n, const auto& level_for) {
  std::uint64_t bytes = 0;
  while (n != 0) {
    const retrieval_level level = level_for(n);
    bytes += level.bytes();
    if (!level.bumps) break;
    const std::uint64_t slots = level.slots();
    n = std::max<std::uint64_t>(1, n > slots ? n - slots + slots / 1000 : n / 1000);
  }
  return bytes;
}

}  // namespace

std::uint32_t detail::guided_columns(std::uint64_t held, std::uint64_t others) noexcept {
  // Below 1.6 others per key the bits of the last section are less than a guided column.
  if (others < held + held / 5 * 3) return 0;
  return others < held * 9 / 2 ? 1 : 2;
}

retrieval_level detail::plan_guided_level(std::uint64_t n, double others_per_key,
                                          std::uint32_t columns, unsigned attempt) noexcept {
  retrieval_level level{.columns = columns, .width = guided_width};
  level.bumps = n > last_guided_keys;
  const double per_key =
      std::max(1 + others_per_key * free_slots_per_other(columns), 1 / max_guided_load);
  std::uint64_t groups = (static_cast<std::uint64_t>(static_cast<double>(n) * per_key) + 7) / 8;
  if (!level.bumps) {
    for (unsigned i = 4; i <= attempt; i += 4) groups += groups / 64 + 1;
    groups = std::max(groups, level.window_groups());
  }
  level.shards =
      std::max<std::uint64_t>(1, (groups + guided_shard_slots / 16) / (guided_shard_slots / 8));
  set_starts(level, groups);
  level.cut = level.all_starts();
  return level;
}

std::uint64_t exact_params::payload_bytes() const noexcept {
  if (last.levels.empty()) return 0;
  return detail::retrieval_bytes(first.levels) + detail::retrieval_bytes(guided.levels) +
         detail::retrieval_bytes(last.levels) + detail::retrieval_padding;
}

double exact_params::unknown_rate() const noexcept {
  const double held =
      last.levels.empty()
          ? 0
          : std::ldexp(1.0, -static_cast<int>(first.columns + guided.columns + last.columns));
  return negated ? 1 - held : held;
}

bool exact_params::possible(std::uint64_t count) const noexcept {
  if (!is_possible(first, max_first_columns, plain_width) ||
      !is_possible(guided, 2, guided_width) || !is_possible(last, 1, plain_width) ||
      stored > max_exact_keys || count > max_exact_keys) {
    return false;
  }
  if (!last.levels.empty()) return count != 0;
  return first.levels.empty() && guided.levels.empty() && stored == 0 && negated == (count != 0);
}

std::vector<std::byte> exact_params::encode() const {
  // Six bytes and two zeros.
  const std::uint64_t shape =
      first.columns | std::uint64_t{guided.columns} << 8 | std::uint64_t{negated} << 16 |
      std::uint64_t{first.levels.size()} << 24 | std::uint64_t{guided.levels.size()} << 32 |
      std::uint64_t{last.levels.size()} << 40;
  detail::record_writer writer;
  writer.values(shape, stored);
  for (const exact_section* section : {&first, &guided, &last}) write_levels(writer, *section);
  return writer.finish();
}

result<exact_params> exact_params::decode(const filter_header& header,
                                          std::span<const std::byte> block) {
  std::uint64_t shape = 0;
  const auto byte = [&shape](unsigned i) { return static_cast<std::uint8_t>(shape >> 8 * i); };
  return detail::decode_block<exact_params>(
      header, block, "exact filter",
      [&](detail::record_reader& reader, exact_params& params) {
        reader.values(shape, params.stored);
        params.first.columns = byte(0);
        params.guided.columns = byte(1);
        params.negated = byte(2) != 0;
        params.last.columns = byte(5) != 0;
        read_levels(reader, params.first, plain_width, byte(3));
        read_levels(reader, params.guided, guided_width, byte(4));
        read_levels(reader, params.last, plain_width, byte(5));
      },
      [&](const exact_params& params) {
        return byte(2) <= 1 && shape >> 48 == 0 && params.possible(header.count);
      });
}

result<exact_plan> plan_exact(const exact_spec& spec) {
  if (auto ok = detail::check_common(spec, max_exact_keys); !ok) return fail(std::move(ok.error()));
  if (spec.fpr != 0 || spec.bits != 0) {
    return detail::refuse(
        "an exact filter has the rate and the size that its keys need; leave the rate and the "
        "memory out");
  }
  if (spec.capacity == 0 || spec.universe == 0) {
    return detail::refuse(
        "an exact filter is planned for a number of members and of all keys that are ever queried; "
        "give the capacity and the universe");
  }
  if (spec.universe < spec.capacity || spec.universe > max_exact_keys) {
    return detail::refuse("a universe of {} is out of range; give at least the {} and at most {}",
                          format_count(spec.universe, "key"), format_count(spec.capacity, "member"),
                          format_count(max_exact_keys));
  }
  if (spec.partitions > spec.universe) {
    return detail::refuse("{} with a universe of {} would be empty; give at most as many as keys",
                          format_count(spec.partitions, "partition"),
                          format_count(spec.universe, "key"));
  }
  exact_plan plan{
      .capacity = spec.capacity, .universe = spec.universe, .partitions = spec.partitions};
  const std::uint64_t others = spec.universe - spec.capacity;
  const auto n = static_cast<double>(spec.universe);
  plan.information_bits = self_information(n) -
                          self_information(static_cast<double>(spec.capacity)) -
                          self_information(static_cast<double>(others));
  const bool negated = others < spec.capacity;
  const std::uint64_t held = std::min(others, spec.capacity);
  std::uint64_t left = std::max(others, spec.capacity);
  std::uint32_t first = 0;
  if (held != 0) {
    for (; first < max_first_columns && detail::needs_first_column(held, left); ++first) left /= 2;
    const std::uint32_t columns = detail::guided_columns(held, left);
    const double ratio = static_cast<double>(left) / static_cast<double>(held);
    const auto plain = [](std::uint32_t columns_of_level) {
      return [columns_of_level](std::uint64_t keys) {
        return detail::plan_retrieval_level(keys, columns_of_level, plain_width, 0);
      };
    };
    if (first != 0) plan.bytes += bytes_of_levels(held, plain(first));
    if (columns != 0) {
      plan.bytes += bytes_of_levels(held, [&](std::uint64_t keys) {
        return detail::plan_guided_level(keys, ratio, columns, 0);
      });
    }
    const auto passing =
        static_cast<std::uint64_t>(static_cast<double>(left) * guided_rate(columns));
    plan.bytes += bytes_of_levels(held + passing, plain(1)) + detail::retrieval_padding;
    plan.fpr = std::ldexp(1.0, -static_cast<int>(first + columns + 1));
  }
  // The directory. The sections are shared, and the sum of the partitions' bounds is that of all.
  plan.bytes += detail::round_up(9 * plan.partitions, 8);
  if (negated) plan.fpr = 1 - plan.fpr;
  return plan;
}

}  // namespace bloomset
