#include "report/speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bloomset/detail/core/bits.hpp>
#include <bloomset/hash.hpp>
#include <bloomset/plan/units.hpp>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomset::cli {
namespace {

// Enough queries for a standard error of 1% at a rate of 1%, in a few seconds for all kinds at a
// million keys.
constexpr std::uint64_t queries_per_run = std::uint64_t{1} << 17;
constexpr std::uint64_t query_runs = 5;
// From this capacity on, one run is long enough.
constexpr std::uint64_t many_keys = std::uint64_t{1} << 22;

/// At least 3, and more for small capacities, whose runs are short.
std::uint64_t insert_runs(std::uint64_t capacity) noexcept {
  if (capacity >= many_keys) return 1;
  return std::clamp<std::uint64_t>((std::uint64_t{1} << 17) / capacity, 3, 101);
}

using clock = std::chrono::steady_clock;
using views = std::span<const std::string_view>;

// i is below 2^63, so non-members differ from members.
constexpr std::uint64_t non_member_bit = std::uint64_t{1} << 63;

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
}

class measurement {
 public:
  measurement(const kind_info& kind, plan_request request, const plan_report& plan,
              std::size_t key_bytes, const std::function<void(std::uint64_t)>& worked)
      : kind_(kind),
        request_(std::move(request)),
        worked_(worked),
        keys_(plan.capacity),
        text_(speed_batch * key_bytes, '.') {
    made_.plan = plan;
    for (std::size_t i = 0; i < speed_batch; ++i) {
      views_.at(i) = {text_.data() + i * key_bytes, key_bytes};
    }
  }

  result<measured_kind> run() {
    if (auto ok = kind_.build == nullptr ? fill() : build(); !ok) return fail(ok.error());
    made_.bytes = filter_->size_in_bytes();
    made_.ns.absent_one = ask(true, false);
    made_.ns.absent_batch = ask(true, true);
    made_.ns.present_one = ask(false, false);
    made_.ns.present_batch = ask(false, true);
    return std::move(made_);
  }

 private:
  /// Nanoseconds of `work` for the keys number(0) .. number(count - 1), one batch per call. The
  /// keys are generated per batch and need no memory.
  template <class Number, class Work>
  double time(std::uint64_t count, Number&& number, Work&& work) {
    constexpr std::string_view digits = "0123456789abcdef";
    clock::duration all{};
    for (std::uint64_t first = 0; first < count; first += speed_batch) {
      const auto size = std::min<std::uint64_t>(speed_batch, count - first);
      const std::size_t key_bytes = text_.size() / speed_batch;
      for (std::uint64_t i = 0; i < size; ++i) {
        char* to = text_.data() + i * key_bytes;
        const std::uint64_t x = detail::remix64(number(first + i));
        for (unsigned shift = 64; shift != 0; shift -= 4) *to++ = digits[x >> (shift - 4) & 15];
      }
      const auto begun = clock::now();
      work(views(views_).first(size));
      all += clock::now() - begun;
      worked_(size);
    }
    return std::chrono::duration<double, std::nano>(all).count();
  }
  static constexpr auto members = [](std::uint64_t i) { return i; };

  result<void> fill() {
    std::array<std::vector<double>, 2> times;
    for (std::uint64_t run = insert_runs(keys_); run-- != 0;) {
      // One key per call, then batches. Queries use the filter of the last run.
      for (std::size_t in_batches = 0; in_batches < 2; ++in_batches) {
        auto made = kind_.create(request_);
        if (!made) return fail(std::move(made.error()));
        filter_.emplace(std::move(*made));
        const std::size_t keys_per_call = in_batches != 0 ? speed_batch : 1;
        std::uint64_t held = 0;
        const double ns = time(keys_, members, [&](views batch) {
          for (std::size_t i = 0; i < batch.size(); i += keys_per_call) {
            const auto done =
                filter_->insert(batch.subspan(i, std::min(keys_per_call, batch.size() - i)));
            if (done) held += done->done;
          }
        });
        if (held != keys_) {
          return fail(errc::full, fmt::format("the filter was full after {} of {}",
                                              format_count(held), format_count(keys_, "key")));
        }
        times.at(in_batches).push_back(ns / static_cast<double>(keys_));
      }
    }
    made_.ns.insert_one = median(times[0]);
    made_.ns.insert_batch = median(times[1]);
    return {};
  }

  /// Builds from hashes, as `bloomset build` does.
  result<void> build() {
    request_.hash_bits = hash_bits_for(kind_, request_);
    std::vector<double> times;
    std::vector<std::vector<hash64>> hashes(request_.hash_bits / 64);
    for (auto& half : hashes) half.reserve(keys_);
    for (std::uint64_t run = insert_runs(keys_); run-- != 0;) {
      std::vector<hash_source> sources;
      double ns = 0;
      for (unsigned i = 0; i < hashes.size(); ++i) {
        const filter_hasher hash(request_.seed.half(i));
        hashes[i].clear();
        ns += time(keys_, members, [&](views batch) {
          for (const auto key : batch) hashes[i].push_back(hash(std::as_bytes(std::span(key))));
        });
        sources.push_back(hash_source::of(hashes[i]));
      }
      const auto begun = clock::now();
      auto made = build_filter(kind_, request_, sources);
      ns += std::chrono::duration<double, std::nano>(clock::now() - begun).count();
      if (!made) return fail(std::move(made.error()));
      filter_.emplace(std::move(*made));
      times.push_back(ns / static_cast<double>(keys_));
    }
    made_.ns.insert_batch = median(times);
    return {};
  }

  double ask(bool non_members, bool in_batches) {
    std::vector<double> times;
    for (std::uint64_t run = 0; run < query_runs; ++run, asked_ += queries_per_run) {
      std::uint64_t found = 0;
      // No non-member is queried twice. Members are drawn at random.
      const auto number = [&](std::uint64_t i) {
        return non_members ? non_member_bit | (asked_ + i) : detail::remix64(asked_ + i) % keys_;
      };
      const double ns = time(queries_per_run, number, [&](views batch) {
        if (in_batches) {
          filter_->may_contain(batch, answers_);
          found += static_cast<std::uint64_t>(std::ranges::count(answers_, true));
        } else {
          for (const auto key : batch) found += filter_->may_contain(key);
        }
      });
      times.push_back(ns / static_cast<double>(queries_per_run));
      if (non_members) {
        made_.non_members += queries_per_run;
        made_.false_positives += found;
      }
    }
    return median(times);
  }

  const kind_info& kind_;
  plan_request request_;
  const std::function<void(std::uint64_t)>& worked_;
  std::uint64_t keys_;
  measured_kind made_;
  std::optional<any_filter> filter_;
  std::uint64_t asked_ = 0;
  std::string text_;
  std::array<std::string_view, speed_batch> views_;
  std::array<bool, speed_batch> answers_{};
};
static_assert(queries_per_run % speed_batch == 0);  // every answer of a batch is counted

}  // namespace

std::uint64_t keys_to_measure(const kind_info& kind, std::uint64_t capacity) {
  const std::uint64_t fills = (kind.build == nullptr ? 2 : 1) * insert_runs(capacity);
  return fills * capacity + 4 * query_runs * queries_per_run;
}

result<measured_kind> measure(const kind_info& kind, const plan_request& request,
                              const plan_report& plan, std::size_t key_bytes,
                              const std::function<void(std::uint64_t keys)>& worked) {
  // Its buffers are too large for a stack.
  return std::make_unique<measurement>(kind, request, plan, key_bytes, worked)->run();
}

}  // namespace bloomset::cli
