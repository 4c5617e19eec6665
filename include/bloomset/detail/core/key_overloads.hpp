#pragma once

/// The operations on keys that a filter gets from its operations on hashes: for bytes, strings and
/// integers, one key or a batch.

#include <array>
#include <bloomset/concepts.hpp>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomset::detail {

/// Keys that are hashed before the filter is called: 16 KiB of hashes, which fit the stack and the
/// first-level cache. Smaller pieces cost more per key (docs/maintain/decisions/cpu/prefetch.md).
template <hasher H>
inline constexpr std::size_t hashed_batch = (std::size_t{1} << 14) / sizeof(typename H::hash_type);

/// Keys from the one that is hashed to the one whose bytes are prefetched. Strings often lie apart
/// in memory.
inline constexpr std::size_t prefetched_ahead = 16;

/// A contiguous sequence of keys that is not itself a key. Numbers of 8 bits are not a batch: they
/// may as well be the bytes of one key.
template <class R>
concept key_batch = contiguous<R> && !key<R> && key<element_of<R>> &&
                    (byte_key<element_of<R>> || sizeof(element_of<R>) > 1);

/// A filter that inserts hashes.
template <class F>
concept inserts_hashes = requires(F& f, const typename F::hash_type& h) { f.insert(h); };
/// A filter that erases hashes.
template <class F>
concept erases_hashes = requires(F& f, const typename F::hash_type& h) { f.erase(h); };
/// A filter that counts hashes.
template <class F>
concept counts_hashes = requires(const F& f, const typename F::hash_type& h) { f.count(h); };

/// A filter whose hash function is filter_hasher with the seed in its parameters.
template <class F>
concept keeps_seed = requires(const F& f) {
  { f.hash_function() } -> std::same_as<filter_hasher>;
  { (f.params().seed) } -> std::same_as<const hash_seed&>;
};

/// A type that is neither a key nor a hash of a filter, nor a batch of either, such as double, bool
/// or a pointer.
template <class K, class F>
concept no_key_for =
    !key<K> && !key_batch<K> && !std::convertible_to<const K&, typename F::hash_type> &&
    !std::convertible_to<const K&, std::span<const typename F::hash_type>>;

/// The hashes of some keys, several at once. `Key` is as in for_hashes.
template <key Key>
void hash_together(const filter_hasher& hash, std::span<const Key> keys, hash64* hashes) noexcept {
  constexpr std::size_t group = 128;
  // NOLINTNEXTLINE(misc-const-correctness): written where keys are numbers
  std::array<number_bytes, integer_key<Key> ? group : 0> words;
  std::array<std::span<const std::byte>, group> bytes;
  for (std::size_t at = 0; at < keys.size(); at += group) {
    const std::size_t n = detail::min(group, keys.size() - at);
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (integer_key<Key>) {
        store(words[i].data(), static_cast<std::uint64_t>(keys[at + i]));
        bytes[i] = words[i];
      } else {
        bytes[i] = bytes_of(keys[at + i]);
      }
    }
    hash(std::span(bytes.data(), n), hashes + at);
  }
}

/// Hashes `keys` in pieces and calls `use(hashes, offset)` for each piece, until it returns false.
template <hasher H, key_batch R, class Use>
void for_hashes(const H& hash, const R& keys, Use&& use) noexcept {
  const std::span all(std::data(keys), std::size(keys));
  using hash_type = typename H::hash_type;
  using key_type = element_of<R>;
  constexpr std::size_t batch = hashed_batch<H>;
  // A hash may refer to its key, so the bytes of a number must live as long as its hash.
  constexpr bool as_bytes = integer_key<key_type> && !std::invocable<const H&, key_type>;
  // NOLINTNEXTLINE(misc-const-correctness): written where as_bytes holds
  std::array<number_bytes, as_bytes ? batch : 0> words;
  std::array<hash_type, batch> hashes;
  const auto hash_each = [&](const auto& one, std::size_t at, std::size_t n) noexcept {
    for (std::size_t i = 0; i < n; ++i) {
      const key_type& k = all[at + i];
      if constexpr (as_bytes) {
        store(words[i].data(), static_cast<std::uint64_t>(k));
        hashes[i] = one(std::span<const std::byte>(words[i]));
      } else {
        if constexpr (byte_key<key_type> && requires { k.data(); }) {
          const std::size_t later = at + i + prefetched_ahead;
          __builtin_prefetch(all[later < all.size() ? later : 0].data());
        }
        with_hash(one, k, [&](const hash_type& h) noexcept { hashes[i] = h; });
      }
    }
  };
  for (std::size_t at = 0; at < all.size(); at += batch) {
    const std::size_t n = detail::min(batch, all.size() - at);
    if constexpr (std::same_as<H, filter_hasher>) {
      if (hash.settings().is_keyed()) {
        hash_together<key_type>(hash, all.subspan(at, n), hashes.data());
      } else {
        hash_each(xxh3_hasher(hash.seed()), at, n);
      }
    } else {
      hash_each(hash, at, n);
    }
    if (!use(std::span<const hash_type>(hashes.data(), n), at)) return;
  }
}

/// Adds the key form of every operation that Derived has for hashes, and of no other. Derived has
/// `hash_function()`, and names these forms besides its own with `using
/// key_overloads<Derived>::insert;` and so on.
///
/// The operations on one key are always inlined. A filter may use instructions in them that only
/// this translation unit may use (blocked_bloom/native.hpp, expandable/segment_native.hpp).
template <class Derived>
class key_overloads {
 public:
  /// Whether the key may be a member. False is certain.
  template <key K>
  [[gnu::always_inline]] bool may_contain(const K& k) const noexcept {
    number_bytes number;
    return self().may_contain(hash_one(k, number));
  }

  /// Answers a batch: answers[i] is the answer for keys[i]. A batch is faster than single calls,
  /// because the memory accesses of many keys overlap. Precondition: answers.size() >= keys.size().
  template <key_batch R>
  void may_contain(const R& keys, std::span<bool> answers) const noexcept {
    assert(answers.size() >= std::size(keys));
    for_hashes(self().hash_function(), keys, [&](auto hashes, std::size_t at) noexcept {
      self().may_contain(hashes, answers.subspan(at, hashes.size()));
      return true;
    });
  }

  /// Deleted, so that the compiler says what a key is.
  template <no_key_for<Derived> K>
  bool may_contain(const K& a_key_is_a_string_bytes_or_an_integer) const = delete;

  /// Inserts a key. The result tells whether it was new.
  template <key K>
    requires inserts_hashes<Derived>
  [[gnu::always_inline]] insert_outcome insert(const K& k) noexcept {
    number_bytes number;
    return self().insert(hash_one(k, number));
  }

  /// Inserts a batch, in order, up to the first key without room.
  template <key_batch R>
    requires inserts_hashes<Derived>
  insert_summary insert(const R& keys) noexcept {
    insert_summary all;
    for_hashes(self().hash_function(), keys, [&](auto hashes, std::size_t) noexcept {
      const insert_summary part = self().insert(hashes);
      all += part;
      return part.done == hashes.size();
    });
    return all;
  }

  /// Deleted, so that the compiler says what a key is.
  template <no_key_for<Derived> K>
    requires inserts_hashes<Derived>
  void insert(const K& a_key_is_a_string_bytes_or_an_integer) = delete;

  /// Undoes one insert of a member. Returns false if the key is certainly not a member.
  template <key K>
    requires erases_hashes<Derived>
  [[gnu::always_inline]] bool erase(const K& k) noexcept {
    number_bytes number;
    return self().erase(hash_one(k, number));
  }

  /// Erases a batch. Returns the number of keys that were erased.
  template <key_batch R>
    requires erases_hashes<Derived>
  std::uint64_t erase(const R& keys) noexcept {
    std::array<bool, hashed_batch<typename Derived::hasher_type>> answers;
    std::uint64_t erased = 0;
    for_hashes(self().hash_function(), keys, [&](auto hashes, std::size_t) noexcept {
      erase_hashes(hashes, answers);
      for (std::size_t i = 0; i < hashes.size(); ++i) erased += answers[i];
      return true;
    });
    return erased;
  }

  /// Erases a batch, in order. erased[i] tells whether keys[i] was erased. Precondition:
  /// erased.size() >= keys.size().
  template <key_batch R>
    requires erases_hashes<Derived>
  void erase(const R& keys, std::span<bool> erased) noexcept {
    assert(erased.size() >= std::size(keys));
    for_hashes(self().hash_function(), keys, [&](auto hashes, std::size_t at) noexcept {
      erase_hashes(hashes, erased.subspan(at, hashes.size()));
      return true;
    });
  }

  /// Deleted, so that the compiler says what a key is.
  template <no_key_for<Derived> K>
    requires erases_hashes<Derived>
  void erase(const K& a_key_is_a_string_bytes_or_an_integer) = delete;

  /// The number of inserts of the key minus the number of its erases. It is never too low up to the
  /// kind's ceiling.
  template <key K>
    requires counts_hashes<Derived>
  [[gnu::always_inline]] std::uint64_t count(const K& k) const noexcept {
    number_bytes number;
    return self().count(hash_one(k, number));
  }

  /// Deleted, so that the compiler says what a key is.
  template <no_key_for<Derived> K>
    requires counts_hashes<Derived>
  void count(const K& a_key_is_a_string_bytes_or_an_integer) const = delete;

  /// Counts a batch. Precondition: counts.size() >= keys.size().
  template <key_batch R>
    requires counts_hashes<Derived>
  void count(const R& keys, std::span<std::uint64_t> counts) const noexcept {
    assert(counts.size() >= std::size(keys));
    for_hashes(self().hash_function(), keys, [&](auto hashes, std::size_t at) noexcept {
      const auto into = counts.subspan(at, hashes.size());
      if constexpr (requires { self().count(hashes, into); }) {
        self().count(hashes, into);
      } else {
        for (std::size_t i = 0; i < hashes.size(); ++i) into[i] = self().count(hashes[i]);
      }
      return true;
    });
  }

 private:
  friend Derived;
  key_overloads() = default;

  template <key K>
  [[gnu::always_inline]] auto hash_one(const K& k, number_bytes& number) const noexcept {
    if constexpr (keeps_seed<Derived>) {
      return hash_of(seed_hasher(self().params().seed), k, number);
    } else {
      return hash_of(self().hash_function(), k, number);
    }
  }

  // Uses the filter's own batch if it has one, which overlaps the memory accesses.
  template <class Hash>
  void erase_hashes(std::span<const Hash> hashes, std::span<bool> erased) noexcept {
    if constexpr (requires { self().erase(hashes, erased); }) {
      self().erase(hashes, erased);
    } else {
      for (std::size_t i = 0; i < hashes.size(); ++i) erased[i] = self().erase(hashes[i]);
    }
  }

  Derived& self() noexcept { return static_cast<Derived&>(*this); }
  const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }
};

}  // namespace bloomset::detail
