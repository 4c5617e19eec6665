#pragma once

/// An exact filter: of a universe of keys, all known when it is built, it answers each without an
/// error. It holds members R and answers false for the others S. A key outside the universe is
/// answered at random, see current_fpr().
///
///     const std::vector<std::string> revoked = {"03:a1", "07:5f"};
///     const std::vector<std::string> valid = {"01:22", "02:9c", "05:3e"};
///     auto f = bloomset::exact::build({}, revoked, valid);   // result
///     if (f->may_contain("05:3e")) return;                   // never for a key of `valid`

#include <bloomset/concepts.hpp>
#include <bloomset/detail/core/filter_memory.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/exact/sections.hpp>
#include <bloomset/hash_source.hpp>
#include <bloomset/plan/exact_plan.hpp>
#include <bloomset/storage.hpp>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bloomset {
namespace detail {

/// The result of a build.
struct built_exact {
  exact_params params;
  owned_storage payload;
  std::uint64_t count = 0;
};
result<built_exact> build_exact(const exact_spec& spec, const hash_source& members,
                                const hash_source& others);

/// Fails with corrupt unless the payload has the size of its parameters and zeros as its padding.
result<void> check_exact_payload(const exact_params& params, std::span<const std::byte> payload,
                                 std::uint64_t count);

}  // namespace detail

/// An exact filter over any storage. It has up to three sections over the members. The first two
/// are ribbon filters. The second chooses the values of its free slots so that few other keys pass.
/// The third has a bit for each key that passes both: whether it is a member.
///
/// Space       For |R| of 100,000 or more, in bits per member and relative to the least possible,
///             log2 C(|R| + |S|, |R|):
///                 |S| / |R|        2       10      100     1000
///                 bits             2.90    5.07    8.32    11.63
///                 ratio            1.05    1.05    1.03    1.02
///             Below |S| = |R| the sections hold S instead, and the answer is negated.
/// Query       O(1). Most keys of S end in the first window of two cache lines; a member reads
///             three windows.
/// Unknown     A key outside the universe passes at the rate 2^-(columns of all sections), 0.8% at
///             |S| / |R| = 100, or with the complement of such a rate if the filter is negated.
/// Hashes      Keys are known by 64-bit hashes. A key of S with the hash of a member is answered as
///             the member; for any such pair the probability is |R| |S| / 2^64.
/// Build       A key in both sets is a member, so that S may be the whole universe. The same sets
///             give the same bytes, in any order, with any repetitions, and with any number of
///             threads. S is read once, and only the keys that pass the first section are kept.
/// Memory      Of a build, besides the filter: 8 bytes per member, 160 bytes per key of the smaller
///             set, 160 MiB, and 16 MB per thread. S may be any size.
/// Threads     Concurrent queries are safe.
template <storage Storage = owned_storage>
class basic_exact : public detail::key_overloads<basic_exact<Storage>> {
  using overloads = detail::key_overloads<basic_exact>;

 public:
  static constexpr filter_kind kind = filter_kind::exact;
  static constexpr std::uint16_t kind_version = 1;
  using hash_type = hash64;
  using hasher_type = filter_hasher;
  using spec_type = exact_spec;
  using params_type = exact_params;
  using storage_type = Storage;
  /// The same filter over another storage.
  template <storage Other>
  using rebind_storage = basic_exact<Other>;

  basic_exact(const basic_exact&) = default;
  basic_exact(basic_exact&&) = default;
  basic_exact& operator=(const basic_exact& other)
    requires std::copy_constructible<Storage>
  {
    if (this != &other) *this = basic_exact(other);
    return *this;
  }
  basic_exact& operator=(basic_exact&&) = default;
  ~basic_exact() = default;

  /// The filter of these hashes, which were made with the seed `spec.seed`. Reads the members once
  /// and then the others once; the sizes of the sources do not matter. Fails with invalid_argument
  /// if the spec has a rate or a size or if the hashes were chosen to collide, with out_of_memory,
  /// and with the failure of a source.
  static result<basic_exact> build(const exact_spec& spec, const hash_source& members,
                                   const hash_source& others)
    requires std::same_as<Storage, owned_storage>
  {
    auto built = detail::build_exact(spec, members, others);
    if (!built) return fail(std::move(built.error()));
    return basic_exact(std::move(built->params), std::move(built->payload), built->count);
  }
  /// The same for hashes in memory.
  static result<basic_exact> build(const exact_spec& spec, std::span<const hash64> members,
                                   std::span<const hash64> others)
    requires std::same_as<Storage, owned_storage>
  {
    return build(spec, hash_source::of(members), hash_source::of(others));
  }
  /// The filter of these keys: strings, bytes or integers, of either type in either set.
  template <detail::key_batch R, detail::key_batch S>
  static result<basic_exact> build(const exact_spec& spec, const R& members, const S& others)
    requires std::same_as<Storage, owned_storage>
  {
    return build(spec, source_of(spec, members), source_of(spec, others));
  }

  /// A filter of `count` members over the payload of image(). Fails with corrupt if the payload
  /// does not fit the parameters. O(levels), as the slots are not read.
  static result<basic_exact> open(exact_params params, Storage payload, std::uint64_t count) {
    if (auto ok = detail::check_exact_payload(params, payload.bytes(), count); !ok) {
      return fail(std::move(ok.error()));
    }
    return basic_exact(std::move(params), std::move(payload), count);
  }

  using overloads::may_contain;

  /// Whether the key of this hash is a member. Exact for all keys of the universe.
  bool may_contain(hash64 h) const noexcept { return sections_.contains(bytes().data(), h); }

  /// The same for a batch. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash64> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    sections_.contains(bytes().data(), hs, answers.data());
  }

  /// For filters of which only some bytes are in memory (partial.hpp): whether those are that
  /// decide may_contain(h). Calls `has` with byte ranges that it reads.
  template <class Has>
  bool trace(hash64 h, Has&& has) const {
    return sections_.trace(bytes().data(), h, has);
  }
  /// The bytes that open() reads, except zeros: none.
  template <class Use>
  static void trace_open(const exact_params&, Use&&) {}

  const exact_params& params() const noexcept { return params_; }
  hasher_type hash_function() const noexcept { return hasher_type(params_.seed); }

  /// The number of distinct members, which is also size().
  std::uint64_t capacity() const noexcept { return count_; }
  std::uint64_t size() const noexcept { return count_; }
  double estimate_size() const noexcept { return static_cast<double>(count_); }
  /// The rate at which keys outside the universe pass. Keys of the universe have no errors.
  double planned_fpr() const noexcept { return params_.unknown_rate(); }
  double current_fpr() const noexcept { return params_.unknown_rate(); }
  std::uint64_t size_in_bytes() const noexcept { return bytes().size(); }
  /// Keys per slot of the last section.
  double fill() const noexcept {
    std::uint64_t slots = 0;
    for (const detail::retrieval_level& level : params_.last.levels) slots += level.slots();
    if (slots == 0) return 0;
    return detail::min(1.0, static_cast<double>(params_.stored) / static_cast<double>(slots));
  }

  /// The fields and bytes that save() writes. Refers to this filter's bytes.
  filter_image image() const { return detail::image_of(*this, params_.seed, {bytes()}); }

 private:
  /// The hashes of keys, which must outlive the source. They are hashed while they are read.
  template <class Keys>
  static hash_source source_of(const exact_spec& spec, const Keys& keys) {
    return {std::size(keys), [&spec, &keys](const hash_source::sink& use) {
              result<void> done;
              detail::for_hashes(filter_hasher(spec.seed), keys, [&](auto some, std::size_t) {
                done = use(some);
                return done.has_value();
              });
              return done;
            }};
  }

  // The payload, which is empty without sections.
  std::span<const std::byte> bytes() const noexcept {
    const auto all = memory_.bytes();
    detail::expect_not_moved_from(!has_bytes_ || !all.empty());
    return all;
  }

  basic_exact(exact_params params, Storage payload, std::uint64_t count)
      : params_(std::move(params)),
        memory_(std::move(payload)),
        sections_(params_),
        count_(count),
        has_bytes_(!memory_.bytes().empty()) {}

  exact_params params_;
  Storage memory_;
  detail::exact_sections sections_;
  std::uint64_t count_;
  bool has_bytes_;  // also after a move
};

/// The exact filter in its own memory.
using exact = basic_exact<>;
/// A read-only exact filter over a mapped file.
using exact_view = basic_exact<mapped_storage>;

}  // namespace bloomset
