// The blocked filter beside a classic one of the same size: one cache line against many.

#include <bloomset/blocked_bloom.hpp>
#include <bloomset/bloom.hpp>
#include <set>

#include "walk.hpp"

namespace bloomset::explorer {
namespace {

constexpr std::uint64_t max_blocks = 16;
constexpr std::uint64_t line_bits = 512;

json ones_of(std::span<const std::byte> bits) {
  json set = json::array();
  for (std::uint64_t i = 0; i < 8 * bits.size(); ++i) {
    if (detail::test_bit(bits.data(), i)) set.push_back(i);
  }
  return set;
}

class block_walk {
 public:
  block_walk(blocked_bloom blocked, bloom classic)
      : blocked_(std::move(blocked)), classic_(std::move(classic)) {}

  json tell(const step& each) {
    json now = told(each);
    const hash64 h = blocked_.hash_function()(bytes_of(each.element));
    // The positions of a key are the bits that it sets in an empty filter.
    const std::uint64_t block = detail::split_512::block_of(h, blocked_.params().blocks);
    json places = json::array();
    detail::split_512::for_words(h, 0, [&](std::uint64_t word, std::uint64_t bit) {
      places.push_back(block * line_bits + word * 64 +
                       static_cast<std::uint64_t>(__builtin_ctzll(bit)));
    });
    std::set<std::uint64_t> lines;
    json classic_places = json::array();
    for (unsigned i = 0; i < classic_.params().hashes; ++i) {
      const std::uint64_t place = double_hashing::position(h, i, classic_.params().bits);
      classic_places.push_back(place);
      lines.insert(place / line_bits);
    }
    now["block"] = block;
    now["places"] = places;
    now["classic_places"] = classic_places;
    now["classic_lines"] = lines;
    if (each.what == verb::insert) {
      now["classic"] = classic_.insert(h) != insert_outcome::inserted;
      now["verdict"] = insert_verdict(members_, each.element, blocked_.insert(h));
    } else {
      now["classic"] = classic_.may_contain(h);
      now["verdict"] = check_verdict(members_, each.element, blocked_.may_contain(h));
    }
    state(now);
    return now;
  }

  void state(json& now) const {
    now["blocked_set"] = ones_of(blocked_.bits());
    now["classic_set"] = ones_of(classic_.bits());
    now["n"] = members_.distinct();
    now["rate"] = blocked_.current_fpr();
    now["classic_rate"] = classic_.current_fpr();
  }

 private:
  blocked_bloom blocked_;
  bloom classic_;
  teach::member_set members_;
};

}  // namespace

result<json> walk_blocks(const json& asked, const std::vector<step>& steps) {
  const auto blocks = number_of(asked, "blocks", 4, 1, max_blocks);
  if (!blocks) return fail(blocks.error());
  const blocked_bloom_params params{
      .capacity = *blocks * 50,
      .fpr = formulas::split_block_fpr(static_cast<double>(*blocks) * 50, *blocks, 8, 64),
      .blocks = *blocks,
      .hashes = 8,
      .layout = block_layout::split_512};
  auto memory = owned_storage::make(params.bits() / 8);
  if (!memory) return fail(std::move(memory.error()));
  auto blocked = blocked_bloom::open(params, std::move(*memory), 0);
  if (!blocked) return fail(std::move(blocked.error()));
  auto classic = bloom::make({.capacity = *blocks * 50, .bits = *blocks * line_bits, .hashes = 8});
  if (!classic) return fail(std::move(classic.error()));
  block_walk teller(std::move(*blocked), std::move(*classic));
  json all = {{"blocks", *blocks}, {"functions", 8}};
  tell_steps(teller, steps, all,
             "a blocked Bloom filter cannot erase: a bit may be another element's too");
  return all;
}

}  // namespace bloomset::explorer
