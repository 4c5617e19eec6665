#pragma once

// The sections of an exact filter over its payload, and their queries.

#include <bloomset/detail/retrieval/kernels.hpp>
#include <bloomset/detail/retrieval/layout.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/plan/exact_plan.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomset::detail {

/// The hash of a key in the last section. Where keys are dense, the guided section has fewer free
/// slots and passes more others, so that the last one should not have them in one place too.
constexpr hash64 last_section_hash(hash64 h) noexcept {
  return {remix64(h.value)};
}

/// Places in a payload, which is passed to each query. The first section has the lowest bits of a
/// key's fingerprint, the guided section the next ones.
class exact_sections {
 public:
  exact_sections() = default;
  /// Precondition: the parameters are possible.
  explicit exact_sections(const exact_params& params);

  bool contains(const std::byte* payload, hash64 h) const noexcept {
    if (last_.empty()) return negated_;
    if (!passes_first(payload, h) || !passes_guided(payload, h)) return negated_;
    return (retrieve<window_128>(payload, last_, last_section_hash(h)) != 0) != negated_;
  }

  /// Whether the bytes are in memory that decide the answer for a hash (any_model.hpp, trace()).
  template <class Has>
  bool trace(const std::byte* payload, hash64 h, Has&& has) const {
    if (last_.empty()) return true;
    if (!trace_retrieval<window_128>(payload, first_, h, has)) return false;
    if (!passes_first(payload, h)) return true;
    if (!trace_retrieval<window_64>(payload, guided_, h, has)) return false;
    if (!passes_guided(payload, h)) return true;
    return trace_retrieval<window_128>(payload, last_, last_section_hash(h), has);
  }

  /// The same for a batch. Precondition: answers has room for it.
  void contains(const std::byte* payload, std::span<const hash64> hashes,
                bool* answers) const noexcept;

 private:
  bool passes_first(const std::byte* payload, hash64 h) const noexcept {
    return retrieve<window_128>(payload, first_, h) == (fingerprint_of(h.value) & first_mask_);
  }
  bool passes_guided(const std::byte* payload, hash64 h) const noexcept {
    return retrieve<window_64>(payload, guided_, h) ==
           ((fingerprint_of(h.value) >> shift_) & guided_mask_);
  }

  std::vector<retrieval_level_view> first_;
  std::vector<retrieval_level_view> guided_;
  std::vector<retrieval_level_view> last_;
  std::uint32_t first_mask_ = 0;
  std::uint32_t guided_mask_ = 0;
  std::uint32_t shift_ = 0;
  bool negated_ = false;
};

}  // namespace bloomset::detail
