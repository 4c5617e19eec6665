// SeqAn's hierarchical interleaved Bloom filter (Mehringer et al., Genome Biology 24, 2023), which
// finds the sequences that share many k-mers with a read. Here each key is asked alone, so that one
// match names a file.

#include <cstdint>
#include <hibf/hierarchical_interleaved_bloom_filter.hpp>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "hibf.hpp"

namespace bench {
namespace {

class hibf final : public index_peer {
 public:
  hibf(const std::vector<std::vector<bloomset::hash64>>& keys_of_file, double rate_of_file,
       std::size_t hashes)
      : filter_(made(keys_of_file, rate_of_file, hashes)), agent_(filter_.membership_agent()) {}

  std::uint64_t bytes() const override {
    return std::accumulate(
        filter_.ibf_vector.begin(), filter_.ibf_vector.end(), std::uint64_t{0},
        [](std::uint64_t sum, const auto& one) { return sum + one.bit_size() / 8; });
  }
  std::size_t count_named(std::span<const bloomset::hash64> asked) override {
    std::size_t named = 0;
    for (const bloomset::hash64 h : asked) {
      const std::array value{h.value};
      named += !agent_.membership_for(value, 1).empty();
    }
    return named;
  }

 private:
  using index = seqan::hibf::hierarchical_interleaved_bloom_filter;

  static index made(const std::vector<std::vector<bloomset::hash64>>& keys_of_file,
                    double rate_of_file, std::size_t hashes) {
    seqan::hibf::config config{
        .input_fn =
            [&](std::size_t file, seqan::hibf::insert_iterator it) {
              for (const bloomset::hash64 h : keys_of_file[file]) it = h.value;
            },
        .number_of_user_bins = keys_of_file.size(),
        .number_of_hash_functions = hashes,
        .maximum_fpr = rate_of_file,
    };
    return index(config);
  }

  index filter_;
  index::membership_agent_type agent_;
};

}  // namespace

[[gnu::visibility("default")]] std::unique_ptr<index_peer> make_hibf(
    const std::vector<std::vector<bloomset::hash64>>& keys_of_file, double rate_of_file,
    std::size_t hashes) {
  return std::make_unique<hibf>(keys_of_file, rate_of_file, hashes);
}

}  // namespace bench
