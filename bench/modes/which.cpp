// Which of many files has a key? An index of all files beside blocked filters that are asked one
// after the other.

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/blocked_bloom.hpp>
#include <bloomset/file_index.hpp>
#include <bloomset/plan/units.hpp>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "../measure.hpp"
#include "../modes.hpp"
#include "peers/hibf.hpp"
#include "tests/support/key_sets_of_files.hpp"
#include "tests/support/words.hpp"

namespace bench {
namespace {

using namespace bloomset;
using namespace bloomset::test;

constexpr double total_rate = 0.01;
constexpr std::size_t batch = 4096;

struct asked {
  double seconds = 0;  // per key, the median
  double named = 0;    // the share of keys that are given a file
};

/// Asks in batches.
template <class Ask>
asked ask_all(std::span<const hash64> hashes, unsigned runs, const Ask& ask) {
  times taken;
  std::size_t named = 0;
  for (unsigned run = 0; run < runs; ++run) {
    named = 0;
    const stopwatch watch;
    for (std::size_t at = 0; at < hashes.size(); at += batch) {
      named += ask(hashes.subspan(at, std::min(batch, hashes.size() - at)));
    }
    taken.add(watch.seconds(), hashes.size());
  }
  return {taken.median(), static_cast<double>(named) / static_cast<double>(hashes.size())};
}

std::vector<hash64> hashes_from(std::size_t first, std::size_t n, std::size_t step) {
  std::vector<hash64> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(hash_of_key(first + i * step));
  return all;
}

void print_row(const char* name, double bits, double build, const asked& others,
               const asked& members) {
  fmt::print("{:<34} {:8.3f} {:10.0f} {:12.1f} {:12.1f} {:10.4f}\n", name, bits, 1e9 * build,
             1e9 * others.seconds, 1e9 * members.seconds, others.named);
}

}  // namespace

void time_which(std::uint64_t n, std::uint32_t files, unsigned runs) {
  fmt::print("{} keys in {} files, {} in total\n", format_count(n), format_count(files),
             format_rate(total_rate));
  fmt::print("{:<34} {:>8} {:>10} {:>12} {:>12} {:>10}\n", "", "bits/key", "build, ns",
             "other key, ns", "member, ns", "named");
  const auto others = hashes_from(std::size_t{1} << 40, 1'000'000, 1);
  const auto members = hashes_from(0, 1'000'000, std::max<std::size_t>(1, n / 1'000'000));
  const auto names = names_of_files(files);
  struct sort {
    const char* name;
    files_by_key all;
  };
  const auto count = static_cast<std::size_t>(n);
  for (const auto make :
       {+[](std::size_t k, std::uint32_t f) {
          return sort{"one file, equal sizes", one_file_each(k, f)};
        },
        +[](std::size_t k, std::uint32_t f) {
          return sort{"one file, Zipf's sizes", zipf_sizes(k, f)};
        },
        +[](std::size_t k, std::uint32_t f) {
          return sort{"30% in shared lists", shared_lists(k, f, 1000)};
        },
        +[](std::size_t k, std::uint32_t f) { return sort{"words of logs", log_words(k, f)}; }}) {
    const sort data = make(count, files);
    const auto all_keys = entries_of(data.all);
    const stopwatch watch;
    const auto index = value_of(
        file_index::build({.names = names, .fpr = total_rate}, file_key_source::of(all_keys)));
    const double build = watch.seconds() / static_cast<double>(n);
    file_lists lists;
    const auto ask = [&](std::span<const hash64> some) {
      index.files_of(some, lists);
      std::size_t named = 0;
      for (std::size_t i = 0; i < some.size(); ++i) named += !lists.of(i).empty();
      return named;
    };
    const double bits = 8 * static_cast<double>(index.size_in_bytes()) / static_cast<double>(n);
    print_row(data.name, bits, build, ask_all(others, runs, ask),
              ask_all(std::span(members).first(std::min(members.size(), count)), runs, ask));
    fmt::print("{:<34} {:8.3f}\n", "  the least possible",
               min_bits_per_key(data.all, files, total_rate));
  }
  const auto all = one_file_each(count, files);
  std::vector<std::vector<hash64>> keys_of_file(files);
  for (std::size_t i = 0; i < count; ++i) keys_of_file[all[i].front()].push_back(hash_of_key(i));
  std::vector<blocked_bloom> filters;
  std::uint64_t bytes = 0;
  const stopwatch watch;
  for (const auto& hashes : keys_of_file) {
    filters.push_back(value_of(blocked_bloom::make(
        {.capacity = std::max<std::size_t>(1, hashes.size()), .fpr = total_rate / files})));
    (void)filters.back().insert(std::span(hashes));
    bytes += filters.back().size_in_bytes();
  }
  const double build = watch.seconds() / static_cast<double>(n);
  std::vector<char> answers(batch);
  const auto ask = [&](std::span<const hash64> some) {
    std::vector<char> named(some.size());
    for (const blocked_bloom& filter : filters) {
      filter.may_contain(some, std::span(reinterpret_cast<bool*>(answers.data()), some.size()));
      for (std::size_t i = 0; i < some.size(); ++i) named[i] |= answers[i];
    }
    return static_cast<std::size_t>(std::ranges::count(named, 1));
  };
  // Each key asks every filter, so fewer keys take as long.
  const std::size_t few = std::min<std::size_t>(20'000, count);
  print_row("a blocked filter per file, in batches",
            8 * static_cast<double>(bytes) / static_cast<double>(n), build,
            ask_all(std::span(others).first(few), 1, ask),
            ask_all(std::span(members).first(few), 1, ask));
#ifdef BLOOMSET_BENCH_HIBF
  // Two hashes are its authors' default; five, the most that it has, need the fewest bits here.
  for (const std::size_t functions : {2, 5}) {
    const stopwatch peer_watch;
    const auto peer = make_hibf(keys_of_file, total_rate / files, functions);
    const double peer_build = peer_watch.seconds() / static_cast<double>(n);
    const auto ask_peer = [&](std::span<const hash64> some) { return peer->count_named(some); };
    print_row(functions == 2 ? "SeqAn HIBF, 2 hashes" : "SeqAn HIBF, 5 hashes",
              8 * static_cast<double>(peer->bytes()) / static_cast<double>(n), peer_build,
              ask_all(std::span(others).first(few), 1, ask_peer),
              ask_all(std::span(members).first(few), 1, ask_peer));
  }
#else
  fmt::print("SeqAn's HIBF is left out: no checkout was given (-DBLOOMSET_BENCH_HIBF=FOLDER)\n");
#endif
}

}  // namespace bench
