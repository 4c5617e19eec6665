#include "kinds/file_index/class_code.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <bloomset/detail/retrieval/retrieval.hpp>
#include <cmath>
#include <numeric>
#include <queue>
#include <utility>

namespace bloomset::detail {
namespace {

/// A class of 2^bits answers.
struct answer_class {
  std::uint64_t begin = 0;
  unsigned bits = 0;
  std::uint64_t weight = 0;

  /// Heavier first, then in the order of the answers.
  friend bool operator<(const answer_class& a, const answer_class& b) noexcept {
    return a.weight != b.weight ? a.weight < b.weight : a.begin > b.begin;
  }
};

/// Classes that are halved one after the other. A half saves one bit for each of its keys, so the
/// heaviest class is halved first. No other choice of as many classes with such bounds saves more,
/// because halves weigh less than their class.
class halved_classes {
 public:
  /// Begins with these classes.
  halved_classes(std::span<const std::uint64_t> weights, std::span<const std::uint8_t> bits)
      : sums_(weights.size() + 1) {
    for (std::size_t i = 0; i < weights.size(); ++i) sums_[i + 1] = sums_[i] + weights[i];
    std::uint64_t begin = 0;
    for (const std::uint8_t one : bits) {
      add(begin, one);
      begin += std::uint64_t{1} << one;
    }
  }
  /// Begins with one class.
  explicit halved_classes(std::span<const std::uint64_t> weights)
      : halved_classes(weights,
                       std::array{static_cast<std::uint8_t>(std::bit_width(weights.size() - 1))}) {}

  std::size_t size() const noexcept { return open_.size() + single_.size(); }
  /// The bits of all keys in the first structure, and in second ones.
  double first_bits(unsigned columns) const noexcept {
    return static_cast<double>(sums_.back()) * with_overhead(columns);
  }
  double second_bits() const noexcept { return second_bits_; }
  bool can_be_halved() const noexcept { return !open_.empty(); }

  void halve_up_to(std::uint64_t classes) {
    while (size() < classes && can_be_halved()) {
      const answer_class whole = open_.top();
      open_.pop();
      second_bits_ -= bits_of(whole);
      // NOLINTNEXTLINE(clang-analyzer-core.BitwiseShift): classes without bits are not open.
      const std::uint64_t middle = whole.begin + (std::uint64_t{1} << (whole.bits - 1));
      add(whole.begin, whole.bits - 1);
      add(middle, whole.bits - 1);
    }
  }

  std::vector<std::uint8_t> bits_in_order() && {
    std::vector<answer_class> all = std::move(single_);
    for (; !open_.empty(); open_.pop()) all.push_back(open_.top());
    std::ranges::sort(all, {}, &answer_class::begin);
    std::vector<std::uint8_t> bits;
    bits.reserve(all.size());
    for (const answer_class& one : all) bits.push_back(static_cast<std::uint8_t>(one.bits));
    return bits;
  }

 private:
  // What a structure costs beyond the bits of its values (retrieval.hpp).
  static double with_overhead(unsigned columns) noexcept {
    if (columns == 0) return 0;
    return columns * 1.0015 + (default_retrieval_width(columns) == 128 ? 0.0045 : 0.016);
  }
  static double bits_of(const answer_class& one) noexcept {
    return static_cast<double>(one.weight) * with_overhead(one.bits);
  }

  void add(std::uint64_t begin, unsigned bits) {
    const std::uint64_t answers = sums_.size() - 1;
    // A class whose upper half has no answer is its lower half.
    while (bits != 0 && begin + (std::uint64_t{1} << (bits - 1)) >= answers) --bits;
    const std::uint64_t end = std::min(answers, begin + (std::uint64_t{1} << bits));
    const answer_class one{begin, bits, sums_[end] - sums_[begin]};
    second_bits_ += bits_of(one);
    if (bits == 0) {
      single_.push_back(one);
    } else {
      open_.push(one);
    }
  }

  std::vector<std::uint64_t> sums_;
  std::priority_queue<answer_class> open_;
  std::vector<answer_class> single_;
  double second_bits_ = 0;
};

std::uint64_t classes_for(double fpr, unsigned columns) noexcept {
  const double all = std::floor(std::ldexp(fpr, static_cast<int>(columns)));
  return static_cast<std::uint64_t>(std::min<double>(all, max_classes));
}

/// Classes with more answers the lighter these are: 2^j answers if j is the least number for which
/// the first weighs at least price / 2^(j + 1). That is where another bit costs less than a class.
std::vector<std::uint8_t> classes_at(std::span<const std::uint64_t> weights, std::uint64_t price) {
  std::vector<std::uint8_t> all;
  for (std::size_t at = 0; at < weights.size();) {
    unsigned bits = 0;
    while (weights[at] < price >> (bits + 1)) ++bits;
    while (bits != 0 && at + (std::size_t{1} << (bits - 1)) >= weights.size()) --bits;
    all.push_back(static_cast<std::uint8_t>(bits));
    at += std::size_t{1} << bits;
  }
  return all;
}

/// At most `most` such classes, at the lowest price for which the search finds so few.
std::vector<std::uint8_t> graded_classes(std::span<const std::uint64_t> weights,
                                         std::uint64_t most) {
  const std::uint64_t total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  std::uint64_t low = 0;
  std::uint64_t high = 4 * total + 4;  // of which half is more than any answer weighs
  std::vector<std::uint8_t> found = {static_cast<std::uint8_t>(std::bit_width(weights.size() - 1))};
  while (high - low > 1 + low / 4096) {
    const std::uint64_t middle = low + (high - low) / 2;
    auto classes = classes_at(weights, middle);
    if (classes.size() <= most) {
      found = std::move(classes);
      high = middle;
    } else {
      low = middle;
    }
  }
  return found;
}

}  // namespace

class_code choose_classes(std::span<const std::uint64_t> weights, double fpr) {
  unsigned first = 1;
  while (classes_for(fpr, first) == 0) ++first;
  if (weights.empty()) return {first, {}};
  struct candidate {
    class_code code;
    double cost;
  };
  std::vector<candidate> candidates;
  const auto add = [&](unsigned columns, halved_classes classes) {
    classes.halve_up_to(classes_for(fpr, columns));
    const double cost = classes.first_bits(columns) + classes.second_bits();
    candidates.push_back({{columns, std::move(classes).bits_in_order()}, cost});
  };
  for (unsigned columns = first; columns <= max_retrieval_columns; ++columns) {
    add(columns, halved_classes(weights));
    add(columns, halved_classes(weights, graded_classes(weights, classes_for(fpr, columns))));
    if (candidates.back().code.bits.size() == std::min<std::size_t>(weights.size(), max_classes)) {
      break;
    }
  }
  const double least = std::ranges::min_element(candidates, {}, &candidate::cost)->cost;
  // A smaller first structure is worth two thousandths: it is all that most other keys touch.
  constexpr double tolerance = 1.002;
  const auto few = std::ranges::find_if(
      candidates, [least](const candidate& one) { return one.cost <= tolerance * least; });
  // Of both codes with its columns, the cheaper.
  const auto next = few + 1;
  const bool next_is_cheaper =
      next != candidates.end() && next->code.columns == few->code.columns && next->cost < few->cost;
  return std::move(next_is_cheaper ? next->code : few->code);
}

}  // namespace bloomset::detail
