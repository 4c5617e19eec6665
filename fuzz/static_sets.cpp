// Any set of hashes, with repetitions and made as an adversary would, is built into a filter that
// denies no member and is the same in another order; or refused with a sentence.

#include <algorithm>
#include <array>
#include <bloomery/bloomery.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "static_sets: %s\n", what);
  std::abort();
}

/// The bytes behind the first eight as hashes of one to eight bytes, in the lower or upper bits.
std::vector<bloomery::hash64> hashes_in(const std::uint8_t* data, std::size_t size, unsigned width,
                                        bool upper) {
  std::vector<bloomery::hash64> hashes;
  for (; size >= width; data += width, size -= width) {
    std::uint64_t value = 0;
    std::memcpy(&value, data, width);
    hashes.push_back({upper ? value << (64 - 8 * width) : value});
  }
  return hashes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 8) return 0;
  const std::array rates = {0.5, 0.1, 0.01, 0.004, 1e-4, 1e-9};
  FILTER::spec_type spec;
  spec.fpr = rates.at(data[0] % rates.size());
  spec.seed = data[1];
  auto hashes = hashes_in(data + 8, size - 8, 1 + data[2] % 8U, data[3] % 2 == 0);
  const std::size_t times = 1 + data[4] % 4U;
  const std::size_t once = hashes.size();
  for (std::size_t i = 1; i < times; ++i) {
    hashes.insert(hashes.end(), hashes.begin(), hashes.begin() + static_cast<std::ptrdiff_t>(once));
  }
  const auto filter = FILTER::build(spec, std::span<const bloomery::hash64>(hashes));
  if (!filter) {
    require(filter.error().message.size() > 30, "no sentence");
    return 0;
  }
  const auto answers = std::make_unique<bool[]>(hashes.size());
  filter->may_contain(hashes, {answers.get(), hashes.size()});
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    require(answers[i] && filter->may_contain(hashes[i]), "a false negative");
  }
  const auto bytes = bloomery::serialize(filter->image());
  std::reverse(hashes.begin(), hashes.end());
  const auto again = FILTER::build(spec, std::span<const bloomery::hash64>(hashes));
  require(again && bloomery::serialize(again->image()) == bytes, "another order, another filter");
  return 0;
}
