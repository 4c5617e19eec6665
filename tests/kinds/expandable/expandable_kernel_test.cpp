// The kernels of all instruction sets give the same answers, for single queries and batches,
// whatever the bytes are, and the same bytes after the same inserts. They read and write only the
// segment.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <bloomset/detail/expandable/segment_kernels.hpp>
#include <cstring>
#include <random>

#include "src/cpu/dispatch.hpp"
#include "tests/kinds/expandable/expandable_filters.hpp"

namespace bloomset::test {
namespace {

using detail::segment_query;

// Bytes between two pages that end the program if they are touched. The bytes touch either page.
class fenced_bytes {
 public:
  explicit fenced_bytes(std::size_t capacity)
      : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
        inner_((capacity + page_ - 1) / page_ * page_),
        whole_(::mmap(nullptr, inner_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (whole_ == MAP_FAILED || ::mprotect(begin(), inner_, PROT_READ | PROT_WRITE) != 0) {
      throw std::bad_alloc();
    }
  }
  fenced_bytes(const fenced_bytes&) = delete;
  fenced_bytes& operator=(const fenced_bytes&) = delete;
  fenced_bytes(fenced_bytes&&) = delete;
  fenced_bytes& operator=(fenced_bytes&&) = delete;
  ~fenced_bytes() { ::munmap(whole_, inner_ + 2 * page_); }

  std::span<std::byte> at_begin(std::span<const std::byte> from) { return put(begin(), from); }
  std::span<std::byte> at_end(std::span<const std::byte> from) {
    return put(begin() + inner_ - from.size(), from);
  }

 private:
  std::byte* begin() const { return static_cast<std::byte*>(whole_) + page_; }
  static std::span<std::byte> put(std::byte* to, std::span<const std::byte> from) {
    std::memcpy(to, from.data(), from.size());
    return {to, from.size()};
  }

  std::size_t page_;
  std::size_t inner_;
  void* whole_;
};

struct asked_segment {
  std::vector<std::byte> bytes;
  unsigned cell_bits;
  std::uint32_t slot_bits;
  std::vector<hash64> members;
};

// The only segment of a filter with `keys` keys, and `chosen` more in one cell.
asked_segment segment_with(double fpr, std::uint64_t keys, std::uint64_t chosen) {
  expandable f({.capacity = 20, .fpr = fpr, .growth = 1024});
  std::vector<hash64> members = hashes_from(0, keys);
  for (std::uint64_t i = 0; i < chosen; ++i) members.push_back({hash_of(i).value << 20 | 3});
  EXPECT_EQ(f.insert(members).done, members.size());
  EXPECT_EQ(f.params().segments(), 1U);
  const auto image = f.image();
  return {{image.payload[1].begin(), image.payload[1].end()},
          f.params().cell_bits,
          f.params().slot_bits,
          std::move(members)};
}

// Expects the same answers of all instruction sets to queries for every cell, in batches of all
// sizes, and for a sound segment the answers of segment_view. Returns how many are yes.
std::size_t expect_one_answer(std::span<const std::byte> bytes, const asked_segment& asked,
                              bool is_sound, std::mt19937_64& random) {
  std::vector<segment_query> queries;
  for (std::uint32_t cell = 0; cell < 1U << asked.cell_bits; ++cell) {
    queries.push_back({bytes.data(), bytes.size(), random(), cell, asked.slot_bits});
  }
  const std::size_t non_members = queries.size();
  for (const hash64& h : asked.members) {
    const auto cell = static_cast<std::uint32_t>(detail::low_bits(h.value, asked.cell_bits));
    queries.push_back(
        {bytes.data(), bytes.size(), h.value >> asked.cell_bits, cell, asked.slot_bits});
  }
  std::array<bool, 33> wanted{};
  std::array<bool, 33> answers{};
  std::size_t yes = 0;
  for (std::size_t first = 0, n = 1; first < queries.size(); first += n, n = n % 33 + 1) {
    n = std::min(n, queries.size() - first);
    const auto some = std::span<const segment_query>(queries).subspan(first, n);
    const auto others =
        std::span<const segment_query>(queries).first(std::min(first % 41, queries.size()));
    for (std::size_t i = 0; i < n; ++i) {
      wanted[i] = detail::segment_kernels::scalar.contains(asked.cell_bits, some[i]);
      yes += static_cast<std::size_t>(wanted[i]);
      if (is_sound) {
        const detail::segment_view view({asked.cell_bits, asked.slot_bits}, bytes);
        EXPECT_EQ(view.contains(some[i].cell, some[i].remainder), wanted[i])
            << "cell " << some[i].cell;
        EXPECT_TRUE(wanted[i] || first + i < non_members) << "member " << first + i - non_members;
      }
    }
    for (const auto set : detail::usable_instruction_sets()) {
      const auto& kernels = detail::kernels_for<detail::segment_kernels>(set);
      kernels.contains_batch(asked.cell_bits, some, others, answers.data());
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_EQ(answers[i], wanted[i]) << name_of(set) << ", cell " << some[i].cell;
        EXPECT_EQ(kernels.contains(asked.cell_bits, some[i]), wanted[i]) << name_of(set);
      }
    }
  }
  return yes;
}

TEST(segment_kernels, agree_about_any_bytes_and_read_no_others) {
  std::mt19937_64 random(8);
  fenced_bytes fenced(detail::max_segment_bytes);
  std::size_t yes = 0;
  for (const double fpr : {0.25, 0.05, 0.003, 1e-5, 1e-9, 1e-14}) {
    for (const std::uint64_t keys : {0U, 1U, 20U, 64U, 100U, 1500U}) {
      for (const std::uint64_t chosen : {0U, 12U, 120U}) {
        SCOPED_TRACE(fmt::format("{} keys at {}, {} chosen", keys, fpr, chosen));
        const asked_segment sound = segment_with(fpr, keys, chosen);
        asked_segment damaged = sound;
        for (int round = 0; round < 12; ++round) {
          yes += expect_one_answer(fenced.at_begin(damaged.bytes), damaged, round == 0, random);
          yes += expect_one_answer(fenced.at_end(damaged.bytes), damaged, round == 0, random);
          // Damages block offsets, codes and slots.
          damaged = sound;
          for (int k = 0; k <= round; ++k) {
            const std::size_t end = k % 2 == 0 ? 8 : damaged.bytes.size();
            damaged.bytes[random() % end] = std::byte(random());
          }
        }
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
    }
  }
  EXPECT_GT(yes, 100'000U);
}

// Inserts the same keys in runs by one instruction set, and one by one into a copy by the scalar
// one, until there is no room or there are enough. Returns how many.
std::size_t expect_same_inserts(std::span<std::byte> bytes, const asked_segment& asked,
                                detail::instruction_set set, std::size_t max_copies,
                                std::uint64_t cells, std::mt19937_64 random) {
  // Each insert into a few cells moves all their entries, and their code is soon a long one.
  const std::size_t max_inserts = cells < 64 ? 800 : 3000;
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  const detail::segment_shape shape{asked.cell_bits, asked.slot_bits};
  std::size_t all = 0;
  for (std::size_t n = 1;; n = n % 17 + 1) {
    std::vector<segment_query> queries;
    for (std::size_t i = 0; i < n; ++i) {
      const auto cell = static_cast<std::uint32_t>(random() % cells);
      queries.push_back({bytes.data(), bytes.size(), random(), cell, asked.slot_bits});
      if (i % 5 == 4) queries.back() = queries[i / 2];
    }
    std::uint64_t newly_inserted = 0;
    const std::size_t run = detail::kernels_for<detail::segment_kernels>(set).insert_run(
        asked.cell_bits, queries, max_copies, newly_inserted);
    std::size_t wanted = 0;
    std::uint64_t wanted_fresh = 0;
    for (const segment_query& q : queries) {
      const auto one =
          detail::segment_kernels::scalar.insert(shape, copy, q.cell, q.remainder, max_copies);
      if (!one.placed) break;
      wanted_fresh += static_cast<std::uint64_t>(one.matching == 0);
      ++wanted;
    }
    EXPECT_EQ(run, wanted) << name_of(set);
    EXPECT_EQ(newly_inserted, wanted_fresh) << name_of(set);
    all += run;
    const bool ends = run != n || all > max_inserts;
    if (ends || n == 1) {
      EXPECT_EQ(std::memcmp(bytes.data(), copy.data(), copy.size()), 0)
          << name_of(set) << ", after " << all;
    }
    if (ends || ::testing::Test::HasFailure()) return all;
  }
}

TEST(segment_kernels, insert_the_same_bytes_and_write_no_others) {
  std::mt19937_64 random(11);
  fenced_bytes fenced(detail::max_segment_bytes);
  std::size_t inserted = 0;
  for (const double fpr : {0.25, 0.05, 0.003, 1e-5, 1e-9, 1e-14}) {
    for (const std::uint64_t keys : {0U, 20U, 100U, 1500U}) {
      const asked_segment empty = segment_with(fpr, keys, 0);
      const detail::segment_shape shape{empty.cell_bits, empty.slot_bits};
      // Gaps as after a layout, and far larger ones, with which some codes become long.
      for (const std::size_t area : {empty.bytes.size() * 5 / 4, empty.bytes.size() * 6}) {
        if (area > detail::max_segment_area) continue;
        asked_segment roomy = empty;
        roomy.bytes.resize(shape.stored_bytes(area));
        detail::segment_kernels::scalar.empty(shape, area, roomy.bytes);
        for (const std::size_t max_copies : {std::size_t{1}, std::size_t{3}, ~std::size_t{0}}) {
          for (const std::uint64_t cells :
               {std::uint64_t{1} << empty.cell_bits, std::uint64_t{5}}) {
            SCOPED_TRACE(fmt::format("as for {} keys at {}, {} bytes, up to {} copies, {} cells",
                                     keys, fpr, area, max_copies, cells));
            for (const auto set : detail::usable_instruction_sets()) {
              // The page before the bytes, or the page behind them.
              const auto bytes =
                  random() % 2 == 0 ? fenced.at_begin(roomy.bytes) : fenced.at_end(roomy.bytes);
              inserted += expect_same_inserts(bytes, roomy, set, max_copies, cells, random);
            }
            ASSERT_FALSE(::testing::Test::HasFailure());
          }
        }
      }
    }
  }
  EXPECT_GT(inserted, 100'000U);
}

}  // namespace
}  // namespace bloomset::test
