#include <fmt/format.h>

#include <bloomery/bloom.hpp>
#include <bloomery/counting_bloom.hpp>
#include <utility>

#include "explain_teller.hpp"
#include "explain_walk.hpp"

namespace bloomery::cli {
namespace {

/// What bits and counters have in common.
template <class Filter>
class array_of : public taught_array {
 public:
  explicit array_of(Filter made) : filter_(std::move(made)) {}

  insert_outcome insert(std::string_view element) noexcept override {
    return filter_.insert(element);
  }
  bool may_contain(std::string_view element) const noexcept override {
    return filter_.may_contain(element);
  }
  double fill() const noexcept override { return filter_.fill(); }
  double current_fpr() const noexcept override { return filter_.current_fpr(); }

 protected:
  Filter filter_;  // NOLINT(*-non-private-member-variables-in-classes)
};

class bloom_array final : public array_of<basic_bloom<taught_rule>> {
 public:
  using array_of::array_of;

  std::string title() const override {
    return fmt::format("a Bloom filter of {} and {}", counted(places(), "bit"),
                       counted(filter_.params().hashes, "hash function"));
  }
  std::string_view cell_name() const noexcept override { return "bit"; }
  std::uint64_t places() const noexcept override { return filter_.params().bits; }
  unsigned largest() const noexcept override { return 1; }
  unsigned cell(std::uint64_t place) const noexcept override {
    return detail::test_bit(filter_.bits().data(), place) ? 1 : 0;
  }
  bool erase(std::string_view) noexcept override { return false; }
};

class counting_array final : public array_of<basic_counting_bloom<taught_rule>> {
 public:
  using array_of::array_of;

  std::string title() const override {
    return fmt::format("a counting Bloom filter of {} (0 to {}) and {}",
                       counted(places(), "counter"), largest(),
                       counted(filter_.params().array.hashes, "hash function"));
  }
  std::string_view cell_name() const noexcept override { return "counter"; }
  std::uint64_t places() const noexcept override { return filter_.params().counters(); }
  unsigned largest() const noexcept override { return filter_.params().maximum(); }
  unsigned cell(std::uint64_t place) const noexcept override { return filter_.counter(place); }
  bool erase(std::string_view element) noexcept override { return filter_.erase(element); }
};

}  // namespace

result<std::unique_ptr<taught_array>> make_bloom_array(std::uint64_t m,
                                                       const shared_family& family) {
  auto made = basic_bloom<taught_rule>::make({.bits = m, .hashes = family->functions()},
                                             taught_rule{family});
  if (!made) return fail(std::move(made.error()));
  return std::make_unique<bloom_array>(std::move(*made));
}

result<std::unique_ptr<taught_array>> make_counting_array(std::uint64_t m,
                                                          const shared_family& family,
                                                          unsigned counter_bits) {
  auto made = basic_counting_bloom<taught_rule>::make(
      {.bits = m * counter_bits, .hashes = family->functions(), .counter_bits = counter_bits},
      taught_rule{family});
  if (!made) return fail(std::move(made.error()));
  return std::make_unique<counting_array>(std::move(*made));
}

}  // namespace bloomery::cli
