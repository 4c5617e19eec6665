#include "filters/kind_build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/detail/core/capacity_retries.hpp>
#include <bloomset/plan/units.hpp>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "filters/filling.hpp"
#include "filters/hashing.hpp"
#include "input/blocks.hpp"
#include "memory/canonical_order.hpp"
#include "memory/file_memory.hpp"
#include "memory/spool.hpp"
#include "memory/temporary_file.hpp"
#include "terminal/declare.hpp"
#include "terminal/system.hpp"

namespace bloomset::cli {
namespace {
namespace kind_build {

constexpr std::string_view verb = "build";
constexpr unsigned every_core = 0;
constexpr unsigned parts_on_disk = 256;
// Two threads hash about as fast as one inserts. With more, all of them insert together.
constexpr unsigned max_threads_for_one_that_inserts = 3;

/// The filters that hashes are inserted into: both halves, or the filter itself.
std::span<any_filter> parts_of(any_filter& filter) {
  const auto halves = filter.halves();
  return halves.empty() ? std::span(&filter, 1) : halves;
}

/// The seeds of the keys' hashes: one, or two for 128-bit hashes.
std::vector<hash_seed> seeds_of(const plan_request& request) {
  std::vector<hash_seed> seeds;
  seeds.reserve(2);
  for (unsigned i = 0; i < request.hash_bits / 64; ++i) seeds.push_back(request.seed.half(i));
  return seeds;
}

/// "NAME:LINE" of a key for messages, or the part.
std::string position_of(const build_input& from, std::uint64_t key) {
  return from.part.is_all() ? from.input().position_of_key(key) : "--part " + from.part.text();
}

using key_spools = std::deque<key_spool>;

/// The kept hashes of all keys, one spool per seed. `advice` completes the notice that they go to a
/// file.
result<key_spools> keep_hashes(const kind_info& kind, const plan_request& request,
                               const build_input& from, const std::string& advice) {
  const auto seeds = seeds_of(request);
  const auto waiting =
      std::min<std::uint64_t>(key_spool::default_limit(), from.memory.for_waiting());
  key_spools spools;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    spools.emplace_back(
        [&from, advice, i](const std::string& notice) {
          from.input().quieten();
          if (i == 0) say(verb, notice + advice);
        },
        waiting / seeds.size(), kind.in_hash_order ? parts_on_disk : 1);
  }
  const auto read = hash_all(from.input(), seeds, [&](hash_lists lists) -> result<void> {
    const hash_lists kept = from.part.select(lists);
    for (std::size_t i = 0; i < lists.size(); ++i) {
      spools[i].count(lists[i]);
      if (auto ok = spools[i].keep(kept[i]); !ok) return ok;
    }
    return {};
  });
  if (!read) return fail(read.error());
  return spools;
}

/// Fails if a filter of that size does not fit the limit. A limit that the user did not give is
/// exceeded.
result<void> check_memory(const kind_info& kind, std::uint64_t bytes, const memory_limit& memory) {
  if (!memory.given || bytes <= memory.bytes) return {};
  return fail(
      errc::invalid_argument,
      fmt::format(
          "--memory-limit: a filter of kind {} with these options must be in memory while it is "
          "built and needs {}; raise the limit, or use a kind that can be built on disk: {}",
          kind.name, format_bytes(bytes), kinds_that(&kind_info::any_order, " or ")));
}

/// Whether a filter of that plan is built in a temporary file.
bool is_on_disk(const kind_info& kind, const plan_report& plan, const memory_limit& memory) {
  return kind.any_order && !memory.fits(plan.bytes);
}

/// Selects temporary files for the memory of a filter of that plan if it does not fit the limit.
/// Fails if its kind must be in memory.
result<void> choose_memory(const kind_info& kind, const plan_report& plan, const build_input& from,
                           key_spools& spools) {
  if (!is_on_disk(kind, plan, from.memory)) return check_memory(kind, plan.bytes, from.memory);
  for (key_spool& spool : spools) {
    if (auto ok = spool.spill(); !ok) return ok;
  }
  use_file_memory();
  from.input().quieten();
  say(verb, fmt::format("the filter of {} does not fit the memory limit of {} and is built in a "
                        "temporary file",
                        format_bytes(plan.bytes), format_bytes(from.memory.bytes)));
  return {};
}

/// An empty filter, in a temporary file if it does not fit the limit.
result<any_filter> create_within(const kind_info& kind, const plan_request& request,
                                 const build_input& from, key_spools& spools) {
  const auto plan = kind.plan(request);
  if (!plan) return fail(plan.error());
  if (auto ok = choose_memory(kind, *plan, from, spools); !ok) return fail(ok.error());
  auto filter = kind.create(request);
  if (!filter) return file_memory_failure(filter.error());
  return filter;
}

/// The first key that was not inserted, and the reason.
struct refusal {
  std::uint64_t key = 0;
  insert_outcome why = insert_outcome::inserted;
};

/// Inserts the kept hashes in a pass for each part of the filter that fits the limit.
result<void> insert_in_passes(any_filter& filter, const key_spool& spool,
                              const memory_limit& memory) {
  const auto passes = static_cast<unsigned>(filter.size_in_bytes() / memory.for_filter() + 1);
  for (unsigned pass = 0; pass < passes; ++pass) {
    const auto done = spool.for_each(
        [&](std::span<const hash64> hashes) { return filter.insert_part(hashes, pass, passes); });
    if (!done) return done;
    release_file_pages();
  }
  return {};
}

/// Inserts the kept hashes, up to the first key that is refused.
result<std::optional<refusal>> insert_kept(const kind_info& kind, any_filter& filter,
                                           const key_spool& spool, const memory_limit& memory,
                                           bool canonical) {
  std::optional<refusal> refused;
  if (kind.any_order && !kind.in_hash_order && !memory.fits(filter.size_in_bytes())) {
    if (auto ok = insert_in_passes(filter, spool, memory); !ok) return fail(ok.error());
    return refused;
  }
  std::uint64_t before = 0;
  const auto insert = [&](std::span<const hash64> hashes) -> result<void> {
    // A part of the keys touches a part of the filter, which is in the cache: one thread is enough.
    const auto done = filter.insert(hashes, spool.in_parts() ? 1 : every_core);
    if (!done) return fail(done.error());
    release_file_pages();
    if (done->done < hashes.size()) {
      refused = {before + done->done, done->stopped_by};
      return fail(errc::full, "");
    }
    before += hashes.size();
    return {};
  };
  const auto inserted = canonical ? in_canonical_order(spool, insert) : spool.for_each(insert);
  if (!inserted && !refused) return fail(inserted.error());
  return refused;
}

/// Keeps the hashes of all keys, then builds a filter from them.
result<any_filter> build_static(const kind_info& kind, plan_request request,
                                const build_input& from) {
  auto spools = keep_hashes(kind, request, from, "");
  if (!spools) return fail(spools.error());
  // Only the size is given: the capacity yields the lowest rate for it.
  if (request.fpr == 0 && request.capacity == 0) {
    request.capacity = spools->front().distinct_keys();
  }
  plan_request counted = request;
  counted.capacity = spools->front().distinct_keys();
  if (const auto plan = kind.plan(counted)) {
    if (auto ok = choose_memory(kind, *plan, from, *spools); !ok) return fail(ok.error());
  }
  std::vector<hash_source> sources;
  for (key_spool& spool : *spools) {
    hash_source& source = sources.emplace_back();
    source.size = spool.keys();
    source.for_each = [&spool](const hash_source::sink& use) { return spool.for_each(use); };
    if (!spool.in_parts()) continue;
    if (auto ok = spool.spill(); !ok) return fail(ok.error());
    source.for_each_in_part = [&spool](unsigned part, const hash_source::sink& use) {
      release_file_pages();
      return spool.for_each_in_part(part, use);
    };
  }
  auto filter = build_filter(kind, request, sources);
  if (!filter) return file_memory_failure(filter.error());
  return filter;
}

/// Builds a filter of a kind of two sets. The hashes of the members are kept in memory, and those
/// keys of the universe that the build needs: in a temporary file if they may exceed the limit.
result<any_filter> build_of_two_sets(const kind_info& kind, const plan_request& request,
                                     const build_input& from) {
  // A key has 8 bytes or more in most files, and needs up to build_bytes.
  constexpr std::uint64_t build_bytes = 160;
  const std::uint64_t members = from.input().total_bytes().value_or(0) / 8;
  if (from.memory.given || members * build_bytes > from.memory.bytes) use_file_memory();
  const std::array seeds = {request.seed};
  const auto source_of = [&](key_input& input) {
    hash_source source;
    source.for_each = [&](const hash_source::sink& use) {
      return hash_all(input, seeds, [&](hash_lists lists) {
        release_file_pages();
        return use(lists[0]);
      });
    };
    return source;
  };
  auto filter =
      kind.build_of_two_sets(request, source_of(from.input()), source_of(**from.universe));
  if (!filter) return file_memory_failure(filter.error());
  return filter;
}

/// Builds a filter with partitions. The universe is read twice.
result<any_filter> build_of_partitions(const kind_info& kind, const plan_request& request,
                                       const build_input& from) {
  if (!(*from.universe)->can_be_read_again()) {
    return fail(errc::invalid_argument,
                "--partition: the universe is read twice, so it cannot be stdin or a pipe; give "
                "files");
  }
  constexpr std::uint64_t build_bytes = 250;
  const std::uint64_t members = from.input().total_bytes().value_or(0) / 8;
  if (from.memory.given || members * build_bytes > from.memory.bytes) use_file_memory();
  const auto read = [&](key_input& input, const partitioned_hash_source::sink& use) {
    return hash_partitions(input, request.seed, [&](std::span<const partitioned_hash> hashes) {
      release_file_pages();
      return use(hashes);
    });
  };
  partitioned_hash_source of_members;
  of_members.for_each = [&](const partitioned_hash_source::sink& use) {
    return read(from.input(), use);
  };
  partitioned_hash_source of_universe;
  bool was_read = false;
  of_universe.for_each = [&](const partitioned_hash_source::sink& use) -> result<void> {
    if (std::exchange(was_read, true)) {
      (*from.universe)->quieten();
      auto again = key_input::open(*from.universe_options);
      if (!again) return fail(std::move(again.error()));
      *from.universe = std::move(*again);
    }
    return read(**from.universe, use);
  };
  auto filter = kind.build_of_partitions(request, of_members, of_universe);
  if (!filter) return file_memory_failure(filter.error());
  return filter;
}

/// Keeps the hashes of all keys in one pass, then creates a filter for their number, unless the
/// request has its size.
result<any_filter> build_counted(const kind_info& kind, plan_request request,
                                 const build_input& from, bool canonical) {
  auto spools =
      keep_hashes(kind, request, from, from.memory.given ? "" : "; --capacity avoids the file");
  if (!spools) return fail(spools.error());
  const key_spool& first = spools->front();
  const bool planned = request.capacity != 0 || request.bits != 0;
  if (!planned) {
    // A kind that stores every copy of a key needs slots for the copies.
    const bool keeps_copies = kind.can.erase || kind.can.count;
    request.capacity =
        keeps_copies ? first.keys_in_copies(kind.copies_to_plan_for) : first.distinct_keys();
  }
  for (detail::capacity_retries retries(!planned);;) {
    auto filter = create_within(kind, request, from, *spools);
    if (!filter) return filter;
    std::optional<refusal> refused;
    for (std::size_t i = 0; i < spools->size() && !refused; ++i) {
      const auto inserted =
          insert_kept(kind, parts_of(*filter)[i], (*spools)[i], from.memory, canonical);
      if (!inserted) return fail(inserted.error());
      refused = *inserted;
    }
    if (!refused) return filter;
    if (!retries.raise(request.capacity, refused->why)) {
      // In another order than that of the input, the key is one of all.
      const std::string place = canonical ? "--canonical" : position_of(from, refused->key);
      return no_room(place, refused->why, "give a larger --capacity");
    }
  }
}

/// Inserts hashes while keys are read: block by block in the thread that hashed them while others
/// hash, or in large batches for several threads or for a kind that grows. A filter that grows may
/// exceed the memory limit by one batch. `counter` counts them.
result<void> insert_hashes(const kind_info& kind, any_filter& filter, const plan_request& request,
                           const build_input& from, key_counter* counter = nullptr) {
  const auto seeds = seeds_of(request);
  std::uint64_t before = 0;
  const auto insert = [&](std::size_t half, std::span<const hash64> hashes,
                          unsigned threads) -> result<void> {
    const auto done = parts_of(filter)[half].insert(hashes, threads);
    if (!done) return fail(done.error());
    if (done->done == hashes.size()) return {};
    return no_room(position_of(from, before + done->done), done->stopped_by,
                   "give a larger --capacity, or none");
  };
  if (kind.any_order && threads_for_blocks(every_core) <= max_threads_for_one_that_inserts) {
    return hash_all(from.input(), seeds, [&](hash_lists all) -> result<void> {
      if (counter != nullptr) counter->count(all[0]);
      const hash_lists lists = from.part.select(all);
      for (std::size_t i = 0; i < lists.size(); ++i) {
        if (auto ok = insert(i, lists[i], 1); !ok) return ok;
      }
      before += lists[0].size();
      return {};
    });
  }
  const std::size_t many = std::min<std::uint64_t>(
      std::uint64_t{1} << 23, from.memory.for_waiting() / seeds.size() / sizeof(hash64));
  auto memory = owned_storage::make(seeds.size() * many * sizeof(hash64));
  if (!memory) return fail(std::move(memory.error()));
  auto* const kept = reinterpret_cast<hash64*>(memory->writable_bytes().data());
  std::size_t size = 0;
  const auto insert_kept_ones = [&]() -> result<void> {
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      if (auto ok = insert(i, {kept + i * many, size}, every_core); !ok) return ok;
    }
    before += size;
    size = 0;
    return check_memory(kind, filter.size_in_bytes(), from.memory);
  };
  const auto read = hash_all(from.input(), seeds, [&](hash_lists all) -> result<void> {
    if (counter != nullptr) counter->count(all[0]);
    const hash_lists lists = from.part.select(all);
    for (std::size_t at = 0; at < lists[0].size();) {
      const std::size_t now = std::min(lists[0].size() - at, many - size);
      for (std::size_t i = 0; i < lists.size(); ++i) {
        std::copy_n(lists[i].data() + at, now, kept + i * many + size);
      }
      size += now;
      at += now;
      if (size == many) {
        if (auto ok = insert_kept_ones(); !ok) return ok;
      }
    }
    return {};
  });
  if (!read) return fail(read.error());
  return insert_kept_ones();
}

/// Keeps the hashes of all keys on disk, and inserts them into a filter there.
result<any_filter> build_on_disk(const kind_info& kind, const plan_request& request,
                                 std::uint64_t bytes, const build_input& from) {
  if (auto ok = temporary_file::check_space(bytes); !ok) return fail(ok.error());
  auto spools = keep_hashes(kind, request, from, "");
  if (!spools) return fail(spools.error());
  auto filter = create_within(kind, request, from, *spools);
  if (!filter) return filter;
  for (std::size_t i = 0; i < spools->size(); ++i) {
    const auto refused = insert_kept(kind, parts_of(*filter)[i], (*spools)[i], from.memory, false);
    if (!refused) return fail(refused.error());
  }
  return filter;
}

result<any_filter> build_planned(const kind_info& kind, const plan_request& request,
                                 const build_input& from) {
  const auto plan = kind.plan(request);
  if (!plan) return fail(plan.error());
  if (is_on_disk(kind, *plan, from.memory)) {
    return build_on_disk(kind, request, plan->bytes, from);
  }
  if (auto ok = check_memory(kind, plan->bytes, from.memory); !ok) return fail(ok.error());
  auto filter = kind.create(request);
  if (!filter) return filter;
  if (auto ok = insert_hashes(kind, *filter, request, from); !ok) return fail(ok.error());
  return filter;
}

/// Whether the input is read again once its keys are counted, instead of keeping their hashes. For
/// files that the system still has in memory, that takes less time from some ten million keys on,
/// and a fraction of the memory.
bool reads_again(const kind_info& kind, const build_input& from) {
  const key_input& input = from.input();
  return reads_files_again(kind) && from.part.is_all() && input.choice().unread() &&
         input.can_be_read_again() && *input.total_bytes() <= machine_memory() / 4 &&
         !input.is_packed();
}

/// Opens the input again.
result<void> reopen(const build_input& from) {
  from.input().quieten();
  auto again = key_input::open(from.options);
  if (!again) return fail(std::move(again.error()));
  from.opened = std::move(*again);
  return {};
}

/// Counts the keys, and reads them again into a filter for so many. If fewer are distinct, they are
/// read once more into a smaller one. The hashes of a file that changes meanwhile, such as a log,
/// are kept.
result<any_filter> build_reading_again(const kind_info& kind, plan_request request,
                                       const build_input& from) {
  const auto keys = count_keys(from.input());
  if (!keys) return fail(keys.error());
  if (auto ok = reopen(from); !ok) return fail(std::move(ok.error()));
  plan_request guess = request;
  guess.capacity = std::max<std::uint64_t>(1, *keys);
  const auto plan = kind.plan(guess);
  if (!plan || !from.memory.fits(plan->bytes)) return build_counted(kind, request, from, false);
  key_counter counter;
  {  // The limit is for one filter at a time.
    auto filter = kind.create(guess);
    if (!filter) return filter;
    if (auto ok = insert_hashes(kind, *filter, guess, from, &counter); !ok) {
      return fail(std::move(ok.error()));
    }
    if (counter.distinct_keys() == guess.capacity) return filter;
  }
  request.capacity = counter.distinct_keys();
  if (auto ok = reopen(from); !ok) return fail(std::move(ok.error()));
  {
    auto filter = build_planned(kind, request, from);
    if (!filter || from.input().keys() == counter.keys()) return filter;
  }
  request.capacity = 0;
  if (auto ok = reopen(from); !ok) return fail(std::move(ok.error()));
  return build_counted(kind, request, from, false);
}

}  // namespace kind_build
}  // namespace

bool reads_files_again(const kind_info& kind) noexcept {
  const bool keeps_copies = kind.can.erase || kind.can.count;
  return kind.build == nullptr && kind.build_of_two_sets == nullptr && kind.any_order &&
         !keeps_copies;
}

result<any_filter> build_of_kind(const kind_info& kind, const plan_request& request,
                                 const build_input& from, bool canonical) {
  using namespace kind_build;
  if (!from.options.keys.partition.empty()) return build_of_partitions(kind, request, from);
  if (kind.build_of_two_sets != nullptr) return build_of_two_sets(kind, request, from);
  if (kind.build != nullptr) return build_static(kind, request, from);
  const bool planned = request.capacity != 0 || request.bits != 0;
  const bool sorts = canonical && !kind.any_order;
  if (planned && !sorts) return build_planned(kind, request, from);
  if (!planned && reads_again(kind, from)) return build_reading_again(kind, request, from);
  return build_counted(kind, request, from, sorts);
}

}  // namespace bloomset::cli
