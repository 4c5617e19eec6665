#pragma once

/// The builds of static kinds, from hashes or keys.

#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/storage.hpp>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>

namespace bloomset::detail {

/// Adds build() to a static kind. Derived has from(spec, hashes), for a source or a span.
template <class Derived, class Spec>
class built_once {
 public:
  /// The filter of these hashes, which were made with the seed `spec.seed`. Needs a rate, or
  /// capacity and bits. Fails as the kind's planner does, with invalid_argument if the filter is
  /// larger than spec.bits, with out_of_memory, and with the failure of the source. Reads the
  /// source two to five times.
  static result<Derived> build(const Spec& spec, const hash_source& source)
    requires std::same_as<typename Derived::storage_type, owned_storage>
  {
    return Derived::from(spec, source);
  }
  /// The same for hashes in memory.
  static result<Derived> build(const Spec& spec, std::span<const hash64> hashes)
    requires std::same_as<typename Derived::storage_type, owned_storage>
  {
    return Derived::from(spec, hashes);
  }

  /// The filter of these keys: strings, bytes or integers. Their hashes need 8 bytes per key.
  template <key_batch R>
  static result<Derived> build(const Spec& spec, const R& keys)
    requires std::same_as<typename Derived::storage_type, owned_storage>
  {
    auto memory = owned_storage::make(std::size(keys) * sizeof(hash64));
    if (!memory) return fail(std::move(memory.error()));
    auto* const all = reinterpret_cast<hash64*>(memory->writable_bytes().data());
    for_hashes(filter_hasher(spec.seed), keys, [&](auto some, std::size_t at) noexcept {
      std::memcpy(all + at, some.data(), some.size_bytes());
      return true;
    });
    return Derived::from(spec, std::span<const hash64>(all, std::size(keys)));
  }

 private:
  friend Derived;
  built_once() = default;
};

}  // namespace bloomset::detail
