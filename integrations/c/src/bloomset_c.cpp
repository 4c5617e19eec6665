#include <bloomset.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/advise.hpp>
#include <bloomset/any_filter.hpp>
#include <bloomset/defaults.hpp>
#include <bloomset/detail/core/capacity_retries.hpp>
#include <bloomset/figures.hpp>
#include <bloomset/file.hpp>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calls.hpp"

struct bloomset_filter {
  bloomset::any_filter filter;
  std::optional<bloomset::stored_filter> file = std::nullopt;  // over which it is mapped, if it is
};

namespace {

using bloomset::any_filter;
using bloomset::errc;
using bloomset::fail;
using bloomset::result;
using namespace bloomset::c;

template <class Key>
void ask(const bloomset_filter& filter, std::size_t count, const Key& key, bool* answers) noexcept {
  in_pieces(count, key, [&](std::span<const std::string_view> some, std::size_t first) noexcept {
    filter.filter.may_contain(some, std::span<bool>(answers + first, some.size()));
    return true;
  });
}

struct inserted_keys {
  std::size_t done = 0;
  std::uint64_t inserted = 0;
  bloomset::insert_outcome stopped_by = bloomset::insert_outcome::inserted;
};

template <class Key>
result<void> insert(any_filter& filter, std::size_t count, const Key& key, inserted_keys& did) {
  result<void> all;
  in_pieces(count, key, [&](std::span<const std::string_view> some, std::size_t) {
    const auto summary = filter.insert(some);
    if (!summary) {
      all = fail(summary.error());
      return false;
    }
    did.done += summary->done;
    did.inserted += summary->inserted;
    if (summary->done == some.size()) return true;
    did.stopped_by = summary->stopped_by;
    const bool is_full = did.stopped_by == bloomset::insert_outcome::full;
    all =
        fail(errc::full, fmt::format("{}: {} of {} keys were inserted",
                                     is_full ? "the filter is full"
                                             : "the filter holds as many copies of a key as it can",
                                     did.done, count));
    return false;
  });
  return all;
}

/// The members of the request that both sides know. The others are 0.
result<bloomset_request> known_part(const bloomset_request* request) {
  const auto size = size_of(request, first_request, "bloomset_request");
  if (!size) return fail(size.error());
  bloomset_request known{};
  std::memcpy(&known, request, std::min(*size, sizeof known));
  if (known.options == nullptr && known.option_count != 0) {
    return fail(errc::invalid_argument, "options is NULL, but option_count is not 0");
  }
  if (known.key != nullptr && known.seed != 0) {
    return fail(errc::invalid_argument, "a filter has a seed or a key; set seed to 0");
  }
  for (std::size_t i = 0; i < known.option_count; ++i) {
    if (known.options[i].name == nullptr || known.options[i].value == nullptr) {
      return fail(errc::invalid_argument,
                  fmt::format("options[{}] has no name or no value; give both as text", i));
    }
  }
  return known;
}

/// The secret key in 16 bytes, or nothing for NULL.
std::optional<bloomset::hash_key> key_in(const void* bytes) {
  if (bytes == nullptr) return std::nullopt;
  constexpr std::size_t size = bloomset::hash_key::size;
  return bloomset::hash_key::of(
      std::span<const std::byte, size>(static_cast<const std::byte*>(bytes), size));
}

result<bloomset::plan_request> plan_request_of(const bloomset_request& request) {
  bloomset::plan_request plan{.capacity = request.capacity,
                              .fpr = request.fpr,
                              .bits = request.bits,
                              .hashes = request.hashes,
                              .seed = request.seed};
  if (request.key != nullptr) plan.seed = *key_in(request.key);
  for (std::size_t i = 0; i < request.option_count; ++i) {
    plan.options.emplace_back(request.options[i].name, request.options[i].value);
  }
  if (plan.fpr == 0 && (plan.capacity == 0 || plan.bits == 0)) plan.fpr = bloomset::default_fpr;
  if (request.hash != nullptr) {
    if (auto ok = bloomset::choose_hash(plan, request.hash); !ok) return fail(ok.error());
  }
  return plan;
}

struct planned {
  const bloomset::kind_info* kind = nullptr;
  bloomset::plan_request request;
  bloomset::plan_report report;
};

/// The named kind, or else, as on the command line, the recommended one for the needs, or
/// blocked_bloom without needs; and its plan.
result<planned> plan(const bloomset_request& request) {
  auto wanted = plan_request_of(request);
  if (!wanted) return fail(std::move(wanted.error()));
  const bloomset::needs needs{.deletable = request.deletable,
                              .counting = request.counting,
                              .growing = request.growing,
                              .unchanging = request.unchanging};
  const bool any = needs.deletable || needs.counting || needs.growing || needs.unchanging;
  if (request.kind == nullptr && any) {
    const auto advice = bloomset::advise(*wanted, needs);
    if (!advice) return fail(advice.error());
    const bloomset::candidate& best = advice->recommended();
    return planned{best.kind, std::move(*wanted), *best.plan};
  }
  const auto kind = bloomset::find_kind_of_one_set(
      request.kind != nullptr ? request.kind : bloomset::default_kind);
  if (!kind) return fail(kind.error());
  auto report = bloomset::plan_for_named(**kind, *wanted, needs);
  if (!report) return fail(std::move(report.error()));
  return planned{*kind, std::move(*wanted), std::move(*report)};
}

template <class Hasher = bloomset::filter_hasher>
auto hashes_of(bloomset::hash_seed seed, const bloomset_key* keys, std::size_t count) {
  const Hasher hash(seed);
  std::vector<typename Hasher::hash_type> hashes;
  hashes.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    hashes.push_back(hash(std::as_bytes(std::span<const char>(keys_of(keys)(i)))));
  }
  return hashes;
}

/// Gives the caller a filter that was made.
result<void> give_filter(result<any_filter> made, bloomset_filter** filter) {
  if (!made) return fail(std::move(made.error()));
  *filter = new bloomset_filter{std::move(*made)};
  return {};
}

/// Builds a filter of members and other keys.
result<void> build_exact(const bloomset_request* request, const bloomset_key* members, size_t count,
                         const bloomset_key* others, size_t other_count, bool has_partitions,
                         bloomset_filter** filter) {
  const auto asked = known_part(request);
  if (!asked) return fail(asked.error());
  if (auto ok = check_keys(members, count, "members"); !ok) return ok;
  if (auto ok = check_keys(others, other_count, "others"); !ok) return ok;
  const auto kind = bloomset::find_kind(asked->kind != nullptr ? asked->kind : "exact");
  if (!kind) return fail(kind.error());
  if ((*kind)->build_of_two_sets == nullptr) {
    return fail(bloomset::errc::invalid_argument,
                "request->kind is not a kind of exact filters; give NULL or \"exact\"");
  }
  auto wanted = plan_request_of(*asked);
  if (!wanted) return fail(wanted.error());
  wanted->fpr = asked->fpr;  // no rate by default
  const auto build_with = [&](auto build, auto hasher) {
    using source = bloomset::basic_hash_source<typename decltype(hasher)::hash_type>;
    const auto held = hashes_of<decltype(hasher)>(wanted->seed, members, count);
    const auto rest = hashes_of<decltype(hasher)>(wanted->seed, others, other_count);
    return give_filter(build(*wanted, source::of(held), source::of(rest)), filter);
  };
  return has_partitions ? build_with((*kind)->build_of_partitions, bloomset::partition_hasher())
                        : build_with((*kind)->build_of_two_sets, bloomset::filter_hasher());
}

result<any_filter> from_bytes(const void* bytes, std::size_t size, const void* key) {
  const std::span<const std::byte> given(static_cast<const std::byte*>(bytes), size);
  auto stored = bloomset::read_stored(bloomset::mapped_storage(nullptr, given),
                                      bloomset::verification::always, "the bytes");
  if (!stored) return fail(stored.error());
  if (auto ok = bloomset::unlock(*stored, key_in(key), "the bytes"); !ok) {
    return fail(std::move(ok.error()));
  }
  return bloomset::open_any(*stored, bloomset::access::writable, "the bytes");
}

result<void> give_info(const bloomset::filter_info& info, bloomset_info_report* report) {
  return give({.struct_size = 0,
               .kind = info.kind_name.data(),
               .capacity = info.plan.capacity,
               .bits = info.plan.bits,
               .bytes = info.plan.bytes,
               .hashes = info.plan.hashes.value_or(0),
               .planned_fpr = info.plan.planned_fpr,
               .current_fpr = info.current_fpr,
               .count = info.count,
               .estimated_size = info.estimated_size,
               .fill = info.fill,
               .seed = info.seed,
               .can_insert = info.can.insert,
               .can_erase = info.can.erase,
               .can_count = info.can.count,
               .can_merge = info.can.merge,
               .can_intersect = info.can.intersect,
               .can_grow = info.can.grow,
               .hash = bloomset::name_of(info.hash).data(),
               .can_fold = info.can.fold,
               .overfilled = info.overfilled},
              report, "bloomset_info_report");
}

result<void> give_json(const bloomset::filter_info& info, char** json) {
  const std::string text = bloomset::to_json(figures_of(info));
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  *json = copy;
  return {};
}

result<bloomset::filter_info> info_of_file(const char* path) {
  auto stored = bloomset::map_file(path);
  if (!stored) return fail(std::move(stored.error()));
  return bloomset::info_of(std::move(*stored), path);
}

/// Whether a call with this status has changed keys.
bool has_done(bloomset_status status) {
  return status == BLOOMSET_OK || status == BLOOMSET_FULL;
}

/// Calls `change(keys)`, which returns the number of changed exceptions, for all keys.
template <class Change>
bloomset_status change_exceptions(bloomset_filter* filter, const bloomset_key* keys, size_t count,
                                  uint64_t* changed, bloomset_error* error, Change&& change) {
  uint64_t sum = 0;
  const bloomset_status status = run(error, {{filter, "filter"}}, [&]() -> result<void> {
    if (auto ok = check_keys(keys, count); !ok) return ok;
    result<void> all;
    in_pieces(count, keys_of(keys), [&](std::span<const std::string_view> some, std::size_t) {
      const result<uint64_t> part = change(some);
      if (part) {
        sum += *part;
      } else {
        all = fail(part.error());
      }
      return all.has_value();
    });
    return all;
  });
  if (changed != nullptr && has_done(status)) *changed = sum;
  return status;
}

}  // namespace

extern "C" {

unsigned bloomset_c_version(void) {
  return BLOOMSET_C_VERSION;
}

const char* bloomset_kind_name(size_t number) {
  // The registry's names are literals, and so end in a NUL.
  const auto kinds = bloomset::kinds();
  return number < kinds.size() ? kinds[number].name.data() : nullptr;
}

const char* bloomset_kind_summary(const char* kind) {
  if (kind == nullptr) return nullptr;
  const auto kinds = bloomset::kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [kind](const auto& row) { return row.name == kind; });
  return found == kinds.end() ? nullptr : found->summary.data();
}

bloomset_status bloomset_plan(const bloomset_request* request, bloomset_plan_report* report,
                              bloomset_error* error) {
  return run(error, {{request, "request"}, {report, "report"}}, [&]() -> result<void> {
    const auto asked = known_part(request);
    if (!asked) return fail(asked.error());
    const auto made = plan(*asked);
    if (!made) return fail(made.error());
    const bloomset::plan_report& r = made->report;
    return give({.struct_size = 0,
                 .kind = made->kind->name.data(),
                 .capacity = r.capacity,
                 .bits = r.bits,
                 .bytes = r.bytes,
                 .hashes = r.hashes.value_or(0),
                 .planned_fpr = r.planned_fpr,
                 .hash_bits = r.hash_bits},
                report, "bloomset_plan_report");
  });
}

bloomset_status bloomset_create(const bloomset_request* request, bloomset_filter** filter,
                                bloomset_error* error) {
  return run(error, {{request, "request"}, {filter, "filter"}}, [&]() -> result<void> {
    const auto asked = known_part(request);
    if (!asked) return fail(asked.error());
    const auto made = plan(*asked);
    if (!made) return fail(made.error());
    return give_filter(made->kind->create(made->request), filter);
  });
}

bloomset_status bloomset_build(const bloomset_request* request, const bloomset_key* keys,
                               size_t count, bloomset_filter** filter, bloomset_error* error) {
  return run(error, {{request, "request"}, {filter, "filter"}}, [&]() -> result<void> {
    auto asked = known_part(request);
    if (!asked) return fail(asked.error());
    if (auto ok = check_keys(keys, count); !ok) return ok;
    const bool is_counted = asked->capacity == 0 && asked->bits == 0;
    if (asked->capacity == 0) asked->capacity = std::max<std::size_t>(count, 1);
    auto made = plan(*asked);
    if (!made) return fail(made.error());
    if (made->kind->build != nullptr) {
      made->request.hash_bits = made->report.hash_bits;
      std::vector<std::vector<bloomset::hash64>> hashes(made->report.hash_bits / 64);
      std::vector<bloomset::hash_source> sources;
      for (unsigned half = 0; half < hashes.size(); ++half) {
        hashes[half] = hashes_of(made->request.seed.half(half), keys, count);
        sources.push_back(bloomset::hash_source::of(hashes[half]));
      }
      return give_filter(bloomset::build_filter(*made->kind, made->request, sources), filter);
    }
    for (bloomset::detail::capacity_retries retries(is_counted);;) {
      auto created = made->kind->create(made->request);
      if (!created) return fail(std::move(created.error()));
      inserted_keys did;
      const auto inserted = insert(*created, count, keys_of(keys), did);
      if (inserted) return give_filter(std::move(created), filter);
      if (inserted.error().code != bloomset::errc::full ||
          !retries.raise(made->request.capacity, did.stopped_by)) {
        return inserted;
      }
    }
  });
}

bloomset_status bloomset_build_exact(const bloomset_request* request, const bloomset_key* members,
                                     size_t count, const bloomset_key* others, size_t other_count,
                                     bloomset_filter** filter, bloomset_error* error) {
  return run(error, {{request, "request"}, {filter, "filter"}}, [&] {
    return build_exact(request, members, count, others, other_count, false, filter);
  });
}

bloomset_status bloomset_build_partitioned_exact(const bloomset_request* request,
                                                 const bloomset_key* members, size_t count,
                                                 const bloomset_key* others, size_t other_count,
                                                 bloomset_filter** filter, bloomset_error* error) {
  return run(error, {{request, "request"}, {filter, "filter"}}, [&] {
    return build_exact(request, members, count, others, other_count, true, filter);
  });
}

bloomset_status bloomset_new_key(void* key, bloomset_error* error) {
  return run(error, {{key, "key"}}, [&]() -> result<void> {
    const auto made = bloomset::new_hash_key();
    if (!made) return fail(made.error());
    std::memcpy(key, made->bytes().data(), bloomset::hash_key::size);
    return {};
  });
}

bloomset_status bloomset_open_keyed(const char* path, const void* key, bool writable,
                                    bloomset_filter** filter, bloomset_error* error) {
  return run(error, {{path, "path"}, {filter, "filter"}}, [&]() -> result<void> {
    if (writable) return give_filter(bloomset::load(path, key_in(key)), filter);
    auto stored = bloomset::map_file(path);
    if (!stored) return fail(std::move(stored.error()));
    if (auto ok = bloomset::unlock(*stored, key_in(key), path); !ok) {
      return fail(std::move(ok.error()));
    }
    auto opened = bloomset::open_any(*stored, bloomset::access::read_only, path);
    if (!opened) return fail(std::move(opened.error()));
    *filter = new bloomset_filter{std::move(*opened), std::move(*stored)};
    return {};
  });
}

bloomset_status bloomset_open(const char* path, bloomset_filter** filter, bloomset_error* error) {
  return bloomset_open_keyed(path, nullptr, false, filter, error);
}

bloomset_status bloomset_load(const char* path, bloomset_filter** filter, bloomset_error* error) {
  return bloomset_open_keyed(path, nullptr, true, filter, error);
}

bloomset_status bloomset_save(const bloomset_filter* filter, const char* path, bool replace,
                              bloomset_error* error) {
  return run(error, {{filter, "filter"}, {path, "path"}}, [&] {
    auto saved = bloomset::save(
        filter->filter, path, replace ? bloomset::if_exists::replace : bloomset::if_exists::refuse);
    if (!saved && saved.error().code == errc::exists) {
      saved.error().message += "; give true for replace to replace it";
    }
    return saved;
  });
}

bloomset_status bloomset_to_bytes(const bloomset_filter* filter, void** bytes, size_t* size,
                                  bloomset_error* error) {
  return run(error, {{filter, "filter"}, {bytes, "bytes"}, {size, "size"}}, [&]() -> result<void> {
    const bloomset::filter_image image = filter->filter.image();
    const std::size_t needed_bytes = bloomset::serialized_size(image);
    void* const memory = std::malloc(needed_bytes);
    if (memory == nullptr) throw std::bad_alloc();
    bloomset::serialize_to(image, {static_cast<std::byte*>(memory), needed_bytes});
    *bytes = memory;
    *size = needed_bytes;
    return {};
  });
}

bloomset_status bloomset_from_bytes_keyed(const void* bytes, size_t size, const void* key,
                                          bloomset_filter** filter, bloomset_error* error) {
  return run(error, {place_for(bytes, size, "bytes"), {filter, "filter"}},
             [&] { return give_filter(from_bytes(bytes, size, key), filter); });
}

bloomset_status bloomset_from_bytes(const void* bytes, size_t size, bloomset_filter** filter,
                                    bloomset_error* error) {
  return bloomset_from_bytes_keyed(bytes, size, nullptr, filter, error);
}

void bloomset_free(void* bytes) {
  std::free(bytes);
}

bloomset_status bloomset_copy(const bloomset_filter* filter, bloomset_filter** copy,
                              bloomset_error* error) {
  return run(error, {{filter, "filter"}, {copy, "copy"}}, [&] {
    // A copy of a mapped filter would be another over the same mapping.
    if (!filter->file) return give_filter(filter->filter.copy(), copy);
    return give_filter(bloomset::open_any(bloomset::with_changes(*filter->file, filter->filter),
                                          bloomset::access::writable, "the mapped file"),
                       copy);
  });
}

void bloomset_close(bloomset_filter* filter) {
  delete filter;
}

bool bloomset_may_contain(const bloomset_filter* filter, const void* key, size_t size) {
  if (filter == nullptr || (key == nullptr && size != 0)) return true;
  return filter->filter.may_contain(view_of(key, size));
}

bloomset_status bloomset_may_contain_batch(const bloomset_filter* filter, const bloomset_key* keys,
                                           size_t count, bool* answers, bloomset_error* error) {
  return run(error, {{filter, "filter"}, place_for(answers, count, "answers")},
             [&]() -> result<void> {
               if (auto ok = check_keys(keys, count); !ok) return ok;
               ask(*filter, count, keys_of(keys), answers);
               return {};
             });
}

bloomset_status bloomset_covers(const bloomset_filter* filter, const bloomset_key* keys,
                                size_t count, bool* covered, bloomset_error* error) {
  return run(error, {{filter, "filter"}, place_for(covered, count, "covered")},
             [&]() -> result<void> {
               if (auto ok = check_keys(keys, count); !ok) return ok;
               in_pieces(count, keys_of(keys),
                         [&](std::span<const std::string_view> some, std::size_t first) noexcept {
                           filter->filter.covers(some, {covered + first, some.size()});
                           return true;
                         });
               return {};
             });
}

bloomset_status bloomset_may_contain_fixed(const bloomset_filter* filter, const void* keys,
                                           size_t size, size_t count, bool* answers,
                                           bloomset_error* error) {
  return run(error, {{filter, "filter"}, place_for(answers, count, "answers")},
             [&]() -> result<void> {
               if (auto ok = check_keys(keys, size, count); !ok) return ok;
               ask(*filter, count, keys_of(keys, size), answers);
               return {};
             });
}

bloomset_status bloomset_info(const bloomset_filter* filter, bloomset_info_report* report,
                              bloomset_error* error) {
  return run(error, {{filter, "filter"}, {report, "report"}},
             [&] { return give_info(filter->filter.info(), report); });
}

bloomset_status bloomset_file_info(const char* path, bloomset_info_report* report,
                                   bloomset_error* error) {
  return run(error, {{path, "path"}, {report, "report"}}, [&]() -> result<void> {
    const auto info = info_of_file(path);
    if (!info) return fail(info.error());
    return give_info(*info, report);
  });
}

bloomset_status bloomset_insert(bloomset_filter* filter, const void* key, size_t size, bool* is_new,
                                bloomset_error* error) {
  return run(error, {{filter, "filter"}}, [&]() -> result<void> {
    inserted_keys did;
    if (auto ok = check_keys(key, size, 1); !ok) return ok;
    if (auto ok = insert(filter->filter, 1, keys_of(key, size), did); !ok) return ok;
    if (is_new != nullptr) *is_new = did.inserted != 0;
    return {};
  });
}

bloomset_status bloomset_insert_batch(bloomset_filter* filter, const bloomset_key* keys,
                                      size_t count, size_t* done, uint64_t* inserted,
                                      bloomset_error* error) {
  inserted_keys did;
  const bloomset_status status = run(error, {{filter, "filter"}}, [&]() -> result<void> {
    if (auto ok = check_keys(keys, count); !ok) return ok;
    return insert(filter->filter, count, keys_of(keys), did);
  });
  if (done != nullptr && has_done(status)) *done = did.done;
  if (inserted != nullptr && has_done(status)) *inserted = did.inserted;
  return status;
}

bloomset_status bloomset_insert_fixed(bloomset_filter* filter, const void* keys, size_t size,
                                      size_t count, size_t* done, uint64_t* inserted,
                                      bloomset_error* error) {
  inserted_keys did;
  const bloomset_status status = run(error, {{filter, "filter"}}, [&]() -> result<void> {
    if (auto ok = check_keys(keys, size, count); !ok) return ok;
    return insert(filter->filter, count, keys_of(keys, size), did);
  });
  if (done != nullptr && has_done(status)) *done = did.done;
  if (inserted != nullptr && has_done(status)) *inserted = did.inserted;
  return status;
}

bloomset_status bloomset_erase(bloomset_filter* filter, const bloomset_key* keys, size_t count,
                               bool* erased, bloomset_error* error) {
  return run(error, {{filter, "filter"}}, [&]() -> result<void> {
    if (auto ok = check_keys(keys, count); !ok) return ok;
    result<void> all;
    std::array<bool, piece> were;
    in_pieces(count, keys_of(keys), [&](std::span<const std::string_view> some, std::size_t first) {
      all = filter->filter.erase(some, were);
      if (all && erased != nullptr) std::copy_n(were.data(), some.size(), erased + first);
      return all.has_value();
    });
    return all;
  });
}

bloomset_status bloomset_add_exceptions(bloomset_filter* filter, const bloomset_key* keys,
                                        size_t count, uint64_t* changed, bloomset_error* error) {
  return change_exceptions(filter, keys, count, changed, error, [&](auto some) -> result<uint64_t> {
    const auto added = filter->filter.add_exceptions(some);
    if (!added) return fail(added.error());
    return added->inserted;
  });
}

bloomset_status bloomset_remove_exceptions(bloomset_filter* filter, const bloomset_key* keys,
                                           size_t count, uint64_t* changed, bloomset_error* error) {
  return change_exceptions(filter, keys, count, changed, error,
                           [&](auto some) { return filter->filter.remove_exceptions(some); });
}

bloomset_status bloomset_count(const bloomset_filter* filter, const bloomset_key* keys,
                               size_t count, uint64_t* counts, bloomset_error* error) {
  return run(
      error, {{filter, "filter"}, place_for(counts, count, "counts")}, [&]() -> result<void> {
        if (auto ok = check_keys(keys, count); !ok) return ok;
        result<void> all;
        in_pieces(
            count, keys_of(keys), [&](std::span<const std::string_view> some, std::size_t first) {
              all = filter->filter.count(some, std::span<uint64_t>(counts + first, some.size()));
              return all.has_value();
            });
        return all;
      });
}

bloomset_status bloomset_merge(bloomset_filter* filter, const bloomset_filter* other,
                               bloomset_error* error) {
  return run(error, {{filter, "filter"}, {other, "other"}},
             [&] { return merge_folded(filter->filter, other->filter); });
}

bloomset_status bloomset_fold(const bloomset_filter* filter, uint64_t factor, double fpr,
                              bloomset_filter** folded, bloomset_error* error) {
  return run(error, {{filter, "filter"}, {folded, "folded"}}, [&] {
    return give_filter(factor != 0 ? filter->filter.fold(factor) : filter->filter.fold_to(fpr),
                       folded);
  });
}

bloomset_status bloomset_intersect(bloomset_filter* filter, const bloomset_filter* other,
                                   bloomset_error* error) {
  return run(error, {{filter, "filter"}, {other, "other"}},
             [&] { return filter->filter.intersect(other->filter); });
}

bloomset_status bloomset_info_json(const bloomset_filter* filter, char** json,
                                   bloomset_error* error) {
  return run(error, {{filter, "filter"}, {json, "json"}},
             [&] { return give_json(filter->filter.info(), json); });
}

bloomset_status bloomset_file_info_json(const char* path, char** json, bloomset_error* error) {
  return run(error, {{path, "path"}, {json, "json"}}, [&]() -> result<void> {
    const auto info = info_of_file(path);
    if (!info) return fail(info.error());
    return give_json(*info, json);
  });
}

}  // extern "C"
