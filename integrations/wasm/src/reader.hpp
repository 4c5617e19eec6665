#pragma once

// What both small modules have: filters with 64-bit hashes, opened over bytes that stay where they
// are. BLOOMSET_WASM_REMOTE adds what is needed to open them over a part of their bytes.

#include <bloomset/blocked_bloom.hpp>
#include <bloomset/bloom.hpp>
#include <bloomset/counting_bloom.hpp>
#include <bloomset/cuckoo.hpp>
#include <bloomset/exact.hpp>
#include <bloomset/expandable.hpp>
#include <bloomset/file.hpp>
#include <bloomset/fuse.hpp>
#include <bloomset/partitioned_hash.hpp>
#include <bloomset/property.hpp>
#include <bloomset/ribbon.hpp>
#include <bloomset/scalable_bloom.hpp>
#include <bloomset/vector_quotient.hpp>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/format.hpp"
#include "texts.hpp"

namespace bloomset::wasm {
namespace {

#if defined(BLOOMSET_WASM_REMOTE)
using has_interval = std::function<bool(byte_interval)>;
#endif

/// A filter of any kind over the bytes of a file.
struct any_view {
  virtual ~any_view() = default;
  virtual bool may_contain(hash64 h) const noexcept = 0;
  virtual std::uint64_t capacity() const noexcept = 0;
  virtual double planned_fpr() const noexcept = 0;
#if defined(BLOOMSET_WASM_REMOTE)
  /// Whether all bytes are there that the answer for a hash needs (detail/core/any_model.hpp).
  virtual bool trace(hash64 h, const has_interval& has) const = 0;
#endif
};

template <class F>
class view_of final : public any_view {
 public:
  explicit view_of(F filter) : filter_(std::move(filter)) {}
  bool may_contain(hash64 h) const noexcept override { return filter_.may_contain(h); }
  std::uint64_t capacity() const noexcept override { return filter_.capacity(); }
  double planned_fpr() const noexcept override { return filter_.planned_fpr(); }
#if defined(BLOOMSET_WASM_REMOTE)
  bool trace(hash64 h, const has_interval& has) const override { return filter_.trace(h, has); }
#endif

 private:
  F filter_;
};

// NOLINTBEGIN(*-avoid-non-const-global-variables): the memory of an instance is its state
std::unique_ptr<any_view> filter;
std::string_view kind_name;
filter_header header{};
std::uint64_t payload_bytes = 0;
filter_hasher hasher;
// NOLINTEND(*-avoid-non-const-global-variables)

template <class F>
result<void> open_as(const stored_filter& stored, std::string_view name) {
  auto opened = open_stored<F>(stored);
  if (!opened) return fail(opened.error());
  kind_name = name;
  filter = std::make_unique<view_of<F>>(std::move(*opened));
  return {};
}

/// Calls `use` for the type of the stored filter and the name of its kind.
template <class Use>
result<void> with_kind(const stored_filter& stored, Use&& use) {
  switch (stored.header.kind) {
#define KIND(name)        \
  case filter_kind::name: \
    return use(std::type_identity<name##_view>(), #name);
#define KIND_OF_TWO_SETS KIND
#include "registry/kinds.inc"
    default:
      return detail::format_failure(errc::unsupported,
                                    "the file holds a filter of kind {}, which is not known here; "
                                    "use a newer bloomset",
                                    static_cast<unsigned>(stored.header.kind));
  }
}

/// Refuses filters that this module has no code for.
result<void> check_hash(const stored_filter& stored) {
  if (detail::has_halves(stored.header.hash)) {
    return fail(errc::unsupported,
                "the bytes: the filter has 128-bit hashes, which the small module cannot read; use "
                "the whole one");
  }
  if (partition_hasher::is_one(stored.header.hash)) {
    return fail(errc::unsupported,
                "the bytes: the filter has partitions, which the small module cannot read; use the "
                "whole one");
  }
  return {};
}

result<void> open(const mapped_storage& file, verification how, const std::byte* key) {
  auto stored = read_stored(file, how, the_bytes);
  if (!stored) return fail(stored.error());
  if (auto ok = check_hash(*stored); !ok) return ok;
  if (auto ok = unlock(*stored, key_at(key), the_bytes); !ok) return ok;
  header = stored->header;
  // These are applied here.
  stored->header.exceptions = {};
  stored->header.layers = {};
  const auto ok = with_kind(*stored, [&]<class F>(std::type_identity<F>, std::string_view name) {
    return open_as<F>(*stored, name);
  });
  if (!ok) {
    return fail(ok.error().code, std::string(the_bytes) + ": " + ok.error().message);
  }
  payload_bytes = stored->payload.bytes().size();
  hasher = filter_hasher(header.seed);
  return {};
}

bool may_contain(std::string_view key) noexcept {
  const hash64 h = hasher(std::as_bytes(std::span(key.data(), key.size())));
  return (filter->may_contain(h) || (!header.layers.empty() && header.layers.contains(h))) &&
         (header.exceptions.empty() || !header.exceptions.contains(h));
}

}  // namespace
}  // namespace bloomset::wasm
