// The literature's 10^9 addresses in a gigabyte. Keys are text, made as they are needed; what is
// kept of them is the hashes of the batch at hand.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/blocked_bloom.hpp>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "keys.hpp"
#include "measure.hpp"
#include "modes.hpp"
#include "process.hpp"

namespace bench {
namespace {

// 32 MiB of hashes.
constexpr std::size_t keys_at_once = std::size_t{1} << 22;

/// Hashes of the addresses first, first + 1, ... : "user123@example.com".
void hash_addresses(std::uint64_t first, std::string_view host, std::span<bloomset::hash64> into) {
  constexpr std::string_view user = "user";
  std::array<char, 64> text{};
  std::copy(user.begin(), user.end(), text.begin());
  const bloomset::xxh3_hasher hash;
  for (std::size_t i = 0; i < into.size(); ++i) {
    char* end = std::to_chars(text.data() + user.size(), text.data() + 32, first + i).ptr;
    std::memcpy(end, host.data(), host.size());
    end += host.size();
    into[i] = hash(std::as_bytes(std::span(text.data(), end)));
  }
}

void hash_by_all(std::uint64_t first, std::string_view host, std::span<bloomset::hash64> into,
                 unsigned threads) {
  time_threads(threads, [&](unsigned t) {
    const auto mine = part_of(into, t, threads);
    hash_addresses(first + static_cast<std::uint64_t>(mine.data() - into.data()), host, mine);
  });
}

}  // namespace

void fill_billion(std::uint64_t n, double bits, const sink& write) {
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  const stopwatch all;
  auto filter = bloomset::blocked_bloom::make(
      {.capacity = n, .bits = static_cast<std::uint64_t>(static_cast<double>(n) * bits)});
  if (!filter) throw std::runtime_error(filter.error().message);
  std::vector<bloomset::hash64> hashes(std::min<std::uint64_t>(keys_at_once, n));

  double inserting = 0;
  for (std::uint64_t at = 0; at < n; at += hashes.size()) {
    if (at % (std::uint64_t{1} << 28) < keys_at_once) fmt::print(stderr, "{} of {} keys\n", at, n);
    const auto now = std::span(hashes).first(std::min<std::uint64_t>(hashes.size(), n - at));
    hash_by_all(at, "@example.com", now, threads);
    const stopwatch watch;
    filter->insert_parallel(now, threads);
    inserting += watch.seconds();
  }
  const double filled = all.seconds();

  // The last members, then non-members.
  const flags answers = make_flags(hashes.size());
  const std::span into(answers.get(), hashes.size());
  hash_by_all(n - hashes.size(), "@example.com", hashes, threads);
  filter->may_contain_parallel(hashes, into, threads);
  if (!std::all_of(into.begin(), into.end(), [](bool yes) { return yes; })) {
    throw std::runtime_error("blocked_bloom denies a member");
  }
  const std::uint64_t non_members = std::max<std::uint64_t>(hashes.size(), n / 10);
  std::uint64_t passed = 0;
  std::uint64_t asked = 0;
  for (; asked < non_members; asked += hashes.size()) {
    hash_by_all(asked, "@example.org", hashes, threads);
    filter->may_contain_parallel(hashes, into, threads);
    passed += static_cast<std::uint64_t>(std::count(into.begin(), into.end(), true));
  }
  write({{"record", "billion"},
         {"n", n},
         {"bytes", filter->size_in_bytes()},
         {"hashes", filter->params().hashes},
         {"threads", threads},
         {"planned_fpr", filter->planned_fpr()},
         {"rate", static_cast<double>(passed) / static_cast<double>(asked)},
         {"non_members", asked},
         {"fill_seconds", filled},
         {"insert_seconds", inserting},
         {"seconds", all.seconds()},
         {"peak", peak_memory()}});
}

}  // namespace bench
