// Batches of queries of a cuckoo filter against its single queries.

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/bloomset.hpp>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "tests/support/instruction_sets.hpp"

namespace bloomset {
namespace {

struct shape {
  std::uint64_t buckets;
  unsigned slots;
  unsigned fingerprint_bits;
};

// Tables of one bucket, of odd sizes, of more than 2^16 buckets, of buckets in one word and in two,
// larger than a group of keys, and so full that the stash is used. Whether buckets are prefetched
// changes no answer, in tables of any size.
TEST(cuckoo_batches, of_every_instruction_set_answer_as_single_queries_do) {
  const shape shapes[] = {{1, 4, 8},     {3, 2, 12},   {97, 4, 12},   {97, 4, 13},
                          {1000, 8, 7},  {1000, 8, 8}, {1000, 4, 16}, {1000, 2, 32},
                          {1000, 8, 32}, {777, 2, 4},  {70001, 2, 12}};
  std::mt19937_64 random(1);
  for (const shape& of : shapes) {
    SCOPED_TRACE(::testing::Message() << of.buckets << " buckets of " << of.slots << " slots of "
                                      << of.fingerprint_bits << " bits");
    const cuckoo_params params{.capacity = of.buckets * of.slots,
                               .fpr = 0.5,
                               .buckets = of.buckets,
                               .slots = of.slots,
                               .fingerprint_bits = of.fingerprint_bits};
    cuckoo filter = *cuckoo::open(params, *owned_storage::make(params.payload_bytes()), 0);
    std::vector<hash64> asked;
    while (asked.size() < of.buckets * of.slots) {
      asked.push_back({random()});
      if (!is_contained(filter.insert(asked.back()))) break;
    }
    for (std::size_t members = asked.size(), i = 0; i < members + 1000; ++i) {
      asked.push_back({random()});
    }
    std::shuffle(asked.begin(), asked.end(), random);
    std::vector<char> expected;
    for (const hash64 h : asked) expected.push_back(filter.may_contain(h) ? 1 : 0);
    const detail::cuckoo_layout layout(of.buckets, of.slots, of.fingerprint_bits);
    const auto answers = std::make_unique<bool[]>(asked.size());
    const auto ahead = std::make_unique<bool[]>(asked.size());
    with_each_instruction_set([&] {
      using enum detail::bucket_prefetch;
      const auto ask = [&](detail::bucket_prefetch prefetch, bool* into) {
        detail::chosen_kernels<detail::cuckoo_kernels>().contains(layout, filter.bytes().data(),
                                                                  asked, into, prefetch);
      };
      ask(none, answers.get());
      for (const auto prefetch : {begins, whole}) {
        ask(prefetch, ahead.get());
        ASSERT_EQ(std::memcmp(ahead.get(), answers.get(), asked.size()), 0);
      }
      for (const std::size_t n : {asked.size(), std::size_t{31}, std::size_t{1}}) {
        std::fill_n(answers.get(), n, false);
        filter.may_contain(std::span(asked).first(n), std::span(answers.get(), n));
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(answers[i], expected[i] != 0) << i;
      }
    });
  }
}

}  // namespace
}  // namespace bloomset
