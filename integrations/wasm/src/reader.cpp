// The functions of bloomset-reader.wasm, the small module: filters with 64-bit hashes are opened
// and queried, not changed. The calls are those of filter.cpp with the same names.

#include "reader.hpp"

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
  return status_of(open(bloomset::mapped_storage(nullptr, byte_span(file, size)),
                        bloomset::verification::always, key));
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
