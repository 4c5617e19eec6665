// The cuckoo filter: an element's two buckets, and the entries that an insert moves.

#include <ranges>

#include "teach/cuckoo_table.hpp"
#include "walk.hpp"

namespace bloomset::explorer {
namespace {

constexpr std::uint64_t max_buckets = 64;

class cuckoo_walk {
 public:
  explicit cuckoo_walk(cuckoo filter)
      : filter_(std::move(filter)),
        layout_(filter_.params().buckets, filter_.params().slots,
                filter_.params().fingerprint_bits) {}

  json tell(const step& each) {
    json now = told(each);
    now["gone"] = members_.erased(each.element);
    const cuckoo_place at = place_of(each.element);
    now["fingerprint"] = hex(at.fingerprint);
    now["buckets"] = {at.first, at.second};
    const teach::cuckoo_slots before = teach::slots_of(filter_);
    const unsigned stashed = filter_.stashed();
    if (each.what == verb::insert) {
      const insert_outcome outcome = filter_.insert(each.element);
      now["verdict"] = insert_verdict(members_, each.element, outcome);
      now["moves"] = moves(before, at);
      now["stashes"] = filter_.stashed() > stashed;
    } else if (each.what == verb::check) {
      now["verdict"] = check_verdict(members_, each.element, filter_.may_contain(each.element));
    } else {
      now["verdict"] = erase_verdict(members_, each.element, filter_.erase(each.element));
      const teach::cuckoo_slots after = teach::slots_of(filter_);
      json& left = now["left"] = json::array();
      for (std::size_t slot = 0; slot < after.size(); ++slot) {
        if (before[slot] != after[slot]) left.push_back(slot);
      }
    }
    json& twins = now["twins"] = json::array();
    for (const auto& [member, copies] : members_.copies()) {
      if (teach::indistinguishable(place_of(member), at) && member != each.element) {
        twins.push_back(member);
      }
    }
    state(now);
    return now;
  }

  /// The slots, the stash and the figures.
  void state(json& now) const {
    json& slots = now["slots"] = json::array();
    for (const std::uint32_t each : teach::slots_of(filter_)) {
      slots.push_back(each == 0 ? "" : hex(each));
    }
    json& stash = now["stash"] = json::array();
    for (unsigned i = 0; i < filter_.stashed(); ++i) {
      stash.push_back(hex(layout_.stashed(filter_.bytes().data(), i).fingerprint));
    }
    now["n"] = members_.distinct();
    now["taken"] = filter_.size() - filter_.stashed();
    now["rate"] = filter_.current_fpr();
  }

 private:
  std::string hex(std::uint32_t fingerprint) const {
    return fmt::format("{:0{}x}", fingerprint, (filter_.params().fingerprint_bits + 3) / 4);
  }
  cuckoo_place place_of(const std::string& element) const {
    return filter_.place(filter_.hash_function()(bytes_of(element)));
  }

  json moves(const teach::cuckoo_slots& before, const cuckoo_place& at) const {
    json all = json::array();
    const auto chain = teach::moves_between(layout_, before, teach::slots_of(filter_), at);
    for (const teach::cuckoo_move& move : std::views::reverse(chain)) {
      json one = {{"fingerprint", hex(move.fingerprint)}, {"to", move.to}};
      if (move.from) {
        one["from"] = *move.from;
        json& whose = one["whose"] = json::array();
        for (const auto& [member, copies] : members_.copies()) {
          const std::uint64_t bucket = *move.from / layout_.slots();
          if (teach::may_own(place_of(member), move.fingerprint, bucket)) whose.push_back(member);
        }
      }
      all.push_back(std::move(one));
    }
    return all;
  }

  cuckoo filter_;
  detail::cuckoo_layout layout_;
  teach::member_set members_;
};

}  // namespace

result<json> walk_cuckoo(const json& asked, const std::vector<step>& steps) {
  const auto buckets = number_of(asked, "buckets", 4, 1, max_buckets);
  if (!buckets) return fail(buckets.error());
  const auto slots = number_of(asked, "slots", 2, 2, 8);
  if (!slots) return fail(slots.error());
  const auto bits = number_of(asked, "fingerprint_bits", 8, 4, 32);
  if (!bits) return fail(bits.error());
  auto filter = teach::make_cuckoo_table(*buckets, static_cast<unsigned>(*slots),
                                         static_cast<unsigned>(*bits));
  if (!filter) return fail(std::move(filter.error()));
  cuckoo_walk teller(std::move(*filter));
  json all = {{"buckets", *buckets}, {"slots", *slots}};
  tell_steps(teller, steps, all);
  return all;
}

}  // namespace bloomset::explorer
