// The functions of bloomset-reader.wasm, the small module: filters with 64-bit hashes are opened
// and queried, not changed. The calls are those of filter.cpp with the same names.

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
#include <memory>
#include <utility>

#include "core/format.hpp"
#include "texts.hpp"

namespace bloomset::wasm {
namespace {

/// A filter of any kind over the bytes of a file.
struct any_view {
  virtual ~any_view() = default;
  virtual bool may_contain(hash64 h) const noexcept = 0;
  virtual std::uint64_t capacity() const noexcept = 0;
  virtual double planned_fpr() const noexcept = 0;
};

template <class F>
class view_of final : public any_view {
 public:
  explicit view_of(F filter) : filter_(std::move(filter)) {}
  bool may_contain(hash64 h) const noexcept override { return filter_.may_contain(h); }
  std::uint64_t capacity() const noexcept override { return filter_.capacity(); }
  double planned_fpr() const noexcept override { return filter_.planned_fpr(); }

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

result<void> open_kind(const stored_filter& stored) {
  switch (stored.header.kind) {
#define KIND(name)        \
  case filter_kind::name: \
    return open_as<name##_view>(stored, #name);
#define KIND_OF_TWO_SETS KIND
#include "registry/kinds.inc"
    default:
      return detail::format_failure(errc::unsupported,
                                    "the file holds a filter of kind {}, which is not known here; "
                                    "use a newer bloomset",
                                    static_cast<unsigned>(stored.header.kind));
  }
}

result<void> open(std::span<const std::byte> file, const std::byte* key) {
  auto stored = read_stored(mapped_storage(nullptr, file), verification::always, the_bytes);
  if (!stored) return fail(stored.error());
  if (detail::has_halves(stored->header.hash)) {
    return fail(errc::unsupported,
                "the bytes: the filter has 128-bit hashes, which the small module cannot read; use "
                "the whole one");
  }
  if (partition_hasher::is_one(stored->header.hash)) {
    return fail(errc::unsupported,
                "the bytes: the filter has partitions, which the small module cannot read; use the "
                "whole one");
  }
  if (auto ok = unlock(*stored, key_at(key), the_bytes); !ok) return ok;
  header = stored->header;
  // These are applied here.
  stored->header.exceptions = {};
  stored->header.layers = {};
  if (auto ok = open_kind(*stored); !ok) {
    return fail(ok.error().code, std::string(the_bytes) + ": " + ok.error().message);
  }
  payload_bytes = stored->payload.bytes().size();
  hasher = filter_hasher(header.seed);
  return {};
}

bool may_contain(std::string_view key) noexcept {
  const hash64 h = hasher(std::as_bytes(std::span(key.data(), key.size())));
  if (filter->may_contain(h) && (header.exceptions.empty() || !header.exceptions.contains(h))) {
    return true;
  }
  return !header.layers.empty() && header.layers.contains(h);
}

}  // namespace
}  // namespace bloomset::wasm

using namespace bloomset::wasm;  // NOLINT(google-build-using-namespace): for the calls below
using byte_span = std::span<const std::byte>;

/// Opens the filter in the bytes of a file, which must stay where they are.
BLOOMSET_EXPORT(bloomset_open)
std::uint32_t bloomset_open(const std::byte* file, std::uint32_t size, bool is_writable,
                            const std::byte* key) {
  if (is_writable) {
    return status_of(bloomset::fail(bloomset::errc::unsupported,
                                    "the small module only reads filters; use the whole one"));
  }
  return status_of(open(byte_span(file, size), key));
}

/// The figures of the header as JSON, except the rate: some of those of bloomset_info() of the
/// whole module.
BLOOMSET_EXPORT(bloomset_info) std::uint32_t bloomset_info() {
  if (filter == nullptr) {
    return status_of(
        bloomset::fail(bloomset::errc::invalid_argument, "this instance has no filter; open one"));
  }
  std::vector<bloomset::property> labels;
  for (const auto& [name, value] : header.labels.all()) {
    labels.push_back({std::string(name), std::string(value)});
  }
  answer = bloomset::to_json({{"kind", std::string(kind_name)},
                              {"capacity", filter->capacity()},
                              {"count", header.count + header.layers.keys()},
                              {"bytes", payload_bytes},
                              {"hash", std::string(name_of(header.hash))},
                              {"seed", header.seed.value()},
                              {"labels", std::move(labels)},
                              {"exceptions", std::uint64_t{header.exceptions.size()}}});
  return 0;
}

/// The figure planned_fpr, which needs more digits than this module writes.
BLOOMSET_EXPORT(bloomset_planned_fpr) double bloomset_planned_fpr() {
  return filter == nullptr ? 1 : filter->planned_fpr();
}

/// Whether the key may be a member. True without a filter.
BLOOMSET_EXPORT(bloomset_may_contain)
bool bloomset_may_contain(const char* key, std::uint32_t size) {
  return filter == nullptr || may_contain({key, size});
}

/// answers[i] becomes whether key i may be a member.
BLOOMSET_EXPORT(bloomset_may_contain_many)
void bloomset_may_contain_many(const char* keys, const std::uint32_t* ends, std::uint32_t count,
                               bool* answers) {
  if (filter == nullptr) return;
  const texts all{keys, ends, count};
  for (std::uint32_t i = 0; i < count; ++i) answers[i] = may_contain(all[i]);
}

/// The hash of a key with the filter's hash function and seed.
BLOOMSET_EXPORT(bloomset_hash)
std::uint64_t bloomset_hash(const std::byte* key, std::uint32_t size) {
  return hasher(byte_span(key, size)).value;
}
