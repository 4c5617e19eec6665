#include <bloomset/detail/core/cardinality.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace bloomset::detail {
namespace {

// Ertl's sigma(x) = x + sum over k >= 1 of x^(2^k) 2^(k-1): the term of the registers that are
// still zero.
double sigma(double x) noexcept {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double sum = x;
  double weight = 1;
  double before = -1;
  while (sum != before) {
    before = sum;
    x *= x;
    sum += x * weight;
    weight *= 2;
  }
  return sum;
}

// Ertl's tau(x) = (1 - x - sum over k >= 1 of (1 - x^(2^-k))^2 2^-k) / 3: the term of the full
// registers.
double tau(double x) noexcept {
  if (x == 0 || x == 1) return 0;
  double sum = 1 - x;
  double weight = 1;
  double before = -1;
  while (sum != before) {
    before = sum;
    x = std::sqrt(x);
    weight /= 2;
    sum -= (1 - x) * (1 - x) * weight;
  }
  return sum / 3;
}

}  // namespace

bool cardinality_estimator::merge(std::span<const std::uint8_t> registers) noexcept {
  if (registers.size() != registers_.size() || std::ranges::max(registers) > rank_bits + 1) {
    return false;
  }
  for (std::size_t i = 0; i < registers.size(); ++i) {
    registers_[i] = std::max(registers_[i], registers[i]);
  }
  return true;
}

double cardinality_estimator::estimate() const noexcept {
  std::array<std::uint32_t, rank_bits + 2> of_rank{};
  for (const std::uint8_t rank : registers_) ++of_rank[rank];
  const auto m = static_cast<double>(registers_.size());
  double z = m * tau(1 - of_rank[rank_bits + 1] / m);
  for (unsigned rank = rank_bits; rank >= 1; --rank) z = (z + of_rank[rank]) / 2;
  z += m * sigma(of_rank[0] / m);
  return m * m / (2 * std::numbers::ln2 * z);
}

std::uint64_t cardinality_estimator::upper_bound(std::uint64_t added) const noexcept {
  const double raised = std::ceil(estimate() * (1 + 4 * standard_error));
  const bool is_less = raised < static_cast<double>(added);
  return std::max<std::uint64_t>(1, is_less ? static_cast<std::uint64_t>(raised) : added);
}

void distinct_counter::find(std::uint64_t hash) {
  if (too_many_) return;
  found_.insert(hash);
  too_many_ = found_.size() > max_counted_keys;
  if (too_many_) found_ = {};
}

void distinct_counter::add(std::span<const hash64> hashes) {
  for (const hash64 h : hashes) {
    estimator_.add(h);
    find(h.value);
  }
  added_ += hashes.size();
}

std::uint64_t distinct_counter::distinct() const noexcept {
  return too_many_ ? estimator_.upper_bound(added_) : std::max<std::uint64_t>(1, found_.size());
}

// The number of hashes, the registers, and the distinct hashes. There are none of the last, but
// some of the first, if they are too many.
std::vector<std::byte> distinct_counter::state() const {
  const auto registers = estimator_.registers();
  std::vector<std::byte> all(sizeof added_ + registers.size() + 8 * found_.size());
  store(all.data(), added_);
  auto* at = std::ranges::copy(std::as_bytes(registers), all.data() + sizeof added_).out;
  for (const std::uint64_t hash : found_) {
    store(at, hash);
    at += sizeof hash;
  }
  return all;
}

bool distinct_counter::merge(std::span<const std::byte> state) {
  const std::size_t first = sizeof added_ + estimator_.registers().size();
  if (state.size() < first || (state.size() - first) % 8 != 0) return false;
  const auto added = load<std::uint64_t>(state.data());
  const auto registers = state.subspan(sizeof added, first - sizeof added);
  if (!estimator_.merge(
          {reinterpret_cast<const std::uint8_t*>(registers.data()), registers.size()})) {
    return false;
  }
  for (std::size_t at = first; at < state.size(); at += 8) find(load<std::uint64_t>(&state[at]));
  if (added > 0 && state.size() == first) {
    too_many_ = true;
    found_ = {};
  }
  added_ += added;
  return true;
}

}  // namespace bloomset::detail
