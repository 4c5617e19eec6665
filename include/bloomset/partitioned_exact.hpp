#pragma once

/// An exact filter whose universe has partitions, such as the certificates of many issuers or the
/// names of many zones. The partitions share their sections, so that a small one costs its keys and
/// 9 bytes. A key of a partition that the filter does not have gets no answer, see covers().
///
///     const std::vector<std::string> revoked = {"Good CA\t03a1", "New CA\t03a1"};
///     const std::vector<std::string> valid = {"Good CA\t0122", "New CA\t0205"};
///     auto f = bloomset::partitioned_exact::build({}, revoked, valid);  // result
///     if (!f->covers("Old CA\t0001")) ask_the_database();               // no answer
///     if (!f->may_contain("New CA\t0205")) return;                      // never revoked

#include <bloomset/concepts.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/exact/partitions.hpp>
#include <bloomset/partitioned_hash.hpp>
#include <bloomset/plan/exact_plan.hpp>
#include <bloomset/plan/partitioned_exact_plan.hpp>
#include <bloomset/storage.hpp>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace bloomset {

/// The rate at which keys outside the universe pass as members, if their partitions are in the
/// filter.
struct unknown_rates {
  double mean = 0;  ///< of all partitions
  double lowest = 0;
  double highest = 0;
};

namespace detail {

/// The result of a build.
struct built_partitioned_exact {
  partitioned_exact_params params;
  owned_storage payload;
  std::uint64_t count = 0;
};
result<built_partitioned_exact> build_partitioned_exact(const exact_spec& spec,
                                                        const partitioned_hash_source& members,
                                                        const partitioned_hash_source& others);

/// Reads the directory. Fails with corrupt unless the payload has the size of its parameters, an
/// ascending directory of partitions whose sections exist, and zeros as its padding.
result<unknown_rates> check_partitioned_payload(const partitioned_exact_params& params,
                                                std::span<const std::byte> payload,
                                                std::uint64_t count);

}  // namespace detail

/// An exact filter with partitions over any storage. Keys are texts with a tab after the partition
/// (partitioned_hash.hpp).
///
/// Space       For 1000 partitions of 1000 members with 100 other keys each, 1.04 of the least
///             possible, which is the sum of log2 C(|R| + |S|, |R|) over the partitions. The
///             directory is 0.9% of this. A partition holds the fewer of its members and others,
///             and one without members, or without others, holds no key at all.
/// Query       O(log partitions) for the partition's entry in the directory, and then as
///             basic_exact.
/// Unknown     A key outside the universe whose partition is known passes at the rate of its
///             partition, see rates(). A key of another partition does not pass.
/// Hashes      As in basic_exact; a partition is known by its 64-bit hash.
/// Build       A key in both sets is a member. The same sets give the same bytes, in any order,
///             with any repetitions, and with any number of threads. The members are read once, the
///             others twice: first counted by partition, then filtered.
/// Memory      Of a build, besides the filter: 350 bytes per partition with members, 250 bytes per
///             key that is held, 160 MiB, and 16 MB per thread. The others may be any number.
/// Threads     Concurrent queries are safe.
template <storage Storage = owned_storage>
class basic_partitioned_exact : public detail::key_overloads<basic_partitioned_exact<Storage>> {
  using overloads = detail::key_overloads<basic_partitioned_exact>;

 public:
  static constexpr filter_kind kind = filter_kind::exact;
  static constexpr std::uint16_t kind_version = 2;
  using hash_type = partitioned_hash;
  using hasher_type = partition_hasher;
  using spec_type = exact_spec;
  using params_type = partitioned_exact_params;
  using storage_type = Storage;
  /// The same filter over another storage.
  template <storage Other>
  using rebind_storage = basic_partitioned_exact<Other>;

  basic_partitioned_exact(const basic_partitioned_exact&) = default;
  basic_partitioned_exact(basic_partitioned_exact&&) = default;
  basic_partitioned_exact& operator=(const basic_partitioned_exact& other)
    requires std::copy_constructible<Storage>
  {
    if (this != &other) *this = basic_partitioned_exact(other);
    return *this;
  }
  basic_partitioned_exact& operator=(basic_partitioned_exact&&) = default;
  ~basic_partitioned_exact() = default;

  /// The filter of these hashes, which were made with the seed `spec.seed`. Reads the members once
  /// and then the others twice; the sizes of the sources do not matter. Fails with invalid_argument
  /// if the spec has a rate or a size, if the hashes were chosen to collide, or if there are more
  /// than max_partitions partitions, with out_of_memory, and with the failure of a source.
  static result<basic_partitioned_exact> build(const exact_spec& spec,
                                               const partitioned_hash_source& members,
                                               const partitioned_hash_source& others)
    requires std::same_as<Storage, owned_storage>
  {
    auto built = detail::build_partitioned_exact(spec, members, others);
    if (!built) return fail(std::move(built.error()));
    return open(std::move(built->params), std::move(built->payload), built->count);
  }
  /// The same for hashes in memory.
  static result<basic_partitioned_exact> build(const exact_spec& spec,
                                               std::span<const partitioned_hash> members,
                                               std::span<const partitioned_hash> others)
    requires std::same_as<Storage, owned_storage>
  {
    return build(spec, partitioned_hash_source::of(members), partitioned_hash_source::of(others));
  }
  /// The filter of these keys.
  template <detail::key_batch R, detail::key_batch S>
  static result<basic_partitioned_exact> build(const exact_spec& spec, const R& members,
                                               const S& others)
    requires std::same_as<Storage, owned_storage>
  {
    return build(spec, source_of(spec, members), source_of(spec, others));
  }

  /// A filter of `count` members over the payload of image(). Fails with corrupt if the payload
  /// does not fit the parameters. O(levels + partitions), as the slots are not read.
  static result<basic_partitioned_exact> open(partitioned_exact_params params, Storage payload,
                                              std::uint64_t count) {
    const auto rates = detail::check_partitioned_payload(params, payload.bytes(), count);
    if (!rates) return fail(rates.error());
    return basic_partitioned_exact(std::move(params), std::move(payload), count, *rates);
  }

  using overloads::may_contain;

  /// Whether the key of these hashes is a member. Exact for all keys of the universe.
  bool may_contain(const partitioned_hash& h) const noexcept {
    return sections_.contains(bytes().data(), h);
  }
  /// The same for a batch. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const partitioned_hash> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    sections_.contains(bytes().data(), hs, answers.data());
  }

  /// Whether the filter has the key's partition. Without it, may_contain() is false and means
  /// nothing.
  bool covers(const partitioned_hash& h) const noexcept {
    return sections_.find(bytes().data(), h.partition).has_value();
  }
  /// The same for a key.
  template <key K>
  bool covers(const K& k) const noexcept {
    return with_hash(hash_function(), k,
                     [this](const partitioned_hash& h) noexcept { return covers(h); });
  }

  const partitioned_exact_params& params() const noexcept { return params_; }
  hasher_type hash_function() const noexcept { return hasher_type(params_.seed); }

  /// The number of distinct members, which is also size().
  std::uint64_t capacity() const noexcept { return count_; }
  std::uint64_t size() const noexcept { return count_; }
  double estimate_size() const noexcept { return static_cast<double>(count_); }
  /// The number of partitions.
  std::uint64_t partitions() const noexcept { return params_.partitions; }
  /// The rates of keys outside the universe.
  const unknown_rates& rates() const noexcept { return rates_; }
  /// The mean rate of keys outside the universe whose partition is in the filter.
  double planned_fpr() const noexcept { return rates_.mean; }
  double current_fpr() const noexcept { return rates_.mean; }
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
  static partitioned_hash_source source_of(const exact_spec& spec, const Keys& keys) {
    return {std::size(keys), [&spec, &keys](const partitioned_hash_source::sink& use) {
              result<void> done;
              detail::for_hashes(partition_hasher(spec.seed), keys, [&](auto some, std::size_t) {
                done = use(some);
                return done.has_value();
              });
              return done;
            }};
  }

  // The payload, which is empty without partitions.
  std::span<const std::byte> bytes() const noexcept { return memory_.bytes(); }

  basic_partitioned_exact(partitioned_exact_params params, Storage payload, std::uint64_t count,
                          const unknown_rates& rates)
      : params_(std::move(params)),
        memory_(std::move(payload)),
        sections_(params_),
        count_(count),
        rates_(rates) {}

  partitioned_exact_params params_;
  Storage memory_;
  detail::exact_partitions sections_;
  std::uint64_t count_;
  unknown_rates rates_;
};

/// The exact filter with partitions in its own memory.
using partitioned_exact = basic_partitioned_exact<>;
/// A read-only exact filter with partitions over a mapped file.
using partitioned_exact_view = basic_partitioned_exact<mapped_storage>;

}  // namespace bloomset
