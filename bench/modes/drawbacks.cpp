// The drawbacks that textbooks list, measured: what counting costs, what growth does to queries,
// space and rate, and what an insert into a nearly full table costs. docs/how-it-works/drawbacks.md
// shows them.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <bloomset/bloomset.hpp>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "keys.hpp"
#include "measure.hpp"
#include "modes.hpp"
#include "random_walk.hpp"

namespace bench {
namespace {

using bloomset::hash64;

constexpr double eps = 0.01;
constexpr std::uint64_t first_capacity = 64;
constexpr std::size_t max_growth_questions = std::size_t{1} << 20;
// The standard error of a measured 1% is 0.007%.
constexpr std::uint64_t asked_non_members = 2'000'000;

std::vector<hash64> members(std::uint64_t first, std::uint64_t count) {
  std::vector<hash64> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = member(first + i);
  return all;
}

template <class F>
double bits_per_key(const F& filter, std::uint64_t n) {
  return 8.0 * static_cast<double>(filter.size_in_bytes()) / static_cast<double>(n);
}

/// In batches of so many; 0: in one; 1: by calls for one key.
template <class F>
void insert_all(F& filter, keys all, std::size_t batch = 0) {
  if (batch == 1) {
    const bool have_room = std::all_of(
        all.begin(), all.end(), [&](bloomset::hash64 h) { return is_contained(filter.insert(h)); });
    if (!have_room) throw std::runtime_error("not all keys found room");
    return;
  }
  if (batch == 0) batch = all.size();
  for (std::size_t at = 0; at < all.size(); at += batch) {
    const keys some = all.subspan(at, std::min(batch, all.size() - at));
    if (filter.insert(some).done != some.size()) {
      throw std::runtime_error("not all keys found room");
    }
  }
}

template <class F>
double measured_rate(const F& filter) {
  std::vector<hash64> asked(std::size_t{1} << 16);
  const flags answers = make_flags(asked.size());
  std::uint64_t found = 0;
  std::uint64_t count = 0;
  for (; count < asked_non_members; count += asked.size()) {
    for (std::size_t i = 0; i < asked.size(); ++i) asked[i] = non_member(count + i);
    filter.may_contain(asked, std::span(answers.get(), asked.size()));
    found +=
        static_cast<std::uint64_t>(std::count(answers.get(), answers.get() + asked.size(), true));
  }
  return static_cast<double>(found) / static_cast<double>(count);
}

/// Seconds for all keys, asked in batches of 1024.
template <class F>
double ask(const F& filter, keys asked) {
  const flags answers = make_flags(asked.size());
  const stopwatch watch;
  for (std::size_t at = 0; at < asked.size(); at += 1024) {
    const keys some = asked.subspan(at, std::min<std::size_t>(1024, asked.size() - at));
    filter.may_contain(some, std::span(answers.get() + at, some.size()));
  }
  keep(answers[0]);
  return watch.seconds();
}

/// Seconds for all keys, asked by calls for one key.
template <class F>
double ask_alone(const F& filter, keys asked) {
  const stopwatch watch;
  const auto found =
      std::count_if(asked.begin(), asked.end(), [&](hash64 h) { return filter.may_contain(h); });
  keep(found);
  return watch.seconds();
}

// -- what counting costs ----------------------------------------------------------------------

template <class F>
void count_in(const char* name, std::uint64_t n, const sink& write) {
  F filter = F::make({.capacity = n, .fpr = eps}).value();
  insert_all(filter, members(0, n));
  write({{"record", "counting"},
         {"name", name},
         {"n", n},
         {"bits_per_key", bits_per_key(filter, n)},
         {"rate", measured_rate(filter)},
         {"erases", bloomset::erasable<F>},
         {"counts", bloomset::countable<F>}});
}

// -- growth -----------------------------------------------------------------------------------

/// A filter on its way from 64 keys to many.
class growing_filter {
 public:
  growing_filter(std::string name, std::uint64_t most) : name_(std::move(name)), most_(most) {}
  growing_filter(const growing_filter&) = delete;
  growing_filter& operator=(const growing_filter&) = delete;
  virtual ~growing_filter() = default;

  const std::string& name() const noexcept { return name_; }
  std::uint64_t most() const noexcept { return most_; }

  /// Makes it hold n keys: the seconds that it took, and in `added` how many keys it inserted.
  virtual double grow(std::uint64_t n, std::uint64_t& added) = 0;
  virtual double ask_all(keys asked) const = 0;
  virtual double ask_each(keys asked) const = 0;
  virtual double bits(std::uint64_t n) const = 0;
  virtual double rate() const = 0;

 private:
  std::string name_;
  std::uint64_t most_;
};

/// One filter that doubles, or `anew` one made for each size. The keys of a doubling come in
/// batches of `batch`, or in one.
template <class F>
class grower final : public growing_filter {
 public:
  using spec_type = typename F::spec_type;

  grower(std::string name, spec_type spec, std::uint64_t most, bool anew, std::size_t batch)
      : growing_filter(std::move(name), most), spec_(spec), anew_(anew), batch_(batch) {
    spec_.fpr = eps;
    spec_.capacity = first_capacity;
  }

  double grow(std::uint64_t n, std::uint64_t& added) override {
    if (!filter_ || anew_) {
      if (anew_) spec_.capacity = n;
      filter_.emplace(F::make(spec_).value());
      size_ = 0;
    }
    const auto fresh = members(size_, n - size_);
    const stopwatch watch;
    insert_all(*filter_, fresh, batch_);
    size_ = n;
    added = fresh.size();
    return watch.seconds();
  }
  double ask_all(keys asked) const override { return ask(*filter_, asked); }
  double ask_each(keys asked) const override { return ask_alone(*filter_, asked); }
  double bits(std::uint64_t n) const override { return bits_per_key(*filter_, n); }
  double rate() const override { return measured_rate(*filter_); }

 private:
  spec_type spec_;
  bool anew_;
  std::size_t batch_;
  std::optional<F> filter_;
  std::uint64_t size_ = 0;
};

using growing_filters = std::vector<std::unique_ptr<growing_filter>>;

growing_filters filters_that_grow(std::uint64_t most) {
  using namespace bloomset;
  const double growth = static_cast<double>(most) / first_capacity;
  growing_filters all;
  const auto add = [&]<class F>(std::type_identity<F>, const char* name,
                                const typename F::spec_type& spec, std::uint64_t to,
                                bool anew = false, std::size_t batch = 0) {
    all.push_back(std::make_unique<grower<F>>(name, spec, to, anew, batch));
  };
  constexpr std::type_identity<expandable> ours;
  constexpr std::type_identity<vector_quotient> quotient;
  add(std::type_identity<blocked_bloom>(), "blocked_bloom, beyond its capacity", {},
      std::min<std::uint64_t>(most, 1024));
  add(std::type_identity<scalable_bloom>(), "scalable_bloom", {}, most);
  add(ours, "expandable", {}, most);
  add(ours, "expandable, growth given", {.growth = growth}, most);
  add(ours, "expandable, 1024 keys at a time", {}, most, false, 1024);
  add(ours, "expandable, one key at a time", {}, most, false, 1);
  add(ours, "expandable, made at that size", {}, most, true);
  add(quotient, "vector_quotient, made at that size", {}, most, true);
  add(quotient, "vector_quotient, 1024 keys at a time", {}, most, true, 1024);
  add(quotient, "vector_quotient, one key at a time", {}, most, true, 1);
  return all;
}

/// Three times from 64 keys to `most`; at each doubling all filters take their turns before the
/// next one, and again with questions, so that a machine that slows down slows them all. The least
/// of the runs.
void measure_growth(std::uint64_t most, const sink& write) {
  struct figures {
    times insert;
    times absent;
    times alone;
    times present;
  };
  std::vector<std::vector<figures>> taken;
  const std::size_t questions = std::min<std::size_t>(max_growth_questions, 4 * most);
  // Asked one at a time, each takes as long as memory answers.
  const std::size_t questions_alone = questions / 8;
  constexpr int runs = 3;
  for (int run = 0; run < runs; ++run) {
    fmt::print(stderr, "growth, run {} of {}\n", run + 1, runs);
    const growing_filters all = filters_that_grow(most);
    taken.resize(all.size());
    std::size_t doubling = 0;
    for (std::uint64_t n = first_capacity; n <= most; n *= 2, ++doubling) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (n > all[i]->most()) continue;
        taken[i].resize(std::max(taken[i].size(), doubling + 1));
        std::uint64_t added = 0;
        const double seconds = all[i]->grow(n, added);
        taken[i][doubling].insert.add(seconds, added);
      }
      std::vector<hash64> absent(questions);
      fill_questions(absent, {}, 0, n);
      std::vector<hash64> present(questions);
      for (std::size_t i = 0; i < present.size(); ++i) present[i] = member(mixed(i) % n);
      for (int turn = 0; turn < 3; ++turn) {
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (n > all[i]->most()) continue;
          taken[i][doubling].absent.add(all[i]->ask_all(absent), questions);
          taken[i][doubling].alone.add(all[i]->ask_each(keys(absent).first(questions_alone)),
                                       questions_alone);
          taken[i][doubling].present.add(all[i]->ask_all(present), questions);
        }
      }
      if (run != runs - 1) continue;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (n > all[i]->most()) continue;
        const figures& here = taken[i][doubling];
        write({{"record", "growth"},
               {"name", all[i]->name()},
               {"n", n},
               {"insert_ns", here.insert.least() * 1e9},
               {"absent_ns", here.absent.least() * 1e9},
               {"alone_ns", here.alone.least() * 1e9},
               {"present_ns", here.present.least() * 1e9},
               {"bits_per_key", all[i]->bits(n)},
               {"rate", all[i]->rate()}});
      }
    }
  }
}

/// The longest single insert on the way from 64 keys to `most`, a clock around each. What else the
/// machine does comes at another key each time, so of each insert the least of three runs counts.
template <class F>
void longest_insert(const char* name, std::uint64_t most, const sink& write) {
  fmt::print(stderr, "longest insert: {}\n", name);
  std::vector<float> least(most, std::numeric_limits<float>::max());
  for (int run = 0; run < 3; ++run) {
    F filter = F::make({.capacity = first_capacity, .fpr = eps}).value();
    for (std::uint64_t i = 0; i < most; ++i) {
      const stopwatch watch;
      const auto outcome = filter.insert(member(i));
      least[i] = std::min(least[i], static_cast<float>(watch.seconds()));
      if (!is_contained(outcome)) throw std::runtime_error("a key found no room");
    }
  }
  const double longest = *std::max_element(least.begin(), least.end());
  write({{"record", "longest"}, {"name", name}, {"n", most}, {"ms", longest * 1e3}});
}

// -- inserts into a table that fills ------------------------------------------------------------

constexpr std::array loads = {0.1,  0.2, 0.3,  0.4,  0.5,  0.6,  0.7, 0.8,
                              0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97};

/// Inserts by hundreds until a table of so many slots is full to each load; nanoseconds an insert
/// from one load to the next, the least of three runs.
template <class Make>
void fill_up(const char* name, std::uint64_t slots, Make&& make, const sink& write) {
  std::array<times, loads.size()> taken;
  std::vector<hash64> batch(128);
  for (int run = 0; run < 3; ++run) {
    auto insert = make();
    std::uint64_t n = 0;
    bool full = false;
    for (std::size_t i = 0; i < loads.size() && !full; ++i) {
      const auto wanted = static_cast<std::uint64_t>(loads.at(i) * static_cast<double>(slots));
      const std::uint64_t before = n;
      double seconds = 0;
      while (n < wanted && !full) {
        for (hash64& h : batch) h = member(n++);
        const stopwatch watch;
        full = !insert(batch);
        seconds += watch.seconds();
      }
      if (!full && n != before) taken.at(i).add(seconds, n - before);
    }
  }
  nlohmann::json points = nlohmann::json::array();
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (taken.at(i).runs() == 0) continue;  // full before, or a batch went past it
    points.push_back({{"load", loads.at(i)}, {"ns", taken.at(i).least() * 1e9}});
  }
  write({{"record", "load"}, {"name", name}, {"slots", slots}, {"points", points}});
}

/// A filter of ours as what fill_up makes.
template <class F>
auto filter_to_fill(const F& empty) {
  return [&empty] {
    return
        [filter = empty](keys batch) mutable { return filter.insert(batch).done == batch.size(); };
  };
}

}  // namespace

void measure_drawbacks(std::uint64_t n, std::uint64_t most, const sink& write) {
  using namespace bloomset;
  fmt::print(stderr, "counting\n");
  count_in<blocked_bloom>("blocked_bloom", n, write);
  count_in<counting_bloom>("counting_bloom", n, write);
  count_in<cuckoo>("cuckoo", n, write);
  count_in<expandable>("expandable", n, write);
  count_in<vector_quotient>("vector_quotient", n, write);

  measure_growth(most, write);
  longest_insert<scalable_bloom>("scalable_bloom", most, write);
  longest_insert<expandable>("expandable", most, write);

  fmt::print(stderr, "loads\n");
  const std::size_t buckets = std::bit_ceil(n) / 4;
  fill_up(
      "cuckoo, random walk", buckets * 4,
      [buckets] {
        return [walk = random_walk_cuckoo(buckets)](keys batch) mutable {
          return std::all_of(batch.begin(), batch.end(), [&](hash64 h) { return walk.insert(h); });
        };
      },
      write);
  const auto ours = cuckoo::make({.capacity = n, .fpr = eps}).value();
  fill_up("cuckoo, breadth first", ours.params().buckets * ours.params().slots,
          filter_to_fill(ours), write);
  const auto quotient = vector_quotient::make({.capacity = n, .fpr = eps}).value();
  fill_up("vector_quotient", quotient.params().blocks * quotient.params().slots,
          filter_to_fill(quotient), write);
}

}  // namespace bench
