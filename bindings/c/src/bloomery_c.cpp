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
#include <exception>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct bloomery_filter {
  bloomery::any_filter filter;
  std::optional<bloomery::stored_filter> file = std::nullopt;  // over which it is mapped, if it is
};

namespace {

using bloomery::any_filter;
using bloomery::errc;
using bloomery::fail;
using bloomery::failure;
using bloomery::result;

// Keys of a batch that are turned into views at once.
constexpr std::size_t piece = 1024;

// Of the structures' first version. Later ones are larger.
constexpr std::size_t first_error =
    offsetof(bloomery_error, message) + sizeof(bloomery_error::message);
constexpr std::size_t first_request =
    offsetof(bloomery_request, option_count) + sizeof(bloomery_request::option_count);
// No structure will be as large; what says so was not set.
constexpr std::size_t max_struct = 4096;

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

bool has_possible_size(std::size_t size, std::size_t min) noexcept {
  return size >= min && size <= max_struct;
}

/// A structure's size, which is its first member, checked; what the caller knows of it and this
/// library does not must be 0.
template <class Structure>
result<std::size_t> size_of(const Structure* structure, std::size_t min, std::string_view name) {
  const std::size_t size = structure->struct_size;
  if (!has_possible_size(size, min)) {
    return fail(
        errc::invalid_argument,
        fmt::format("struct_size is {} in a {}, which is no version's; set it to sizeof({})", size,
                    name, name));
  }
  if (size <= sizeof(Structure)) return size;
  const std::span<const std::byte> all(reinterpret_cast<const std::byte*>(structure), size);
  const auto unknown = all.subspan(sizeof(Structure));
  if (std::all_of(unknown.begin(), unknown.end(), [](std::byte b) { return b == std::byte{}; })) {
    return size;
  }
  return fail(errc::unsupported,
              fmt::format("a {} of {} bytes says what this library, which knows {} of them, cannot "
                          "do; leave it 0, or link a newer one",
                          name, size, sizeof(Structure)));
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

/// A pointer that a call needs, and the name of its parameter.
struct needed {
  const void* pointer;
  const char* name;
};
using needed_pointers = std::initializer_list<needed>;

result<void> check(const bloomery_error* error, needed_pointers pointers) {
  if (error != nullptr) {
    if (const auto ok = size_of(error, first_error, "bloomery_error"); !ok) return fail(ok.error());
  }
  for (const needed& each : pointers) {
    if (each.pointer == nullptr) {
      return fail(errc::invalid_argument,
                  fmt::format("{} is NULL, and this call needs it; was the call before it checked?",
                              each.name));
    }
  }
  return {};
}

/// Runs a call's work, which gives a result<void>, unless a pointer that it needs is NULL. What it
/// throws is for want of memory.
template <class Work>
bloomery_status run(bloomery_error* error, needed_pointers pointers, Work&& work) noexcept {
  if (error != nullptr && !has_possible_size(error->struct_size, first_error)) {
    return BLOOMERY_INVALID_ARGUMENT;  // who knows where its message would be
  }
  try {
    const result<void> ready = check(error, pointers);
    const result<void> done = ready ? std::forward<Work>(work)() : ready;
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

/// Keys of which none is NULL and yet has a size.
result<void> check_keys(const bloomery_key* keys, std::size_t count) {
  if (count == 0) return {};
  if (keys == nullptr) {
    return fail(errc::invalid_argument, fmt::format("keys is NULL, and {} were announced", count));
  }
  const auto* const wrong = std::find_if(
      keys, keys + count, [](const bloomery_key& k) { return k.data == nullptr && k.size != 0; });
  if (wrong == keys + count) return {};
  return fail(
      errc::invalid_argument,
      fmt::format("keys[{}] is NULL and has a size of {}; only the key without bytes may be",
                  wrong - keys, wrong->size));
}
result<void> check_keys(const void* keys, std::size_t size, std::size_t count) {
  if (keys != nullptr || size == 0 || count == 0) return {};
  return fail(
      errc::invalid_argument,
      fmt::format("the keys are NULL, and {} of {} bytes were announced; only keys without bytes "
                  "may be",
                  count, size));
}

/// Where `count` answers go, of which there may be none.
needed place_for(const void* answers, std::size_t count, const char* name) noexcept {
  static constexpr char no_place_needed = 0;
  return {count == 0 ? &no_place_needed : answers, name};
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

/// The caller's request as far as both know it; the rest is 0.
result<bloomery_request> known_part(const bloomery_request* request) {
  const auto size = size_of(request, first_request, "bloomery_request");
  if (!size) return fail(size.error());
  bloomery_request known{};
  std::memcpy(&known, request, std::min(*size, sizeof known));
  if (known.options == nullptr && known.option_count != 0) {
    return fail(errc::invalid_argument, "options is NULL, and option_count is not 0");
  }
  for (std::size_t i = 0; i < known.option_count; ++i) {
    if (known.options[i].name == nullptr || known.options[i].value == nullptr) {
      return fail(errc::invalid_argument,
                  fmt::format("options[{}] has no name or no value; give both as text", i));
    }
  }
  return known;
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
  if (plan.fpr == 0 && (plan.capacity == 0 || plan.bits == 0)) plan.fpr = bloomery::default_fpr;
  return plan;
}

struct planned {
  const bloomery::kind_info* kind = nullptr;
  bloomery::plan_report report;
};

/// The kind that is named; else, as on the command line, the one that is recommended for the needs,
/// or blocked_bloom where there are none. And what it makes of the request.
result<planned> plan(const bloomery_request& request, const bloomery::plan_request& wanted) {
  const bloomery::needs needs = needs_of(request);
  const bool any = needs.deletable || needs.counting || needs.growing || needs.unchanging;
  if (request.kind == nullptr && any) {
    const auto advice = bloomery::advise(wanted, needs);
    if (!advice) return fail(advice.error());
    const bloomery::candidate& best = advice->recommended();
    return planned{best.kind, *best.plan};
  }
  const auto kind =
      bloomery::find_kind(request.kind != nullptr ? request.kind : bloomery::default_kind);
  if (!kind) return fail(kind.error());
  auto report = bloomery::plan_for_named(**kind, wanted, needs);
  if (!report) return fail(std::move(report.error()));
  return planned{*kind, std::move(*report)};
}

bloomery_filter* handle_of(any_filter filter) {
  return new bloomery_filter{std::move(filter)};
}

/// Copies as much of a filled structure as the caller knows.
template <class Report>
result<void> give(const Report& filled, Report* to, std::string_view name) {
  const auto size = size_of(to, sizeof(std::size_t), name);
  if (!size) return fail(size.error());
  std::memcpy(to, &filled, std::min(*size, sizeof filled));
  to->struct_size = *size;
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
    const auto made = plan(*asked, plan_request_of(*asked));
    if (!made) return fail(made.error());
    const bloomery::plan_report& r = made->report;
    return give({.struct_size = 0,
                 .kind = made->kind->name.data(),
                 .capacity = r.capacity,
                 .bits = r.bits,
                 .bytes = r.bytes,
                 .hashes = r.hashes.value_or(0),
                 .planned_fpr = r.planned_fpr},
                report, "bloomery_plan_report");
  });
}

bloomery_status bloomery_create(const bloomery_request* request, bloomery_filter** filter,
                                bloomery_error* error) {
  return run(error, {{request, "request"}, {filter, "filter"}}, [&]() -> result<void> {
    const auto asked = known_part(request);
    if (!asked) return fail(asked.error());
    const bloomery::plan_request wanted = plan_request_of(*asked);
    const auto made = plan(*asked, wanted);
    if (!made) return fail(made.error());
    auto created = made->kind->create(wanted);
    if (!created) return fail(std::move(created.error()));
    *filter = handle_of(std::move(*created));
    return {};
  });
}

bloomery_status bloomery_build(const bloomery_request* request, const bloomery_key* keys,
                               size_t count, bloomery_filter** filter, bloomery_error* error) {
  return run(error, {{request, "request"}, {filter, "filter"}}, [&]() -> result<void> {
    auto asked = known_part(request);
    if (!asked) return fail(asked.error());
    if (auto ok = check_keys(keys, count); !ok) return ok;
    if (asked->capacity == 0) asked->capacity = std::max<std::size_t>(count, 1);
    const bloomery::plan_request wanted = plan_request_of(*asked);
    const auto made = plan(*asked, wanted);
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
  return run(error, {{path, "path"}, {filter, "filter"}}, [&]() -> result<void> {
    auto stored = bloomery::map_file(path);
    if (!stored) return fail(std::move(stored.error()));
    auto opened = bloomery::open_any(*stored, bloomery::access::read_only, path);
    if (!opened) return fail(std::move(opened.error()));
    *filter = new bloomery_filter{std::move(*opened), std::move(*stored)};
    return {};
  });
}

bloomery_status bloomery_load(const char* path, bloomery_filter** filter, bloomery_error* error) {
  return run(error, {{path, "path"}, {filter, "filter"}}, [&]() -> result<void> {
    auto loaded = bloomery::load(path);
    if (!loaded) return fail(std::move(loaded.error()));
    *filter = handle_of(std::move(*loaded));
    return {};
  });
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

bloomery_status bloomery_from_bytes(const void* bytes, size_t size, bloomery_filter** filter,
                                    bloomery_error* error) {
  return run(error, {place_for(bytes, size, "bytes"), {filter, "filter"}}, [&]() -> result<void> {
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
  return run(error, {{filter, "filter"}, {copy, "copy"}}, [&]() -> result<void> {
    // A copy of a mapped filter would be another over the same mapping.
    auto made = filter->file ? bloomery::open_any(*filter->file, bloomery::access::writable,
                                                  "the mapped file")
                             : filter->filter.copy();
    if (!made) return fail(std::move(made.error()));
    *copy = handle_of(std::move(*made));
    return {};
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
  return run(error, {{filter, "filter"}, {report, "report"}}, [&]() -> result<void> {
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
                report, "bloomery_info_report");
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
             [&] { return filter->filter.merge(other->filter); });
}

bloomery_status bloomery_intersect(bloomery_filter* filter, const bloomery_filter* other,
                                   bloomery_error* error) {
  return run(error, {{filter, "filter"}, {other, "other"}},
             [&] { return filter->filter.intersect(other->filter); });
}

}  // extern "C"
