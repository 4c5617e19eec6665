// The build of an exact filter with partitions. The members are read, then the other keys are
// counted by partition, which decides the columns of each partition's first section. A second pass
// over the other keys keeps those that pass these sections. Guided sections and the last one
// follow. Partitions with the same number of columns share a section.

#include <algorithm>
#include <array>
#include <bloomset/detail/core/threads.hpp>
#include <bloomset/detail/core/valued_hash.hpp>
#include <bloomset/detail/retrieval/retrieval.hpp>
#include <bloomset/partitioned_exact.hpp>
#include <new>
#include <numeric>
#include <utility>

#include "kinds/exact/build_sections.hpp"
#include "kinds/exact/partition_table.hpp"
#include "kinds/exact/plan_sections.hpp"
#include "plan/checks.hpp"

namespace bloomset::detail {
namespace {
namespace partitioned_build {

/// A key: its joined hash, and the number of its partition.
using key_entry = valued_hash;
using key_list = source_vector<key_entry>;

/// The keys of a list whose partitions are chosen, with values.
struct chosen_keys {
  const key_list& keys;
  std::function<bool(std::uint32_t partition)> is_chosen;
  std::function<std::uint32_t(hash64)> value_of;
  hash64 (*map)(hash64) = [](hash64 h) { return h; };

  result<void> pass_on(const valued_hash_source::sink& use) const {
    std::array<valued_hash, 4096> batch;
    std::size_t size = 0;
    for (const key_entry& key : keys) {
      if (!is_chosen(key.value())) continue;
      batch[size++] = {map(key.hash()), value_of(key.hash())};
      if (size < batch.size()) continue;
      if (auto ok = use(batch); !ok) return ok;
      size = 0;
    }
    return use(std::span(batch).first(size));
  }
};

class builder {
 public:
  explicit builder(const exact_spec& spec) : spec_(spec), threads_(threads_for(spec.threads)) {}

  result<built_partitioned_exact> build(const partitioned_hash_source& members,
                                        const partitioned_hash_source& others) {
    check_cancelled_ = members.check_cancelled;
    if (auto ok = read_members(members); !ok) return fail(ok.error());
    if (auto ok = count_others(others); !ok) return fail(ok.error());
    const std::uint64_t count = keys_.size();
    choose_what_is_held();
    if (auto ok = build_first_sections(); !ok) return fail(ok.error());
    if (auto ok = keep_passing_others(others); !ok) return fail(ok.error());
    auto all = finish();
    if (all) all->count = count;
    return all;
  }

 private:
  std::uint64_t seed_of(std::uint64_t section) const noexcept {
    return remix64(spec_.seed.value() + section);
  }

  result<void> check_partitions() const {
    if (table_.hashes().size() <= max_partitions) return {};
    return refuse("an exact filter has at most {} partitions", max_partitions);
  }

  result<void> read_members(const partitioned_hash_source& members) {
    auto read = for_batches(members, [&](std::span<const partitioned_hash> batch) -> result<void> {
      for (const partitioned_hash& h : batch) {
        const std::uint32_t number = table_.number_of(h.partition);
        keys_.emplace_back(h.joined(), number);
      }
      return check_partitions();
    });
    if (!read) return read;
    sort_by_hash(std::span(keys_), threads_);
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    partitions_.resize(table_.hashes().size());
    for (const key_entry& key : keys_) {
      ++partitions_[key.value()].members;
      partitions_[key.value()].universe.add(key.hash());
    }
    return {};
  }

  /// The first pass over the other keys.
  result<void> count_others(const partitioned_hash_source& others) {
    return for_batches(others, [&](std::span<const partitioned_hash> batch) -> result<void> {
      for (const partitioned_hash& h : batch) {
        const std::uint32_t number = table_.number_of(h.partition);
        if (number >= partitions_.size()) continue;
        partition_state& partition = partitions_[number];
        const hash64 key = h.joined();
        partition.universe.add(key);
        if (!partition.collects) continue;
        partition.others.push_back(key);
        if (partition.others.size() >= 3 * partition.members + 64) drop_repetitions_of(partition);
      }
      return check_partitions();
    });
  }

  /// Drops repetitions among the collected keys. Ends the collection once they are not fewer than
  /// the members, even if all members are among them.
  static void drop_repetitions_of(partition_state& partition) {
    source_vector<hash64>& others = partition.others;
    std::sort(others.begin(), others.end(), by_hash);
    others.erase(std::unique(others.begin(), others.end()), others.end());
    if (others.size() < 2 * partition.members) return;
    partition.collects = false;
    others = {};
  }

  /// Decides for each partition which of both sets is held, and the columns of its first section.
  void choose_what_is_held() {
    const auto is_member = [&](hash64 h, std::uint32_t number) {
      return std::binary_search(keys_.begin(), keys_.end(), key_entry(h, number));
    };
    key_list held;
    for (std::uint32_t number = 0; number < partitions_.size(); ++number) {
      partition_state& partition = partitions_[number];
      std::uint64_t others = 0;
      if (partition.collects) drop_repetitions_of(partition);
      if (partition.collects) {
        std::erase_if(partition.others, [&](hash64 h) { return is_member(h, number); });
        others = partition.others.size();
        partition.negated = others < partition.members;
        partition.is_constant = others == 0;
      } else {
        const std::uint64_t all = partition.universe.estimate();
        others = std::max(all, 2 * partition.members) - partition.members;
      }
      partition.held = partition.negated ? others : partition.members;
      std::uint64_t left = partition.negated ? partition.members : others;
      while (!partition.is_constant && partition.first < max_first_columns &&
             needs_first_column(partition.held, left)) {
        left /= 2;
        ++partition.first;
      }
      if (partition.negated) {
        for (const hash64 h : partition.others) held.emplace_back(h, number);
      }
      partition.others = {};
    }
    // Members that are not held are other keys from here on.
    for (const key_entry& key : keys_) {
      const partition_state& partition = partitions_[key.value()];
      if (partition.is_constant) continue;
      (partition.negated ? kept_ : held).push_back(key);
    }
    keys_ = std::move(held);
    sort_by_hash(std::span(keys_), threads_);
  }

  /// A section of the held keys of some partitions.
  result<built_section> build_section(const retrieval_spec& how,
                                      const std::function<bool(std::uint32_t)>& is_chosen) const {
    const chosen_keys chosen{keys_, is_chosen, [](hash64 h) { return fingerprint_of(h.value); }};
    valued_hash_source source;
    for (const key_entry& key : keys_) source.size += is_chosen(key.value());
    source.for_each = [&](const valued_hash_source::sink& use) { return chosen.pass_on(use); };
    source.check_cancelled = check_cancelled_;
    auto built = build_retrieval(how, source);
    if (!built) return fail(std::move(built.error()));
    return built_section{{how.columns, std::move(built->params.levels)}, std::move(built->payload)};
  }

  result<void> build_first_sections() {
    for (std::uint32_t columns = 1; columns <= max_first_columns; ++columns) {
      const auto is_chosen = [&](std::uint32_t number) {
        return partitions_[number].first == columns;
      };
      const bool is_used = std::ranges::any_of(partitions_, [columns](const partition_state& one) {
        return one.first == columns && !one.is_constant;
      });
      if (!is_used) continue;
      auto built = build_section({.columns = columns,
                                  .width = plain_width,
                                  .seed = seed_of(columns),
                                  .threads = spec_.threads},
                                 is_chosen);
      if (!built) return fail(std::move(built.error()));
      first_[columns] = std::move(*built);
    }
    filter_by_first(kept_);
    return {};
  }

  /// Drops the chosen keys of a list that do not pass a section. Returns the number of those that
  /// pass.
  template <class IsChosen>
  static std::uint64_t filter_list(const built_section& built, std::uint32_t shift, key_list& keys,
                                   IsChosen&& is_chosen) {
    if (built.section.levels.empty()) return 0;
    const section_query query(built);
    constexpr std::size_t chunk = 1024;
    std::array<hash64, chunk> hashes;
    std::array<bool, chunk> passes;
    std::array<std::size_t, chunk> places;
    std::uint64_t passing = 0;
    std::size_t kept = 0;
    std::size_t from = 0;
    while (from < keys.size()) {
      const std::size_t end = std::min(keys.size(), from + chunk);
      std::size_t size = 0;
      for (std::size_t i = from; i < end; ++i) {
        if (is_chosen(keys[i].value())) {
          hashes[size] = keys[i].hash();
          places[size++] = i;
        }
      }
      query.passes(std::span(hashes).first(size), shift, passes.data());
      for (std::size_t i = from, asked = 0; i < end; ++i) {
        const bool is_asked = asked < size && places[asked] == i;
        const bool stays = !is_asked || passes[asked];
        passing += is_asked && stays;
        asked += is_asked;
        const key_entry key = keys[i];
        keys[kept] = key;
        kept += stays;
      }
      from = end;
    }
    keys.resize(kept);
    return passing;
  }

  /// Queries a section.
  class section_query {
   public:
    explicit section_query(const built_section& built)
        : payload_(built.payload.bytes().data()),
          levels_(retrieval_views(built.section.levels)),
          columns_(built.section.columns),
          is_wide_(built.section.levels.front().width == plain_width) {}

    /// Whether keys pass. Precondition: at most 1024.
    void passes(std::span<const hash64> hashes, std::uint32_t shift, bool* answers) const {
      std::array<std::uint32_t, 1024> values;
      const retrieval_kernels& kernels = retrieval_ops();
      (is_wide_ ? kernels.retrieve_128 : kernels.retrieve_64)({payload_, levels_}, hashes,
                                                              values.data());
      for (std::size_t i = 0; i < hashes.size(); ++i) {
        answers[i] = values[i] == wanted_value(hashes[i], shift, columns_);
      }
    }

   private:
    const std::byte* payload_;
    std::vector<retrieval_level_view> levels_;
    std::uint32_t columns_;
    bool is_wide_;
  };

  /// The second pass over the other keys.
  result<void> keep_passing_others(const partitioned_hash_source& others) {
    constexpr std::uint64_t max_kept_per_key = 16;
    std::uint64_t limit = std::max<std::uint64_t>(max_kept_per_key * keys_.size(), batch_hashes);
    std::vector<key_list> of_threads(threads_);
    auto read = for_batches(others, [&](std::span<const partitioned_hash> batch) -> result<void> {
      constexpr std::size_t worth_a_thread = std::size_t{1} << 15;
      const auto parts = static_cast<unsigned>(
          std::clamp<std::size_t>(batch.size() / worth_a_thread, 1, threads_));
      const auto begin_of = [&](unsigned part) { return batch.size() * part / parts; };
      in_threads(parts, [&](unsigned t) {
        filter_batch(batch.subspan(begin_of(t), begin_of(t + 1) - begin_of(t)), of_threads[t]);
      });
      if (kept_.size() > limit / 4) kept_.reserve(limit + batch_hashes);
      for (unsigned t = 0; t < parts; ++t) {
        kept_.insert(kept_.end(), of_threads[t].begin(), of_threads[t].end());
      }
      if (kept_.size() < limit) return {};
      reduce();
      limit = std::max<std::uint64_t>(limit, 2 * kept_.size());
      return {};
    });
    if (!read) return read;
    reduce();
    return {};
  }

  /// The keys of a batch that pass the first sections of their partitions.
  void filter_batch(std::span<const partitioned_hash> batch, key_list& passing) const {
    passing.clear();
    hash64 last_partition{};
    std::uint32_t number = 0;
    bool is_first = true;
    for (const partitioned_hash& h : batch) {
      if (is_first || h.partition != last_partition) {
        last_partition = h.partition;
        number = table_.find(h.partition);
        is_first = false;
      }
      if (number >= partitions_.size()) continue;
      const partition_state& partition = partitions_[number];
      if (partition.is_constant || partition.negated) continue;
      passing.emplace_back(h.joined(), number);
    }
    filter_by_first(passing);
  }

  /// Drops the keys of a list that do not pass the first sections of their partitions.
  void filter_by_first(key_list& keys) const {
    for (std::uint32_t columns = 1; columns <= max_first_columns; ++columns) {
      filter_list(first_[columns], 0, keys,
                  [&](std::uint32_t number) { return partitions_[number].first == columns; });
    }
  }

  /// Drops repetitions among the kept keys, and keys that are held.
  void reduce() {
    sort_by_hash(std::span(kept_), threads_);
    const auto is_same = [](const key_entry& a, const key_entry& b) {
      return a.hash() == b.hash();
    };
    kept_.erase(std::unique(kept_.begin(), kept_.end(), is_same), kept_.end());
    auto held = keys_.begin();
    std::erase_if(kept_, [&](const key_entry& key) {
      while (held != keys_.end() && held->hash() < key.hash()) ++held;
      return held != keys_.end() && held->hash() == key.hash();
    });
  }

  /// Builds the guided sections, and keeps only the keys that pass them.
  result<void> add_guided() {
    for (partition_state& partition : partitions_) partition.kept = 0;
    for (const key_entry& key : kept_) ++partitions_[key.value()].kept;
    for (std::uint32_t columns = 1; columns < guided_.size(); ++columns) {
      std::uint64_t held = 0;
      std::uint64_t others = 0;
      for (const partition_state& partition : partitions_) {
        if (columns_of(partition) != columns) continue;
        held += partition.held;
        others += partition.kept;
      }
      if (held == 0) continue;
      const auto is_chosen = [&](std::uint32_t number) {
        return columns_of(partitions_[number]) == columns;
      };
      const auto value_of = [columns](hash64 h) {
        return wanted_value(h, partitioned_guided_shift, columns);
      };
      const chosen_keys chosen{keys_, is_chosen, value_of};
      const chosen_keys chosen_others{kept_, is_chosen,
                                      [&](hash64 h) { return value_of(h) | other_key; }};
      valued_hash_source source;
      source.size = held + others;
      source.for_each = [&](const valued_hash_source::sink& use) -> result<void> {
        if (auto ok = chosen.pass_on(use); !ok) return ok;
        return chosen_others.pass_on(use);
      };
      source.check_cancelled = check_cancelled_;
      guided_planner planner(held, others, columns);
      auto built = build_levels({.structure = "an exact filter",
                                 .seed = seed_of(max_first_columns + columns),
                                 .threads = spec_.threads,
                                 .value_mask = column_mask(columns),
                                 .guided = true},
                                source, planner);
      if (!built) return fail(std::move(built.error()));
      guided_[columns] = {{columns, std::move(built->levels)}, std::move(built->payload)};
      const std::uint64_t passing =
          filter_list(guided_[columns], partitioned_guided_shift, kept_, is_chosen);
      if (passing != built->passing) return search_was_wrong(passing, built->passing);
    }
    return {};
  }

  /// The columns of a partition's guided section.
  static std::uint32_t columns_of(const partition_state& partition) noexcept {
    return partition.is_constant ? 0 : guided_columns(partition.held, partition.kept);
  }

  result<built_section> build_last() const {
    if (keys_.empty()) return built_section{};
    const auto all = [](std::uint32_t) { return true; };
    const chosen_keys held{keys_, all, [](hash64) { return 1U; }, last_section_hash};
    const chosen_keys others{kept_, all, [](hash64) { return 0U; }, last_section_hash};
    valued_hash_source source;
    source.size = keys_.size() + kept_.size();
    source.for_each = [&](const valued_hash_source::sink& use) -> result<void> {
      if (auto ok = held.pass_on(use); !ok) return ok;
      return others.pass_on(use);
    };
    source.check_cancelled = check_cancelled_;
    auto last =
        build_retrieval({.columns = 1, .seed = seed_of(0), .threads = spec_.threads}, source);
    if (!last) return fail(std::move(last.error()));
    return built_section{{1, std::move(last->params.levels)}, std::move(last->payload)};
  }

  result<built_partitioned_exact> finish() {
    if (auto ok = add_guided(); !ok) return fail(ok.error());
    auto last = build_last();
    if (!last) return fail(std::move(last.error()));
    built_partitioned_exact all;
    all.params.seed = spec_.seed;
    all.params.partitions = table_.hashes().size();
    all.params.stored = keys_.size() + kept_.size();
    for (const built_section& one : first_) {
      if (one.section.columns != 0) all.params.first.push_back(one.section);
    }
    for (const built_section& one : guided_) {
      if (one.section.columns != 0) all.params.guided.push_back(one.section);
    }
    all.params.last = last->section;
    auto memory = owned_storage::make(all.params.payload_bytes());
    if (!memory) return fail(std::move(memory.error()));
    all.payload = std::move(*memory);
    if (all.params.partitions == 0) return all;
    std::byte* to = all.payload.writable_bytes().data();
    write_directory(to);
    to += all.params.directory_bytes();
    for (const built_section& one : first_) to = copy_levels(one.payload, to);
    for (const built_section& one : guided_) to = copy_levels(one.payload, to);
    copy_levels(last->payload, to);
    return all;
  }

  /// The hashes of all partitions in ascending order, and then their classes.
  void write_directory(std::byte* to) const {
    const auto hashes = table_.hashes();
    std::vector<std::uint32_t> numbers(hashes.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    std::ranges::sort(numbers, {}, [&](std::uint32_t number) { return hashes[number].value; });
    std::byte* classes = to + 8 * hashes.size();
    for (const std::uint32_t number : numbers) {
      store(to, hashes[number].value);
      to += 8;
      *classes++ = class_of(number).byte();
    }
  }

  partition_class class_of(std::uint32_t number) const noexcept {
    if (number >= partitions_.size()) return partition_class::constant(false);
    const partition_state& partition = partitions_[number];
    if (partition.is_constant) return partition_class::constant(true);
    return partition_class::of(partition.first, columns_of(partition), partition.negated);
  }

  const exact_spec& spec_;
  const unsigned threads_;
  std::function<result<void>()> check_cancelled_;
  partition_table table_;
  std::vector<partition_state> partitions_;  // those with members, which have the first numbers
  key_list keys_;                            // the members, later the keys that are held
  key_list kept_;                            // the other keys that are left
  std::array<built_section, max_first_columns + 1> first_;  // by columns
  std::array<built_section, 3> guided_;
};

}  // namespace partitioned_build
}  // namespace

result<built_partitioned_exact> build_partitioned_exact(const exact_spec& spec,
                                                        const partitioned_hash_source& members,
                                                        const partitioned_hash_source& others) {
  if (spec.fpr != 0 || spec.bits != 0) return takes_no_rate();
  try {
    return partitioned_build::builder(spec).build(members, others);
  } catch (const std::bad_alloc&) {
    return no_memory(
        "memory ran out while building an exact filter; build it on a machine with more");
  }
}

}  // namespace bloomset::detail
