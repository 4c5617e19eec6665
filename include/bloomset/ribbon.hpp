#pragma once

/// The bumped ribbon filter, BuRR (P. Dillinger, L. Huebschle-Schneider, P. Sanders, S. Walzer,
/// "Fast Succinct Retrieval and Approximate Membership Using Ribbon", 2022). It is built once from
/// all its keys. At 1% it needs 6.75 bits per key, a Bloom filter 9.6; the lower bound is 6.64.
///
///     const std::vector<std::string> members = {"alice@example.com", "carol@example.com"};
///     auto f = bloomset::ribbon::build({.fpr = 0.01}, members);   // result
///     if (f->may_contain("bob@example.com")) ask_the_database();

#include <bloomset/concepts.hpp>
#include <bloomset/detail/core/built_once.hpp>
#include <bloomset/detail/core/filter_memory.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/retrieval/retrieval.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/ribbon_plan.hpp>
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

// The part of basic_ribbon that is compiled in the library (src/kinds/ribbon/build.cpp).

/// The rate of all levels, without equal hashes. O(code bytes).
double ribbon_fpr(const ribbon_params& params, std::span<const std::byte> payload) noexcept;

/// Fails with corrupt unless the payload has the size of its parameters and zeros as its padding.
/// O(levels).
result<void> check_ribbon_payload(const ribbon_params& params, std::span<const std::byte> payload,
                                  std::uint64_t count);

/// The result of a build.
struct built_ribbon {
  ribbon_params params;
  owned_storage payload;
  std::vector<retrieval_level_view> views;
  std::uint64_t count = 0;
};
result<built_ribbon> build_ribbon(const ribbon_spec& spec, const hash_source& source);
result<built_ribbon> build_ribbon(const ribbon_spec& spec, std::span<const hash64> hashes);

}  // namespace detail

/// A ribbon filter over any storage. Each key has an equation over 64 neighbouring slots: the XOR
/// of about half of them is a function of the key. Some slots have r bits and the others r + 1, so
/// that the filter can have any rate. Keys whose equations contradict others are bumped to the next
/// level, which is a twentieth as large. The last level has at most 2048 keys and bumps none.
///
/// Space       In bits per key at 1%:
///                 keys     256    1000   10,000   from 1,000,000
///                 bits     8.9    7.3    6.8      6.75
///             Of these, 64 bytes per filter are zeros at the end.
/// Query       O(1): one or two adjacent cache lines for 95% of the keys. A batch prefetches those
///             of many keys and uses SIMD. A non-member passes with probability 2^-r.
/// Build       From hashes in any order, with repetitions. The same set gives the same bytes on
///             every CPU. Hashes are split by their upper bits into shards of about 34,000 keys.
/// Memory      Besides the filter, a build needs max(64 MiB, 2.7 bytes per distinct key), 0.5 bytes
///             per key for bumped keys, and 2 MB per thread. At the end it has freed these, and
///             needs the size of the filter a second time. Hashes that are not uniform need more.
/// Failure     A build does not fail by chance: a last level without a solution is tried with other
///             seeds, and from the ninth try on with more slots. Hashes that were chosen to collide
///             are refused.
/// Threads     Concurrent queries are safe.
template <storage Storage = owned_storage>
class basic_ribbon : public detail::key_overloads<basic_ribbon<Storage>>,
                     public detail::built_once<basic_ribbon<Storage>, ribbon_spec> {
  using overloads = detail::key_overloads<basic_ribbon>;

 public:
  static constexpr filter_kind kind = filter_kind::ribbon;
  static constexpr std::uint16_t kind_version = 1;
  using hash_type = hash64;
  using hasher_type = filter_hasher;
  using spec_type = ribbon_spec;
  using params_type = ribbon_params;
  using storage_type = Storage;
  /// The same filter over another storage.
  template <storage Other>
  using rebind_storage = basic_ribbon<Other>;

  basic_ribbon(const basic_ribbon&) = default;
  basic_ribbon(basic_ribbon&&) = default;
  basic_ribbon& operator=(const basic_ribbon& other)
    requires std::copy_constructible<Storage>
  {
    if (this != &other) *this = basic_ribbon(other);
    return *this;
  }
  basic_ribbon& operator=(basic_ribbon&&) = default;
  ~basic_ribbon() = default;

  /// A filter of `count` keys over the payload of image(). Fails with corrupt if the payload does
  /// not fit the parameters, or if there are keys and no level. O(levels), as the slots are not
  /// read.
  static result<basic_ribbon> open(ribbon_params params, Storage payload, std::uint64_t count) {
    if (auto ok = detail::check_ribbon_payload(params, payload.bytes(), count); !ok) {
      return fail(std::move(ok.error()));
    }
    auto views = detail::retrieval_views(params.levels);
    return basic_ribbon(std::move(params), std::move(payload), std::move(views), count);
  }

  using overloads::may_contain;

  /// Whether the key of this hash may be a member. False is certain. An empty filter answers false.
  bool may_contain(hash64 h) const noexcept {
    return detail::matches_fingerprint<detail::window_64>(bytes().data(), levels_, h);
  }

  /// The same for a batch. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash64> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    detail::retrieval_ops().matches_fingerprints({bytes().data(), levels_}, hs, answers.data());
  }

  /// For filters of which only some bytes are in memory (partial.hpp): whether those are that
  /// decide may_contain(h). Calls `has` with byte ranges that it reads.
  template <class Has>
  bool trace(hash64 h, Has&& has) const {
    return detail::trace_retrieval<detail::window_64>(bytes().data(), levels_, h, has);
  }
  /// The bytes that open() reads, except zeros: none.
  template <class Use>
  static void trace_open(const ribbon_params&, Use&&) {}

  const ribbon_params& params() const noexcept { return params_; }
  hasher_type hash_function() const noexcept { return hasher_type(params_.seed); }

  /// The number of distinct keys, which is also size().
  std::uint64_t capacity() const noexcept { return count_; }
  std::uint64_t size() const noexcept { return count_; }
  double estimate_size() const noexcept { return static_cast<double>(count_); }
  double planned_fpr() const noexcept { return params_.fpr; }
  /// The rate of this filter: the mean over its starts. A start of r columns has the rate 2^-r, a
  /// bumped start that of the next level. Equal hashes add n / 2^64. 0 without keys. O(n / 512).
  double current_fpr() const noexcept {
    if (count_ == 0) return 0;
    return detail::min(1.0, detail::ribbon_fpr(params_, bytes()) +
                                formulas::hash_collision_fpr(static_cast<double>(count_)));
  }
  std::uint64_t size_in_bytes() const noexcept { return bytes().size(); }
  /// Keys per slot.
  double fill() const noexcept {
    std::uint64_t slots = 0;
    for (const ribbon_level& level : params_.levels) slots += level.slots();
    return slots == 0 ? 0 : static_cast<double>(count_) / static_cast<double>(slots);
  }

  /// The fields and bytes that save() writes. Refers to this filter's bytes.
  filter_image image() const { return detail::image_of(*this, params_.seed, {bytes()}); }

 private:
  friend class detail::built_once<basic_ribbon, ribbon_spec>;

  template <class Hashes>
  static result<basic_ribbon> from(const ribbon_spec& spec, const Hashes& hashes) {
    auto built = detail::build_ribbon(spec, hashes);
    if (!built) return fail(std::move(built.error()));
    return basic_ribbon(std::move(built->params), std::move(built->payload),
                        std::move(built->views), built->count);
  }

  // The payload, which is empty without keys.
  std::span<const std::byte> bytes() const noexcept {
    detail::expect_not_moved_from(count_ == 0 || !levels_.empty());
    return payload_.bytes();
  }

  basic_ribbon(ribbon_params params, Storage payload,
               std::vector<detail::retrieval_level_view> levels, std::uint64_t count)
      : params_(std::move(params)),
        payload_(std::move(payload)),
        levels_(std::move(levels)),
        count_(count) {}

  ribbon_params params_;
  Storage payload_;
  std::vector<detail::retrieval_level_view> levels_;
  std::uint64_t count_;
};

/// The ribbon filter in its own memory.
using ribbon = basic_ribbon<>;
/// A read-only ribbon filter over a mapped file.
using ribbon_view = basic_ribbon<mapped_storage>;

}  // namespace bloomset
