#include <bloomset/plan/limits.hpp>
#include <bloomset/plan/numeric.hpp>

#include "bitmap.hpp"
#include "plan/checks.hpp"

namespace bloomset {
namespace {

/// The rate of n keys in m bits. log1p and expm1 lose no digits, and are the same on every machine.
double rate_of(double n, double m) noexcept {
  return m == 1 ? 1 : -numeric::expm1(n * numeric::log1p(-1 / m));
}

/// The fields of the parameter block, in order.
constexpr auto fields = [](auto& block, auto& params) {
  block.values(params.capacity, params.fpr, params.bits);
};

}  // namespace

result<bitmap_params> plan_bitmap(const bitmap_spec& spec) {
  if (auto ok = detail::check_common(spec); !ok) return fail(std::move(ok.error()));
  if ((spec.capacity != 0) + (spec.fpr != 0) + (spec.bits != 0) < 2) {
    return detail::size_is_open("a bitmap");
  }
  bitmap_params plan{.capacity = spec.capacity, .bits = spec.bits, .seed = spec.seed};
  const auto n = static_cast<double>(spec.capacity);
  if (spec.bits == 0) {
    // eps = 1 - (1 - 1/m)^n, solved for m, and the next whole number.
    const double m = -1 / numeric::expm1(numeric::log1p(-spec.fpr) / n);
    if (!(m < static_cast<double>(max_bits))) {
      return detail::refuse("a bitmap of so many keys at that rate needs more than 2^62 bits");
    }
    plan.bits = static_cast<std::uint64_t>(m) + 1;
  } else if (spec.capacity == 0) {
    const double keys =
        numeric::log1p(-spec.fpr) / numeric::log1p(-1 / static_cast<double>(spec.bits));
    if (!(keys >= 1)) return detail::no_key_fits(spec.bits, spec.fpr);
    plan.capacity = std::min(static_cast<std::uint64_t>(keys), max_keys);
  }
  plan.fpr = rate_of(static_cast<double>(plan.capacity), static_cast<double>(plan.bits));
  if (auto ok = detail::check_promise(spec.fpr, plan.fpr, plan.capacity, plan.bits); !ok) {
    return fail(std::move(ok.error()));
  }
  return plan;
}

std::vector<std::byte> bitmap_params::encode() const {
  return detail::encode_block(*this, fields);
}

result<bitmap_params> bitmap_params::decode(const filter_header& header,
                                            std::span<const std::byte> block) {
  return detail::decode_block<bitmap_params>(
      header, block, "bitmap", fields, [](const bitmap_params& params) {
        return detail::is_capacity(params.capacity) && params.bits != 0 &&
               params.bits <= max_bits && detail::in_range(params.fpr, 0, 1);
      });
}

}  // namespace bloomset
