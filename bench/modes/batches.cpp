// Batches of every size, where the filter is beyond the caches: from how many keys on a batch is at
// the memory's speed, and from how many on it is beyond, because it is partitioned first.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/plan/blocked_bloom_plan.hpp>
#include <cstdio>
#include <map>
#include <memory>

#include "compare.hpp"
#include "keys.hpp"
#include "measure.hpp"

namespace bench {
namespace {

constexpr std::array<std::size_t, 9> batch_sizes = {64,       256,      1024,     4096,    1U << 14,
                                                    1U << 16, 1U << 20, 1U << 22, 1U << 24};
constexpr std::size_t asked_in_run = std::size_t{1} << 24;

bool takes_any_batch(const entry& one) {
  return one.of == group::limit || one.name == "blocked_bloom" || one.name == "fuse, 3-wise" ||
         one.name.starts_with("Boost.Bloom");
}

}  // namespace

void compare_batches(std::uint64_t n, double fpr, unsigned runs, const entries& all,
                     const sink& write) {
  setting s{.n = n, .fpr = fpr};
  const auto plan = bloomset::plan_blocked_bloom({.capacity = n, .fpr = fpr}).value();
  s.bits_per_key = static_cast<double>(plan.bits()) / static_cast<double>(n);

  struct row {
    const entry* what = nullptr;
    std::unique_ptr<subject> it;
    std::map<std::size_t, times> taken;
  };
  std::vector<row> rows;
  {
    std::vector<bloomset::hash64> members(n);
    for (std::uint64_t i = 0; i < n; ++i) members[i] = member(i);
    for (const entry& one : all) {
      if (!takes_any_batch(one)) continue;
      rows.push_back({&one, one.make(s), {}});
      rows.back().it->build(members, 1);
    }
  }

  // Few questions do for a filter in the caches, and for a trial.
  const std::size_t count =
      std::min<std::size_t>(asked_in_run, std::max<std::size_t>(std::size_t{1} << 16, n));
  std::vector<bloomset::hash64> questions(count);
  const flags answers = make_flags(count);
  for (unsigned run = 0; run < runs; ++run) {
    fmt::print(stderr, "batches of every size, run {} of {}\n", run + 1, runs);
    fill_questions(questions, {}, 0, run);
    for (const std::size_t size : batch_sizes) {
      if (size > count) continue;
      for (row& one : rows) {
        // A limit's walk does not begin anew with each batch.
        const bool whole = one.what->of == group::limit;
        if (whole && size != batch_sizes.front()) continue;
        const std::size_t step = whole ? count : size;
        const stopwatch watch;
        for (std::size_t at = 0; at < count; at += step) {
          const std::size_t now = std::min(step, count - at);
          one.it->ask_batch(keys(questions).subspan(at, now), answers.get() + at, 1);
        }
        keep(answers[0]);
        one.taken[whole ? 0 : size].add(watch.seconds(), count);
      }
    }
  }
  for (const row& one : rows) {
    nlohmann::json j = {{"record", "batches"},
                        {"name", one.what->name},
                        {"group", name_of(one.what->of)},
                        {"n", n},
                        {"fpr", fpr},
                        {"bytes", one.it->bytes()},
                        {"remark", one.it->remark()},
                        {"sizes", nlohmann::json::array()}};
    for (const auto& [size, taken] : one.taken) {
      j["sizes"].push_back(figures(taken));
      j["sizes"].back()["size"] = size;
    }
    write(j);
  }
}

}  // namespace bench
