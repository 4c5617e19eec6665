#include <algorithm>

#include <bloomset/detail/retrieval/level.hpp>

namespace bloomset::detail {
namespace {

constexpr std::uint64_t max_starts = std::uint64_t{1} << 46;
// Slots per shard. Their equations need 1.5 MB with windows of 64 slots, and 2.5 MB with 128.
constexpr std::uint64_t shard_slots = std::uint64_t{1} << 17;

}  // namespace

bool retrieval_level::possible(std::uint32_t max_columns) const noexcept {
  return shards != 0 && starts != 0 && starts <= max_starts / shards &&
         (shards == 1 || starts % bucket_starts() == 0) && cut <= all_starts() &&
         (width == 64 || cut == all_starts()) && columns <= max_columns && seed >> 63 == 0;
}

bool are_possible(std::span<const retrieval_level> levels, std::uint32_t columns,
                  std::uint32_t width) noexcept {
  return levels.size() <= max_retrieval_levels &&
         std::ranges::all_of(levels, [&](const retrieval_level& level) {
           return level.columns == columns && level.width == width &&
                  level.cut == level.all_starts() && level.possible(columns) &&
                  level.bumps == (&level != &levels.back());
         });
}

std::uint64_t retrieval_bytes(std::span<const retrieval_level> levels) noexcept {
  std::uint64_t bytes = 0;
  for (const retrieval_level& level : levels) bytes += level.bytes();
  return bytes;
}

void set_starts(retrieval_level& level, std::uint64_t groups) noexcept {
  const std::uint64_t spent = (level.window_groups() - 1) * level.shards;
  const std::uint64_t starts = groups > spent ? groups - spent : 1;
  const std::uint64_t bucket = level.bucket_starts();
  level.starts = level.shards == 1
                     ? starts
                     : std::max(bucket, (starts / level.shards + bucket / 2) / bucket * bucket);
}

retrieval_level plan_retrieval_level(std::uint64_t n, std::uint32_t columns, std::uint32_t width,
                                     unsigned attempt) noexcept {
  const bool wide = width == 128;
  retrieval_level level{.columns = columns, .width = width};
  // A level of at most this many keys is the last. It has so few slots more than keys that one of
  // several seeds has a solution.
  level.bumps = n > (wide ? 4096 : 1024);
  std::uint64_t groups = 0;
  if (level.bumps) {
    // 1.03 or 1.05 keys per slot. The others are bumped, so that hardly a slot is empty.
    groups = wide ? n * 25 / 206 : n * 5 / 42;
    level.shards = std::max<std::uint64_t>(1, (groups + shard_slots / 16) / (shard_slots / 8));
  } else {
    const std::uint64_t slots = wide ? n + n / 200 + 2 : n + n / 64 + 4;
    groups = (slots + 7) / 8;
    for (unsigned i = 4; i <= attempt; i += 4) groups += groups / (wide ? 256 : 64) + 1;
    groups = std::max(groups, level.window_groups());
  }
  set_starts(level, groups);
  level.cut = level.all_starts();
  return level;
}

}  // namespace bloomset::detail
