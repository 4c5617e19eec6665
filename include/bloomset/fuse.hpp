#pragma once

/// The binary fuse filter (T. M. Graf, D. Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor
/// Filters", ACM Journal of Experimental Algorithmics 27, 2022). It is built once from all its
/// keys. At 0.39% it needs 9.0 bits per key, a Bloom filter 11.5. A query is the XOR of three
/// fingerprints.
///
///     const std::vector<std::string> members = {"alice@example.com", "carol@example.com"};
///     auto f = bloomset::fuse::build({.fpr = 0.01}, members);   // result
///     if (f->may_contain("bob@example.com")) ask_the_database();

#include <bloomset/concepts.hpp>
#include <bloomset/detail/core/built_once.hpp>
#include <bloomset/detail/core/filter_memory.hpp>
#include <bloomset/detail/core/key_overloads.hpp>
#include <bloomset/detail/fuse/table.hpp>
#include <bloomset/plan/fuse_plan.hpp>
#include <bloomset/storage.hpp>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace bloomset {
namespace detail {

/// The part of basic_fuse::build that is compiled in the library (src/kinds/fuse/build.cpp).
result<built_fuse> build_fuse(const fuse_spec& spec, const hash_source& source);
result<built_fuse> build_fuse(const fuse_spec& spec, std::span<const hash64> hashes);

}  // namespace detail

/// A binary fuse filter over any storage. A key has 3 (or 4) places in neighbouring segments of a
/// table. The XOR of the w-bit fingerprints there is the fingerprint of the key.
///
/// Space       In bits per key:
///                 keys                 10,000   from 1,000,000
///                 three places         1.27 w   1.12 to 1.13 w
///                 four places                   1.07 w
///             Smaller filters need more.
/// Rate        2^-w exactly, plus n / 2^64 for equal hashes.
/// Query       O(1): three or four cache lines. A batch prefetches those of a hundred keys. In a
///             filter of one shard (up to about two million keys), vectors answer four or eight at
///             a time.
/// Build       From hashes in any order, with repetitions. The same set gives the same bytes.
///             24 to 44 ns per key and thread. Hashes are split by their upper bits into shards of
///             about 1.6 million keys, each with its own seed.
/// Memory      A build needs, besides the filter, max(64 MiB, 2.7 bytes per distinct key). Each
///             thread needs another 25 bytes per key of a shard, about 40 MB. With one thread this
///             is below 4 bytes per key from 31 million keys on. If hashes are not uniform, a shard
///             may have up to 67 million keys, and needs memory in proportion.
/// Failure     A build does not fail by chance: a shard that fails is tried with other seeds, and
///             from the fifth try on with more slots. Hashes that were chosen to collide are
///             refused.
/// Threads     Concurrent queries are safe.
template <storage Storage = owned_storage>
class basic_fuse : public detail::key_overloads<basic_fuse<Storage>>,
                   public detail::built_once<basic_fuse<Storage>, fuse_spec> {
  using overloads = detail::key_overloads<basic_fuse>;

 public:
  static constexpr filter_kind kind = filter_kind::fuse;
  static constexpr std::uint16_t kind_version = 1;
  using hash_type = hash64;
  using hasher_type = filter_hasher;
  using spec_type = fuse_spec;
  using params_type = fuse_params;
  using storage_type = Storage;
  /// The same filter over another storage.
  template <storage Other>
  using rebind_storage = basic_fuse<Other>;

  /// A filter of `count` keys over the payload of image(). Fails with corrupt if the
  /// payload, or the directory of shards in it, does not fit the parameters. O(shards), as the
  /// fingerprints are not read.
  static result<basic_fuse> open(const fuse_params& params, Storage payload, std::uint64_t count) {
    if (auto ok = detail::check_fuse_payload(params, payload.bytes(), count); !ok) {
      return fail(std::move(ok.error()));
    }
    return basic_fuse(params, std::move(payload), count);
  }

  using overloads::may_contain;

  /// Whether the key of this hash may be a member. False is certain. An empty filter answers false.
  [[gnu::always_inline]] bool may_contain(hash64 h) const noexcept {
    const detail::fuse_table all = table();  // before any branch, so that a loop reads it once
    switch (inlined_) {
      case inlined_shape::bytes:
        return all.template may_contain<3, std::uint8_t>(h);
      case inlined_shape::words:
        return all.template may_contain<3, std::uint32_t>(h);
      default:
        return may_contain_any(h);
    }
  }

  /// The same for a batch. Precondition: answers.size() >= hs.size().
  void may_contain(std::span<const hash64> hs, std::span<bool> answers) const noexcept {
    assert(answers.size() >= hs.size());
    if (params_.shards == 0) {
      for (bool& answer : answers.first(hs.size())) answer = false;
    } else {
      detail::fuse_may_contain(table(), hs, answers.data());
    }
  }

  /// For filters of which only some bytes are in memory (partial.hpp): whether those are that
  /// decide may_contain(h). Calls `has` with byte ranges that it reads.
  template <class Has>
  bool trace(hash64 h, Has&& has) const {
    bool all = true;
    if (params_.shards == 0) return all;
    const detail::fuse_table all_shards = table();
    const auto tell = [&](std::uint64_t slot) {
      const std::uint64_t bit = slot * params_.fingerprint_bits;
      const std::uint64_t at = params_.directory_bytes();
      all &= has(
          byte_interval{at + bit / 8, at + detail::bytes_for_bits(bit + params_.fingerprint_bits)});
    };
    if (params_.arity == 3) {
      all_shards.template find<3, std::uint64_t>(h, tell);
    } else {
      all_shards.template find<4, std::uint64_t>(h, tell);
    }
    return all;
  }
  /// The bytes that open() reads, except zeros: the directory of shards.
  template <class Use>
  static void trace_open(const fuse_params& params, Use&& use) {
    if (params.shards != 0) use(byte_interval{0, params.directory_bytes()});
  }

  const fuse_params& params() const noexcept { return params_; }
  hasher_type hash_function() const noexcept { return hasher_type(params_.seed); }

  /// The number of distinct keys, which is also size().
  std::uint64_t capacity() const noexcept { return count_; }
  std::uint64_t size() const noexcept { return count_; }
  double estimate_size() const noexcept { return static_cast<double>(count_); }
  /// 2^-w + n / 2^64.
  double planned_fpr() const noexcept {
    return fuse_fpr(static_cast<double>(count_), params_.fingerprint_bits);
  }
  /// planned_fpr(), or 0 without keys.
  double current_fpr() const noexcept { return params_.shards == 0 ? 0 : planned_fpr(); }
  std::uint64_t size_in_bytes() const noexcept { return bytes().size(); }
  /// Keys per slot.
  double fill() const noexcept {
    return count_ == 0 ? 0 : static_cast<double>(count_) / static_cast<double>(params_.slots());
  }

  /// The fields and bytes that save() writes. Refers to this filter's bytes.
  filter_image image() const { return detail::image_of(*this, params_.seed, {bytes()}); }

 private:
  friend class detail::built_once<basic_fuse, fuse_spec>;

  template <class Hashes>
  static result<basic_fuse> from(const fuse_spec& spec, const Hashes& hashes) {
    auto built = detail::build_fuse(spec, hashes);
    if (!built) return fail(std::move(built.error()));
    return basic_fuse(built->params, std::move(built->payload), built->count);
  }

  basic_fuse(const fuse_params& params, Storage payload, std::uint64_t count)
      : payload_(std::move(payload)), params_(params), count_(count) {
    if (params_.shards == 0) return;
    front_ = detail::fuse_range::at(bytes().data(), params_.starts(), params_.segment_log2);
    if (params_.arity == 3 && params_.fingerprint_bits == 8) {
      inlined_ = inlined_shape::bytes;
    } else if (params_.arity == 3 && params_.fingerprint_bits <= 25) {
      inlined_ = inlined_shape::words;
    }
  }

  // The shapes whose single queries are inlined: three fingerprints, of a byte or of up to 25 bits.
  enum class inlined_shape : std::uint8_t { none, bytes, words };

  // A query of any shape.
  [[gnu::noinline, gnu::pure]] bool may_contain_any(hash64 h) const noexcept {
    return params_.shards != 0 &&
           detail::with_fuse_shape(params_.arity, params_.fingerprint_bits,
                                   [&]<unsigned Arity, class Word>() noexcept {
                                     return table().template may_contain<Arity, Word>(h);
                                   });
  }

  // The payload, which is empty without keys.
  std::span<const std::byte> bytes() const noexcept {
    const auto all = payload_.bytes();
    detail::expect_not_moved_from(params_.shards == 0 || !all.empty());
    return all;
  }
  [[gnu::always_inline]] detail::fuse_table table() const noexcept {
    return {params_, bytes(), front_};
  }

  Storage payload_;  // First, so that an assignment whose copy throws changes nothing.
  fuse_params params_;
  std::uint64_t count_;
  detail::fuse_range front_;  // the first shard
  inlined_shape inlined_ = inlined_shape::none;
};

/// The fuse filter in its own memory.
using fuse = basic_fuse<>;
/// A read-only fuse filter over a mapped file.
using fuse_view = basic_fuse<mapped_storage>;

}  // namespace bloomset
