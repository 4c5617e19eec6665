// What the textbook compares filters with: sets that keep their keys.

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <bloomset/any_filter.hpp>
#include <cstdio>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_set>

#include "keys.hpp"
#include "measure.hpp"
#include "modes.hpp"
#include "process.hpp"

namespace bench {
namespace {

using views = std::span<const std::string_view>;

// Bytes that the largest of them, std::set, takes a URL with glibc's allocator, and some to spare.
constexpr std::uint64_t bytes_per_url = 175;
constexpr std::size_t chunk = std::size_t{1} << 16;
constexpr std::size_t max_questions = std::size_t{1} << 20;

/// The questions of one share of members: URLs at random places of the set, or non-members.
std::vector<std::string> mixed_urls(std::uint64_t n, int present) {
  // No more than there are keys, so that a trial is short.
  std::vector<std::string> all(std::min<std::uint64_t>(n, max_questions));
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    const std::uint64_t coin = mixed(i);
    const bool member = coin % 100 < static_cast<unsigned>(present);
    append_url(all[i], member ? mixed(coin) % n : strange_urls + i);
  }
  return all;
}

struct how {
  std::uint64_t n = 0;
  unsigned runs = 3;
  std::array<std::vector<std::string>, shares.size()> questions;
};

/// Fills by `add` a chunk of keys at a time, whose making is not timed, ends by `finish`, asks.
nlohmann::json measure(const std::string& name, const how& what,
                       const std::function<void(views)>& add, const std::function<void()>& finish,
                       const std::function<std::size_t(views)>& ask) {
  fmt::print(stderr, "{} URLs: {}\n", what.n, name);
  ::malloc_trim(0);
  const std::uint64_t before = memory_now();
  double seconds = 0;
  std::uint64_t text = 0;
  for (std::uint64_t at = 0; at < what.n; at += chunk) {
    const urls some(at, std::min<std::uint64_t>(chunk, what.n - at));
    const stopwatch watch;
    add(some.all());
    seconds += watch.seconds();
    text += some.bytes();
  }
  const stopwatch end;
  finish();
  seconds += end.seconds();
  ::malloc_trim(0);
  const std::uint64_t now = memory_now();
  nlohmann::json j = {{"record", "set"},
                      {"name", name},
                      {"n", what.n},
                      {"text", text},
                      {"bytes", now > before ? now - before : 0},
                      {"build_ns", seconds * 1e9 / static_cast<double>(what.n)},
                      {"query", nlohmann::json::array()}};
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const std::vector<std::string_view> asked(what.questions[s].begin(), what.questions[s].end());
    times taken;
    std::size_t found = 0;
    for (unsigned run = 0; run < what.runs; ++run) {
      const stopwatch watch;
      found = ask(asked);
      taken.add(watch.seconds(), asked.size());
    }
    if (shares[s] == 100 && found != asked.size()) {
      throw std::runtime_error(name + " denies a member");
    }
    j["query"].push_back(figures(taken));
    j["query"].back()["present"] = shares[s];
  }
  return j;
}

template <class Has>
std::size_t count_if(views asked, Has&& has) {
  return static_cast<std::size_t>(std::count_if(asked.begin(), asked.end(), has));
}

struct text_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>()(text);
  }
};

nlohmann::json unordered(const how& what) {
  std::unordered_set<std::string, text_hash, std::equal_to<>> set;
  set.reserve(what.n);
  return measure(
      "std::unordered_set", what, [&](views keys) { set.insert(keys.begin(), keys.end()); }, [] {},
      [&](views asked) {
        return count_if(asked, [&](std::string_view key) { return set.contains(key); });
      });
}

nlohmann::json ordered(const how& what) {
  std::set<std::string, std::less<>> set;
  return measure(
      "std::set", what,
      [&](views keys) {
        for (const std::string_view key : keys) set.emplace(key);
      },
      [] {},
      [&](views asked) {
        return count_if(asked, [&](std::string_view key) { return set.contains(key); });
      });
}

nlohmann::json sorted(const how& what) {
  std::vector<std::string> array;
  array.reserve(what.n);
  return measure(
      "sorted std::vector", what,
      [&](views keys) { array.insert(array.end(), keys.begin(), keys.end()); },
      [&] { std::sort(array.begin(), array.end()); },
      [&](views asked) {
        return count_if(asked, [&](std::string_view key) {
          return std::binary_search(array.begin(), array.end(), key, std::less<>());
        });
      });
}

/// A kind of filter at 1%; what is built at once is built from the hashes.
nlohmann::json filter_of(const bloomset::kind_info& kind, const how& what) {
  bloomset::plan_request request{.capacity = what.n, .fpr = 0.01};
  std::optional<bloomset::any_filter> filter;
  std::vector<bloomset::hash64> hashes;
  if (kind.build == nullptr) {
    filter.emplace(kind.create(request).value());
  } else {
    hashes.reserve(what.n);
  }
  const bloomset::filter_hasher hash(request.seed);
  const flags answers = make_flags(max_questions);
  nlohmann::json j = measure(
      "bloomset " + std::string(kind.name), what,
      [&](views keys) {
        if (filter) {
          filter->insert(keys).value();
        } else {
          for (const std::string_view key : keys) {
            hashes.push_back(hash(std::as_bytes(std::span(key))));
          }
        }
      },
      [&] {
        if (!filter) filter.emplace(kind.build(request, bloomset::hash_source::of(hashes)).value());
        hashes = {};
      },
      [&](views asked) {
        filter->may_contain(asked, {answers.get(), asked.size()});
        return static_cast<std::size_t>(
            std::count(answers.get(), answers.get() + asked.size(), true));
      });
  j["bytes"] = filter->info().plan.bytes;  // more exact than the kernel's count
  return j;
}

}  // namespace

void compare_sets(std::uint64_t n, const sink& write) {
  const std::uint64_t most = memory_left() / bytes_per_url;
  how what{.n = std::min(n, std::max<std::uint64_t>(1, most)), .questions = {}};
  if (what.n < n) {
    fmt::print(stderr, "memory holds {} of {} URLs in each kind of set\n", what.n, n);
  }
  for (std::size_t s = 0; s < shares.size(); ++s) {
    what.questions[s] = mixed_urls(what.n, shares[s]);
  }
  for (const bloomset::kind_info& kind : bloomset::kinds()) {
    // A kind of two sets needs all other keys, too, which no set has.
    if (kind.build_of_two_sets == nullptr) write(filter_of(kind, what));
  }
  write(unordered(what));
  write(ordered(what));
  write(sorted(what));
}

}  // namespace bench
