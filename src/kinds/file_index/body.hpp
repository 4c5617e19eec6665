#pragma once

// The stored form of a file_index, and its queries. docs/reference/format.md describes it.

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/detail/retrieval/retrieval.hpp>
#include <bloomset/file_index.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(hidden)  // a shared build does not show it

namespace bloomset::detail {

/// The places of answers in a class of 2^bits of them.
struct second_params {
  std::uint32_t bits = 0;
  retrieval_params values;
};

/// A section of the payload. Zeros follow the used bytes.
struct section_size {
  std::uint64_t used;
  std::uint64_t all;  ///< a multiple of 8
};

struct file_index_params {
  static constexpr std::uint32_t no_answer = 0xffffffff;
  static constexpr std::uint32_t max_answers = std::uint32_t{1} << 26;
  static constexpr std::uint32_t group = 32;      ///< answers that share a rank
  static constexpr std::uint32_t list_group = 8;  ///< lists that share an offset

  std::uint32_t files = 0;
  std::uint32_t answers = 0;  ///< files with keys of their own, lists, and the chain
  std::uint32_t classes = 0;
  std::uint32_t lists = 0;          ///< among the answers
  std::uint32_t chain = no_answer;  ///< the answer whose files are in the chain, or no_answer
  double fpr = 0;
  std::uint64_t list_bits = 0;
  std::uint64_t name_bytes = 0;
  std::uint64_t chain_seed = 0;
  retrieval_params first;
  std::vector<second_params> seconds;  ///< by ascending bits
  retrieval_params links;              ///< of the chain

  /// The bits of a file's number.
  unsigned file_bits() const noexcept;
  /// The sizes of all sections, in their order.
  std::vector<section_size> sections() const;
  bool possible() const noexcept;

  std::vector<std::byte> encode() const;
  static result<file_index_params> decode(const filter_header& header,
                                          std::span<const std::byte> block);
};

/// The fingerprint of a hash, below `fingerprints`. It depends on the hash otherwise than rows and
/// starts of retrieval do, so that the value of another key is its own by chance only.
inline std::uint32_t file_fingerprint(hash64 h, std::uint64_t fingerprints) noexcept {
  return static_cast<std::uint32_t>(mulhi64(remix64(h.value ^ 0xd1b54a32d192ed03), fingerprints));
}

/// The hash of link i of a key's chain.
inline hash64 link_hash(hash64 h, std::uint64_t seed, std::uint32_t i) noexcept {
  return {remix64(remix64(h.value + seed) + i)};
}

class file_index_body {
 public:
  static result<file_index_body> open(const filter_header& header, file_index_params params,
                                      mapped_storage payload);

  const file_index_params& params() const noexcept { return params_; }
  std::span<const std::byte> payload() const noexcept { return payload_.bytes(); }
  const hash_seed& seed() const noexcept { return seed_; }
  std::uint64_t count() const noexcept { return count_; }
  std::string_view name(std::size_t file) const noexcept;

  /// Appends the files of a hash.
  void find(hash64 h, std::vector<std::uint32_t>& files) const;
  void find(std::span<const hash64> hashes, file_lists& lists) const;
  double current_fpr() const noexcept;

 private:
  struct class_place {
    std::uint32_t begin;
    std::uint32_t bits;
  };

  /// The class of a hash with that value of the first structure, or a larger number.
  std::uint32_t class_of(hash64 h, std::uint32_t value) const noexcept {
    return value - file_fingerprint(h, fingerprints_) * params_.classes;
  }
  void append_files(hash64 h, std::uint32_t answer, std::vector<std::uint32_t>& files) const;
  void append_chain(hash64 h, std::vector<std::uint32_t>& files) const;
  void find_group(std::span<const hash64> hashes, file_lists& lists) const;

  file_index_params params_;
  mapped_storage payload_;
  hash_seed seed_;
  std::uint64_t count_ = 0;
  std::uint64_t fingerprints_ = 0;
  retrieval_view first_;
  std::vector<retrieval_view> seconds_;  // by bits
  retrieval_view links_;
  std::vector<class_place> classes_;
  const std::byte* flags_ = nullptr;    // whether an answer is a list, with ranks
  const std::byte* singles_ = nullptr;  // the files of other answers
  const std::byte* list_offsets_ = nullptr;
  const std::byte* lists_ = nullptr;
  const std::byte* name_ends_ = nullptr;
  const std::byte* names_ = nullptr;
};

}  // namespace bloomset::detail

#pragma GCC visibility pop
