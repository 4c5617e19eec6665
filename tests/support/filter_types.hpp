#pragma once

// The filters under test: every kind of src/registry/kinds.inc, and Bloom filters that hash
// differently. The suites over all kinds (contract, property, rate and so on) run over these lists.
// With BLOOMSET_TESTED_KIND they run over that type alone.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/bloomset.hpp>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/words.hpp"

namespace bloomset::test {

template <class... Lists>
struct joined;
template <class... A>
struct joined<::testing::Types<A...>> {
  using type = ::testing::Types<A...>;
};
template <class... A, class... B, class... Rest>
struct joined<::testing::Types<A...>, ::testing::Types<B...>, Rest...>
    : joined<::testing::Types<A..., B...>, Rest...> {};

template <template <class> class Can, class List>
struct only;
template <template <class> class Can, class... F>
struct only<Can, ::testing::Types<F...>>
    : joined<std::conditional_t<Can<F>::value, ::testing::Types<F>, ::testing::Types<>>...> {};

template <class F>
using can_insert = std::bool_constant<insertable<F>>;
template <class F>
using can_build_only = std::bool_constant<!insertable<F>>;

/// The type of each kind.
#ifdef BLOOMSET_TESTED_KIND
using kind_types = ::testing::Types<BLOOMSET_TESTED_KIND>;
#else
using kind_types = joined<::testing::Types<>
#define KIND(name) , ::testing::Types<name>
#include "src/registry/kinds.inc"
                          >::type;
#endif

/// Those that take keys at any time.
using filter_types = only<can_insert, kind_types>::type;
/// Those that are built once from all their keys. Their contract is static_contract_test.cpp.
using static_filter_types = only<can_build_only, kind_types>::type;

/// A list, or another where it is empty: a suite has at least one type.
template <class List, class Otherwise>
struct or_else {
  using type = List;
};
template <class Otherwise>
struct or_else<::testing::Types<>, Otherwise> {
  using type = Otherwise;
};

/// Those of the filters that have an ability: `filter_types_that<can_erase>`.
template <template <class> class Can>
using filter_types_that =
    or_else<typename only<Can, filter_types>::type,
            typename only<Can, ::testing::Types<bloom, counting_bloom>>::type>::type;
template <class F>
using can_erase = std::bool_constant<erasable<F>>;
template <class F>
using can_count = std::bool_constant<countable<F>>;
template <class F>
using can_merge = std::bool_constant<mergeable<F>>;
template <class F>
using can_intersect = std::bool_constant<intersectable<F>>;

/// An empty filter of any kind.
template <class F>
F make(std::uint64_t capacity, double fpr, std::uint64_t seed = 0) {
  return value_of(F::make({.capacity = capacity, .fpr = fpr, .seed = seed}));
}

/// The filter of a static kind of these hashes, which were made with that seed.
template <class F>
F built_of(std::span<const hash64> hashes, double fpr, std::uint64_t seed = 0) {
  typename F::spec_type spec;
  spec.fpr = fpr;
  spec.seed = seed;
  return value_of(F::build(spec, hashes));
}

/// The answers to a batch of queries: 1 or 0 for each.
template <class F>
std::vector<char> answers_of(const F& filter, std::span<const hash64> asked) {
  std::vector<char> answers(asked.size());
  filter.may_contain(asked, std::span(reinterpret_cast<bool*>(answers.data()), answers.size()));
  return answers;
}

/// How many of a batch pass.
template <class F>
std::uint64_t hits(const F& filter, std::span<const hash64> asked) {
  return static_cast<std::uint64_t>(std::ranges::count(answers_of(filter, asked), 1));
}

template <class F>
std::vector<std::byte> file_bytes(const F& filter) {
  return serialize(filter.image());
}

/// The payload alone: without the count, which two ways to the same set may differ in.
template <class F>
std::vector<std::byte> payload_bytes(const F& filter) {
  std::vector<std::byte> all;
  for (const auto piece : filter.image().payload) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

/// A storage of a program's own, with nothing that the concepts do not ask for: writable, of
/// exactly as many bytes as are needed, which begin `lead` bytes behind a multiple of 64. A copy is
/// deep, a slice shares.
class custom_storage {
 public:
  static custom_storage copy_of(std::span<const std::byte> from, std::size_t lead = 0) {
    constexpr auto line = std::align_val_t{64};
    auto* const memory = static_cast<std::byte*>(::operator new(lead + from.size(), line));
    std::copy(from.begin(), from.end(), memory + lead);
    return custom_storage({memory, [](std::byte* at) { ::operator delete(at, line); }},
                          {memory + lead, from.size()});
  }

  custom_storage(const custom_storage& other) : custom_storage(copy_of(other.bytes_)) {}
  custom_storage& operator=(const custom_storage& other) { return *this = custom_storage(other); }
  custom_storage(custom_storage&& other) noexcept
      : memory_(std::move(other.memory_)), bytes_(std::exchange(other.bytes_, {})) {}
  custom_storage& operator=(custom_storage&& other) noexcept {
    memory_ = std::move(other.memory_);
    bytes_ = std::exchange(other.bytes_, {});
    return *this;
  }
  ~custom_storage() = default;

  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  std::span<std::byte> writable_bytes() noexcept { return bytes_; }
  custom_storage slice(std::size_t offset, std::size_t size) const noexcept {
    return custom_storage(memory_, bytes_.subspan(offset, size));
  }

 private:
  custom_storage(std::shared_ptr<std::byte> memory, std::span<std::byte> bytes) noexcept
      : memory_(std::move(memory)), bytes_(bytes) {}

  std::shared_ptr<std::byte> memory_;
  std::span<std::byte> bytes_;
};
static_assert(writable_storage<custom_storage> && sliceable_storage<custom_storage>);

/// A storage with a copy of these bytes, or one that refers to them.
template <storage S>
S storage_of(std::span<const std::byte> bytes) {
  if constexpr (std::same_as<S, owned_storage>) {
    return value_of(owned_storage::copy_of(bytes));
  } else if constexpr (std::same_as<S, mapped_storage>) {
    return mapped_storage(nullptr, bytes);
  } else if constexpr (std::same_as<S, custom_storage>) {
    return custom_storage::copy_of(bytes);
  } else {
    return borrowed_storage(bytes);
  }
}

/// A filter, and what keeps the bytes alive that it may refer to.
template <class F>
struct reopened {
  stored_filter kept;
  F filter;
};

/// The filter that a reader gets from the bytes that `from` is written as.
template <storage S, class F>
auto reopen(const F& from) {
  using over = typename F::template rebind_storage<S>;
  auto stored = value_of(read_bytes(file_bytes(from)));
  auto filter = [&] {
    if constexpr (openable<over>) {
      return value_of(open_stored<over>(stored));
    } else {
      auto params = value_of(over::params_type::decode(stored.header, stored.parameters));
      return value_of(over::open(std::move(params), storage_of<S>(stored.payload.bytes()),
                                 stored.header.count));
    }
  }();
  return reopened<over>{std::move(stored), std::move(filter)};
}

/// The same filter as an any_filter, through its file form.
template <class F>
any_filter as_any(const F& filter, access how) {
  return value_of(open_any(value_of(read_bytes(file_bytes(filter))), how, "memory"));
}

/// A kind over a storage.
template <class F, storage S>
struct subject {
  using owned = F;
  using storage_type = S;
  using type = typename F::template rebind_storage<S>;
};

template <class List>
struct over_every_storage;
template <class... F>
struct over_every_storage<::testing::Types<F...>> {
  using type = ::testing::Types<subject<F, owned_storage>..., subject<F, mapped_storage>...,
                                subject<F, borrowed_storage>..., subject<F, custom_storage>...>;
};
/// One type of each kind that takes keys at any time.
using insertable_kind_types = only<can_insert, kind_types>::type;
/// How a filter hashes changes nothing about its storage. Golden files and any_contract_test.cpp
/// have the others in memory and mapped.
using filter_types_by_storage = over_every_storage<insertable_kind_types>::type;
using static_filter_types_by_storage = over_every_storage<static_filter_types>::type;

/// For the names of tests.
template <class F>
std::string name_of() {
  std::string name(find_kind(F::kind)->name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

struct filter_names {
  template <class F>
  static std::string GetName(int) {
    return name_of<F>();
  }
};

struct subject_names {
  template <class Subject>
  static std::string GetName(int) {
    using S = typename Subject::storage_type;
    return fmt::format("{}_{}", name_of<typename Subject::owned>(),
                       std::same_as<S, owned_storage>    ? "owned"
                       : std::same_as<S, mapped_storage> ? "mapped"
                       : std::same_as<S, custom_storage> ? "custom"
                                                         : "borrowed");
  }
};

/// Whether a kind grows by itself, so that no number of keys overfills it.
template <class F>
inline constexpr bool grows = requires(const F& f) { f.grows(); };

}  // namespace bloomset::test
