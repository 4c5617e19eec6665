#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/plan/blocked_bloom_plan.hpp>
#include <bloomset/plan/units.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

#include "keys.hpp"
#include "measure.hpp"
#include "process.hpp"

namespace bench {
namespace {

// Below this many keys a filter is in the caches. It is asked fewer questions, but so many that the
// branch predictor does not learn their answers.
constexpr std::uint64_t beyond_caches = 5'000'000;
constexpr std::size_t questions_in_caches = std::size_t{1} << 20;
// Checked, or asked for the rate, in one call.
constexpr std::size_t few_questions = std::size_t{1} << 16;
// All filters at once, and what the hungriest peer needs to build its own.
constexpr std::uint64_t bytes_per_key = 80;
constexpr std::size_t max_checked = std::size_t{1} << 20;

enum class mode : std::uint8_t { single, batch, bulk };
constexpr const char* name_of(mode m) {
  constexpr std::array names = {"single", "batch", "bulk"};
  return names[static_cast<std::size_t>(m)];
}

struct cell {
  mode how{};
  int present = 0;
  unsigned threads = 1;
  friend auto operator<=>(const cell&, const cell&) = default;
};

struct row {
  const entry* what = nullptr;
  std::unique_ptr<subject> it;
  std::map<unsigned, times> builds;
  std::map<cell, times> queries;
  std::uint64_t passed = 0;           ///< of the non-members that the rate is measured by
  std::optional<std::uint64_t> peak;  ///< bytes that were needed beside the filter to build it
  std::string failure;
};

class table {
 public:
  table(const comparison& how, const entries& all, std::uint64_t n, double fpr)
      : how_(how), setting_{.n = n, .fpr = fpr} {
    const auto plan = bloomset::plan_blocked_bloom({.capacity = n, .fpr = fpr}).value();
    setting_.bits_per_key = static_cast<double>(plan.bits()) / static_cast<double>(n);
    for (const entry& one : all) {
      if (n > one.max_keys) continue;
      rows_.emplace_back();
      rows_.back().what = &one;
      rows_.back().it = one.make(setting_);
    }
    members_.resize(n);
    for (std::uint64_t i = 0; i < n; ++i) members_[i] = member(i);
    const std::size_t most = n < beyond_caches
                                 ? questions_in_caches
                                 : std::max(how.questions, how.bulk != 0 ? how.bulk : 1);
    questions_.resize(most);
    answers_ = make_flags(most);
  }

  void run(const sink& write) {
    build();
    check();
    rate();
    query();
    for (const row& one : rows_) write(to_json(one));
  }

 private:
  bool large() const noexcept { return setting_.n >= beyond_caches; }

  void say(std::string_view doing) const {
    fmt::print(stderr, "{} keys at {}%: {}\n", setting_.n, setting_.fpr * 100, doing);
  }

  void build() {
    say("building");
    for (unsigned run = 0; run < how_.runs; ++run) {
      for (row& one : rows_) {
        for (const unsigned threads : how_.threads) {
          times& taken = one.builds[threads];
          const bool able = threads == 1 || one.what->parallel_build;
          if (!able || !one.failure.empty() || enough(taken, how_.build_seconds)) continue;
          try {
            // Small filters many times over, so that the clock has something to measure.
            const std::uint64_t repeats = std::max<std::uint64_t>(1, how_.least / setting_.n / 2);
            const bool first = run == 0 && threads == 1;
            // First without measuring, as with the queries: a virtual machine's host may have taken
            // back the memory that the build before freed.
            if (!large() && !first) one.it->build(members_, threads);
            const auto before = first ? begin_peak() : std::nullopt;
            const stopwatch watch;
            for (std::uint64_t i = 0; i < repeats; ++i) one.it->build(members_, threads);
            taken.add(watch.seconds(), repeats * setting_.n);
            if (before) {
              const std::uint64_t held = *before + one.it->bytes();
              one.peak = std::max(peak_memory(), held) - held;
            }
          } catch (const std::runtime_error& failed) {
            one.failure = failed.what();
          }
        }
      }
    }
    for (const row& one : rows_) {
      if (!one.failure.empty()) say(one.what->name + " is left out: " + one.failure);
    }
    std::erase_if(rows_, [](const row& one) { return !one.failure.empty(); });
  }

  /// No member is denied, and the ways to ask agree.
  void check() {
    const std::size_t few = std::min<std::size_t>(members_.size(), max_checked);
    const keys sample = keys(members_).subspan(members_.size() - few);
    for (const row& one : rows_) {
      if (one.what->of == group::limit) continue;
      if (one.it->ask_each(sample) != few) {
        throw std::runtime_error(one.what->name + " denies a member");
      }
      if (!one.what->batch) continue;
      const std::span mixture(questions_.data(), std::min(questions_.size(), few_questions));
      fill_questions(mixture, members_, 50, 0);
      const std::uint64_t found = one.it->ask_each(mixture);
      for (const unsigned threads : how_.threads) {
        if (threads != 1 && !one.what->parallel_ask) continue;
        std::fill_n(answers_.get(), mixture.size(), false);
        one.it->ask_batch(mixture, answers_.get(), threads);
        const auto yes = std::count(answers_.get(), answers_.get() + mixture.size(), true);
        if (static_cast<std::uint64_t>(yes) != found) {
          throw std::runtime_error(fmt::format("{}: {} of a batch are members, but {} one by one",
                                               one.what->name, yes, found));
        }
      }
    }
  }

  /// Non-members of their own, by as many threads as there may be.
  void rate() {
    say("measuring rates");
    const unsigned threads = *std::max_element(how_.threads.begin(), how_.threads.end());
    constexpr std::uint64_t first = std::uint64_t{1} << 40;
    for (row& one : rows_) {
      if (one.what->of == group::limit) continue;
      std::vector<std::uint64_t> passed(threads);
      time_threads(threads, [&](unsigned t) {
        std::vector<bloomset::hash64> asked(few_questions);
        const flags answers = make_flags(few_questions);
        const std::uint64_t end = how_.rate_keys * (t + 1) / threads;
        for (std::uint64_t at = how_.rate_keys * t / threads; at < end; at += asked.size()) {
          asked.resize(std::min<std::uint64_t>(asked.size(), end - at));
          for (std::size_t i = 0; i < asked.size(); ++i) asked[i] = non_member(first + at + i);
          if (one.what->batch) {
            one.it->ask_batch(asked, answers.get(), 1);
            passed[t] += static_cast<std::uint64_t>(
                std::count(answers.get(), answers.get() + asked.size(), true));
          } else {
            passed[t] += one.it->ask_each(asked);
          }
        }
      });
      for (const std::uint64_t part : passed) one.passed += part;
    }
  }

  void query() {
    for (unsigned run = 0; run < how_.runs; ++run) {
      say(fmt::format("asking, run {} of {}", run + 1, how_.runs));
      for (const int present : shares) {
        fill_questions(questions_, members_, present, run);
        for (const mode way : {mode::single, mode::batch, mode::bulk}) {
          for (const unsigned threads : how_.threads) {
            for (row& one : rows_) ask(one, {way, present, threads});
          }
        }
      }
    }
  }

  void ask(row& one, const cell& which) {
    const entry& what = *one.what;
    if (which.how != mode::single && !what.batch) return;
    if (what.of == group::limit && (which.present != 0 || which.how == mode::bulk)) return;
    if (which.how == mode::bulk && (!large() || how_.bulk == 0)) return;
    times& taken = one.queries[which];
    if (enough(taken, how_.cell_seconds)) return;

    const std::uint64_t wanted = which.how == mode::bulk ? how_.bulk : how_.questions;
    const keys asked = keys(questions_).first(std::min<std::size_t>(questions_.size(), wanted));
    const std::size_t repeats = large() ? 1 : std::max<std::size_t>(1, how_.least / asked.size());
    const bool together = which.how == mode::bulk && what.parallel_ask;
    const auto ask_all = [&](unsigned t) {
      const keys mine = together ? asked : part_of(asked, t, which.threads);
      bool* const answers = answers_.get() + (mine.data() - asked.data());
      for (std::size_t i = 0; i < repeats; ++i) {
        if (which.how == mode::single) {
          keep(one.it->ask_each(mine));
        } else if (which.how == mode::bulk || what.of == group::limit) {
          one.it->ask_batch(mine, answers, together ? which.threads : 1);
        } else {
          for (std::size_t at = 0; at < mine.size(); at += how_.batch) {
            const std::size_t size = std::min<std::size_t>(how_.batch, mine.size() - at);
            one.it->ask_batch(mine.subspan(at, size), answers + at, 1);
          }
        }
      }
      keep(answers_[0]);
    };
    const unsigned threads = together ? 1 : which.threads;
    // In the caches, what the row before left there must not count: batches took 1.0 to 1.4 times
    // as long.
    if (!large()) time_threads(threads, ask_all);
    taken.add(time_threads(threads, ask_all), repeats * asked.size());
  }

  bool enough(const times& taken, double seconds) const {
    return taken.runs() >= how_.runs || (taken.runs() != 0 && taken.spent() >= seconds);
  }

  nlohmann::json to_json(const row& one) const {
    const auto n = static_cast<double>(setting_.n);
    const double rate = static_cast<double>(one.passed) / static_cast<double>(how_.rate_keys);
    nlohmann::json j = {{"record", "filter"},
                        {"name", one.what->name},
                        {"group", bench::name_of(one.what->of)},
                        {"takes", one.what->takes_keys ? "keys" : "hashes"},
                        {"n", setting_.n},
                        {"fpr", setting_.fpr},
                        {"bits_per_key", static_cast<double>(one.it->bytes()) * 8 / n},
                        {"remark", one.it->remark()},
                        {"build", nlohmann::json::array()},
                        {"query", nlohmann::json::array()}};
    if (one.what->of != group::limit) {
      j["rate"] = rate;
      // Of the measurement alone.
      j["rate_error"] = std::sqrt(rate / static_cast<double>(how_.rate_keys));
      if (one.peak) j["build_memory_per_key"] = static_cast<double>(*one.peak) / n;
      for (const auto& [threads, taken] : one.builds) {
        if (taken.runs() == 0) continue;
        j["build"].push_back(figures(taken));
        j["build"].back()["threads"] = threads;
      }
    }
    for (const auto& [which, taken] : one.queries) {
      j["query"].push_back(figures(taken));
      j["query"].back().update(
          {{"mode", name_of(which.how)}, {"present", which.present}, {"threads", which.threads}});
    }
    return j;
  }

  const comparison& how_;
  setting setting_;
  std::vector<row> rows_;
  std::vector<bloomset::hash64> members_;
  std::vector<bloomset::hash64> questions_;
  flags answers_;
};

}  // namespace

void compare(const comparison& how, const entries& all, const sink& write) {
  entries chosen;
  for (const entry& one : all) {
    const auto named = [&](const std::string& part) {
      return one.name.find(part) != std::string::npos;
    };
    if (how.only.empty() || std::any_of(how.only.begin(), how.only.end(), named)) {
      chosen.push_back(one);
    }
  }
  for (const std::uint64_t n : how.sizes) {
    if (n > memory_left() / bytes_per_key) {
      fmt::print(stderr, "{} keys are left out: they need {} of memory\n", n,
                 bloomset::format_bytes(n * bytes_per_key));
      continue;
    }
    for (const double fpr : how.rates) table(how, chosen, n, fpr).run(write);
  }
}

}  // namespace bench
