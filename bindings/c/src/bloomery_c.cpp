#include <bloomery.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomery/advise.hpp>
#include <bloomery/any_filter.hpp>
#include <bloomery/file.hpp>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct bloomery_filter {
  bloomery::any_filter filter;
};

namespace {

using bloomery::any_filter;
using bloomery::errc;
using bloomery::fail;
using bloomery::failure;
using bloomery::result;

// Keys of a batch that are turned into views at once.
constexpr std::size_t piece = 1024;
constexpr const char* default_kind = "blocked_bloom";

bloomery_status status_of(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument:
      return BLOOMERY_INVALID_ARGUMENT;
    case errc::not_found:
      return BLOOMERY_NOT_FOUND;
    case errc::exists:
      return BLOOMERY_EXISTS;
    case errc::corrupt:
      return BLOOMERY_CORRUPT;
    case errc::unsupported:
      return BLOOMERY_UNSUPPORTED;
    case errc::incompatible:
      return BLOOMERY_INCOMPATIBLE;
    case errc::full:
      return BLOOMERY_FULL;
    case errc::io:
      return BLOOMERY_IO;
    case errc::out_of_memory:
      break;
  }
  return BLOOMERY_OUT_OF_MEMORY;
}

bloomery_status tell(bloomery_error* error, bloomery_status status,
                     std::string_view message) noexcept {
  if (error != nullptr) {
    error->status = status;
    const std::size_t size = std::min(message.size(), sizeof error->message - 1);
    std::copy_n(message.data(), size, error->message);
    error->message[size] = '\0';
  }
  return status;
}

/// Runs a call's work, which gives a result<void>. What it throws is for want of memory.
template <class Work>
bloomery_status run(bloomery_error* error, Work&& work) noexcept {
  try {
    const result<void> done = std::forward<Work>(work)();
    if (done) return tell(error, BLOOMERY_OK, "");
    return tell(error, status_of(done.error().code), done.error().message);
  } catch (const std::bad_alloc&) {
    return tell(error, BLOOMERY_OUT_OF_MEMORY, "the memory could not be had");
  } catch (const std::exception& other) {
    return tell(error, BLOOMERY_INVALID_ARGUMENT, other.what());
  }
}

std::string_view view_of(const void* data, std::size_t size) noexcept {
  return size == 0 ? std::string_view() : std::string_view(static_cast<const char*>(data), size);
}

/// Calls `use(views, first)` for pieces of `count` keys, of which `key(i)` gives the view, until it
/// says false.
template <class Key, class Use>
void in_pieces(std::size_t count, Key&& key, Use&& use) noexcept(noexcept(use({}, 0))) {
  std::array<std::string_view, piece> views;
  for (std::size_t first = 0; first < count; first += piece) {
    const std::size_t n = std::min(piece, count - first);
    for (std::size_t i = 0; i < n; ++i) views[i] = key(first + i);
    if (!use(std::span<const std::string_view>(views.data(), n), first)) return;
  }
}

/// Keys as given: an array of pointers and lengths, or bytes one after the other.
auto keys_of(const bloomery_key* keys) noexcept {
  return [keys](std::size_t i) noexcept { return view_of(keys[i].data, keys[i].size); };
}
auto keys_of(const void* keys, std::size_t size) noexcept {
  return [at = static_cast<const char*>(keys), size](std::size_t i) noexcept {
    return view_of(at + i * size, size);
  };
}

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

bloomery::needs needs_of(const bloomery_request& request) noexcept {
  return {.deletable = request.deletable,
          .counting = request.counting,
          .growing = request.growing,
          .unchanging = request.unchanging};
}

bloomery::plan_request plan_request_of(const bloomery_request& request) {
  bloomery::plan_request plan{.capacity = request.capacity,
                              .fpr = request.fpr,
                              .bits = request.bits,
                              .hashes = request.hashes,
                              .seed = request.seed};
  for (std::size_t i = 0; i < request.option_count; ++i) {
    plan.options.emplace_back(request.options[i].name, request.options[i].value);
  }
  return plan;
}

struct planned {
  const bloomery::kind_info* kind = nullptr;
  bloomery::plan_report report;
};

/// The kind that is named; else, as on the command line, the one that is recommended for the needs,
/// or blocked_bloom where there are none. And what it makes of the request.
result<planned> plan(const bloomery_request& request, const bloomery::plan_request& wanted) {
  bloomery::needs needs = needs_of(request);
  const bool any = needs.deletable || needs.counting || needs.growing || needs.unchanging;
  if (request.kind == nullptr && any) {
    const auto advice = bloomery::advise(wanted, needs);
    if (!advice) return fail(advice.error());
    const bloomery::candidate& best = advice->recommended();
    return planned{best.kind, *best.plan};
  }
  const auto kind =
      bloomery::find_kind(std::string_view(request.kind != nullptr ? request.kind : default_kind));
  if (!kind) return fail(kind.error());
  if ((*kind)->build != nullptr) needs.unchanging = true;
  auto report = bloomery::plan_for(**kind, wanted, needs);
  if (!report) return fail(std::move(report.error()));
  return planned{*kind, std::move(*report)};
}

bloomery_filter* handle_of(any_filter filter) {
  return new bloomery_filter{std::move(filter)};
}

/// Copies as much of a filled structure as the caller knows; its first member is that size.
template <class Report>
result<void> give(const Report& filled, Report* to) noexcept {
  const std::size_t known = to->struct_size;
  if (known < sizeof(std::size_t) || known > sizeof(Report)) {
    return fail(errc::invalid_argument,
                "struct_size is not the size of a structure of this version; set it to sizeof");
  }
  std::memcpy(to, &filled, known);
  to->struct_size = known;
  return {};
}

result<any_filter> from_bytes(const void* bytes, std::size_t size) {
  const std::span<const std::byte> given(static_cast<const std::byte*>(bytes), size);
  const auto stored = bloomery::read_stored(bloomery::mapped_storage(nullptr, given),
                                            bloomery::verification::always, "the bytes");
  if (!stored) return fail(stored.error());
  return bloomery::open_any(*stored, bloomery::access::writable, "the bytes");
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
  const auto kinds = bloomery::kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [kind](const auto& row) { return row.name == kind; });
  return found == kinds.end() ? nullptr : found->summary.data();
}

bloomery_status bloomery_plan(const bloomery_request* request, bloomery_plan_report* report,
                              bloomery_error* error) {
  return run(error, [&]() -> result<void> {
    const auto made = plan(*request, plan_request_of(*request));
    if (!made) return fail(made.error());
    const bloomery::plan_report& r = made->report;
    return give({.struct_size = 0,
                 .kind = made->kind->name.data(),
                 .capacity = r.capacity,
                 .bits = r.bits,
                 .bytes = r.bytes,
                 .hashes = r.hashes.value_or(0),
                 .planned_fpr = r.planned_fpr},
                report);
  });
}

bloomery_status bloomery_create(const bloomery_request* request, bloomery_filter** filter,
                                bloomery_error* error) {
  return run(error, [&]() -> result<void> {
    const bloomery::plan_request wanted = plan_request_of(*request);
    const auto made = plan(*request, wanted);
    if (!made) return fail(made.error());
    auto created = made->kind->create(wanted);
    if (!created) return fail(std::move(created.error()));
    *filter = handle_of(std::move(*created));
    return {};
  });
}

bloomery_status bloomery_build(const bloomery_request* request, const bloomery_key* keys,
                               size_t count, bloomery_filter** filter, bloomery_error* error) {
  return run(error, [&]() -> result<void> {
    bloomery::plan_request wanted = plan_request_of(*request);
    if (wanted.capacity == 0) wanted.capacity = std::max<std::size_t>(count, 1);
    const auto made = plan(*request, wanted);
    if (!made) return fail(made.error());
    if (made->kind->build != nullptr) {
      const bloomery::xxh3_hasher hash(wanted.seed);
      std::vector<bloomery::hash64> hashes(count);
      for (std::size_t i = 0; i < count; ++i) {
        hashes[i] = hash(std::as_bytes(std::span<const char>(keys_of(keys)(i))));
      }
      auto built = made->kind->build(wanted, bloomery::hash_source::of(hashes));
      if (!built) return fail(std::move(built.error()));
      *filter = handle_of(std::move(*built));
      return {};
    }
    auto created = made->kind->create(wanted);
    if (!created) return fail(std::move(created.error()));
    inserted_keys did;
    if (auto ok = insert(*created, count, keys_of(keys), did); !ok) return ok;
    *filter = handle_of(std::move(*created));
    return {};
  });
}

bloomery_status bloomery_open(const char* path, bloomery_filter** filter, bloomery_error* error) {
  return run(error, [&]() -> result<void> {
    auto opened = bloomery::open(path);
    if (!opened) return fail(std::move(opened.error()));
    *filter = handle_of(std::move(*opened));
    return {};
  });
}

bloomery_status bloomery_load(const char* path, bloomery_filter** filter, bloomery_error* error) {
  return run(error, [&]() -> result<void> {
    auto loaded = bloomery::load(path);
    if (!loaded) return fail(std::move(loaded.error()));
    *filter = handle_of(std::move(*loaded));
    return {};
  });
}

bloomery_status bloomery_save(const bloomery_filter* filter, const char* path, bool replace,
                              bloomery_error* error) {
  return run(error, [&] {
    return bloomery::save(filter->filter, path,
                          replace ? bloomery::if_exists::replace : bloomery::if_exists::refuse);
  });
}

bloomery_status bloomery_to_bytes(const bloomery_filter* filter, void** bytes, size_t* size,
                                  bloomery_error* error) {
  return run(error, [&]() -> result<void> {
    const std::vector<std::byte> made = bloomery::serialize(filter->filter.image());
    void* const memory = std::malloc(made.size());
    if (memory == nullptr) throw std::bad_alloc();
    std::memcpy(memory, made.data(), made.size());
    *bytes = memory;
    *size = made.size();
    return {};
  });
}

bloomery_status bloomery_from_bytes(const void* bytes, size_t size, bloomery_filter** filter,
                                    bloomery_error* error) {
  return run(error, [&]() -> result<void> {
    auto made = from_bytes(bytes, size);
    if (!made) return fail(std::move(made.error()));
    *filter = handle_of(std::move(*made));
    return {};
  });
}

void bloomery_free(void* bytes) {
  std::free(bytes);
}

bloomery_status bloomery_copy(const bloomery_filter* filter, bloomery_filter** copy,
                              bloomery_error* error) {
  return run(error, [&]() -> result<void> {
    const std::vector<std::byte> bytes = bloomery::serialize(filter->filter.image());
    auto made = from_bytes(bytes.data(), bytes.size());
    if (!made) return fail(std::move(made.error()));
    *copy = handle_of(std::move(*made));
    return {};
  });
}

void bloomery_close(bloomery_filter* filter) {
  delete filter;
}

bool bloomery_may_contain(const bloomery_filter* filter, const void* key, size_t size) {
  return filter->filter.may_contain(view_of(key, size));
}

void bloomery_may_contain_batch(const bloomery_filter* filter, const bloomery_key* keys,
                                size_t count, bool* answers) {
  ask(*filter, count, keys_of(keys), answers);
}

void bloomery_may_contain_fixed(const bloomery_filter* filter, const void* keys, size_t size,
                                size_t count, bool* answers) {
  ask(*filter, count, keys_of(keys, size), answers);
}

bloomery_status bloomery_info(const bloomery_filter* filter, bloomery_info_report* report,
                              bloomery_error* error) {
  return run(error, [&]() -> result<void> {
    const bloomery::filter_info info = filter->filter.info();
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
                 .can_grow = info.can.grow},
                report);
  });
}

bloomery_status bloomery_insert(bloomery_filter* filter, const void* key, size_t size, bool* is_new,
                                bloomery_error* error) {
  return run(error, [&]() -> result<void> {
    inserted_keys did;
    if (auto ok = insert(filter->filter, 1, keys_of(key, size), did); !ok) return ok;
    if (is_new != nullptr) *is_new = did.inserted != 0;
    return {};
  });
}

bloomery_status bloomery_insert_batch(bloomery_filter* filter, const bloomery_key* keys,
                                      size_t count, size_t* done, uint64_t* inserted,
                                      bloomery_error* error) {
  inserted_keys did;
  const bloomery_status status =
      run(error, [&] { return insert(filter->filter, count, keys_of(keys), did); });
  if (done != nullptr) *done = did.done;
  if (inserted != nullptr) *inserted = did.inserted;
  return status;
}

bloomery_status bloomery_insert_fixed(bloomery_filter* filter, const void* keys, size_t size,
                                      size_t count, size_t* done, uint64_t* inserted,
                                      bloomery_error* error) {
  inserted_keys did;
  const bloomery_status status =
      run(error, [&] { return insert(filter->filter, count, keys_of(keys, size), did); });
  if (done != nullptr) *done = did.done;
  if (inserted != nullptr) *inserted = did.inserted;
  return status;
}

bloomery_status bloomery_erase(bloomery_filter* filter, const bloomery_key* keys, size_t count,
                               bool* erased, bloomery_error* error) {
  return run(error, [&]() -> result<void> {
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
  return run(error, [&]() -> result<void> {
    result<void> all;
    in_pieces(count, keys_of(keys), [&](std::span<const std::string_view> some, std::size_t first) {
      all = filter->filter.count(some, std::span<uint64_t>(counts + first, some.size()));
      return all.has_value();
    });
    return all;
  });
}

bloomery_status bloomery_merge(bloomery_filter* filter, const bloomery_filter* other,
                               bloomery_error* error) {
  return run(error, [&] { return filter->filter.merge(other->filter); });
}

bloomery_status bloomery_intersect(bloomery_filter* filter, const bloomery_filter* other,
                                   bloomery_error* error) {
  return run(error, [&] { return filter->filter.intersect(other->filter); });
}

}  // extern "C"
