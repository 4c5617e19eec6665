// The build of an exact filter: the members, then a pass over the other keys, of which those that
// pass the first section are kept, then the guided section and the last one.

#include <algorithm>
#include <bloomset/detail/core/cardinality.hpp>
#include <bloomset/detail/core/hash_shards.hpp>
#include <bloomset/detail/core/source_memory.hpp>
#include <bloomset/detail/core/threads.hpp>
#include <bloomset/detail/retrieval/retrieval.hpp>
#include <bloomset/exact.hpp>
#include <cstring>
#include <new>
#include <utility>

#include "kinds/exact/build_sections.hpp"
#include "kinds/retrieval/build_levels.hpp"
#include "plan/checks.hpp"

namespace bloomset::detail {
namespace {

/// Kept hashes are counted when there are this many per key that is held.
constexpr std::uint64_t max_kept = 16;

/// Sorts hashes and drops repetitions.
void make_set(hash_list& hashes, unsigned threads) {
  sort_by_hash(std::span(hashes), threads);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

/// The keys that pass a section, in place. Returns how many.
std::size_t keep_passing(const built_section& built, std::uint32_t shift,
                         std::span<hash64> hashes) {
  constexpr std::size_t chunk = 1024;
  const auto views = retrieval_views(built.section.levels);
  const retrieval_levels levels{built.payload.bytes().data(), views};
  const auto retrieve = built.section.levels.front().width == 64 ? retrieval_ops().retrieve_64
                                                                 : retrieval_ops().retrieve_128;
  std::array<std::uint32_t, chunk> values;
  std::size_t kept = 0;
  for (std::size_t from = 0; from < hashes.size(); from += chunk) {
    const auto some = hashes.subspan(from, std::min(chunk, hashes.size() - from));
    retrieve(levels, some, values.data());
    for (std::size_t i = 0; i < some.size(); ++i) {
      const hash64 h = some[i];
      hashes[kept] = h;
      kept += values[i] == wanted_value(h, shift, built.section.columns);
    }
  }
  return kept;
}

/// The same with several threads.
void keep_passing(const built_section& built, std::uint32_t shift, hash_list& hashes,
                  std::size_t from, unsigned threads) {
  if (built.section.levels.empty()) return;
  const std::span all = std::span(hashes).subspan(from);
  constexpr std::size_t worth_a_thread = std::size_t{1} << 15;
  const auto parts =
      static_cast<unsigned>(std::clamp<std::size_t>(all.size() / worth_a_thread, 1, threads));
  std::vector<std::size_t> kept(parts);
  const auto begin_of = [&](unsigned part) { return all.size() * part / parts; };
  in_threads(parts, [&](unsigned t) {
    kept[t] = keep_passing(built, shift, all.subspan(begin_of(t), begin_of(t + 1) - begin_of(t)));
  });
  std::size_t to = 0;
  for (unsigned t = 0; t < parts; ++t) {
    std::memmove(all.data() + to, all.data() + begin_of(t), kept[t] * sizeof(hash64));
    to += kept[t];
  }
  hashes.resize(from + to);
}

/// Passes hashes on, mapped and with their values.
template <class Map, class ValueOf>
result<void> pass_on(std::span<const hash64> hashes, const valued_hash_source::sink& use, Map&& map,
                     ValueOf&& value_of) {
  std::array<valued_hash, 4096> batch;
  while (!hashes.empty()) {
    const std::size_t n = std::min(hashes.size(), batch.size());
    for (std::size_t i = 0; i < n; ++i) batch[i] = {map(hashes[i]), value_of(hashes[i])};
    if (auto ok = use(std::span(batch).first(n)); !ok) return ok;
    hashes = hashes.subspan(n);
  }
  return {};
}

/// A source of two sorted sets, each hash with a value.
template <class ValueOf, class OtherValueOf>
valued_hash_source source_of(const hash_source& origin, const hash_list& keys,
                             const hash_list& others, ValueOf value_of,
                             OtherValueOf other_value_of) {
  const auto same = [](hash64 h) { return h; };
  // Those whose first 8 bits are `part`.
  const auto part_of = [](const hash_list& all, unsigned part) {
    const hash64 lowest{std::uint64_t{part} << 56};
    const hash64 highest{lowest.value | ~std::uint64_t{0} >> 8};
    return std::span<const hash64>(std::lower_bound(all.begin(), all.end(), lowest, by_hash),
                                   std::upper_bound(all.begin(), all.end(), highest, by_hash));
  };
  valued_hash_source source;
  source.size = keys.size() + others.size();
  source.for_each = [=, &keys, &others](const valued_hash_source::sink& use) -> result<void> {
    if (auto ok = pass_on(keys, use, same, value_of); !ok) return ok;
    return pass_on(others, use, same, other_value_of);
  };
  source.for_each_in_part =
      [=, &keys, &others](unsigned part, const valued_hash_source::sink& use) -> result<void> {
    if (auto ok = pass_on(part_of(keys, part), use, same, value_of); !ok) return ok;
    return pass_on(part_of(others, part), use, same, other_value_of);
  };
  source.check_cancelled = origin.check_cancelled;
  return source;
}

/// Builds the sections for the keys that are held.
class exact_builder {
 public:
  exact_builder(const exact_spec& spec, hash_list held)
      : spec_(spec), threads_(threads_for(spec.threads)), held_(std::move(held)) {}

  /// Reads the other keys, and keeps those that pass the first section. There are as few columns of
  /// it as possible, so that their number does not depend on repetitions. Precondition: keys are
  /// held.
  result<void> filter(const hash_source& others) {
    std::uint64_t limit = std::max<std::uint64_t>(max_kept * held_.size(), batch_hashes);
    auto done = for_batches(others, [&](std::span<const hash64> batch) -> result<void> {
      // Growing step by step would copy the kept hashes while they are the most memory.
      if (kept_.size() > limit / 4) kept_.reserve(limit + batch_hashes);
      const std::size_t from = kept_.size();
      kept_.insert(kept_.end(), batch.begin(), batch.end());
      keep_passing(first_, 0, kept_, from, threads_);
      if (kept_.size() < limit) return {};
      if (seems_too_many()) return raise();
      if (auto ok = reduce(); !ok) return ok;
      limit = std::max<std::uint64_t>(limit, kept_.size() + max_kept / 2 * held_.size());
      return {};
    });
    if (!done) return done;
    while (seems_too_many()) {
      if (auto ok = raise(); !ok) return ok;
    }
    return reduce();
  }

  /// Whether there is no first section, so that all other keys are kept.
  bool keeps_all() const noexcept { return first_.section.columns == 0; }
  const hash_list& kept() const noexcept { return kept_; }
  hash_list extract_kept() noexcept { return std::exchange(kept_, {}); }
  hash_list extract_held() noexcept { return std::exchange(held_, {}); }

  result<built_exact> finish(const hash_source& origin) {
    built_exact all;
    if (auto ok = add_guided(origin); !ok) return fail(ok.error());
    all.params.stored = held_.size() + kept_.size();
    valued_hash_source source;
    source.size = held_.size() + kept_.size();
    source.for_each = [this](const valued_hash_source::sink& use) -> result<void> {
      const auto last_hash = [](hash64 h) { return last_section_hash(h); };
      if (auto ok = pass_on(held_, use, last_hash, [](hash64) { return 1U; }); !ok) return ok;
      return pass_on(kept_, use, last_hash, [](hash64) { return 0U; });
    };
    source.check_cancelled = origin.check_cancelled;
    auto last =
        build_retrieval({.columns = 1, .seed = seed_of(2), .threads = spec_.threads}, source);
    if (!last) return fail(std::move(last.error()));
    all.params.first = std::move(first_.section);
    all.params.guided = std::move(guided_.section);
    all.params.last = {1, std::move(last->params.levels)};
    auto memory = owned_storage::make(all.params.payload_bytes());
    if (!memory) return fail(std::move(memory.error()));
    all.payload = std::move(*memory);
    std::byte* to = all.payload.writable_bytes().data();
    for (const owned_storage* part : {&first_.payload, &guided_.payload, &last->payload}) {
      to = copy_levels(*part, to);
    }
    return all;
  }

 private:
  std::uint64_t seed_of(std::uint64_t section) const noexcept {
    return remix64(spec_.seed.value() + section);
  }

  /// Whether the kept keys are too many without doubt, though some may be repetitions or held.
  bool seems_too_many() const {
    if (kept_.size() < 11 * held_.size() || first_.section.columns == max_first_columns) {
      return false;
    }
    cardinality_estimator distinct;
    for (const hash64 h : kept_) distinct.add(h);
    const auto members = static_cast<double>(held_.size());
    return distinct.estimate() * (1 - 7 * cardinality_estimator::standard_error) - members >
           10 * members;
  }

  /// Drops repetitions and keys that are held, then adds the columns that are needed.
  result<void> reduce() {
    while (true) {
      make_set(kept_, threads_);
      auto member = held_.begin();
      std::erase_if(kept_, [&](hash64 h) {
        while (member != held_.end() && member->value < h.value) ++member;
        return member != held_.end() && *member == h;
      });
      if (!needs_first_column(held_.size(), kept_.size()) ||
          first_.section.columns == max_first_columns) {
        return {};
      }
      if (auto ok = raise(); !ok) return ok;
    }
  }

  /// Gives the first section one more column. All its columns are solved at once.
  result<void> raise() {
    if (columns_.levels.empty()) {
      const hash_list none;
      const auto fingerprint = [](hash64 h) { return fingerprint_of(h.value); };
      auto built = build_retrieval({.columns = max_first_columns,
                                    .width = 128,
                                    .seed = seed_of(0),
                                    .threads = spec_.threads},
                                   source_of({}, held_, none, fingerprint, fingerprint));
      if (!built) return fail(std::move(built.error()));
      columns_ = std::move(built->params);
      columns_payload_ = std::move(built->payload);
    }
    if (auto ok = take_columns(first_.section.columns + 1); !ok) return ok;
    keep_passing(first_, 0, kept_, 0, threads_);
    return {};
  }

  /// Makes the first section of so many columns of those that are solved.
  result<void> take_columns(std::uint32_t columns) {
    exact_section section{columns, columns_.levels};
    for (retrieval_level& level : section.levels) level.columns = columns;
    auto memory = owned_storage::make(retrieval_payload_bytes(section.levels));
    if (!memory) return fail(std::move(memory.error()));
    const std::byte* from = columns_payload_.bytes().data();
    std::byte* to = memory->writable_bytes().data();
    for (const retrieval_level& level : section.levels) {
      const std::uint64_t codes = level.code_bytes();
      std::memcpy(to, from, codes);
      from += codes;
      to += codes;
      for (std::uint64_t group = 0; group < level.lower_groups(); ++group) {
        std::memcpy(to, from, columns);
        from += max_first_columns;
        to += columns;
      }
    }
    first_ = {std::move(section), std::move(*memory)};
    return {};
  }

  /// Builds the guided section, and keeps only the keys that pass it.
  result<void> add_guided(const hash_source& origin) {
    const std::uint32_t columns = guided_columns(held_.size(), kept_.size());
    if (columns == 0) return {};
    const std::uint32_t shift = first_.section.columns;
    guided_planner planner(held_.size(), kept_.size(), columns);
    auto built = build_levels(
        {.structure = "an exact filter",
         .seed = seed_of(1),
         .threads = spec_.threads,
         .value_mask = column_mask(columns),
         .guided = true},
        source_of(
            origin, held_, kept_, [=](hash64 h) { return wanted_value(h, shift, columns); },
            [=](hash64 h) { return wanted_value(h, shift, columns) | other_key; }),
        planner);
    if (!built) return fail(std::move(built.error()));
    guided_ = {{columns, std::move(built->levels)}, std::move(built->payload)};
    keep_passing(guided_, shift, kept_, 0, threads_);
    if (kept_.size() == built->passing) return {};
    return search_was_wrong(kept_.size(), built->passing);
  }

  const exact_spec& spec_;
  const unsigned threads_;
  hash_list held_;  // a set
  hash_list kept_;
  retrieval_params columns_;  // all that the first section may have
  owned_storage columns_payload_;
  built_section first_;
  built_section guided_;
};

result<built_exact> build(const exact_spec& spec, const hash_source& members,
                          const hash_source& others) {
  hash_list held;
  const auto read = for_batches(members, [&](std::span<const hash64> batch) -> result<void> {
    held.insert(held.end(), batch.begin(), batch.end());
    return {};
  });
  if (!read) return fail(read.error());
  make_set(held, threads_for(spec.threads));
  const std::uint64_t count = held.size();
  built_exact all;
  if (count != 0) {
    exact_builder builder(spec, std::move(held));
    if (auto ok = builder.filter(others); !ok) return fail(ok.error());
    if (builder.keeps_all() && builder.kept().size() < count) {
      // The fewer others are held instead, and the members are the others.
      hash_list kept = builder.extract_kept();
      const hash_list all_members = builder.extract_held();
      if (!kept.empty()) {
        exact_builder negated(spec, std::move(kept));
        hash_source source = hash_source::of(all_members);
        source.check_cancelled = members.check_cancelled;
        if (auto ok = negated.filter(source); !ok) return fail(ok.error());
        auto built = negated.finish(members);
        if (!built) return built;
        all = std::move(*built);
      }
      all.params.negated = true;
    } else {
      auto built = builder.finish(members);
      if (!built) return built;
      all = std::move(*built);
    }
  }
  all.params.seed = spec.seed;
  all.count = count;
  return all;
}

}  // namespace

result<built_exact> build_exact(const exact_spec& spec, const hash_source& members,
                                const hash_source& others) {
  if (spec.fpr != 0 || spec.bits != 0) return takes_no_rate();
  try {
    return build(spec, members, others);
  } catch (const std::bad_alloc&) {
    return no_memory(
        "memory ran out while building an exact filter; build it on a machine with more");
  }
}

result<void> check_exact_payload(const exact_params& params, std::span<const std::byte> payload,
                                 std::uint64_t count) {
  if (params.possible(count) && payload.size() == params.payload_bytes() &&
      (payload.empty() || is_zero(payload.last(retrieval_padding)))) {
    return {};
  }
  return fail(errc::corrupt,
              "the exact filter's slots do not fit its parameters; the file is damaged");
}

}  // namespace bloomset::detail
