// The vector quotient filter: a tag, its two blocks, and the one with fewer tags, which receives
// it.

#include <bloomset/vector_quotient.hpp>

#include "walk.hpp"

namespace bloomset::explorer {
namespace {

constexpr std::uint64_t max_drawn_blocks = 16;

class quotient_walk {
 public:
  explicit quotient_walk(vector_quotient filter) : filter_(std::move(filter)) {}

  json tell(const step& each) {
    json now = told(each);
    now["gone"] = members_.erased(each.element);
    const hash64 h = filter_.hash_function()(bytes_of(each.element));
    const vector_quotient_place at = filter_.place(h);
    const unsigned bits = filter_.params().remainder_bits;
    now["blocks"] = {at.first, at.second};
    now["bucket"] = at.tag >> bits;
    now["remainder"] =
        fmt::format("{:0{}x}", at.tag & ((std::uint64_t{1} << bits) - 1), (bits + 3) / 4);
    now["before"] = taken();
    if (each.what == verb::insert) {
      now["verdict"] = insert_verdict(members_, each.element, filter_.insert(h));
    } else if (each.what == verb::check) {
      now["verdict"] = check_verdict(members_, each.element, filter_.may_contain(h));
    } else {
      now["verdict"] = erase_verdict(members_, each.element, filter_.erase(h));
    }
    now["copies"] = filter_.count(h);
    state(now);
    return now;
  }

  void state(json& now) const {
    now["taken"] = taken();
    now["stashed"] = filter_.stashed();
    now["n"] = members_.distinct();
    now["rate"] = filter_.current_fpr();
  }

 private:
  json taken() const {
    json all = json::array();
    for (std::uint64_t block = 0; block < filter_.params().blocks; ++block) {
      all.push_back(filter_.slots_taken(block));
    }
    return all;
  }

  vector_quotient filter_;
  teach::member_set members_;
};

}  // namespace

result<json> walk_quotient(const json& asked, const std::vector<step>& steps) {
  const auto blocks = number_of(asked, "blocks", 4, 1, max_drawn_blocks);
  if (!blocks) return fail(blocks.error());
  // The shape of a plan at 1% with that many blocks.
  auto filter = vector_quotient::make({.fpr = 0.01, .bits = *blocks * 512 + 512});
  if (!filter) return fail(std::move(filter.error()));
  const auto& params = filter->params();
  json all = {{"blocks", params.blocks},
              {"slots", params.slots},
              {"buckets", params.buckets},
              {"remainder_bits", params.remainder_bits}};
  quotient_walk teller(std::move(*filter));
  tell_steps(teller, steps, all);
  return all;
}

}  // namespace bloomset::explorer
