// The kernels of all instruction sets of a fuse filter against its single queries.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bloomset/fuse.hpp>
#include <vector>

#include "tests/support/filter_types.hpp"
#include "tests/support/instruction_sets.hpp"

namespace bloomset::test {
namespace {

// The scalar answers are the specification. Filters with and without prefetching, batches of every
// length up to a few groups, members among non-members.
TEST(fuse_kernels, all_give_the_same_answers) {
  for (const std::size_t n : {1U, 40U, 5000U, 1'000'000U}) {
    const auto members = hashes_of_stream(11, n);
    auto asked = hashes_of_stream(12, 300);
    for (std::size_t i = 0; i < std::min<std::size_t>(n, 150); ++i) asked[2 * i] = members[i];
    for (const unsigned arity : {3U, 4U}) {
      for (unsigned w = n > 100'000 ? 8 : 1; w <= 32; w += n > 100'000 ? 17 : 1) {
        const fuse f = value_of(fuse::build({.arity = arity, .fingerprint_bits = w}, members));
        with_each_instruction_set([&] {
          for (std::size_t size = 0; size <= asked.size(); size += size < 20 ? 1 : 47) {
            std::array<bool, 300> answers{};
            f.may_contain(std::span<const hash64>(asked).first(size), answers);
            for (std::size_t i = 0; i < size; ++i) {
              ASSERT_EQ(answers.at(i), f.may_contain(asked[i])) << w;
            }
            ASSERT_EQ(std::count(answers.begin() + size, answers.end(), true), 0);
          }
        });
      }
    }
  }
}

}  // namespace
}  // namespace bloomset::test
