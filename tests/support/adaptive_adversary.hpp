#pragma once

// An adversary who sees all answers of a filter, and chooses each step by them. tests/ and
// bench/modes/attack.cpp use it.

#include <bloomset/any_filter.hpp>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/words.hpp"

namespace bloomset::test {

/// Asks, inserts and erases. Of his own keys only: whoever erases other keys removes members.
///
/// New keys are random, or changed positives. Half of the inserts are of keys that passed before
/// they were inserted, half of keys that did not and so set a bit. Inserts end at the capacity, or
/// at four times the capacity of a filter that grows.
class adaptive_adversary {
 public:
  struct outcome {
    std::uint64_t asked = 0;     ///< new keys
    std::uint64_t passed = 0;    ///< of them
    std::uint64_t repeated = 0;  ///< queries of positives that he had found
    std::uint64_t still = 0;     ///< of them, those that passed again
    std::uint64_t inserted = 0;
    std::uint64_t refused = 0;  ///< inserts
    std::uint64_t erased = 0;
    std::uint64_t not_erased = 0;  ///< erases of members that failed
    std::uint64_t lost = 0;        ///< queries of members that were denied
    double planned_fpr = 0;

    double rate() const { return static_cast<double>(passed) / static_cast<double>(asked); }
  };

  /// `members` are in the filter, which has room for `room` keys in all.
  adaptive_adversary(any_filter& filter, std::vector<std::string> members, std::uint64_t room,
                     std::uint64_t seed)
      : filter_(filter), members_(std::move(members)), room_(room), random_(seed) {}

  outcome run(std::uint64_t steps) {
    const abilities can = filter_.can();
    for (std::uint64_t i = 0; i < steps; ++i) {
      const bool has_room = members_.size() + own_.size() < room_;
      switch (random_() % 16) {
        case 0:
        case 1:
          if (can.insert && has_room) {
            insert(some_key());
            break;
          }
          [[fallthrough]];
        case 2:
          if (can.erase && !own_.empty() && (!has_room || random_() % 4 == 0)) {
            erase();
            break;
          }
          [[fallthrough]];
        case 3:
        case 4:
          if (!found_.empty()) {
            ++seen_.repeated;
            seen_.still += filter_.may_contain(one_of(found_));
            break;
          }
          [[fallthrough]];
        case 5:
          check(one_of(own_.empty() || random_() % 2 == 0 ? members_ : own_));
          break;
        default:
          ask(some_key());
      }
    }
    for (const auto* all : {&members_, &own_}) {
      for (const std::string& member : *all) check(member);
    }
    return seen_;
  }

 private:
  std::string& one_of(std::vector<std::string>& keys) { return keys[random_() % keys.size()]; }

  /// A key that nobody has asked for: 12 random bytes, seldom many more, or a positive of which two
  /// bytes are changed.
  std::string some_key() {
    if (!found_.empty() && random_() % 2 == 0) {
      std::string key = one_of(found_);
      const std::size_t at = random_() % key.size();
      const std::size_t other = (at + 1 + random_() % (key.size() - 1)) % key.size();
      for (const std::size_t i : {at, other}) key[i] ^= static_cast<char>(1 + random_() % 255);
      return key;
    }
    std::string key(random_() % 256 == 0 ? 1088 : 12, '\0');
    for (std::size_t i = 0; i < key.size(); i += 4) {
      const auto word = static_cast<std::uint32_t>(random_());
      std::memcpy(key.data() + i, &word, sizeof word);
    }
    return key;
  }

  void ask(std::string key) {
    ++seen_.asked;
    if (!filter_.may_contain(key)) return;
    ++seen_.passed;
    // The oldest of a bounded number are forgotten, so that memory and caches hold them.
    if (found_.size() < 1000) {
      found_.push_back(std::move(key));
    } else {
      one_of(found_) = std::move(key);
    }
  }

  void insert(std::string key) {
    if (!found_.empty() && random_() % 2 == 0) {
      // He inserts a positive, which is none any more.
      std::string& positive = one_of(found_);
      key.swap(positive);
      std::swap(positive, found_.back());
      found_.pop_back();
    } else if (filter_.may_contain(key)) {
      return;
    }
    const std::string_view view = key;
    const auto done = filter_.insert(std::span(&view, 1));
    if (!done || done->done != 1) {
      ++seen_.refused;
      return;
    }
    ++seen_.inserted;
    own_.push_back(std::move(key));
  }

  void erase() {
    std::string& key = one_of(own_);
    const std::string_view view = key;
    bool erased = false;
    if (!filter_.erase(std::span(&view, 1), std::span(&erased, 1)) || !erased) ++seen_.not_erased;
    ++seen_.erased;
    std::swap(key, own_.back());
    own_.pop_back();
  }

  void check(const std::string& member) { seen_.lost += !filter_.may_contain(member); }

  any_filter& filter_;
  std::vector<std::string> members_;
  std::uint64_t room_;
  std::mt19937_64 random_;
  std::vector<std::string> own_;
  std::vector<std::string> found_;
  outcome seen_;
};

/// The outcome of so many steps against a filter with a secret key, of capacity 50,000 at 1% (or at
/// the rate of a kind of two sets).
/// 30,000 keys are members before.
inline adaptive_adversary::outcome attack_keyed(const kind_info& kind, std::uint64_t steps,
                                                std::uint64_t seed) {
  const plan_request request{.capacity = 50'000, .fpr = 0.01, .seed = hash_key{{seed, 0x5ec4e7}}};
  std::vector<std::string> members = words("member", 30'000);
  any_filter filter = filter_of(kind, request, members);
  const std::uint64_t room = kind.can.grow ? 4 * request.capacity : request.capacity;
  auto seen = adaptive_adversary(filter, std::move(members), room, seed).run(steps);
  seen.planned_fpr = filter.info().plan.planned_fpr;
  return seen;
}

}  // namespace bloomset::test
