#include <fmt/format.h>

#include <bloomery/bloom.hpp>
#include <utility>

#include "explain_walk.hpp"

namespace bloomery::cli {
namespace {

class bloom_array final : public taught_array {
 public:
  using filter = basic_bloom<taught_rule>;

  explicit bloom_array(filter made) : filter_(std::move(made)) {}

  std::string title() const override {
    return fmt::format("a Bloom filter of {} bits and {} hash function{}", filter_.params().bits,
                       filter_.params().hashes, filter_.params().hashes == 1 ? "" : "s");
  }
  std::string_view cell_name() const noexcept override { return "bit"; }
  std::uint64_t places() const noexcept override { return filter_.params().bits; }
  unsigned largest() const noexcept override { return 1; }
  unsigned cell(std::uint64_t place) const noexcept override {
    return detail::test_bit(filter_.bits().data(), place) ? 1 : 0;
  }
  insert_outcome insert(std::string_view element) noexcept override {
    return filter_.insert(element);
  }
  bool may_contain(std::string_view element) const noexcept override {
    return filter_.may_contain(element);
  }
  bool erase(std::string_view) noexcept override { return false; }
  double fill() const noexcept override { return filter_.fill(); }
  double current_fpr() const noexcept override { return filter_.current_fpr(); }

 private:
  filter filter_;
};

}  // namespace

result<std::unique_ptr<taught_array>> make_bloom_array(std::uint64_t m,
                                                       const shared_family& family) {
  auto made =
      bloom_array::filter::make({.bits = m, .hashes = family->functions()}, taught_rule{family});
  if (!made) return fail(std::move(made.error()));
  return std::make_unique<bloom_array>(std::move(*made));
}

}  // namespace bloomery::cli
