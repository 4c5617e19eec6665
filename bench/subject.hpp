#pragma once

// What the benchmark measures: a filter of ours, a peer, or the memory itself, all behind one small
// interface. A call is over thousands of keys, so that its being virtual costs nothing.

#include <array>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// The same random 64 bits are the hash for subjects that take hashes, and the eight bytes of the
/// key for those that take keys.
using keys = std::span<const bloomset::hash64>;

/// Answers to a batch.
using flags = std::unique_ptr<bool[]>;  // NOLINT(modernize-avoid-c-arrays): a vector has no bools
inline flags make_flags(std::size_t n) {
  return std::make_unique<bool[]>(n);  // NOLINT(modernize-avoid-c-arrays): the same
}

/// What a subject is made for.
struct setting {
  std::uint64_t n = 0;
  double fpr = 0;
  double bits_per_key =
      0;  ///< of blocked_bloom at that rate, for those that cannot be given a rate
};

class subject {
 public:
  subject() = default;
  subject(const subject&) = delete;
  subject& operator=(const subject&) = delete;
  virtual ~subject() = default;

  /// Makes the filter of these members anew. More than one thread only where `parallel_build`.
  /// Throws std::runtime_error where the subject finds no room for them.
  virtual void build(keys members, unsigned threads) = 0;
  /// Bytes that the built filter takes.
  virtual std::uint64_t bytes() const = 0;
  /// Asks one by one; how many may be members.
  virtual std::uint64_t ask_each(keys asked) const = 0;
  /// Asks by the subject's call for batches; only where `batch`. More than one thread only where
  /// `parallel_ask`.
  virtual void ask_batch(keys, bool*, unsigned) const {}
  /// What the reader should know of it once it is built.
  virtual std::string remark() const { return {}; }
};

enum class group : std::uint8_t { ours, peer, limit };
constexpr const char* name_of(group g) noexcept {
  constexpr std::array names = {"ours", "peer", "limit"};
  return names[static_cast<std::size_t>(g)];
}

struct entry {
  std::string name;
  group of = group::peer;
  bool takes_keys = false;  ///< else hashes
  bool batch = false;
  bool parallel_build = false;
  bool parallel_ask = false;
  std::uint64_t max_keys = ~std::uint64_t{0};
  std::function<std::unique_ptr<subject>(const setting&)> make;
};

using entries = std::vector<entry>;

/// A peer that this build is without, and why.
struct left_out {
  std::string name;
  std::string why;
};

/// Every kind of filter that the library has (kinds.cpp).
entries our_filters();
/// The same with keys of eight bytes, beside peers that hash themselves.
entries our_filters_of_keys();
/// Random cache lines of as many bytes as a blocked filter has (limits.cpp).
entries memory_limits();
/// Those of the peers that this build has, and appends to `missing` those that it has not.
entries peers(std::vector<left_out>& missing);

}  // namespace bench
