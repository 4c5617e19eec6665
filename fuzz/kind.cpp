// Filters of one kind on bytes from the fuzzer. The program's name tells which: fuzz_bloom.
//
// One that takes keys at any time goes through a sequence of operations in lockstep with a real
// multiset: the program ends at the first false negative, count that is too low, or refusal that
// changed something. Byte 0 is the capacity, byte 1 the rate, byte 2 the seed; then each operation
// has three bytes (tests/support/lockstep.hpp, apply).
//
// One that is built once is built from any set of hashes, repeated or chosen by an adversary. It
// must deny no member and be the same in another order, or be refused with a sentence. One of two
// sets must answer each key of both exactly, with partitions or without.

#include <algorithm>
#include <array>
#include <bloomset/bloomset.hpp>
#include <bloomset/detail/core/precondition.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tests/support/lockstep.hpp"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

/// The bytes behind the first eight as hashes of one to eight bytes, in the lower or upper bits.
std::vector<bloomset::hash64> hashes_in(const std::uint8_t* data, std::size_t size, unsigned width,
                                        bool upper) {
  std::vector<bloomset::hash64> hashes;
  for (; size >= width; data += width, size -= width) {
    std::uint64_t value = 0;
    std::memcpy(&value, data, width);
    hashes.push_back({upper ? value << (64 - 8 * width) : value});
  }
  return hashes;
}

template <class Filter>
void play_operations(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t max_operations = 300;
  if (size < 3) return;
  constexpr std::array rates = {0.5, 0.1, 0.01, 0.0001};
  bloomset::test::lockstep<Filter> pair(
      bloomset::detail::or_die(Filter::make({.capacity = std::uint64_t{data[0]} % 100 + 1,
                                             .fpr = rates.at(data[1] % rates.size()),
                                             .seed = data[2]})));
  for (std::size_t i = 3; i + 3 <= size && i < 3 * max_operations; i += 3) {
    bloomset::test::apply(pair, data[i], data[i + 1], data[i + 2]);
    if (pair.ok()) continue;
    std::fprintf(stderr, "operation %zu: %s\n", i / 3 - 1, pair.contradiction().c_str());
    std::abort();
  }
  pair.check_all();
  if (!pair.ok()) {
    std::fprintf(stderr, "at the end: %s\n", pair.contradiction().c_str());
    std::abort();
  }
}

template <class Filter>
void build_from_hashes(const std::uint8_t* data, std::size_t size) {
  if (size < 8) return;
  const std::array rates = {0.5, 0.1, 0.01, 0.004, 1e-4, 1e-9};
  typename Filter::spec_type spec;
  spec.fpr = rates.at(data[0] % rates.size());
  spec.seed = data[1];
  auto hashes = hashes_in(data + 8, size - 8, 1 + data[2] % 8U, data[3] % 2 == 0);
  const std::size_t times = 1 + data[4] % 4U;
  const std::size_t once = hashes.size();
  for (std::size_t i = 1; i < times; ++i) {
    hashes.insert(hashes.end(), hashes.begin(), hashes.begin() + static_cast<std::ptrdiff_t>(once));
  }
  const auto filter = Filter::build(spec, std::span<const bloomset::hash64>(hashes));
  if (!filter) {
    require(filter.error().message.size() > 30, "no sentence");
    return;
  }
  const auto answers = std::make_unique<bool[]>(hashes.size());
  filter->may_contain(hashes, {answers.get(), hashes.size()});
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    require(answers[i] && filter->may_contain(hashes[i]), "a false negative");
  }
  const auto bytes = bloomset::serialize(filter->image());
  std::reverse(hashes.begin(), hashes.end());
  const auto again = Filter::build(spec, std::span<const bloomset::hash64>(hashes));
  require(again && bloomset::serialize(again->image()) == bytes, "another order, another filter");
}

/// An exact filter with partitions, whose number byte 1 tells, of these keys.
void build_of_partitions(const std::uint8_t* data, std::span<const bloomset::hash64> members,
                         std::span<const bloomset::hash64> others) {
  using bloomset::partitioned_hash;
  const std::uint64_t partitions = 1 + data[1] % 9U;
  const auto in_partitions = [&](std::span<const bloomset::hash64> hashes) {
    std::vector<partitioned_hash> keys;
    for (const bloomset::hash64 h : hashes) keys.push_back({{h.value % partitions}, h});
    return keys;
  };
  auto held = in_partitions(members);
  auto left = in_partitions(others);
  bloomset::exact_spec spec;
  spec.seed = data[2];
  const auto build = [&] {
    return bloomset::partitioned_exact::build(spec, std::span<const partitioned_hash>(held),
                                              std::span<const partitioned_hash>(left));
  };
  const auto filter = build();
  if (!filter) {
    require(filter.error().message.size() > 30, "no sentence");
    return;
  }
  const auto bytes = bloomset::serialize(filter->image());
  std::ranges::reverse(held);
  std::ranges::reverse(left);
  const auto again = build();
  require(again && bloomset::serialize(again->image()) == bytes, "another order, another filter");
  std::ranges::sort(held);
  for (const partitioned_hash& h : held) {
    require(filter->covers(h) && filter->may_contain(h), "a false negative");
  }
  for (const partitioned_hash& h : left) {
    require(filter->covers(h) && filter->may_contain(h) == std::ranges::binary_search(held, h),
            "a false positive");
  }
}

/// The first hashes are members, the others are not. Byte 4 tells how many.
template <class Filter>
void build_of_two_sets(const std::uint8_t* data, std::size_t size) {
  if (size < 8) return;
  auto members = hashes_in(data + 8, size - 8, 1 + data[2] % 8U, data[3] % 2 == 0);
  // Few bytes make many other keys.
  std::vector<bloomset::hash64> others;
  const std::size_t kept = members.size() * data[4] / 255;
  for (unsigned copy = 0; copy < 1U + data[5] % 32U; ++copy) {
    for (std::size_t i = kept; i < members.size(); ++i) {
      others.push_back({members[i].value + (std::uint64_t{copy} << data[6] % 64U)});
    }
  }
  members.resize(kept);
  if (data[7] % 2 != 0) return build_of_partitions(data, members, others);
  typename Filter::spec_type spec;
  spec.seed = data[1];
  const auto build = [&] {
    return Filter::build(spec, std::span<const bloomset::hash64>(members),
                         std::span<const bloomset::hash64>(others));
  };
  const auto filter = build();
  if (!filter) {
    require(filter.error().message.size() > 30, "no sentence");
    return;
  }
  const auto bytes = bloomset::serialize(filter->image());
  std::ranges::reverse(members);
  std::ranges::reverse(others);
  const auto again = build();
  require(again && bloomset::serialize(again->image()) == bytes, "another order, another filter");
  const auto by_value = [](bloomset::hash64 a, bloomset::hash64 b) { return a.value < b.value; };
  std::ranges::sort(members, by_value);
  for (const bloomset::hash64 h : members) require(filter->may_contain(h), "a false negative");
  for (const bloomset::hash64 h : others) {
    require(filter->may_contain(h) == std::ranges::binary_search(members, h, by_value),
            "a false positive");
  }
}

template <class Filter>
void run(const std::uint8_t* data, std::size_t size) {
  if constexpr (bloomset::insertable<Filter>) {
    play_operations<Filter>(data, size);
  } else {
    build_from_hashes<Filter>(data, size);
  }
}

struct target {
  std::string_view name;
  void (*run)(const std::uint8_t* data, std::size_t size);
};
using namespace bloomset;  // of the kinds
constexpr target targets[] = {
#define KIND(name) {#name, run<name>},
#define KIND_OF_TWO_SETS(name) {#name, build_of_two_sets<name>},
#include "src/registry/kinds.inc"
};

const target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** argv) {
  const std::string_view program = **argv;
  const std::string_view name = program.substr(program.rfind("fuzz_") + 5);
  chosen = std::ranges::find(targets, name, &target::name);
  require(chosen != std::end(targets), "no kind of that name");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->run(data, size);
  return 0;
}
