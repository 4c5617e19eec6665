#include <bloomery/detail/ribbon/payload.hpp>

#include <algorithm>
#include <cmath>

namespace bloomery::detail {

std::vector<ribbon_level_view> ribbon_views(const ribbon_params& params) {
  std::vector<ribbon_level_view> views;
  std::uint64_t at = 0;
  const std::uint64_t zeros = params.payload_bytes() - ribbon_padding;
  for (const ribbon_level& level : params.levels) {
    const std::uint64_t data = at + level.code_bytes();
    // The first group above the cut follows the last one below it.
    const std::uint64_t first_upper =
        level.cut + (ribbon_window_groups - 1) * (level.cut / level.starts);
    const std::uint64_t upper = data + level.lower_groups() * level.columns;
    views.push_back({.seed = level.seed,
                     .shards = level.shards,
                     .starts = level.starts,
                     .cut = level.cut,
                     .lower_at = data,
                     .upper_at = upper - first_upper * (level.columns + 1),
                     .codes_at = level.bumps ? at : zeros,
                     .code_mask = level.bumps ? ~std::uint64_t{0} : 0,
                     .columns = level.columns});
    at += level.bytes();
  }
  return views;
}

ribbon_share ribbon_share_of(const ribbon_level& level, const std::byte* codes) noexcept {
  const std::uint64_t all = level.all_starts();
  std::uint64_t bumped_lower = 0;
  std::uint64_t bumped_upper = 0;
  for (std::uint64_t first = 0; level.bumps && first < all; first += bucket_starts) {
    const std::uint64_t bucket = first / bucket_starts;
    const unsigned code = (std::to_integer<unsigned>(codes[bucket / 4]) >> (2 * (bucket % 4))) & 3;
    const std::uint64_t bumped = std::min<std::uint64_t>(bumped_starts(code), all - first);
    (first < level.cut ? bumped_lower : bumped_upper) += bumped;
  }
  const auto lower = static_cast<double>(level.cut - bumped_lower);
  const auto upper = static_cast<double>(all - level.cut - bumped_upper);
  const auto total = static_cast<double>(all);
  return {.pass = std::ldexp((lower + upper / 2) / total, -static_cast<int>(level.columns)),
          .bumped = static_cast<double>(bumped_lower + bumped_upper) / total};
}

double ribbon_fpr(const ribbon_params& params, std::span<const std::byte> payload) noexcept {
  double rate = 0;
  double reach = 1;
  std::uint64_t at = 0;
  for (const ribbon_level& level : params.levels) {
    const ribbon_share share = ribbon_share_of(level, payload.data() + at);
    rate += reach * share.pass;
    reach *= share.bumped;
    at += level.bytes();
  }
  return rate;
}

result<void> check_ribbon_payload(const ribbon_params& params, std::span<const std::byte> payload,
                                  std::uint64_t count) {
  const bool fits = params.possible(count) && payload.size() == params.payload_bytes();
  if (!fits || (!payload.empty() && !is_zero(payload.last(ribbon_padding)))) {
    return fail(errc::corrupt,
                "the ribbon filter's slots do not fit its parameters; the file is damaged");
  }
  return {};
}

}  // namespace bloomery::detail
