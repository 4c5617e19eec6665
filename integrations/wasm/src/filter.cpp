// The functions of bloomset.wasm: every kind of filter, built, changed and queried. An instance of
// the module has one filter. docs/reference/module.md describes the calls.

#include <bloomset/any_filter.hpp>
#include <bloomset/detail/core/capacity_retries.hpp>
#include <bloomset/detail/core/cardinality.hpp>
#include <bloomset/figures.hpp>
#include <bloomset/file.hpp>
#include <bloomset/layers.hpp>
#include <bloomset/patch.hpp>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "core/format.hpp"
#include "request.hpp"
#include "texts.hpp"

namespace bloomset::wasm {
namespace {

/// The hashes of the keys of a filter that is being built, for each half.
struct building {
  request wanted;
  std::vector<std::vector<hash64>> hashes;
  std::vector<hash64> others;  ///< of a kind of two sets
};

// NOLINTBEGIN(*-avoid-non-const-global-variables): the memory of an instance is its state
std::optional<any_filter> filter;
hash_seed seed;  ///< of the filter
std::unique_ptr<building> build;
std::uint64_t number;  ///< the last answer that is a number
// NOLINTEND(*-avoid-non-const-global-variables)

result<void> has_filter() {
  if (filter) return {};
  return fail(errc::invalid_argument, "this instance has no filter; open, create or build one");
}

result<void> open(std::span<const std::byte> file, access how, const std::byte* key) {
  auto stored = read_stored(mapped_storage(nullptr, file), verification::always, the_bytes);
  if (!stored) return fail(stored.error());
  if (auto ok = unlock(*stored, key_at(key), the_bytes); !ok) return ok;
  auto opened = open_any(*stored, how, the_bytes);
  if (!opened) return fail(opened.error());
  seed = stored->header.seed;
  filter.emplace(std::move(*opened));
  return {};
}

/// Opens a filter for a union or an intersection.
result<any_filter> open_other(std::span<const std::byte> file, const std::byte* key) {
  auto stored = read_stored(mapped_storage(nullptr, file), verification::always, the_bytes);
  if (!stored) return fail(stored.error());
  if (auto ok = unlock(*stored, key_at(key), the_bytes); !ok) return fail(ok.error());
  return open_any(*stored, access::read_only, the_bytes);
}

result<void> describe(const result<filter_info>& info) {
  if (!info) return fail(info.error());
  answer = to_json(figures_of(*info));
  return {};
}

result<void> create(const texts& fields, const std::byte* key) {
  const auto asked = read_filter_request(fields, key);
  if (!asked) return fail(asked.error());
  auto made = asked->kind->create(asked->plan);
  if (!made) return fail(made.error());
  seed = asked->plan.seed;
  filter.emplace(std::move(*made));
  return {};
}

result<void> begin_build(const texts& fields, const std::byte* key) {
  build.reset();
  auto asked = read_filter_request(fields, key);
  if (!asked) return fail(asked.error());
  if (asked->kind->build_of_two_sets == nullptr) {
    asked->plan.hash_bits = hash_bits_for(*asked->kind, asked->plan);
  }
  build = std::make_unique<building>();
  build->hashes.resize(std::max(64U, asked->plan.hash_bits) / 64);
  build->wanted = std::move(*asked);
  return {};
}

/// Hashes keys of the members, or of the other keys of a kind of two sets.
result<void> collect(const texts& keys, bool are_others) {
  if (build == nullptr) return fail(errc::invalid_argument, "no build was begun");
  if (are_others && build->wanted.kind->build_of_two_sets == nullptr) {
    return detail::format_failure(errc::invalid_argument,
                                  "a filter of kind {} is built from its members alone; give no "
                                  "other keys",
                                  build->wanted.kind->name);
  }
  for (unsigned half = 0; half < build->hashes.size(); ++half) {
    const filter_hasher hash(build->wanted.plan.seed.half(half));
    auto& hashes = are_others ? build->others : build->hashes[half];
    for (std::uint32_t i = 0; i < keys.count; ++i) {
      const std::string_view key = keys[i];
      hashes.push_back(hash(std::as_bytes(std::span(key.data(), key.size()))));
    }
  }
  return {};
}

/// The number of keys to plan for: distinct keys, or all copies in a kind that keeps them. (The
/// command line, which has only estimates of many keys, counts a few copies of each at most.)
std::uint64_t counted(const building& made) {
  const std::vector<hash64>& hashes = made.hashes[0];
  if (made.wanted.kind->can.erase || made.wanted.kind->can.count) {
    return std::max<std::uint64_t>(1, hashes.size());
  }
  const auto counter = std::make_unique<detail::distinct_counter>();
  counter->add(hashes);
  return counter->distinct();
}

failure too_many_copies() {
  return fail(errc::full, "the filter holds as many copies of a key as it can");
}

/// A filter of a kind that takes keys one after the other.
result<any_filter> build_by_inserts(building& made) {
  plan_request& request = made.wanted.plan;
  const bool is_planned = request.capacity != 0 || request.bits != 0;
  if (!is_planned) request.capacity = counted(made);
  for (detail::capacity_retries retries(!is_planned);;) {
    auto created = made.wanted.kind->create(request);
    if (!created) return created;
    insert_outcome stopped_by = insert_outcome::inserted;
    for (std::size_t half = 0; half < made.hashes.size(); ++half) {
      any_filter& part = made.hashes.size() == 1 ? *created : created->halves()[half];
      const auto inserted = part.insert(std::span<const hash64>(made.hashes[half]));
      if (!inserted) return fail(inserted.error());
      if (inserted->done != made.hashes[half].size()) stopped_by = inserted->stopped_by;
    }
    if (stopped_by == insert_outcome::inserted) {
      created->settle_count();
      return created;
    }
    if (stopped_by == insert_outcome::too_many_copies) return too_many_copies();
    if (!retries.raise(request.capacity, stopped_by)) {
      return fail(errc::full,
                  "the filter has no room for all keys; give a larger capacity or another kind");
    }
  }
}

result<void> end_build() {
  if (build == nullptr) return fail(errc::invalid_argument, "no build was begun");
  const std::unique_ptr<building> made = std::move(build);
  const kind_info& kind = *made->wanted.kind;
  std::vector<hash_source> sources;
  for (const auto& hashes : made->hashes) sources.push_back(hash_source::of(hashes));
  auto built = [&] {
    if (kind.build_of_two_sets != nullptr) {
      return kind.build_of_two_sets(made->wanted.plan, sources[0], hash_source::of(made->others));
    }
    if (kind.build == nullptr) return build_by_inserts(*made);
    plan_request& request = made->wanted.plan;
    if (request.fpr == 0 && request.capacity == 0) request.capacity = counted(*made);
    return build_filter(kind, request, sources);
  }();
  if (!built) return fail(built.error());
  seed = made->wanted.plan.seed;
  filter.emplace(std::move(*built));
  return {};
}

/// Calls `change(keys, first)` for pieces of the keys, as long as it succeeds.
template <class Change>
result<void> change_in_pieces(const texts& keys, Change&& change) {
  result<void> all = has_filter();
  if (!all) return all;
  number = 0;
  in_pieces(keys, [&](std::span<const std::string_view> some, std::uint32_t first) {
    all = change(some, first);
    return all.has_value();
  });
  return all;
}

result<void> insert(const texts& keys) {
  return change_in_pieces(
      keys, [](std::span<const std::string_view> some, std::uint32_t first) -> result<void> {
        const auto done = filter->insert(some);
        if (!done) return fail(done.error());
        number += done->inserted;
        if (done->done == some.size()) return {};
        number = first + done->done;
        if (done->stopped_by == insert_outcome::too_many_copies) return too_many_copies();
        return fail(errc::full,
                    "the filter has no room for another key; make it with a greater capacity");
      });
}

result<void> erase(const texts& keys) {
  return change_in_pieces(
      keys, [](std::span<const std::string_view> some, std::uint32_t) -> result<void> {
        std::array<bool, 256> erased{};
        auto done = filter->erase(some, erased);
        number += static_cast<std::uint64_t>(std::count(erased.begin(), erased.end(), true));
        return done;
      });
}

result<void> set_labels(const texts& pairs) {
  if (auto ok = has_filter(); !ok) return ok;
  if (auto ok = filter->check_changeable(); !ok) return ok;
  label_list labels;
  for (std::uint32_t i = 0; i + 1 < pairs.count; i += 2) {
    if (auto ok = labels.set(pairs[i], pairs[i + 1]); !ok) return ok;
  }
  filter->labels() = std::move(labels);
  return {};
}

result<void> combine(std::span<const std::byte> file, const std::byte* key, bool intersects) {
  if (auto ok = has_filter(); !ok) return ok;
  const auto other = open_other(file, key);
  if (!other) return fail(other.error());
  return intersects ? filter->intersect(*other) : merge_folded(*filter, *other);
}

result<void> join_layers(std::span<const std::byte> base, const texts& files) {
  auto stored = read_stored(mapped_storage(nullptr, base), verification::always, the_bytes);
  if (!stored) return fail(stored.error());
  if (!stored->header.layers.empty()) {
    return fail(errc::corrupt, "the bytes: the base has layers already; tell the publisher");
  }
  std::vector<std::vector<std::byte>> layers;
  for (std::uint32_t i = 0; i < files.count; ++i) {
    const auto layer = std::as_bytes(std::span(files[i].data(), files[i].size()));
    layers.emplace_back(layer.begin(), layer.end());
  }
  auto list = layer_list::of(std::move(layers), layer_base_of(base));
  if (!list) {
    return fail(list.error().code, std::string(the_bytes) + ": " + list.error().message);
  }
  stored->header.layers = std::move(*list);
  const filter_image image{stored->header, stored->parameters, {stored->payload.bytes()}};
  answer.resize(serialized_size(image));
  serialize_to(image, std::as_writable_bytes(std::span(answer)));
  return {};
}

}  // namespace
}  // namespace bloomset::wasm

using namespace bloomset::wasm;  // NOLINT(google-build-using-namespace): for the calls below
using byte_span = std::span<const std::byte>;

// Calls with a status return 0, or leave a sentence as the answer.

/// Opens the filter in the bytes of a file. If it is not writable, the bytes must stay where they
/// are.
BLOOMSET_EXPORT(bloomset_open)
std::uint32_t bloomset_open(const std::byte* file, std::uint32_t size, bool is_writable,
                            const std::byte* key) {
  using bloomset::access;
  return status_of(
      open(byte_span(file, size), is_writable ? access::writable : access::read_only, key));
}

/// The figures of the filter in the bytes of a file, which needs no secret key, as JSON.
BLOOMSET_EXPORT(bloomset_file_info)
std::uint32_t bloomset_file_info(const std::byte* file, std::uint32_t size) {
  auto stored = bloomset::read_stored(bloomset::mapped_storage(nullptr, byte_span(file, size)),
                                      bloomset::verification::always, the_bytes);
  if (!stored) return status_of(stored.error());
  return status_of(describe(bloomset::info_of(std::move(*stored), the_bytes)));
}

/// The figures of the filter, as JSON.
BLOOMSET_EXPORT(bloomset_info) std::uint32_t bloomset_info() {
  if (const auto ok = has_filter(); !ok) return status_of(ok);
  return status_of(describe(filter->info()));
}

/// Whether the key may be a member. True without a filter.
BLOOMSET_EXPORT(bloomset_may_contain)
bool bloomset_may_contain(const char* key, std::uint32_t size) {
  return !filter || filter->may_contain(std::string_view(key, size));
}

/// answers[i] becomes whether key i may be a member.
BLOOMSET_EXPORT(bloomset_may_contain_many)
void bloomset_may_contain_many(const char* keys, const std::uint32_t* ends, std::uint32_t count,
                               bool* answers) {
  if (!filter) return;
  in_pieces(texts{keys, ends, count},
            [&](std::span<const std::string_view> some, std::uint32_t first) {
              filter->may_contain(some, std::span<bool>(answers + first, some.size()));
              return true;
            });
}

/// answers[i] becomes whether the filter has an answer for key i (any_filter::covers).
BLOOMSET_EXPORT(bloomset_covers_many)
void bloomset_covers_many(const char* keys, const std::uint32_t* ends, std::uint32_t count,
                          bool* answers) {
  if (!filter) return;
  in_pieces(texts{keys, ends, count},
            [&](std::span<const std::string_view> some, std::uint32_t first) {
              filter->covers(some, std::span<bool>(answers + first, some.size()));
              return true;
            });
}

/// The hash of a key with the filter's hash function and seed; of the first of two halves.
BLOOMSET_EXPORT(bloomset_hash)
std::uint64_t bloomset_hash(const std::byte* key, std::uint32_t size) {
  return bloomset::filter_hasher(seed)(byte_span(key, size)).value;
}

/// Makes an empty filter.
BLOOMSET_EXPORT(bloomset_create)
std::uint32_t bloomset_create(const char* fields, const std::uint32_t* ends, std::uint32_t count,
                              const std::byte* key) {
  return status_of(create({fields, ends, count}, key));
}

/// Begins a filter of keys that bloomset_collect() receives, until bloomset_end_build().
BLOOMSET_EXPORT(bloomset_begin_build)
std::uint32_t bloomset_begin_build(const char* fields, const std::uint32_t* ends,
                                   std::uint32_t count, const std::byte* key) {
  return status_of(begin_build({fields, ends, count}, key));
}
BLOOMSET_EXPORT(bloomset_collect)
std::uint32_t bloomset_collect(const char* keys, const std::uint32_t* ends, std::uint32_t count,
                               bool are_others) {
  return status_of(collect({keys, ends, count}, are_others));
}
BLOOMSET_EXPORT(bloomset_end_build) std::uint32_t bloomset_end_build() {
  return status_of(end_build());
}

/// Inserts keys in order. bloomset_number() is then how many were certainly new, or, if the filter
/// is full, how many of these keys it contains.
BLOOMSET_EXPORT(bloomset_insert)
std::uint32_t bloomset_insert(const char* keys, const std::uint32_t* ends, std::uint32_t count) {
  return status_of(insert({keys, ends, count}));
}

/// Erases each key once. bloomset_number() is then how many were members.
BLOOMSET_EXPORT(bloomset_erase)
std::uint32_t bloomset_erase(const char* keys, const std::uint32_t* ends, std::uint32_t count) {
  return status_of(erase({keys, ends, count}));
}

/// counts[i] becomes the number of copies of key i.
BLOOMSET_EXPORT(bloomset_count)
std::uint32_t bloomset_count(const char* keys, const std::uint32_t* ends, std::uint32_t count,
                             std::uint64_t* counts) {
  return status_of(change_in_pieces(
      {keys, ends, count}, [&](std::span<const std::string_view> some, std::uint32_t first) {
        return filter->count(some, std::span<std::uint64_t>(counts + first, some.size()));
      }));
}

/// Makes the answer "no" for keys that are not members, or ends that.
BLOOMSET_EXPORT(bloomset_add_exceptions)
std::uint32_t bloomset_add_exceptions(const char* keys, const std::uint32_t* ends,
                                      std::uint32_t count) {
  return status_of(change_in_pieces(
      {keys, ends, count},
      [](std::span<const std::string_view> some, std::uint32_t) -> bloomset::result<void> {
        const auto added = filter->add_exceptions(some);
        if (!added) return bloomset::fail(added.error());
        number += added->inserted;
        return {};
      }));
}
BLOOMSET_EXPORT(bloomset_remove_exceptions)
std::uint32_t bloomset_remove_exceptions(const char* keys, const std::uint32_t* ends,
                                         std::uint32_t count) {
  return status_of(change_in_pieces(
      {keys, ends, count},
      [](std::span<const std::string_view> some, std::uint32_t) -> bloomset::result<void> {
        const auto removed = filter->remove_exceptions(some);
        if (!removed) return bloomset::fail(removed.error());
        number += *removed;
        return {};
      }));
}

/// Removes every key.
BLOOMSET_EXPORT(bloomset_clear) std::uint32_t bloomset_clear() {
  if (const auto ok = has_filter(); !ok) return status_of(ok);
  return status_of(filter->clear());
}

/// The union or the intersection with the filter in the bytes of a file, in place.
BLOOMSET_EXPORT(bloomset_merge)
std::uint32_t bloomset_merge(const std::byte* file, std::uint32_t size, const std::byte* key) {
  return status_of(combine(byte_span(file, size), key, false));
}
BLOOMSET_EXPORT(bloomset_intersect)
std::uint32_t bloomset_intersect(const std::byte* file, std::uint32_t size, const std::byte* key) {
  return status_of(combine(byte_span(file, size), key, true));
}

/// Replaces the labels by these names and values.
BLOOMSET_EXPORT(bloomset_set_labels)
std::uint32_t bloomset_set_labels(const char* pairs, const std::uint32_t* ends,
                                  std::uint32_t count) {
  return status_of(set_labels({pairs, ends, count}));
}

/// Gives the filter the count that its bits show (any_filter::settle_count).
BLOOMSET_EXPORT(bloomset_settle_count) void bloomset_settle_count() {
  if (filter) filter->settle_count();
}

/// The bytes of the filter's file, as the answer.
BLOOMSET_EXPORT(bloomset_to_bytes) std::uint32_t bloomset_to_bytes() {
  if (const auto ok = has_filter(); !ok) return status_of(ok);
  const bloomset::filter_image image = filter->image();
  answer.resize(bloomset::serialized_size(image));
  bloomset::serialize_to(image, std::as_writable_bytes(std::span(answer)));
  return 0;
}

/// The bytes of the filter's file with these layers, as the answer.
BLOOMSET_EXPORT(bloomset_join_layers)
std::uint32_t bloomset_join_layers(const std::byte* file, std::uint32_t size, const char* layers,
                                   const std::uint32_t* ends, std::uint32_t count) {
  return status_of(join_layers(byte_span(file, size), {layers, ends, count}));
}

/// The file that a patch makes of another, as the answer. Sentences call the patch "the bytes".
BLOOMSET_EXPORT(bloomset_apply_patch)
std::uint32_t bloomset_apply_patch(const std::byte* file, std::uint32_t size,
                                   const std::byte* patch, std::uint32_t patch_size) {
  const auto made = bloomset::apply_patch(bloomset::mapped_storage(nullptr, byte_span(file, size)),
                                          "the old file", byte_span(patch, patch_size), the_bytes);
  if (!made) return status_of(made.error());
  const auto bytes = made->bytes();
  answer.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return 0;
}

BLOOMSET_EXPORT(bloomset_number) std::uint64_t bloomset_number() {
  return number;
}
