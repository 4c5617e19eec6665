#include <bloomery.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomery/advise.hpp>
#include <bloomery/any_filter.hpp>
#include <bloomery/defaults.hpp>
#include <bloomery/file.hpp>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "calls.hpp"

struct bloomery_filter {
  bloomery::any_filter filter;
  std::optional<bloomery::stored_filter> file = std::nullopt;  // over which it is mapped, if it is
};

namespace {

using bloomery::any_filter;
using bloomery::errc;
using bloomery::fail;
using bloomery::result;
using namespace bloomery::c;

template <class Key>
void ask(const bloomery_filter& filter, std::size_t count, const Key& key, bool* answers) noexcept {
  in_pieces(count, key, [&](std::span<const std::string_view> some, std::size_t first) noexcept {
    filter.filter.may_contain(some, std::span<bool>(answers + first, some.size()));
    return true;
  });
}

struct inserted_keys {
  std::size_t done = 0;
  std::uint64_t inserted = 0;
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
    all = fail(errc::full,
               fmt::format("the filter is full: {} of {} keys were inserted", did.done, count));
    return false;
  });
  return all;
}

/// The members of the request that both sides know. The others are 0.
result<bloomery_request> known_part(const bloomery_request* request) {
  const auto size = size_of(request, first_request, "bloomery_request");
  if (!size) return fail(size.error());
  bloomery_request known{};
  std::memcpy(&known, request, std::min(*size, sizeof known));
  if (known.options == nullptr && known.option_count != 0) {
    return fail(errc::invalid_argument, "options is NULL, and option_count is not 0");
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
std::optional<bloomery::hash_key> key_in(const void* bytes) {
  if (bytes == nullptr) return std::nullopt;
  constexpr std::size_t size = bloomery::hash_key::size;
  return bloomery::hash_key::of(
      std::span<const std::byte, size>(static_cast<const std::byte*>(bytes), size));
}

result<bloomery::plan_request> plan_request_of(const bloomery_request& request) {
  bloomery::plan_request plan{.capacity = request.capacity,
                              .fpr = request.fpr,
                              .bits = request.bits,
                              .hashes = request.hashes,
                              .seed = request.seed};
  if (request.key != nullptr) plan.seed = *key_in(request.key);
  for (std::size_t i = 0; i < request.option_count; ++i) {
    plan.options.emplace_back(request.options[i].name, request.options[i].value);
  }
  if (plan.fpr == 0 && (plan.capacity == 0 || plan.bits == 0)) plan.fpr = bloomery::default_fpr;
  if (request.hash != nullptr) {
    if (auto ok = bloomery::choose_hash(plan, request.hash); !ok) return fail(ok.error());
  }
  return plan;
}

struct planned {
  const bloomery::kind_info* kind = nullptr;
  bloomery::plan_request request;
  bloomery::plan_report report;
};

/// The named kind, or else, as on the command line, the recommended one for the needs, or
/// blocked_bloom without needs; and its plan.
result<planned> plan(const bloomery_request& request) {
  auto wanted = plan_request_of(request);
  if (!wanted) return fail(std::move(wanted.error()));
  const bloomery::needs needs{.deletable = request.deletable,
                              .counting = request.counting,
                              .growing = request.growing,
                              .unchanging = request.unchanging};
  const bool any = needs.deletable || needs.counting || needs.growing || needs.unchanging;
  if (request.kind == nullptr && any) {
    const auto advice = bloomery::advise(*wanted, needs);
    if (!advice) return fail(advice.error());
    const bloomery::candidate& best = advice->recommended();
    return planned{best.kind, std::move(*wanted), *best.plan};
  }
  const auto kind =
      bloomery::find_kind(request.kind != nullptr ? request.kind : bloomery::default_kind);
  if (!kind) return fail(kind.error());
  auto report = bloomery::plan_for_named(**kind, *wanted, needs);
  if (!report) return fail(std::move(report.error()));
  return planned{*kind, std::move(*wanted), std::move(*report)};
}

/// Gives the caller a filter that was made.
result<void> give_filter(result<any_filter> made, bloomery_filter** filter) {
  if (!made) return fail(std::move(made.error()));
  *filter = new bloomery_filter{std::move(*made)};
  return {};
}

result<any_filter> from_bytes(const void* bytes, std::size_t size, const void* key) {
  const std::span<const std::byte> given(static_cast<const std::byte*>(bytes), size);
  auto stored = bloomery::read_stored(bloomery::mapped_storage(nullptr, given),
                                      bloomery::verification::always, "the bytes");
  if (!stored) return fail(stored.error());
  if (auto ok = bloomery::unlock(*stored, key_in(key), "the bytes"); !ok) {
    return fail(std::move(ok.error()));
  }
  return bloomery::open_any(*stored, bloomery::access::writable, "the bytes");
}

result<void> give_info(const bloomery::filter_info& info, bloomery_info_report* report) {
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
               .hash = bloomery::name_of(info.hash).data()},
              report, "bloomery_info_report");
}

}  // namespace

extern "C" {

unsigned bloomery_c_version(void) {
  return BLOOMERY_C_VERSION;
}

const char* bloomery_kind_name(size_t number) {
  // The registry's names are literals, and so end in a NUL.
  const auto kinds = bloomery::kinds();
  return number < kinds.size() ? kinds[number].name.data() : nullptr;
}

const char* bloomery_kind_summary(const char* kind) {
  if (kind == nullptr) return nullptr;
  const auto kinds = bloomery::kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [kind](const auto& row) { return row.name == kind; });
  return found == kinds.end() ? nullptr : found->summary.data();
}

bloomery_status bloomery_plan(const bloomery_request* request, bloomery_plan_report* report,
                              bloomery_error* error) {
  return run(error, {{request, "request"}, {report, "report"}}, [&]() -> result<void> {
    const auto asked = known_part(request);
    if (!asked) return fail(asked.error());
    const auto made = plan(*asked);
    if (!made) return fail(made.error());
    const bloomery::plan_report& r = made->report;
    return give({.struct_size = 0,
                 .kind = made->kind->name.data(),
                 .capacity = r.capacity,
                 .bits = r.bits,
                 .bytes = r.bytes,
                 .hashes = r.hashes.value_or(0),
                 .planned_fpr = r.planned_fpr,
                 .hash_bits = r.hash_bits},
                report, "bloomery_plan_report");
  });
}

bloomery_status bloomery_create(const bloomery_request* request, bloomery_filter** filter,
                                bloomery_error* error) {
  return run(error, {{request, "request"}, {filter, "filter"}}, [&]() -> result<void> {
    const auto asked = known_part(request);
    if (!asked) return fail(asked.error());
    const auto made = plan(*asked);
    if (!made) return fail(made.error());
    return give_filter(made->kind->create(made->request), filter);
  });
}

bloomery_status bloomery_build(const bloomery_request* request, const bloomery_key* keys,
                               size_t count, bloomery_filter** filter, bloomery_error* error) {
  return run(error, {{request, "request"}, {filter, "filter"}}, [&]() -> result<void> {
    auto asked = known_part(request);
    if (!asked) return fail(asked.error());
    if (auto ok = check_keys(keys, count); !ok) return ok;
    if (asked->capacity == 0) asked->capacity = std::max<std::size_t>(count, 1);
    auto made = plan(*asked);
    if (!made) return fail(made.error());
    if (made->kind->build != nullptr) {
      made->request.hash_bits = made->report.hash_bits;
      std::vector<std::vector<bloomery::hash64>> hashes(made->report.hash_bits / 64);
      std::vector<bloomery::hash_source> sources;
      for (unsigned half = 0; half < hashes.size(); ++half) {
        const bloomery::filter_hasher hash(made->request.seed.half(half));
        for (std::size_t i = 0; i < count; ++i) {
          hashes[half].push_back(hash(std::as_bytes(std::span<const char>(keys_of(keys)(i)))));
        }
        sources.push_back(bloomery::hash_source::of(hashes[half]));
      }
      return give_filter(bloomery::build_filter(*made->kind, made->request, sources), filter);
    }
    auto created = made->kind->create(made->request);
    if (!created) return fail(std::move(created.error()));
    inserted_keys did;
    if (auto ok = insert(*created, count, keys_of(keys), did); !ok) return ok;
    return give_filter(std::move(created), filter);
  });
}

bloomery_status bloomery_new_key(void* key, bloomery_error* error) {
  return run(error, {{key, "key"}}, [&]() -> result<void> {
    const auto made = bloomery::new_hash_key();
    if (!made) return fail(made.error());
    std::memcpy(key, made->bytes().data(), bloomery::hash_key::size);
    return {};
  });
}

bloomery_status bloomery_open_keyed(const char* path, const void* key, bool writable,
                                    bloomery_filter** filter, bloomery_error* error) {
  return run(error, {{path, "path"}, {filter, "filter"}}, [&]() -> result<void> {
    if (writable) return give_filter(bloomery::load(path, key_in(key)), filter);
    auto stored = bloomery::map_file(path);
    if (!stored) return fail(std::move(stored.error()));
    if (auto ok = bloomery::unlock(*stored, key_in(key), path); !ok) {
      return fail(std::move(ok.error()));
    }
    auto opened = bloomery::open_any(*stored, bloomery::access::read_only, path);
    if (!opened) return fail(std::move(opened.error()));
    *filter = new bloomery_filter{std::move(*opened), std::move(*stored)};
    return {};
  });
}

bloomery_status bloomery_open(const char* path, bloomery_filter** filter, bloomery_error* error) {
  return bloomery_open_keyed(path, nullptr, false, filter, error);
}

bloomery_status bloomery_load(const char* path, bloomery_filter** filter, bloomery_error* error) {
  return bloomery_open_keyed(path, nullptr, true, filter, error);
}

bloomery_status bloomery_save(const bloomery_filter* filter, const char* path, bool replace,
                              bloomery_error* error) {
  return run(error, {{filter, "filter"}, {path, "path"}}, [&] {
    auto saved = bloomery::save(
        filter->filter, path, replace ? bloomery::if_exists::replace : bloomery::if_exists::refuse);
    if (!saved && saved.error().code == errc::exists) {
      saved.error().message += "; give true for replace to replace it";
    }
    return saved;
  });
}

bloomery_status bloomery_to_bytes(const bloomery_filter* filter, void** bytes, size_t* size,
                                  bloomery_error* error) {
  return run(error, {{filter, "filter"}, {bytes, "bytes"}, {size, "size"}}, [&]() -> result<void> {
    const bloomery::filter_image image = filter->filter.image();
    const std::size_t needed_bytes = bloomery::serialized_size(image);
    void* const memory = std::malloc(needed_bytes);
    if (memory == nullptr) throw std::bad_alloc();
    bloomery::serialize_to(image, {static_cast<std::byte*>(memory), needed_bytes});
    *bytes = memory;
    *size = needed_bytes;
    return {};
  });
}

bloomery_status bloomery_from_bytes_keyed(const void* bytes, size_t size, const void* key,
                                          bloomery_filter** filter, bloomery_error* error) {
  return run(error, {place_for(bytes, size, "bytes"), {filter, "filter"}},
             [&] { return give_filter(from_bytes(bytes, size, key), filter); });
}

bloomery_status bloomery_from_bytes(const void* bytes, size_t size, bloomery_filter** filter,
                                    bloomery_error* error) {
  return bloomery_from_bytes_keyed(bytes, size, nullptr, filter, error);
}

void bloomery_free(void* bytes) {
  std::free(bytes);
}

bloomery_status bloomery_copy(const bloomery_filter* filter, bloomery_filter** copy,
                              bloomery_error* error) {
  return run(error, {{filter, "filter"}, {copy, "copy"}}, [&] {
    // A copy of a mapped filter would be another over the same mapping.
    if (!filter->file) return give_filter(filter->filter.copy(), copy);
    return give_filter(
        bloomery::open_any(*filter->file, bloomery::access::writable, "the mapped file"), copy);
  });
}

void bloomery_close(bloomery_filter* filter) {
  delete filter;
}

bool bloomery_may_contain(const bloomery_filter* filter, const void* key, size_t size) {
  if (filter == nullptr || (key == nullptr && size != 0)) return true;
  return filter->filter.may_contain(view_of(key, size));
}

bloomery_status bloomery_may_contain_batch(const bloomery_filter* filter, const bloomery_key* keys,
                                           size_t count, bool* answers, bloomery_error* error) {
  return run(error, {{filter, "filter"}, place_for(answers, count, "answers")},
             [&]() -> result<void> {
               if (auto ok = check_keys(keys, count); !ok) return ok;
               ask(*filter, count, keys_of(keys), answers);
               return {};
             });
}

bloomery_status bloomery_may_contain_fixed(const bloomery_filter* filter, const void* keys,
                                           size_t size, size_t count, bool* answers,
                                           bloomery_error* error) {
  return run(error, {{filter, "filter"}, place_for(answers, count, "answers")},
             [&]() -> result<void> {
               if (auto ok = check_keys(keys, size, count); !ok) return ok;
               ask(*filter, count, keys_of(keys, size), answers);
               return {};
             });
}

bloomery_status bloomery_info(const bloomery_filter* filter, bloomery_info_report* report,
                              bloomery_error* error) {
  return run(error, {{filter, "filter"}, {report, "report"}},
             [&] { return give_info(filter->filter.info(), report); });
}

bloomery_status bloomery_file_info(const char* path, bloomery_info_report* report,
                                   bloomery_error* error) {
  return run(error, {{path, "path"}, {report, "report"}}, [&]() -> result<void> {
    auto stored = bloomery::map_file(path);
    if (!stored) return fail(std::move(stored.error()));
    const auto info = bloomery::info_of(std::move(*stored), path);
    if (!info) return fail(info.error());
    return give_info(*info, report);
  });
}

bloomery_status bloomery_insert(bloomery_filter* filter, const void* key, size_t size, bool* is_new,
                                bloomery_error* error) {
  return run(error, {{filter, "filter"}}, [&]() -> result<void> {
    inserted_keys did;
    if (auto ok = check_keys(key, size, 1); !ok) return ok;
    if (auto ok = insert(filter->filter, 1, keys_of(key, size), did); !ok) return ok;
    if (is_new != nullptr) *is_new = did.inserted != 0;
    return {};
  });
}

bloomery_status bloomery_insert_batch(bloomery_filter* filter, const bloomery_key* keys,
                                      size_t count, size_t* done, uint64_t* inserted,
                                      bloomery_error* error) {
  inserted_keys did;
  const bloomery_status status = run(error, {{filter, "filter"}}, [&]() -> result<void> {
    if (auto ok = check_keys(keys, count); !ok) return ok;
    return insert(filter->filter, count, keys_of(keys), did);
  });
  if (done != nullptr) *done = did.done;
  if (inserted != nullptr) *inserted = did.inserted;
  return status;
}

bloomery_status bloomery_insert_fixed(bloomery_filter* filter, const void* keys, size_t size,
                                      size_t count, size_t* done, uint64_t* inserted,
                                      bloomery_error* error) {
  inserted_keys did;
  const bloomery_status status = run(error, {{filter, "filter"}}, [&]() -> result<void> {
    if (auto ok = check_keys(keys, size, count); !ok) return ok;
    return insert(filter->filter, count, keys_of(keys, size), did);
  });
  if (done != nullptr) *done = did.done;
  if (inserted != nullptr) *inserted = did.inserted;
  return status;
}

bloomery_status bloomery_erase(bloomery_filter* filter, const bloomery_key* keys, size_t count,
                               bool* erased, bloomery_error* error) {
  return run(error, {{filter, "filter"}}, [&]() -> result<void> {
    if (auto ok = check_keys(keys, count); !ok) return ok;
    result<void> all;
    std::array<bool, piece> were{};
    in_pieces(count, keys_of(keys), [&](std::span<const std::string_view> some, std::size_t first) {
      all = filter->filter.erase(some, were);
      if (all && erased != nullptr) std::copy_n(were.data(), some.size(), erased + first);
      return all.has_value();
    });
    return all;
  });
}

bloomery_status bloomery_count(const bloomery_filter* filter, const bloomery_key* keys,
                               size_t count, uint64_t* counts, bloomery_error* error) {
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

bloomery_status bloomery_merge(bloomery_filter* filter, const bloomery_filter* other,
                               bloomery_error* error) {
  return run(error, {{filter, "filter"}, {other, "other"}},
             [&] { return merge_folded(filter->filter, other->filter); });
}

bloomery_status bloomery_fold(const bloomery_filter* filter, uint64_t factor, double fpr,
                              bloomery_filter** folded, bloomery_error* error) {
  return run(error, {{filter, "filter"}, {folded, "folded"}}, [&] {
    return give_filter(factor != 0 ? filter->filter.fold(factor) : filter->filter.fold_to(fpr),
                       folded);
  });
}

bloomery_status bloomery_intersect(bloomery_filter* filter, const bloomery_filter* other,
                                   bloomery_error* error) {
  return run(error, {{filter, "filter"}, {other, "other"}},
             [&] { return filter->filter.intersect(other->filter); });
}

}  // extern "C"
