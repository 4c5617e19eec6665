// The scalable filter: a chain of Bloom filters that grows at its end.

#include <bloomset/scalable_bloom.hpp>

#include "walk.hpp"

namespace bloomset::explorer {
namespace {

constexpr std::uint64_t max_first_capacity = 64;
// At most this many bits of a chain can be drawn, so no more are sent to the page.
constexpr std::uint64_t max_bits = 4096;

class chain_walk {
 public:
  explicit chain_walk(scalable_bloom filter) : filter_(std::move(filter)) {}

  json tell(const step& each) {
    json now = told(each);
    const hash64 h = filter_.hash_function()(bytes_of(each.element));
    json& asks = now["asks"] = json::array();
    bool found = false;
    for (std::size_t i = filter_.members().size(); i-- > 0 && !found;) {
      const auto& member = filter_.members()[i];
      found = member.may_contain(h);
      json places = json::array();
      for (unsigned k = 0; k < member.params().hashes; ++k) {
        places.push_back(double_hashing::position(h, k, member.params().bits));
      }
      asks.push_back({{"member", i}, {"found", found}, {"places", places}});
    }
    if (each.what == verb::insert) {
      const std::size_t before = filter_.members().size();
      now["verdict"] = insert_verdict(members_, each.element, filter_.insert(h));
      now["opened"] = filter_.members().size() > before;
    } else {
      now["verdict"] = check_verdict(members_, each.element, found);
    }
    state(now);
    return now;
  }

  void state(json& now) const {
    json& members = now["members"] = json::array();
    std::uint64_t drawn = 0;
    for (const auto& member : filter_.members()) {
      json one = {{"m", member.params().bits},
                  {"k", member.params().hashes},
                  {"capacity", member.capacity()},
                  {"used", member.size()},
                  {"rate", member.current_fpr()}};
      drawn += member.params().bits;
      if (drawn <= max_bits) {
        json& set = one["set"] = json::array();
        for (std::uint64_t i = 0; i < member.params().bits; ++i) {
          if (detail::test_bit(member.bits().data(), i)) set.push_back(i);
        }
      }
      members.push_back(std::move(one));
    }
    now["n"] = members_.distinct();
    now["rate"] = filter_.current_fpr();
  }

 private:
  scalable_bloom filter_;
  teach::member_set members_;
};

}  // namespace

result<json> walk_chain(const json& asked, const std::vector<step>& steps) {
  const auto capacity = number_of(asked, "capacity", 4, 1, max_first_capacity);
  if (!capacity) return fail(capacity.error());
  const auto rate = parse_rate(asked.value("rate", "5%"));
  if (!rate) return fail(rate.error());
  auto filter = scalable_bloom::make({.capacity = *capacity, .fpr = *rate});
  if (!filter) return fail(std::move(filter.error()));
  chain_walk teller(std::move(*filter));
  json all = {{"wanted", *rate}};
  tell_steps(teller, steps, all,
             "a scalable Bloom filter cannot erase: a bit may be another element's too");
  return all;
}

}  // namespace bloomset::explorer
