// The kernels of the vector quotient filter change the same bytes as its specification.

#include <gtest/gtest.h>

#include <algorithm>
#include <bloomset/detail/vector_quotient/kernels.hpp>
#include <random>
#include <vector>

#include "tests/kinds/vector_quotient/vector_quotient_filters.hpp"
#include "tests/support/instruction_sets.hpp"

namespace bloomset::test {
namespace {

using namespace quotients;  // NOLINT(google-build-using-namespace)

TEST(vector_quotient_kernels, every_kernel_does_the_same_to_the_same_bytes) {
  for (unsigned bits = 5; bits <= 32; ++bits) {
    for (const unsigned slots : {512U / (bits + 3), 512U / (bits + 6)}) {
      const shape of{9, std::min(63U, slots), bits};
      SCOPED_TRACE(fmt::format("{} slots of {} bits", of.slots, bits));
      if (!plan_vector_quotient({.bits = 5120, .slots = of.slots, .remainder_bits = bits}))
        continue;
      // More keys than fit, and some twice, so that every path of an insert is taken.
      auto members = keys(of.blocks * of.slots + 50, bits);
      for (std::size_t i = 0; i < members.size(); i += 7) members[i] = members[i / 2];
      const auto non_members = keys(3000, 99);
      auto expected = filter_of(of);
      insert_summary all;
      for (const hash64 h : members) {
        const auto outcome = expected.insert(h);
        if (!is_contained(outcome)) {
          all.stopped_by = outcome;
          break;
        }
        ++all.done;
        ++(outcome == insert_outcome::inserted ? all.inserted : all.maybe_present);
      }
      const auto full = file_bytes(expected);
      auto erased = expected;
      std::vector<char> expected_erased;
      for (const hash64 h : members) expected_erased.push_back(erased.erase(h) ? 1 : 0);
      const auto emptied = file_bytes(erased);
      with_each_instruction_set([&] {
        auto f = filter_of(of);
        const auto summary = f.insert(std::span<const hash64>(members));
        EXPECT_EQ(summary.done, all.done);
        EXPECT_EQ(summary.inserted, all.inserted);
        EXPECT_EQ(summary.maybe_present, all.maybe_present);
        EXPECT_EQ(summary.stopped_by, all.stopped_by);
        ASSERT_EQ(file_bytes(f), full);
        const auto members_found = answers_of(f, members);
        const auto non_members_found = answers_of(f, non_members);
        std::vector<std::uint64_t> counts(members.size());
        f.count(std::span<const hash64>(members), counts);
        for (std::size_t i = 0; i < members.size(); ++i) {
          ASSERT_EQ(members_found[i] != 0, f.count(members[i]) != 0);
          ASSERT_EQ(members_found[i] != 0, f.may_contain(members[i]));
          ASSERT_EQ(counts[i], f.count(members[i]));
        }
        for (std::size_t i = 0; i < non_members.size(); ++i) {
          ASSERT_EQ(non_members_found[i] != 0, f.count(non_members[i]) != 0);
        }
        std::vector<char> room(members.size());
        f.erase(std::span<const hash64>(members),
                std::span(reinterpret_cast<bool*>(room.data()), room.size()));
        EXPECT_EQ(room, expected_erased);
        ASSERT_EQ(file_bytes(f), emptied);
        auto by_single_calls = filter_of(of);
        for (const hash64 h : members) {
          if (!is_contained(by_single_calls.insert(h))) break;
        }
        ASSERT_EQ(file_bytes(by_single_calls), full);
        for (std::size_t i = 0; i < members.size(); ++i) {
          ASSERT_EQ(by_single_calls.erase(members[i]), expected_erased[i] != 0);
        }
        ASSERT_EQ(file_bytes(by_single_calls), emptied);
      });
    }
  }
}

// Every kernel gives the same answers of a damaged filter.
TEST(vector_quotient_kernels, every_kernel_says_the_same_of_random_bytes) {
  std::mt19937_64 random(3);
  const auto asked = keys(2000);
  for (const shape& of : shapes) {
    const auto params = filter_of(of).params();
    auto bytes = value_of(owned_storage::make(params.payload_bytes()));
    for (int fill = 0; fill < 6; ++fill) {
      const auto table = bytes.writable_bytes().first(params.blocks * 64);
      for (std::byte& b : table) {
        b = static_cast<std::byte>(fill == 0 ? 0xff : fill == 1 ? random() | random() : random());
      }
      std::vector<char> expected;
      with_each_instruction_set([&] {
        // Borrowed memory need not be aligned to 64 bytes.
        std::vector<std::byte> moved(bytes.bytes().size() + 24);
        std::ranges::copy(bytes.bytes(), moved.begin() + 24);
        const auto f = value_of(basic_vector_quotient<borrowed_storage>::open(
            params, borrowed_storage(std::span(moved).subspan(24)), 0));
        const auto answers = answers_of(f, asked);
        for (std::size_t i = 0; i < asked.size(); ++i) {
          ASSERT_EQ(answers[i] != 0, f.may_contain(asked[i]))
              << i << " of " << of.slots << " x " << of.remainder_bits << ", " << fill;
        }
        if (expected.empty()) expected = answers;
        EXPECT_EQ(answers, expected);
      });
    }
  }
}

}  // namespace
}  // namespace bloomset::test
