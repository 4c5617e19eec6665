// The build of a ribbon filter: level after level, each shard by shard. The kernels solve the
// equations (kernels/loops.inl). Then the sections of the payload, its rate and its validation.

#include <algorithm>
#include <atomic>
#include <bloomset/detail/core/hash_shards.hpp>
#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/detail/core/threads.hpp>
#include <bloomset/plan/units.hpp>
#include <bloomset/ribbon.hpp>
#include <cmath>
#include <cstring>
#include <new>
#include <vector>

#include "plan/checks.hpp"

namespace bloomset::detail {
namespace {

// Up to this many distinct keys are counted before the first level is planned. A larger number is
// estimated: 1% more or fewer slots make a level hardly worse.
constexpr std::uint64_t counted_keys = std::uint64_t{1} << 21;
// Tries of a last level; from the fifth on it is larger (plan_ribbon_level).
constexpr unsigned max_tries = 64;

std::uint64_t level_seed(const ribbon_params& params, unsigned attempt) noexcept {
  // Odd, so that it is not 0, which would leave the hashes as they are.
  return remix64(params.seed.value() + remix64(params.levels.size() * max_tries + attempt + 1)) >>
             1 |
         1;
}

/// The fractions of non-members that a level passes, and that it bumps to the levels beyond.
struct ribbon_share {
  double pass = 0;
  double bumped = 0;
};

/// O(code bytes).
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

/// The keys of a shard by start, without repetitions.
struct sorted_keys {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> begins;  // starts + 1

  void assign(std::span<const hash64> hashes, std::uint64_t shards, std::uint64_t starts) {
    const auto start_of = [&](hash64 h) { return ribbon_start_of(h.value, shards, starts); };
    begins.assign(starts + 2, 0);
    keys.resize(hashes.size());
    // Counted at index start + 2, so that the second pass leaves begins[start] in place.
    for (const hash64 h : hashes) ++begins[start_of(h) + 2];
    for (std::size_t i = 2; i < begins.size(); ++i) begins[i] += begins[i - 1];
    for (const hash64 h : hashes) keys[begins[start_of(h) + 1]++] = h.value;
    begins.pop_back();
    drop_repetitions();
  }

 private:
  // Few hashes have the same start, so that comparing all pairs is faster than sorting.
  static bool repeats(std::span<const std::uint64_t> some) noexcept {
    constexpr std::size_t few = 24;
    if (some.size() > few) return true;
    bool found = false;
    for (std::size_t i = 1; i < some.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) found |= some[i] == some[j];
    }
    return found;
  }

  void drop_repetitions() {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    for (std::size_t start = 0; start + 1 < begins.size(); ++start) {
      const std::uint32_t end = begins[start + 1];
      const std::span<std::uint64_t> some(keys.data() + from, end - from);
      std::size_t left = some.size();
      if (repeats(some)) {
        std::ranges::sort(some);
        left = static_cast<std::size_t>(std::ranges::unique(some).begin() - some.begin());
      }
      if (to != from) std::copy_n(some.begin(), left, keys.begin() + to);
      from = end;
      to += static_cast<std::uint32_t>(left);
      begins[start + 1] = to;
    }
    keys.resize(to);
  }
};

/// The memory of a thread that builds shard after shard, and its keys for the next level.
struct shard_builder {
  sorted_keys sorted;
  std::vector<std::uint64_t> rows;
  std::vector<std::uint32_t> results;
  std::vector<std::byte> data;
  std::vector<std::byte> codes;
  std::vector<std::uint64_t> bumped_here;
  source_vector<hash64> next_keys;
  std::uint64_t keys = 0;
};

/// A level under construction: codes, then slots.
struct open_level {
  ribbon_level shape;
  ribbon_level_view view{};
  owned_storage bytes;

  static result<open_level> make(const ribbon_level& shape) {
    open_level level{.shape = shape, .bytes = {}};
    ribbon_params alone;
    alone.levels = {shape};
    level.view = ribbon_views(alone).front();
    auto memory = owned_storage::make(shape.bytes());
    if (!memory) return fail(std::move(memory.error()));
    level.bytes = std::move(*memory);
    return level;
  }

  /// Solves the starts [first, last) of a shard, which have equally many columns. Returns false if
  /// there is no solution.
  bool solve(std::uint64_t shard, std::uint64_t first, std::uint64_t last, shard_builder& builder) {
    if (first == last) return true;
    const std::uint64_t start = shard * shape.starts + first;
    ribbon_job job{.keys = builder.sorted.keys.data(),
                   .begins = builder.sorted.begins.data() + first,
                   .starts = last - first,
                   .columns = shape.columns + (start >= shape.cut),
                   .bumps = shape.bumps,
                   .first_bucket = start / bucket_starts % 4};
    const std::uint64_t slots = 8 * job.groups();
    const std::size_t data_bytes = job.groups() * job.columns;
    builder.rows.resize(std::max<std::size_t>(builder.rows.size(), slots));
    builder.results.resize(builder.rows.size());
    // The windows of the last groups are read whole too.
    const std::size_t readable =
        data_bytes + (ribbon_window_groups - 1) * job.columns + ribbon_padding;
    builder.data.resize(std::max<std::size_t>(builder.data.size(), readable));
    builder.codes.assign(job.starts / (4 * bucket_starts) + 2, std::byte{0});
    builder.bumped_here.resize(std::max(builder.bumped_here.size(), builder.sorted.keys.size()));
    job.codes = builder.codes.data();
    job.data = builder.data.data();
    job.bumped = builder.bumped_here.data();
    job.rows = builder.rows.data();
    job.results = builder.results.data();
    const std::size_t bumped = ribbon_ops().build(job);
    if (bumped == ribbon_kernels::no_solution) return false;
    for (std::size_t i = 0; i < bumped; ++i) builder.next_keys.push_back({builder.bumped_here[i]});
    std::byte* const all = bytes.writable_bytes().data();
    const std::uint64_t group = start + (ribbon_window_groups - 1) * shard;
    const std::uint64_t at = start >= shape.cut ? view.upper_at : view.lower_at;
    if (data_bytes != 0) std::memcpy(all + (at + group * job.columns), job.data, data_bytes);
    if (shape.bumps) {
      // Two shards may share a byte of codes.
      std::byte* const codes = all + start / (4 * bucket_starts);
      const std::uint64_t buckets = (job.starts + bucket_starts - 1) / bucket_starts;
      for (std::size_t i = 0; i < (job.first_bucket + buckets + 3) / 4; ++i) {
        std::atomic_ref(*reinterpret_cast<unsigned char*>(codes + i))
            .fetch_or(std::to_integer<unsigned char>(builder.codes[i]), std::memory_order_relaxed);
      }
    }
    return true;
  }

  bool build_shard(std::uint64_t shard, std::span<const hash64> hashes, shard_builder& builder) {
    builder.sorted.assign(hashes, shape.shards, shape.starts);
    builder.keys += builder.sorted.keys.size();
    const std::uint64_t before = shard * shape.starts;
    const std::uint64_t cut = std::clamp(shape.cut, before, before + shape.starts) - before;
    return solve(shard, 0, cut, builder) && solve(shard, cut, shape.starts, builder);
  }
};

class ribbon_builder {
 public:
  ribbon_builder(const ribbon_spec& spec, double fpr)
      : spec_(spec), threads_(threads_for(spec.threads)), builders_(threads_) {
    params_.fpr = fpr;
    params_.seed = spec.seed;
  }

  result<built_ribbon> build(const hash_source& source) {
    if (source.size == 0) return assemble();
    std::uint64_t distinct = source.size;
    if (source.size > counted_keys / 2) {
      const auto estimate = estimate_distinct(source, threads_);
      if (!estimate) return fail(estimate.error());
      distinct = *estimate;
    }
    if (distinct > max_ribbon_keys) {
      return refuse("{} keys are more than a ribbon filter can have; give at most {}",
                    format_count(distinct), format_count(max_ribbon_keys));
    }
    source_vector<hash64> keys;
    if (distinct <= counted_keys) {
      if (auto ok = gather(source, distinct); !ok) return fail(ok.error());
      keys = extract_next_keys();
      distinct = keys.size();
    }
    // An estimate that is too high must not exceed the size that was planned for the capacity.
    else if (spec_.bits != 0 && spec_.capacity != 0) {
      distinct = std::min(distinct, spec_.capacity);
    }
    if (auto ok = check_ribbon_rate(params_.fpr, distinct); !ok) return fail(ok.error());
    double eps = params_.fpr - formulas::hash_collision_fpr(static_cast<double>(distinct));
    if (distinct > last_ribbon_level_keys) {
      const auto first = keys.empty() ? source : kept_of(source, keys);
      if (auto ok = add_level(first, distinct, 0, eps); !ok) return fail(ok.error());
      for (const shard_builder& one : builders_) count_ += one.keys;
      keys = extract_next_keys();
    } else {
      count_ = distinct;
    }
    while (keys.size() > last_ribbon_level_keys) {
      if (params_.levels.size() + 1 == max_ribbon_levels) return hashes_were_chosen();
      const std::uint64_t before = keys.size();
      const std::uint64_t seed = level_seed(params_, 0);
      for (hash64& h : keys) h.value = ribbon_hash(h.value, seed);
      if (auto ok = add_level(kept_of(source, keys), keys.size(), seed, eps); !ok) {
        return fail(ok.error());
      }
      keys = extract_next_keys();
      // The level's seed makes alike hashes uniform, and it bumps a twentieth of them. Hashes that
      // were chosen for it could make each level as large as the one before.
      if (keys.size() > before / 2) return hashes_were_chosen();
    }
    // A level that bumps needs a level after it, even without keys.
    if (auto ok = add_last_level(keys, eps); !ok) return fail(ok.error());
    return assemble();
  }

 private:
  /// The hashes of a source that are kept in memory, for a build that is cancelled as the source
  /// is.
  static hash_source kept_of(const hash_source& source, std::span<const hash64> hashes) {
    hash_source kept = hash_source::of(hashes);
    kept.check_cancelled = source.check_cancelled;
    return kept;
  }

  /// Brings all distinct hashes into memory.
  result<void> gather(const hash_source& source, std::uint64_t distinct) {
    constexpr std::uint64_t keys_per_shard = std::uint64_t{1} << 15;
    const std::uint64_t shards = distinct / keys_per_shard + 1;
    builders_.front().next_keys.reserve(distinct + distinct / 64);
    return for_each_shard(source, shards, distinct, threads_,
                          [&](unsigned t, std::uint64_t, std::span<hash64> hashes) -> result<void> {
                            shard_builder& builder = builders_[t];
                            builder.sorted.assign(hashes, shards, hashes.size() / 8 + 1);
                            for (const std::uint64_t y : builder.sorted.keys)
                              builder.next_keys.push_back({y});
                            return {};
                          });
  }

  /// Builds a level that bumps. Then `eps` is the rate that is left for the levels beyond.
  result<void> add_level(const hash_source& source, std::uint64_t n, std::uint64_t seed,
                         double& eps) {
    ribbon_level shape = plan_ribbon_level(n, eps);
    shape.seed = seed;
    auto level = open_level::make(shape);
    if (!level) return fail(std::move(level.error()));
    auto done = for_each_shard(
        source, shape.shards, n, threads_,
        [&](unsigned t, std::uint64_t shard, std::span<hash64> hashes) -> result<void> {
          level->build_shard(shard, hashes, builders_[t]);
          return {};
        });
    if (!done) return done;
    const ribbon_share share = ribbon_share_of(shape, level->bytes.bytes().data());
    if (share.bumped > 0) eps = (eps - share.pass) / share.bumped;
    params_.levels.push_back(shape);
    bytes_.push_back(std::move(level->bytes));
    return {};
  }

  result<void> add_last_level(std::span<const hash64> keys, double eps) {
    source_vector<hash64> mixed(keys.size());
    for (unsigned attempt = 0; attempt < max_tries; ++attempt) {
      ribbon_level shape = plan_ribbon_level(std::max<std::uint64_t>(keys.size(), 1), eps, attempt);
      shape.seed = level_seed(params_, attempt);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        mixed[i].value = ribbon_hash(keys[i].value, shape.seed);
      }
      auto level = open_level::make(shape);
      if (!level) return fail(std::move(level.error()));
      if (!level->build_shard(0, mixed, builders_.front())) continue;
      params_.levels.push_back(shape);
      bytes_.push_back(std::move(level->bytes));
      return {};
    }
    return hashes_were_chosen();
  }

  source_vector<hash64> extract_next_keys() {
    auto all = std::exchange(builders_.front().next_keys, {});
    for (shard_builder& one : std::span(builders_).subspan(1)) {
      all.insert(all.end(), one.next_keys.begin(), one.next_keys.end());
      one.next_keys = {};
    }
    return all;
  }

  result<built_ribbon> assemble() {
    built_ribbon all{
        .params = params_, .payload = {}, .views = ribbon_views(params_), .count = count_};
    const std::uint64_t size = params_.payload_bytes();
    if (spec_.bits != 0 && size * 8 > spec_.bits) {
      return refuse(
          "{} would need {} in this ribbon filter, more than the {} allowed; give more memory or a "
          "higher rate",
          format_count(count_, "key"), format_bytes(size), format_bytes(spec_.bits / 8));
    }
    auto memory = owned_storage::make(size);
    if (!memory) return fail(std::move(memory.error()));
    std::byte* to = memory->writable_bytes().data();
    for (owned_storage& level : bytes_) {
      const auto from = level.bytes();
      if (!from.empty()) std::memcpy(to, from.data(), from.size());
      to += from.size();
      level = owned_storage();
    }
    all.payload = std::move(*memory);
    return all;
  }

  const ribbon_spec spec_;
  const unsigned threads_;
  std::vector<shard_builder> builders_;
  ribbon_params params_;
  std::vector<owned_storage> bytes_;  // of the levels
  std::uint64_t count_ = 0;
};

}  // namespace

result<built_ribbon> build_ribbon(const ribbon_spec& spec, const hash_source& source) {
  const auto fpr = ribbon_rate_for(spec);
  if (!fpr) return fail(fpr.error());
  try {
    return ribbon_builder(spec, *fpr).build(source);
  } catch (const std::bad_alloc&) {
    return no_memory(
        "memory ran out while building a ribbon filter; build it on a machine with more");
  }
}

result<built_ribbon> build_ribbon(const ribbon_spec& spec, std::span<const hash64> hashes) {
  return build_ribbon(spec, hash_source::of(hashes));
}

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

}  // namespace bloomset::detail
