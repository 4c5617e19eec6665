#pragma once

// Keys, results, bytes and filters for tests, without a test framework.

#include <algorithm>
#include <bloomset/any_filter.hpp>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/file.hpp>
#include <bloomset/result.hpp>
#include <bloomset/storage.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bloomset::test {

/// The value. A failure ends the test with its sentence.
template <class T>
T value_of(result<T> made) {
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}
inline void value_of(const result<void>& done) {
  if (!done) throw std::runtime_error(done.error().message);
}

/// `prefix` and a number: keys of different prefixes are disjoint.
inline std::string word(std::string_view prefix, std::uint64_t i) {
  return std::string(prefix) + "-" + std::to_string(i);
}
inline std::vector<std::string> words(std::string_view prefix, std::uint64_t n) {
  std::vector<std::string> all;
  for (std::uint64_t i = 0; i < n; ++i) all.push_back(word(prefix, i));
  return all;
}

/// n distinct hashes. Those of different streams are different, because the hash is a bijection of
/// a number.
inline std::vector<hash64> hashes_of_stream(std::uint64_t stream, std::size_t n) {
  std::vector<hash64> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = {detail::remix64((stream << 40) + i + 1)};
  return all;
}

/// A source that passes its hashes in pieces of one size.
inline hash_source in_pieces(std::span<const hash64> hashes, std::size_t piece) {
  return {hashes.size(), [=](const hash_source::sink& use) -> result<void> {
            for (std::size_t at = 0; at < hashes.size(); at += piece) {
              const auto now = hashes.subspan(at, std::min(piece, hashes.size() - at));
              if (auto ok = use(now); !ok) return ok;
            }
            return {};
          }};
}

/// Bytes as in a file, read and verified. They are aligned like a mapping.
inline result<stored_filter> read_bytes(std::span<const std::byte> bytes,
                                        verification how = verification::always,
                                        const std::string& name = "memory") {
  const auto owner = std::make_shared<owned_storage>(value_of(owned_storage::copy_of(bytes)));
  return read_stored(mapped_storage(owner, owner->bytes()), how, name);
}

/// The keys in three partitions: "partition-0", a tab and the first key, and so on.
inline std::vector<std::string> in_partitions(std::vector<std::string> keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = word("partition", i % 3) + "\t" + keys[i];
  }
  return keys;
}

/// The filter of a kind of two sets with these members and with a hundred times as many other keys,
/// at least 5000 and at most 300,000, "other-0" and so on. They determine its rate.
inline any_filter filter_of_two_sets(const kind_info& kind, plan_request request,
                                     const std::vector<std::string>& members) {
  const filter_hasher hash(request.seed);
  std::vector<hash64> held;
  std::vector<hash64> others;
  for (const std::string& key : members) held.push_back(hash(bytes_of(key)));
  const auto n = std::clamp<std::uint64_t>(100 * members.size(), 5000, 300'000);
  for (const std::string& key : words("other", n)) others.push_back(hash(bytes_of(key)));
  request.fpr = 0;
  request.bits = 0;
  return value_of(kind.build_of_two_sets(request, hash_source::of(held), hash_source::of(others)));
}

/// The same for members with partitions, of which each has a third of the other keys.
inline any_filter filter_of_partitions(const kind_info& kind, plan_request request,
                                       const std::vector<std::string>& members) {
  const partition_hasher hash(request.seed);
  std::vector<partitioned_hash> held;
  std::vector<partitioned_hash> others;
  for (const std::string& key : members) held.push_back(hash(bytes_of(key)));
  const auto n = std::clamp<std::uint64_t>(100 * members.size(), 5000, 300'000);
  for (const std::string& key : in_partitions(words("other", n))) {
    others.push_back(hash(bytes_of(key)));
  }
  request.fpr = 0;
  request.bits = 0;
  return value_of(kind.build_of_partitions(request, partitioned_hash_source::of(held),
                                           partitioned_hash_source::of(others)));
}

/// The filter of any kind with these keys, which are inserted as one batch.
inline any_filter filter_of(const kind_info& kind, const plan_request& request,
                            const std::vector<std::string>& keys) {
  if (kind.build_of_two_sets != nullptr) return filter_of_two_sets(kind, request, keys);
  if (kind.build == nullptr) {
    any_filter filter = value_of(kind.create(request));
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    if (value_of(filter.insert(views)).done != views.size()) throw std::runtime_error("full");
    return filter;
  }
  std::vector<std::vector<hash64>> hashes(std::max(request.hash_bits, 64U) / 64);
  std::vector<hash_source> sources;
  for (unsigned i = 0; i < hashes.size(); ++i) {
    const filter_hasher hash(request.seed.half(i));
    for (const std::string& key : keys) hashes[i].push_back(hash(bytes_of(key)));
    sources.push_back(hash_source::of(hashes[i]));
  }
  return value_of(build_filter(kind, request, sources));
}

/// The value of the property of that name.
template <class Value>
Value extra(const std::vector<property>& extras, std::string_view name) {
  for (const property& each : extras) {
    if (each.name == name) return std::get<Value>(each.value);
  }
  throw std::runtime_error("no " + std::string(name));
}

/// The names of the library's own kinds.
inline std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  for (const kind_info& kind : kinds()) {
    if (kind.kind < filter_kind{0x8000}) names.push_back(kind.name);
  }
  return names;
}

}  // namespace bloomset::test
