// Filters that grow from n/1024 keys to n: one by one, in batches, and a peer. Beside them the
// limit of calls that branch on what they read.

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/storage.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "keys.hpp"
#include "measure.hpp"
#include "modes.hpp"

namespace bench {
namespace {

constexpr std::string_view peer_name = "Taffy block, begun at n/1024";
constexpr std::size_t read_bytes = 64;
constexpr std::uint64_t read_bits = 8 * read_bytes;
/// Bits per key of an expandable filter of unknown growth.
constexpr std::uint64_t grown_bits = 17;

/// A random line per key, each read after the one before. An insert that reports whether its key
/// was new branches on what it reads, so the core does not begin to read for the next key.
class waiting_reads {
 public:
  waiting_reads(std::uint64_t n, bloomset::paging pages)
      : lines_(n * grown_bits / read_bits + 1),
        memory_(bloomset::owned_storage::make(lines_ * read_bytes, pages).value()) {
    // Pages that were never written are all the same one.
    for (std::uint64_t line = 0; line < lines_; ++line) {
      memory_.writable_bytes()[line * read_bytes] = std::byte{1};
    }
  }

  void read(keys all) const {
    std::uint64_t word = 0;
    for (const bloomset::hash64 h : all) {
      // The word's highest bit is 0, which the compiler does not know.
      const std::uint64_t line = bloomset::detail::mulhi64(h.value ^ (word >> 63), lines_);
      word = bloomset::detail::load<std::uint64_t>(memory_.bytes().data() + line * read_bytes);
    }
    keep(word);
  }

 private:
  std::uint64_t lines_;
  bloomset::owned_storage memory_;
};

struct grown {
  std::string name;
  times taken;
  double bits = 0;  ///< per key
};

double median_of(const std::vector<grown>& rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, &grown::name);
  return found == rows.end() ? 0 : found->taken.median();
}

}  // namespace

void time_growth(std::uint64_t n, unsigned runs, const entries& all) {
  std::vector<bloomset::hash64> members(n);
  for (std::uint64_t i = 0; i < n; ++i) members[i] = member(i);
  std::vector<const entry*> chosen;
  std::vector<grown> rows;
  for (const entry& one : all) {
    if (one.name != peer_name && !one.name.starts_with("expandable, begun")) continue;
    chosen.push_back(&one);
    rows.push_back({one.name, {}});
  }
  std::vector<grown> limits = {{"a random line per key, each after the last, 4 KiB pages", {}},
                               {"a random line per key, each after the last, huge pages", {}}};
  for (unsigned run = 0; run < runs; ++run) {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto filter = chosen[i]->make({.n = n, .fpr = 0.01});
      const stopwatch watch;
      filter->build(members, 1);
      rows[i].taken.add(watch.seconds(), n);
      rows[i].bits = 8 * static_cast<double>(filter->bytes()) / static_cast<double>(n);
    }
    for (const auto pages : {bloomset::paging::one_by_one, bloomset::paging::huge}) {
      const waiting_reads reads(n, pages);
      const stopwatch watch;
      reads.read(members);
      limits[pages == bloomset::paging::huge ? 1 : 0].taken.add(watch.seconds(), n);
    }
  }
  const double peer = median_of(rows, peer_name);
  fmt::print("Growth from n/1024 to {} keys, medians of {} runs\n{:<60} {:>10} {:>8} {:>10}\n", n,
             runs, "", "ns per key", "of Taffy", "bits/key");
  for (const grown& row : rows) {
    const std::string share =
        peer == 0 ? std::string() : fmt::format("{:.2f}x", row.taken.median() / peer);
    fmt::print("{:<60} {:>10.1f} {:>8} {:>10.1f}\n", row.name, row.taken.median() * 1e9, share,
               row.bits);
  }
  for (const grown& row : limits) {
    fmt::print("{:<60} {:>10.1f}\n", row.name, row.taken.median() * 1e9);
  }
}

}  // namespace bench
