// What filters with 128-bit hashes promise, as far as it can be counted: equal hashes among n keys,
// cut to fewer bits; the rate of each half; and the rate of both together.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/any_filter.hpp>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>

#include "measure.hpp"
#include "modes.hpp"
#include "process.hpp"

namespace bench {
namespace {

using bloomset::hash64;

/// "user0123456789": a key of 14 bytes whose digits count up.
class user_keys {
 public:
  explicit user_keys(std::uint64_t first) {
    const std::string digits = fmt::format("user{:010}", first);
    std::copy(digits.begin(), digits.end(), text_.begin());
  }
  std::span<const std::byte> next() noexcept {
    std::size_t at = text_.size() - 1;
    for (; text_[at] == '9'; --at) text_[at] = '0';
    ++text_[at];
    return std::as_bytes(std::span(text_));
  }

 private:
  std::array<char, 14> text_{};
};

/// Pairs of equal values among the upper `bits` of sorted values.
std::uint64_t equal_pairs(std::span<const std::uint64_t> sorted, unsigned bits) {
  std::uint64_t pairs = 0;
  std::uint64_t run = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    run = sorted[i] >> (64 - bits) == sorted[i - 1] >> (64 - bits) ? run + 1 : 0;
    pairs += run;
  }
  return pairs;
}

/// Counts equal hashes of n keys among one 16th of all values, which has one 16th of the pairs.
void count_collisions(std::uint64_t n, const sink& write) {
  constexpr std::array<std::string_view, 3> names = {"first hash", "second hash",
                                                     "upper halves of both"};
  for (const bool keyed : {false, true}) {
    const bloomset::hash_seed seed =
        keyed ? bloomset::hash_seed(bloomset::hash_key{{1, 2}}) : bloomset::hash_seed(0);
    const std::array hash = {bloomset::filter_hasher(seed.half(0)),
                             bloomset::filter_hasher(seed.half(1))};
    const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::array<std::vector<std::uint64_t>, 3>> found(threads);
    time_threads(threads, [&](unsigned t) {
      constexpr std::size_t batch = 512;
      const std::uint64_t each = n / threads / batch;
      std::vector<user_keys> keys;
      for (std::size_t k = 0; k < batch; ++k) keys.emplace_back(n * t / threads + k * each);
      std::array<std::span<const std::byte>, batch> views;
      std::array<std::array<hash64, batch>, 2> made;
      for (std::uint64_t i = 0; i < each; ++i) {
        for (std::size_t k = 0; k < batch; ++k) views[k] = keys[k].next();
        for (unsigned h = 0; h < 2; ++h) hash[h](views, made[h].data());
        for (std::size_t k = 0; k < batch; ++k) {
          const std::uint64_t a = made[0][k].value;
          const std::uint64_t b = made[1][k].value;
          const std::array values = {a, b, (a & ~std::uint64_t{0xffffffff}) | b >> 32};
          for (std::size_t v = 0; v < 3; ++v) {
            if (values[v] >> 60 == 0) found[t][v].push_back(values[v]);
          }
        }
      }
    });
    const double asked = static_cast<double>(n / threads / 512 * threads * 512);
    for (std::size_t v = 0; v < 3; ++v) {
      std::vector<std::uint64_t>& all = found[0][v];
      for (unsigned t = 1; t < threads; ++t) {
        all.insert(all.end(), found[t][v].begin(), found[t][v].end());
        found[t][v] = {};
      }
      std::sort(all.begin(), all.end());
      for (const unsigned bits : {40U, 44U, 48U, 52U, 64U}) {
        write({{"record", "collisions"},
               {"hash", bloomset::name_of(keyed ? bloomset::hash_id::siphash_2x64
                                                : bloomset::hash_id::xxh3_2x64)},
               {"of", names[v]},
               {"n", asked},
               {"bits", bits},
               {"pairs", equal_pairs(all, bits)},
               {"expected", std::ldexp(asked * asked, -static_cast<int>(bits) - 1) / 16}});
      }
      all = {};
    }
  }
}

/// The rates of both halves and of the filter, by non-members.
void count_passing(const bloomset::kind_info& kind, std::uint64_t n, double fpr,
                   std::uint64_t non_members, const sink& write) {
  bloomset::plan_request request{.capacity = n, .fpr = fpr, .hash_bits = 128};
  std::array<std::vector<hash64>, 2> hashes;
  std::array<bloomset::hash_source, 2> sources;
  for (unsigned half = 0; half < 2; ++half) {
    const bloomset::filter_hasher hash(request.seed.half(half));
    user_keys keys(0);
    for (std::uint64_t i = 0; i < n; ++i) hashes[half].push_back(hash(keys.next()));
    sources[half] = bloomset::hash_source::of(hashes[half]);
  }
  auto filter =
      kind.build != nullptr ? bloomset::build_filter(kind, request, sources) : kind.create(request);
  if (!filter) throw std::runtime_error(filter.error().message);
  for (unsigned half = 0; half < 2 && kind.can.insert; ++half) {
    if (!filter->halves()[half].insert(std::span<const hash64>(hashes[half]))) {
      throw std::runtime_error("no room");
    }
  }
  constexpr std::size_t batch = 4096;
  std::array<std::vector<hash64>, 2> asked = {std::vector<hash64>(batch),
                                              std::vector<hash64>(batch)};
  std::array<std::array<bool, batch>, 2> answers{};
  std::array<std::uint64_t, 3> passed{};
  user_keys keys(n + 1);
  const std::array hash = {bloomset::filter_hasher(request.seed.half(0)),
                           bloomset::filter_hasher(request.seed.half(1))};
  for (std::uint64_t i = 0; i < non_members; i += batch) {
    for (std::size_t k = 0; k < batch; ++k) {
      const auto key = keys.next();
      for (unsigned half = 0; half < 2; ++half) asked[half][k] = hash[half](key);
    }
    for (unsigned half = 0; half < 2; ++half) {
      if (!filter->halves()[half].may_contain(std::span<const hash64>(asked[half]),
                                              answers[half])) {
        throw std::runtime_error("a half takes no hashes");
      }
    }
    for (std::size_t k = 0; k < batch; ++k) {
      passed[0] += answers[0][k];
      passed[1] += answers[1][k];
      passed[2] += answers[0][k] && answers[1][k];
    }
  }
  const auto info = filter->info();
  write({{"record", "halves"},
         {"kind", kind.name},
         {"n", n},
         {"non_members", non_members},
         {"planned_fpr", info.plan.planned_fpr},
         {"expected_first", static_cast<double>(non_members) * filter->halves()[0].current_fpr()},
         {"expected_second", static_cast<double>(non_members) * filter->halves()[1].current_fpr()},
         {"expected_both", static_cast<double>(non_members) * info.current_fpr},
         {"first", passed[0]},
         {"second", passed[1]},
         {"both", passed[2]}});
}

}  // namespace

void measure_hash_bits(std::uint64_t n, std::uint64_t non_members, const sink& write) {
  for (const std::string_view name : {"bloom", "blocked_bloom", "fuse", "ribbon"}) {
    const bloomset::kind_info& kind = **bloomset::find_kind(name);
    // The halves of a rate of 10^-12 one by one, and a rate at which both are met together.
    count_passing(kind, std::min<std::uint64_t>(n, 1'000'000), 1e-12, non_members, write);
    count_passing(kind, std::min<std::uint64_t>(n, 1'000'000), 1e-4, non_members, write);
  }
  count_collisions(n, write);
}

}  // namespace bench
