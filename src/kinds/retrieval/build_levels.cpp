#include "kinds/retrieval/build_levels.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bloomset/detail/core/hash_shards.hpp>
#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/detail/core/threads.hpp>
#include <bloomset/detail/retrieval/retrieval.hpp>
#include <bloomset/plan/units.hpp>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kinds/retrieval/guided.hpp"
#include "kinds/retrieval/sorted_keys.hpp"
#include "plan/checks.hpp"

namespace bloomset::detail {
namespace {

// Up to this many distinct keys are counted before the first level is planned. A larger number is
// estimated: 1% more or fewer slots make a level hardly worse.
constexpr std::uint64_t counted_keys = std::uint64_t{1} << 21;
// Tries of a last level. Every fourth is larger.
constexpr unsigned max_tries = 64;

std::uint64_t level_seed(std::uint64_t seed, std::size_t level, unsigned attempt) noexcept {
  // Odd, so that it is not 0, which would leave the hashes as they are.
  return remix64(seed + remix64(level * max_tries + attempt + 1)) >> 1 | 1;
}

/// The memory of a thread that builds shard after shard, and its keys for the next level.
template <class Entry>
struct shard_builder {
  sorted_keys<Entry> sorted;
  keys_by_start others;
  guided_search search;
  std::vector<std::uint64_t> rows;
  std::vector<std::uint32_t> results;
  std::vector<std::byte> data;
  std::vector<std::byte> codes;
  source_vector<Entry> next_keys;
  std::uint64_t keys = 0;     // members
  std::uint64_t passing = 0;  // other keys
};

/// A level under construction: codes, then slots.
template <class Entry>
struct open_level {
  retrieval_level shape;
  std::uint32_t value_mask = 0;
  bool guided = false;
  retrieval_level_view view{};
  owned_storage bytes;

  static result<open_level> make(const retrieval_level& shape, const level_request& request) {
    open_level level{.shape = shape,
                     .value_mask = request.value_mask | (request.guided ? other_key : 0),
                     .guided = request.guided,
                     .bytes = {}};
    level.view = retrieval_views({&shape, 1}).front();
    auto memory = owned_storage::make(shape.bytes());
    if (!memory) return fail(std::move(memory.error()));
    level.bytes = std::move(*memory);
    return level;
  }

  /// Solves a shard, whose keys are sorted. Returns false if there is no solution.
  bool solve(std::uint64_t shard, shard_builder<Entry>& builder) {
    const std::uint64_t bucket_starts = shape.bucket_starts();
    const std::uint64_t start = shard * shape.starts;
    const std::uint64_t cut = std::clamp(shape.cut, start, start + shape.starts) - start;
    const bool has_upper = cut < shape.starts;
    retrieval_job job{.keys = builder.sorted.keys.data(),
                      .values = has_values<Entry> ? builder.sorted.values.data() : nullptr,
                      .begins = builder.sorted.begins.data(),
                      .starts = shape.starts,
                      .groups = shape.starts + shape.window_groups() - 1,
                      .columns = shape.columns + has_upper,
                      .cut = has_upper ? cut : 0,
                      .bumps = shape.bumps,
                      .first_bucket = start / bucket_starts % 4};
    const std::uint64_t slots = 8 * job.groups;
    builder.rows.resize(std::max<std::size_t>(builder.rows.size(), slots * shape.width / 64));
    builder.results.resize(std::max<std::size_t>(builder.results.size(), slots));
    // The windows of the last groups are read whole too.
    const std::size_t readable =
        (job.groups + shape.window_groups() - 1) * job.columns + retrieval_padding;
    builder.data.resize(std::max<std::size_t>(builder.data.size(), readable));
    builder.codes.assign(job.starts / (4 * bucket_starts) + 2, std::byte{0});
    job.codes = builder.codes.data();
    job.data = builder.data.data();
    job.rows = builder.rows.data();
    job.results = builder.results.data();
    const retrieval_kernels& kernels = retrieval_ops();
    const bool narrow = shape.width == 64;
    if (!(narrow ? kernels.eliminate_64 : kernels.eliminate_128)(job)) return false;
    if (guided) {
      builder.passing += builder.search.choose(
          job,
          {builder.others.keys.data(), builder.others.values.data(), builder.others.begins.data()});
    }
    (narrow ? kernels.substitute_64 : kernels.substitute_128)(job);
    store(job, has_upper ? cut : job.groups, start + (shape.window_groups() - 1) * shard);
    if (shape.bumps) finish_codes(job, start, builder);
    return true;
  }

  /// Solves a shard. Returns false if there is no solution; fails if a hash has two values.
  result<bool> build_shard(std::uint64_t shard, std::span<const Entry> entries,
                           shard_builder<Entry>& builder) {
    auto sorted = builder.sorted.assign(entries, shape.shards, shape.starts, value_mask);
    if (!sorted) return fail(std::move(sorted.error()));
    if (guided) builder.sorted.split_off(builder.others);
    builder.keys += builder.sorted.keys.size();
    return solve(shard, builder);
  }

 private:
  /// Stores the groups of a job, of which the first has this number in the level: `lower` groups
  /// without the last column, which no key asks there, and the others whole.
  void store(const retrieval_job& job, std::uint64_t lower, std::uint64_t first_group) {
    std::byte* const all = bytes.writable_bytes().data();
    const std::size_t columns = shape.columns;
    std::byte* const to = all + (view.lower_at + first_group * columns);
    const std::byte* const from = job.data;
    for (std::uint64_t i = 0; i < lower && columns != 0; ++i) {
      std::memcpy(to + i * columns, from + i * job.columns, columns);
    }
    const std::size_t upper_bytes = (job.groups - lower) * job.columns;
    if (upper_bytes == 0) return;
    std::memcpy(all + (view.upper_at + (first_group + lower) * (columns + 1)),
                from + lower * job.columns, upper_bytes);
  }

  /// Stores the codes of a job whose first start this is, and keeps its bumped keys.
  void finish_codes(const retrieval_job& job, std::uint64_t start, shard_builder<Entry>& builder) {
    const std::uint64_t bucket_starts = shape.bucket_starts();
    const std::uint64_t buckets = (job.starts + bucket_starts - 1) / bucket_starts;
    for (std::uint64_t bucket = 0; bucket < buckets; ++bucket) {
      const std::uint64_t first = bucket * bucket_starts;
      const std::uint64_t bumped = bumped_starts(shape, job.codes, job.first_bucket + bucket);
      const std::uint64_t end = job.begins[std::min(first + bumped, job.starts)];
      for (std::uint64_t i = job.begins[first]; i < end; ++i) {
        builder.next_keys.push_back(builder.sorted.entry(i));
      }
      if constexpr (has_values<Entry>) {
        if (!guided) continue;
        const auto& [keys, values, begins] = builder.others;
        for (std::uint64_t i = begins[first]; i < begins[std::min(first + bumped, job.starts)];
             ++i) {
          builder.next_keys.push_back({hash64{keys[i]}, values[i] | other_key});
        }
      }
    }
    // Two shards may share a byte of codes.
    std::byte* const codes = bytes.writable_bytes().data() + start / (4 * bucket_starts);
    for (std::size_t i = 0; i < (job.first_bucket + buckets + 3) / 4; ++i) {
      std::atomic_ref(*reinterpret_cast<unsigned char*>(codes + i))
          .fetch_or(std::to_integer<unsigned char>(builder.codes[i]), std::memory_order_relaxed);
    }
  }
};

template <class Entry>
class level_builder {
  using source_type = basic_hash_source<Entry>;

 public:
  level_builder(const level_request& request, level_planner& planner)
      : request_(request),
        threads_(threads_for(request.threads)),
        planner_(planner),
        builders_(threads_) {
    for (builder& one : builders_) one.sorted.guided = request.guided;
  }

  result<built_levels> build(const source_type& source) {
    if (source.size == 0) return assemble();
    std::uint64_t distinct = source.size;
    if (source.size > counted_keys / 2) {
      const auto estimate = estimate_distinct(source, threads_);
      if (!estimate) return fail(estimate.error());
      distinct = *estimate;
    }
    if (distinct > max_retrieval_keys) {
      return refuse("{} keys are more than {} can have; give at most {}", format_count(distinct),
                    request_.structure, format_count(max_retrieval_keys));
    }
    source_vector<Entry> keys;
    const bool is_estimate = distinct > counted_keys;
    if (!is_estimate) {
      if (auto ok = gather(source, distinct); !ok) return fail(ok.error());
      keys = extract_next_keys();
      distinct = keys.size();
    }
    const auto planned = planner_.begin(distinct, is_estimate);
    if (!planned) return fail(planned.error());
    if (const auto shape = planner_.level_for(*planned, 0); shape.bumps) {
      const auto first = keys.empty() ? source : kept_of(source, keys);
      if (auto ok = add_level(first, distinct, shape); !ok) return fail(ok.error());
      for (const auto& one : builders_) count_ += one.keys;
      keys = extract_next_keys();
    } else {
      count_ = is_estimate ? *planned : members_of(keys);
      if (is_estimate) {
        if (auto ok = add_last_level(source, distinct, count_); !ok) return fail(ok.error());
        return assemble();
      }
    }
    while (!keys.empty()) {
      auto shape = planner_.level_for(members_of(keys), 0);
      if (!shape.bumps) break;
      if (levels_.size() + 1 == max_retrieval_levels) return hashes_were_chosen();
      const std::uint64_t before = keys.size();
      shape.seed = level_seed(request_.seed, levels_.size(), 0);
      for (Entry& key : keys) set_hash(key, retrieval_hash(hash_in(key), shape.seed));
      if (auto ok = add_level(kept_of(source, keys), keys.size(), shape); !ok) {
        return fail(ok.error());
      }
      keys = extract_next_keys();
      // The level's seed makes alike hashes uniform, and it bumps a twentieth of them. Hashes that
      // were chosen for it could make each level as large as the one before.
      if (keys.size() > before / 2) return hashes_were_chosen();
    }
    // A level that bumps needs a level after it, even without keys.
    if (auto ok = add_last_level(kept_of(source, keys), keys.size(), members_of(keys)); !ok) {
      return fail(ok.error());
    }
    return assemble();
  }

 private:
  using builder = shard_builder<Entry>;

  std::uint64_t members_of(std::span<const Entry> entries) const noexcept {
    return count_members(entries, request_.guided);
  }

  /// The hashes of a source that are kept in memory, for a build that is cancelled as the source
  /// is.
  static source_type kept_of(const source_type& source, std::span<const Entry> entries) {
    source_type kept = source_type::of(entries);
    kept.check_cancelled = source.check_cancelled;
    return kept;
  }

  std::uint32_t value_mask() const noexcept {
    return request_.value_mask | (request_.guided ? other_key : 0);
  }

  /// Brings all distinct hashes into memory.
  result<void> gather(const source_type& source, std::uint64_t distinct) {
    constexpr std::uint64_t keys_per_shard = std::uint64_t{1} << 15;
    const std::uint64_t shards = distinct / keys_per_shard + 1;
    builders_.front().next_keys.reserve(distinct + distinct / 64);
    return for_each_shard(source, shards, distinct, threads_,
                          [&](unsigned t, std::uint64_t, std::span<Entry> entries) -> result<void> {
                            builder& one = builders_[t];
                            auto ok = one.sorted.assign(entries, shards, entries.size() / 8 + 1,
                                                        value_mask());
                            if (!ok) return ok;
                            for (std::size_t i = 0; i < one.sorted.keys.size(); ++i) {
                              one.next_keys.push_back(one.sorted.entry(i));
                            }
                            return {};
                          });
  }

  /// Builds a level that bumps.
  result<void> add_level(const source_type& source, std::uint64_t n, const retrieval_level& shape) {
    auto level = open_level<Entry>::make(shape, request_);
    if (!level) return fail(std::move(level.error()));
    auto done = for_each_shard(
        source, shape.shards, n, threads_,
        [&](unsigned t, std::uint64_t shard, std::span<Entry> entries) -> result<void> {
          const auto ok = level->build_shard(shard, entries, builders_[t]);
          if (!ok) return fail(ok.error());
          return {};
        });
    if (!done) return done;
    planner_.finish_level(shape, level->bytes.bytes().data());
    levels_.push_back(shape);
    bytes_.push_back(std::move(level->bytes));
    return {};
  }

  /// Builds a level that does not bump, with the first seed that solves it.
  result<void> add_last_level(const source_type& source, std::uint64_t entries,
                              std::uint64_t members) {
    std::vector<std::uint64_t> passing;
    passing.reserve(builders_.size());
    for (const builder& one : builders_) passing.push_back(one.passing);
    for (unsigned attempt = 0; attempt < max_tries; ++attempt) {
      retrieval_level shape = planner_.level_for(std::max<std::uint64_t>(members, 1), attempt);
      // With its own hashes, a source is read part by part.
      const bool keeps_hashes = shape.shards > 1 && levels_.empty() && attempt == 0;
      if (!keeps_hashes) shape.seed = level_seed(request_.seed, levels_.size(), attempt);
      auto level = open_level<Entry>::make(shape, request_);
      if (!level) return fail(std::move(level.error()));
      std::atomic<bool> is_solved = true;
      auto done = for_each_shard(
          hashed_again(source, shape.seed), shape.shards, entries, shape.shards > 1 ? threads_ : 1,
          [&](unsigned t, std::uint64_t shard, std::span<Entry> some) -> result<void> {
            const auto solved = level->build_shard(shard, some, builders_[t]);
            if (!solved) return fail(solved.error());
            if (*solved) return {};
            is_solved = false;
            return fail(errc::invalid_argument, "");  // ends the try
          });
      if (is_solved && !done) return done;
      if (is_solved) {
        levels_.push_back(shape);
        bytes_.push_back(std::move(level->bytes));
        return {};
      }
      for (std::size_t t = 0; t < builders_.size(); ++t) builders_[t].passing = passing[t];
    }
    return hashes_were_chosen();
  }

  /// A source of the same keys with their hashes at a level of that seed.
  static source_type hashed_again(const source_type& source, std::uint64_t seed) {
    if (seed == 0) return source;
    source_type other;
    other.size = source.size;
    other.for_each = [&source, seed](const typename source_type::sink& use) {
      return source.for_each([&](std::span<const Entry> entries) -> result<void> {
        std::array<Entry, 1024> batch;
        while (!entries.empty()) {
          const std::size_t n = std::min(entries.size(), batch.size());
          for (std::size_t i = 0; i < n; ++i) {
            batch[i] = entries[i];
            set_hash(batch[i], retrieval_hash(hash_in(entries[i]), seed));
          }
          if (auto ok = use(std::span<const Entry>(batch.data(), n)); !ok) return ok;
          entries = entries.subspan(n);
        }
        return {};
      });
    };
    other.check_cancelled = source.check_cancelled;
    return other;
  }

  source_vector<Entry> extract_next_keys() {
    auto all = std::exchange(builders_.front().next_keys, {});
    for (builder& one : std::span(builders_).subspan(1)) {
      all.insert(all.end(), one.next_keys.begin(), one.next_keys.end());
      one.next_keys = {};
    }
    return all;
  }

  result<built_levels> assemble() {
    const std::uint64_t size = retrieval_payload_bytes(levels_);
    if (auto ok = planner_.end(count_, size); !ok) return fail(std::move(ok.error()));
    auto memory = owned_storage::make(size);
    if (!memory) return fail(std::move(memory.error()));
    std::byte* to = memory->writable_bytes().data();
    for (owned_storage& level : bytes_) {
      const auto from = level.bytes();
      if (!from.empty()) std::memcpy(to, from.data(), from.size());
      to += from.size();
      level = owned_storage();
    }
    std::uint64_t passing = 0;
    for (const builder& one : builders_) passing += one.passing;
    return built_levels{std::move(levels_), std::move(*memory), count_, passing};
  }

  const level_request request_;
  const unsigned threads_;
  level_planner& planner_;
  std::vector<builder> builders_;
  std::vector<retrieval_level> levels_;
  std::vector<owned_storage> bytes_;  // of the levels
  std::uint64_t count_ = 0;
};

}  // namespace

result<built_levels> build_levels(const level_request& request, const hash_source& source,
                                  level_planner& planner) {
  return level_builder<hash64>(request, planner).build(source);
}

result<built_levels> build_levels(const level_request& request, const valued_hash_source& source,
                                  level_planner& planner) {
  return level_builder<valued_hash>(request, planner).build(source);
}

std::uint64_t bumped_starts(const retrieval_level& level, const std::byte* codes,
                            std::uint64_t bucket) noexcept {
  const unsigned code = (std::to_integer<unsigned>(codes[bucket / 4]) >> (2 * (bucket % 4))) & 3;
  return level.width == 64 ? window_64::bumped_starts(code) : window_128::bumped_starts(code);
}

}  // namespace bloomset::detail
