#include "teach/cell_array.hpp"

#include <fmt/format.h>

#include <bloomset/bloom.hpp>
#include <bloomset/counting_bloom.hpp>
#include <utility>

#include "teach/text/text_walk.hpp"

namespace bloomset::teach {
namespace {

/// The part that bits and counters share.
template <class Filter>
class typed_array : public cell_array {
 public:
  explicit typed_array(Filter made) : filter_(std::move(made)) {}

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

class bloom_array final : public typed_array<basic_bloom<family_rule>> {
 public:
  using typed_array::typed_array;

  std::string title() const override {
    return fmt::format("a Bloom filter of {} and {}", counted(cells(), "bit"),
                       counted(filter_.params().hashes, "hash function"));
  }
  std::string_view cell_name() const noexcept override { return "bit"; }
  std::uint64_t cells() const noexcept override { return filter_.params().bits; }
  unsigned max_value() const noexcept override { return 1; }
  unsigned cell(std::uint64_t position) const noexcept override {
    return detail::test_bit(filter_.bits().data(), position) ? 1 : 0;
  }
  bool erase(std::string_view) noexcept override { return false; }
};

class counting_array final : public typed_array<basic_counting_bloom<family_rule>> {
 public:
  using typed_array::typed_array;

  std::string title() const override {
    return fmt::format("a counting Bloom filter of {} (0 to {}) and {}",
                       counted(cells(), "counter"), max_value(),
                       counted(filter_.params().array.hashes, "hash function"));
  }
  std::string_view cell_name() const noexcept override { return "counter"; }
  std::uint64_t cells() const noexcept override { return filter_.params().counters(); }
  unsigned max_value() const noexcept override { return filter_.params().maximum(); }
  unsigned cell(std::uint64_t position) const noexcept override {
    return filter_.counter(position);
  }
  bool erase(std::string_view element) noexcept override { return filter_.erase(element); }
};

}  // namespace

result<std::unique_ptr<cell_array>> make_bloom_array(std::uint64_t m, const shared_family& family) {
  auto made = basic_bloom<family_rule>::make({.bits = m, .hashes = family->functions()},
                                             family_rule{family});
  if (!made) return fail(std::move(made.error()));
  return std::make_unique<bloom_array>(std::move(*made));
}

result<std::unique_ptr<cell_array>> make_counting_array(std::uint64_t m,
                                                        const shared_family& family,
                                                        unsigned counter_bits) {
  auto made = basic_counting_bloom<family_rule>::make(
      {.bits = m * counter_bits, .hashes = family->functions(), .counter_bits = counter_bits},
      family_rule{family});
  if (!made) return fail(std::move(made.error()));
  return std::make_unique<counting_array>(std::move(*made));
}

}  // namespace bloomset::teach
