#include "bridge.h"

#include <algorithm>
#include <bloomset/any_filter.hpp>
#include <bloomset/detail/blocked_bloom/layout.hpp>
#include <bloomset/file.hpp>
#include <bloomset/plan/blocked_bloom_plan.hpp>
#include <bloomset/plan/units.hpp>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "sql/filters.hpp"

// The members of the C structures.
struct bridge_filter {
  bloomset::any_filter filter;
  std::optional<bloomset::blocked_bloom_params> blocks;
};

namespace bloomset::postgres {
namespace {

static_assert(sizeof(hash64) == sizeof(std::uint64_t));

/// A value of the server begins with its size, and has at most 1 GiB - 1 byte with it.
constexpr std::size_t value_header = 4;
constexpr std::size_t max_filter = (std::size_t{1} << 30) - 1 - value_header;

std::string_view text_of(bridge_bytes bytes) {
  return {bytes.data, bytes.size};
}

std::span<const std::byte> bytes_of(bridge_bytes bytes) {
  return std::as_bytes(std::span(bytes.data, bytes.size));
}

bridge_code code_of(errc code) {
  switch (code) {
    case errc::corrupt:
      return bridge_bad_bytes;
    case errc::invalid_argument:
      return bridge_bad_argument;
    case errc::full:
      return bridge_too_large;
    case errc::out_of_memory:
      return bridge_no_memory;
    case errc::io:
      return bridge_cancelled;
    default:
      return bridge_unsupported;
  }
}

void set(bridge_failure* failure, bridge_code code, std::string_view sentence) {
  std::size_t size = std::min(sentence.size(), sizeof(failure->sentence) - 1);
  // Ends between two characters of UTF-8.
  while (size < sentence.size() && size > 0 && (sentence[size] & 0xc0) == 0x80) --size;
  failure->code = code;
  failure->sentence[sentence.copy(failure->sentence, size)] = '\0';
}

/// Calls `work`, whose result tells whether it failed.
template <class Work>
bool is_done(bridge_failure* failure, Work&& work) noexcept {
  try {
    const result<void> done = work();
    if (done) return true;
    set(failure, code_of(done.error().code), done.error().message);
  } catch (const std::exception&) {  // of an allocation
    set(failure, bridge_no_memory, "there is not enough memory for the filter");
  }
  return false;
}

result<void> give(const any_filter& filter, bridge_allocate allocate, bridge_value* value) {
  const filter_image image = filter.image();
  const std::size_t size = serialized_size(image);
  if (auto ok = sql::check_size(size, max_filter); !ok) return ok;
  value->size = value_header + size;
  value->data = static_cast<char*>(allocate(value->size));
  if (value->data == nullptr) throw std::bad_alloc();
  serialize_to(image, std::as_writable_bytes(std::span(value->data, value->size)).subspan(4));
  return {};
}

/// The parameters of a filter of which a query reads one block.
std::optional<blocked_bloom_params> blocks_of(std::span<const std::byte> beginning) {
  constexpr std::size_t header = 64;
  const auto announced = read_header(beginning, "the filter");
  if (!announced || announced->header.kind != filter_kind::blocked_bloom ||
      announced->header.hash != hash_id::xxh3_64 || !announced->header.exceptions.empty() ||
      !announced->header.layers.empty()) {
    return std::nullopt;
  }
  auto params = blocked_bloom_params::decode(announced->header, beginning.subspan(header));
  if (!params) return std::nullopt;
  return *params;
}

std::uint64_t block_of(const blocked_bloom_params& params, hash64 h) {
  return params.layout == block_layout::parquet_256
             ? detail::parquet_256::block_of(h, params.blocks)
             : detail::split_512::block_of(h, params.blocks);
}

}  // namespace
}  // namespace bloomset::postgres

using namespace bloomset;            // NOLINT(google-build-using-namespace)
using namespace bloomset::postgres;  // NOLINT(google-build-using-namespace)

bool bridge_check(bridge_bytes value, bridge_failure* failure) {
  return is_done(failure, [&]() -> result<void> {
    const auto opened = sql::open_value(bytes_of(value), access::read_only);
    if (!opened) return fail(opened.error());
    return {};
  });
}

uint64_t bridge_hash(bridge_bytes key) {
  return sql::hash_of(text_of(key)).value;
}

bool bridge_make_plan(bridge_bytes rate, bridge_bytes kind, const int64_t* capacity,
                      bridge_plan* plan, bridge_failure* failure) {
  return is_done(failure, [&]() -> result<void> {
    *plan = {default_fpr, sql::counted, 0};
    if (rate.data != nullptr) {
      const auto fpr = parse_rate(text_of(rate));
      if (!fpr) return fail(fpr.error());
      plan->fpr = *fpr;
    }
    const auto found = find_kind_of_one_set(kind.data == nullptr ? default_kind : text_of(kind));
    if (!found) return fail(found.error());
    plan->kind = static_cast<std::uint16_t>((*found)->kind);
    if (capacity == nullptr) return {};
    const auto given = sql::capacity_of(*capacity);
    if (!given) return fail(given.error());
    plan->capacity = *given;
    return sql::check_plan(**found, plan->fpr, plan->capacity, max_filter);
  });
}

bool bridge_build(const bridge_plan* plan, const uint64_t* hashes, size_t count,
                  bool (*is_cancelled)(), bridge_allocate allocate, bridge_value* value,
                  bridge_failure* failure) {
  return is_done(failure, [&]() -> result<void> {
    const kind_info* const kind = find_kind(static_cast<filter_kind>(plan->kind));
    // The same bits: hash64 is one number.
    const std::span all(reinterpret_cast<const hash64*>(hashes), count);
    const auto built =
        sql::build(*kind, plan->fpr, all, plan->capacity, {max_filter, is_cancelled});
    if (!built) return fail(built.error());
    return give(*built, allocate, value);
  });
}

bool bridge_merge(bridge_bytes first, bool is_own, bridge_bytes second, bridge_allocate allocate,
                  bridge_value* value, bridge_failure* failure) {
  return is_done(failure, [&]() -> result<void> {
    auto all = sql::open_value(bytes_of(first), access::writable,
                               is_own ? verification::header : verification::always);
    if (!all) return fail(all.error());
    if (const auto merged = sql::merge_value(*all, bytes_of(second)); !merged) return merged;
    return give(*all, allocate, value);
  });
}

bool bridge_info(bridge_bytes value, bridge_allocate allocate, char** json,
                 bridge_failure* failure) {
  return is_done(failure, [&]() -> result<void> {
    const auto text = sql::info_of_value(bytes_of(value));
    if (!text) return fail(text.error());
    *json = static_cast<char*>(allocate(text->size() + 1));
    if (*json == nullptr) throw std::bad_alloc();
    std::memcpy(*json, text->c_str(), text->size() + 1);
    return {};
  });
}

bool bridge_reads_ranges(bridge_bytes beginning) {
  bridge_failure ignored{};
  bool reads = false;
  is_done(&ignored, [&]() -> result<void> {
    reads = blocks_of(bytes_of(beginning)).has_value();
    return {};
  });
  return reads;
}

bridge_filter* bridge_open(bridge_bytes value, bool is_complete, bridge_failure* failure) {
  bridge_filter* made = nullptr;
  is_done(failure, [&]() -> result<void> {
    const auto bytes = bytes_of(value);
    auto opened = sql::open_value(bytes, access::read_only,
                                  is_complete ? verification::always : verification::header);
    if (!opened) return fail(std::move(opened.error()));
    std::optional<blocked_bloom_params> blocks;
    if (!is_complete) blocks = blocks_of(bytes.first(bridge_beginning));
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): bridge_close() deletes it
    made = new bridge_filter{std::move(*opened), std::move(blocks)};
    return {};
  });
  return made;
}

void bridge_close(bridge_filter* filter) {
  delete filter;  // NOLINT(cppcoreguidelines-owning-memory)
}

bool bridge_may_contain(const bridge_filter* filter, bridge_bytes key) {
  return filter->filter.may_contain(text_of(key));
}

bridge_range bridge_range_of(const bridge_filter* filter, bridge_bytes key) {
  const blocked_bloom_params& params = *filter->blocks;
  const hash64 h = filter_hasher(params.seed)(bytes_of(key));
  const std::size_t size = block_bits(params.layout) / 8;
  return {bridge_beginning + size * block_of(params, h), size};
}
