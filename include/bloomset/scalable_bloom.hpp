#pragma once

/// The scalable Bloom filter (P. S. Almeida, C. Baquero, N. Preguica and D. Hutchison, "Scalable
/// Bloom Filters", Information Processing Letters 101(6), 2007). It is a chain of Bloom filters,
/// called the members of the chain (not to be confused with member keys). Each has s times the
/// capacity of the one before and r times its rate. The rates add up to at most eps, so the number
/// of keys need not be known in advance.
///
///     bloomset::scalable_bloom seen({.fpr = 0.01});
///     for (const std::string& line : lines) {
///       if (seen.insert(line) == bloomset::insert_outcome::inserted) print(line);
///     }

#include <array>
#include <bloomset/bloom.hpp>
#include <bloomset/concepts.hpp>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/core/filter_memory.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/core/precondition.hpp>
#include <bloomset/plan/numeric.hpp>
#include <bloomset/plan/scalable_bloom_plan.hpp>
#include <bloomset/probe.hpp>
#include <bloomset/storage.hpp>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bloomset {

/// A scalable Bloom filter over any storage. n0 is the capacity of the first member, L the number
/// of members, about log_s(n / n0) + 1.
///
/// Space       24 bits per key at 1%, grown from 1024 to a million keys. A Bloom filter planned for
///             a million has 9.6. Each member has a lower rate than the one before, and so needs
///             more bits per key.
/// Query       Queries the members newest first, where most keys are, and stops at the first that
///             may contain the key. A key that no member contains costs about two probes per
///             member.
/// Insert      A query of all members, then k bits in the newest: O(L k). O(m) when it opens a
///             member.
/// Growth      Opens a member when the newest holds its capacity. The mean rate over all seeds
///             never exceeds eps.
/// Duplicates  A key that passes as a member is not inserted again. False positives thus need no
///             space.
/// Full        Reports `full` and changes nothing if the next member cannot be planned
///             (plan_next_member), or if memory runs out.
/// Erase       None: keys share bits.
/// Merge       None. The union of two full members of two chains would exceed their rate.
/// Threads     Concurrent queries are safe. An insert needs exclusive access.
template <piecewise_storage Storage = owned_storage>
class basic_scalable_bloom : public detail::key_overloads<basic_scalable_bloom<Storage>> {
  using overloads = detail::key_overloads<basic_scalable_bloom>;
  using probe = double_hashing;

 public:
  static constexpr filter_kind kind = filter_kind::scalable_bloom;
  static constexpr std::uint16_t kind_version = 1;
  using hash_type = probe::hash_type;
  using hasher_type = probe::hasher_type;
  using params_type = scalable_bloom_params;
  using spec_type = scalable_bloom_spec;
  using storage_type = Storage;
  using member_type = basic_bloom<probe, Storage>;
  /// The same filter over another storage.
  template <piecewise_storage Other>
  using rebind_storage = basic_scalable_bloom<Other>;

  basic_scalable_bloom(const basic_scalable_bloom&)
    requires std::copy_constructible<Storage>
  = default;
  basic_scalable_bloom(basic_scalable_bloom&&) = default;
  basic_scalable_bloom& operator=(const basic_scalable_bloom& other)
    requires std::copy_constructible<Storage>
  {
    if (this != &other) *this = basic_scalable_bloom(other);
    return *this;
  }
  basic_scalable_bloom& operator=(basic_scalable_bloom&&) = default;
  ~basic_scalable_bloom() = default;

  /// An empty filter. Precondition: plan_scalable_bloom accepts the spec; otherwise the program
  /// prints the planner's error and ends. Use make() for values from outside the program. Throws
  /// only std::bad_alloc.
  explicit basic_scalable_bloom(const scalable_bloom_spec& spec)
    requires std::same_as<Storage, owned_storage>
      : basic_scalable_bloom(detail::or_die(make(spec))) {}

  /// An empty filter, or the reason why there is none.
  static result<basic_scalable_bloom> make(const scalable_bloom_spec& spec)
    requires std::same_as<Storage, owned_storage>
  {
    auto plan = plan_scalable_bloom(spec);
    if (!plan) return fail(std::move(plan.error()));
    auto first = empty_member(plan->members.front());
    if (!first) return fail(std::move(first.error()));
    std::vector<member_type> members;
    members.push_back(std::move(*first));
    return basic_scalable_bloom(std::move(*plan), std::move(members));
  }

  /// A filter over `bits`, the payload of image(): the members one after the other. Fails with
  /// corrupt if the bits do not fit the parameters.
  ///
  /// Mapped and borrowed bytes are shared and not read: O(L). Owned bytes are copied into separate
  /// memory for each member: O(m), and both copies exist for a moment.
  static result<basic_scalable_bloom> open(scalable_bloom_params params, const Storage& bits,
                                           std::uint64_t count) {
    const auto all = bits.bytes();
    // The next member is planned from the first fields, so they must be those of the members.
    if (!has_planned_members(params)) return mismatch();
    std::vector<member_type> members;
    std::size_t at = 0;
    std::uint64_t keys_before = 0;
    for (const bloom_params& plan : params.members) {
      const std::uint64_t size = detail::bytes_for_bits(plan.bits);  // at most 2^59
      const std::uint64_t padded = detail::round_up(size, member_alignment);
      if (padded > all.size() - at || !detail::is_zero(all.subspan(at + size, padded - size))) {
        return mismatch();
      }
      // Only the newest member has room. `count` tells how many keys it has.
      const bool newest = members.size() + 1 == params.members.size();
      if (keys_before > count) return mismatch();
      const std::uint64_t keys = newest ? count - keys_before : plan.capacity;
      if (keys > plan.capacity) return mismatch();
      auto part = piece(bits, at, size);
      if (!part) return fail(std::move(part.error()));
      auto member = member_type::open(plan, std::move(*part), keys);
      if (!member) return fail(std::move(member.error()));
      members.push_back(std::move(*member));
      at += padded;
      keys_before += plan.capacity;
    }
    if (members.empty() || at != all.size()) return mismatch();
    return basic_scalable_bloom(std::move(params), std::move(members));
  }

  using overloads::insert;
  using overloads::may_contain;

  /// Whether the key of this hash may be a member. False is certain.
  bool may_contain(const hash_type& h) const noexcept { return any_contains(members(), h); }

  /// Answers a batch of queries. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash_type> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    const std::span<const member_type> chain = members();
    for (std::size_t i = 0; i < hs.size(); ++i) answers[i] = any_contains(chain, hs[i]);
  }

  /// For filters of which only some bytes are in memory (partial.hpp): whether those are that
  /// decide may_contain(h). Calls `has` with byte ranges that it reads.
  template <class Has>
  bool trace(const hash_type& h, Has&& has) const {
    bool all = true;
    std::uint64_t at = 0;
    for (const member_type& member : members()) {
      const bool decided = member.trace(h, [&](byte_interval in_member) {
        return has(byte_interval{at + in_member.begin, at + in_member.end});
      });
      if (decided && member.may_contain(h)) return true;
      all &= decided;
      at += detail::round_up(member.size_in_bytes(), member_alignment);
    }
    return all;
  }
  /// The bytes that open() reads: none.
  template <class Use>
  static void trace_open(const scalable_bloom_params&, Use&&) {}

  /// Inserts the key of this hash. If it may be there already, returns `maybe_present` and changes
  /// nothing. A new key beyond the newest member's capacity opens the next member. Returns `full`,
  /// and changes nothing, if that member cannot be planned (plan_next_member) or memory runs out.
  /// O(L k), and O(m) once for each member that is opened.
  insert_outcome insert(const hash_type& h) noexcept
    requires growable_storage<Storage>
  {
    if (may_contain(h)) return insert_outcome::maybe_present;
    if (members_.back().size() >= members_.back().capacity() && !open_member()) {
      return insert_outcome::full;
    }
    return members_.back().insert(h);
  }

  /// Inserts a batch, in order, up to the first key without room.
  insert_summary insert(std::span<const hash_type> hs) noexcept
    requires growable_storage<Storage>
  {
    insert_summary summary;
    for (const hash_type& h : hs) {
      if (!summary.add(insert(h))) break;
    }
    return summary;
  }

  /// Removes every key, and every member except the first.
  void clear() noexcept
    requires growable_storage<Storage>
  {
    detail::expect_not_moved_from(!members_.empty());
    members_.erase(members_.begin() + 1, members_.end());
    params_.members.resize(1);
    members_.front().clear();
  }

  const scalable_bloom_params& params() const noexcept { return params_; }
  hasher_type hash_function() const noexcept { return hasher_type(params_.seed); }
  /// The members, oldest first.
  std::span<const member_type> members() const noexcept {
    detail::expect_not_moved_from(!members_.empty());
    return members_;
  }
  /// Whether the filter accepts keys beyond capacity() at the promised rate. This kind does.
  bool grows() const noexcept
    requires growable_storage<Storage>
  {
    return true;
  }

  /// The number of keys that the present members were planned for. It rises as the filter grows.
  std::uint64_t capacity() const noexcept {
    return sum<std::uint64_t>([](const member_type& m) { return m.capacity(); });
  }
  /// The number of keys that were certainly new. It is a lower bound of the number of distinct
  /// keys: a new key that seemed to be there is not counted.
  std::uint64_t size() const noexcept {
    return sum<std::uint64_t>([](const member_type& m) { return m.size(); });
  }
  /// The requested rate. However far the filter grows, the mean rate over all seeds of the hash
  /// function does not exceed it. The rate of one filter, current_fpr(), varies around the mean:
  /// the standard deviation is 9% of it at n0 = 50, and 2% at n0 = 1000.
  double planned_fpr() const noexcept { return params_.fpr; }
  std::uint64_t size_in_bytes() const noexcept {
    return sum<std::uint64_t>(
        [](const member_type& m) { return detail::round_up(m.size_in_bytes(), member_alignment); });
  }

  /// The share of bits that are set. O(m).
  double fill() const noexcept {
    const auto bits = sum<std::uint64_t>([](const member_type& m) { return m.params().bits; });
    const auto ones = sum<std::uint64_t>([](const member_type& m) { return m.ones(); });
    return static_cast<double>(ones) / static_cast<double>(bits);
  }
  /// The rate of the bits as they are: 1 - prod(1 - f_i), with f_i the rate of member i. O(m).
  double current_fpr() const noexcept {
    return -numeric::expm1(
        sum<double>([](const member_type& m) { return numeric::log1p(-m.current_fpr()); }));
  }
  /// The number of distinct keys, estimated from the set bits. Infinite if all bits of a member are
  /// set.
  ///
  /// The set bits of a member give an estimate of the keys that reached it, including those that it
  /// seemed to contain already. Keys that an older member seemed to contain never reached it. Their
  /// share is the compound rate of the older members, and the estimate is corrected for it. O(m).
  double estimate_size() const noexcept {
    double keys = 0;
    double passing = 1;  // share of new keys that no older member may contain
    for (const member_type& m : members_) {
      if (m.ones() == 0) break;  // only the newest can be empty
      keys += m.estimate_size() / passing;
      passing *= 1 - m.current_fpr();
    }
    return keys;
  }

  /// The image that save() writes: the bits of each member, padded with zeros to a multiple of 64
  /// bytes, so that every member begins at a cache line when the file is mapped. It refers to the
  /// bits of this filter.
  filter_image image() const {
    static constexpr std::array<std::byte, member_alignment> zeros{};
    filter_image image = detail::image_of(*this, params_.seed, {});
    for (const member_type& m : members()) {
      const auto bits = m.bits();
      const std::size_t padding = detail::round_up(bits.size(), member_alignment) - bits.size();
      image.payload.push_back(bits);
      if (padding != 0) image.payload.push_back(std::span(zeros).first(padding));
    }
    return image;
  }

 private:
  basic_scalable_bloom(scalable_bloom_params params, std::vector<member_type> members)
      : params_(std::move(params)), members_(std::move(members)) {}

  static failure mismatch() {
    return fail(errc::corrupt, "the scalable Bloom filter's bits do not fit its parameters");
  }

  static result<Storage> piece(const Storage& all, std::size_t at, std::size_t size) {
    if constexpr (std::same_as<Storage, owned_storage>) {
      return owned_storage::copy_of(all.bytes().subspan(at, size));
    } else {
      return all.slice(at, size);
    }
  }

  // Newest first, where most keys are.
  [[gnu::always_inline]] static bool any_contains(std::span<const member_type> chain, hash64 h) {
    for (std::size_t i = chain.size(); i-- > 0;) {
      if (chain[i].may_contain(h)) return true;
    }
    return false;
  }

  static result<member_type> empty_member(const bloom_params& plan) {
    auto memory = owned_storage::make(detail::bytes_for_bits(plan.bits));
    if (!memory) return fail(std::move(memory.error()));
    return member_type::open(plan, std::move(*memory), 0);
  }

  template <class Number, class Part>
  Number sum(Part&& part) const noexcept {
    Number all{};
    for (const member_type& m : members()) all += part(m);
    return all;
  }

  bool open_member() noexcept {
    bool opened = false;
    return detail::has_memory_for([&] {
             params_.members.reserve(params_.members.size() + 1);
             members_.reserve(members_.size() + 1);
             const auto plan = plan_next_member(params_);
             if (!plan) return;
             auto member = empty_member(*plan);
             if (!member) return;
             params_.members.push_back(*plan);
             members_.push_back(std::move(*member));
             opened = true;
           }) &&
           opened;
  }

  scalable_bloom_params params_;
  std::vector<member_type> members_;
};

/// A scalable Bloom filter in its own memory.
using scalable_bloom = basic_scalable_bloom<>;
/// A read-only scalable Bloom filter over a mapped file.
using scalable_bloom_view = basic_scalable_bloom<mapped_storage>;

}  // namespace bloomset
