// The physical limit: random cache lines of as many bytes as a blocked filter has, fetched ahead by
// the best distance that was found, in one walk over all questions, and nothing done with them.

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bloomset/plan/blocked_bloom_plan.hpp>
#include <cstring>
#include <new>

#include "keys.hpp"
#include "measure.hpp"
#include "subject.hpp"

namespace bench {
namespace {

constexpr std::size_t line_bytes = 64;

/// Pages from the kernel, at a multiple of 2 MiB, of 4 KiB or as huge as they are given.
class pages {
 public:
  pages(std::size_t size, bool huge) : size_(size + 2 * huge_page) {
    void* const got =
        ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) throw std::bad_alloc();
    all_ = static_cast<std::byte*>(got);
    const auto address = reinterpret_cast<std::uintptr_t>(all_);
    begin_ = all_ + ((address + huge_page - 1) / huge_page * huge_page - address);
    ::madvise(all_, size_, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    std::memset(begin_, 1, size);
  }
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;
  ~pages() { ::munmap(all_, size_); }

  const std::byte* data() const noexcept { return begin_; }

 private:
  static constexpr std::size_t huge_page = std::size_t{1} << 21;
  std::size_t size_;
  std::byte* all_ = nullptr;
  std::byte* begin_ = nullptr;
};

constexpr std::array<unsigned, 8> depths = {0, 16, 32, 48, 64, 96, 128, 192};

/// Locality is __builtin_prefetch's: 3 fetches into L1, 2 into L2.
template <int Locality>
class line_limit final : public subject {
 public:
  line_limit(std::size_t bytes, bool huge)
      : lines_(std::max<std::size_t>(1, bytes / line_bytes)), huge_(huge) {}

  /// Finds the best distance of those there are. What the lines hold does not matter.
  void build(keys, unsigned) override {
    if (memory_) return;
    memory_ = std::make_unique<pages>(lines_ * line_bytes, huge_);
    std::vector<bloomset::hash64> asked(lines_ < 100'000 ? 1U << 16 : 1U << 21);
    std::vector<times> taken(depths.size());
    for (std::uint64_t run = 0; run < 3; ++run) {
      for (std::size_t i = 0; i < asked.size(); ++i) {
        asked[i] = non_member(run * asked.size() + i);
      }
      for (std::size_t d = 0; d < depths.size(); ++d) {
        const stopwatch watch;
        for (std::size_t done = 0; done < (1U << 20); done += asked.size()) {
          walk(asked, depths[d]);
        }
        taken[d].add(watch.seconds(), asked.size());
      }
    }
    std::size_t best = 0;
    for (std::size_t d = 1; d < depths.size(); ++d) {
      if (taken[d].median() < taken[best].median()) best = d;
    }
    ahead_ = depths[best];
  }

  std::uint64_t bytes() const override { return lines_ * line_bytes; }
  std::uint64_t ask_each(keys asked) const override {
    walk(asked, 0);
    return 0;
  }
  void ask_batch(keys asked, bool*, unsigned) const override { walk(asked, ahead_); }

  std::string remark() const override {
    return ahead_ == 0 ? "fastest without fetching ahead"
                       : fmt::format("fastest {} lines ahead", ahead_);
  }

 private:
  const std::byte* line_of(bloomset::hash64 h) const noexcept {
    const std::uint64_t line = bloomset::detail::mulhi64(h.value, lines_);
    return memory_->data() + line * line_bytes;
  }

  void walk(keys asked, std::size_t ahead) const noexcept {
    ahead = std::min(ahead, asked.size());
    std::uint64_t sum = 0;
    std::size_t i = 0;
    if (ahead != 0) {
      for (; i < ahead; ++i) __builtin_prefetch(line_of(asked[i]), 0, Locality);
      for (i = 0; i + ahead < asked.size(); ++i) {
        __builtin_prefetch(line_of(asked[i + ahead]), 0, Locality);
        sum += bloomset::detail::load<std::uint64_t>(line_of(asked[i]));
      }
    }
    for (; i < asked.size(); ++i) sum += bloomset::detail::load<std::uint64_t>(line_of(asked[i]));
    keep(sum);
  }

  std::size_t lines_;
  bool huge_;
  unsigned ahead_ = 0;
  std::unique_ptr<pages> memory_;
};

template <int Locality>
entry limit(std::string name, bool huge) {
  return {.name = std::move(name),
          .of = group::limit,
          .batch = true,
          .make = [huge](const setting& s) -> std::unique_ptr<subject> {
            const auto plan = bloomset::plan_blocked_bloom({.capacity = s.n, .fpr = s.fpr}).value();
            return std::make_unique<line_limit<Locality>>(plan.bits() / 8, huge);
          }};
}

}  // namespace

entries memory_limits() {
  return {limit<3>("random lines into L1, 4 KiB pages", false),
          limit<2>("random lines into L2, 4 KiB pages", false),
          limit<3>("random lines into L1, huge pages", true),
          limit<2>("random lines into L2, huge pages", true)};
}

}  // namespace bench
