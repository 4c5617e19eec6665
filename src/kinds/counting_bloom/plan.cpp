#include <bloomset/plan/counting_bloom_plan.hpp>

#include <bloomset/detail/counting_bloom/counter_array.hpp>
#include <bloomset/plan/units.hpp>

#include "core/format.hpp"
#include "plan/checks.hpp"

namespace bloomset {
namespace {

result<void> check_ranges(const counting_bloom_spec& spec) {
  if (auto ok = detail::check_common(spec); !ok) return ok;
  if (!detail::is_counter_width(spec.counter_bits)) {
    return detail::refuse("counters of {} bits do not exist; give 4, 8 or 16", spec.counter_bits);
  }
  if (spec.bits != 0 && spec.bits < spec.counter_bits) {
    return detail::refuse("{} bits do not hold a single counter of {}; give more memory", spec.bits,
                          spec.counter_bits);
  }
  return {};
}

}  // namespace

result<counting_bloom_params> plan_counting_bloom(const counting_bloom_spec& spec) {
  if (auto ok = check_ranges(spec); !ok) return fail(std::move(ok.error()));
  auto array = plan_bloom({.capacity = spec.capacity,
                           .fpr = spec.fpr,
                           .bits = spec.bits / spec.counter_bits,
                           .hashes = spec.hashes,
                           .seed = spec.seed,
                           .confidence = spec.confidence});
  if (!array) {
    const bool bits_alone = spec.capacity == 0 && spec.fpr == 0 && spec.hashes == 0;
    if (spec.bits == 0 || bits_alone) return fail(std::move(array.error()));
    // The planner's sentence is about the bits of the array, not about the memory that was
    // requested.
    return fail(
        array.error().code,
        detail::format_text("{} bits are {} when each is a counter of {}: {}",
                            format_count(spec.bits), format_count(spec.bits / spec.counter_bits),
                            spec.counter_bits, array.error().message));
  }
  if (array->bits > max_bits / spec.counter_bits) {
    return detail::refuse(
        "{} counters of {} bits need more than 2^62 bits; give fewer keys or a higher rate",
        format_count(array->bits), spec.counter_bits);
  }
  return counting_bloom_params{.array = *array, .counter_bits = spec.counter_bits};
}

result<void> check_layout(const counting_bloom_params& params) {
  if (!detail::is_counter_width(params.counter_bits) || params.array.bits == 0 ||
      params.array.bits > max_bits / params.counter_bits || params.array.hashes == 0 ||
      params.array.hashes > max_hash_functions) {
    return detail::out_of_range("counting Bloom filter");
  }
  return {};
}

result<void> same_shape(const counting_bloom_params& a, const counting_bloom_params& b) {
  if (a.counter_bits != b.counter_bits) {
    return detail::format_failure(errc::incompatible,
                                  "the filters have counters of {} and of {} bits; only filters "
                                  "with equal counters can be combined",
                                  a.counter_bits, b.counter_bits);
  }
  return same_shape(a.array, b.array);
}

std::vector<std::byte> counting_bloom_params::encode() const {
  std::vector<std::byte> block = array.encode();
  const auto own = detail::record_writer().put(std::uint32_t{counter_bits}).finish();
  block.insert(block.end(), own.begin(), own.end());
  return block;
}

result<counting_bloom_params> counting_bloom_params::decode(const filter_header& header,
                                                            std::span<const std::byte> block) {
  if (auto ok = detail::check_version(header, "counting Bloom filter"); !ok) {
    return fail(std::move(ok.error()));
  }
  if (block.size() < detail::block_bytes) {
    return fail(errc::corrupt,
                "the counting Bloom filter's parameters are incomplete; the file is damaged");
  }
  auto array = bloom_params::decode(header, block.first(detail::block_bytes));
  if (!array) return fail(std::move(array.error()));
  detail::record_reader reader(block.subspan(detail::block_bytes));
  counting_bloom_params params{.array = *array, .counter_bits = reader.get<std::uint32_t>()};
  if (!reader.complete() || array->chance_keys != 0) {
    return fail(
        errc::corrupt,
        "the counting Bloom filter's parameters do not end as they should; the file is damaged");
  }
  if (auto ok = check_layout(params); !ok) return fail(std::move(ok.error()));
  return params;
}

}  // namespace bloomset
