#include "plan/checks.hpp"

#include <algorithm>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/units.hpp>

#include "core/format.hpp"

namespace bloomset::detail {

result<void> check_request(std::uint64_t capacity, std::uint64_t max_capacity, double fpr,
                           std::uint64_t bits, double confidence) {
  if (capacity > max_capacity) {
    return refuse("a capacity of {} is too large; give at most {}", format_count(capacity, "key"),
                  format_count(max_capacity));
  }
  if (!(fpr >= 0 && fpr < 1)) {
    return refuse(
        "a false-positive rate of {} is out of range; give one between 0 and 1, such as 0.01", fpr);
  }
  if (bits > max_bits) {
    return refuse("{} bits are too many; give at most 2^62", bits);
  }
  if (confidence != 0 && !(confidence >= 0.5 && confidence < 1)) {
    return refuse("a confidence of {} is out of range; give 50% or more, below 100%, such as 95%",
                  format_rate(confidence));
  }
  return {};
}

result<void> check_hash_collisions(double fpr, std::uint64_t n) {
  const std::uint64_t keys = std::max<std::uint64_t>(n, 1);
  const double least = 2 * formulas::hash_collision_fpr(static_cast<double>(keys));
  if (fpr == 0 || fpr >= least) return {};
  return refuse(
      "a rate of {:.3g} with {} is below what 64-bit hashes can promise ({:.3g}); give a higher "
      "rate",
      fpr, format_count(keys, "key"), least);
}

failure size_is_open(std::string_view kind) {
  return refuse("{}'s size is not determined; give two of capacity, rate and memory", kind);
}

failure no_key_fits(std::uint64_t bits, double fpr) {
  return refuse(
      "{} cannot hold a single key at a rate of {:.3g}; give more memory or a higher rate",
      format_count(bits, "bit"), fpr);
}

failure too_few_bits(std::uint64_t bits, std::uint64_t keys, std::string_view kind,
                     std::string_view condition) {
  return refuse("{} cannot hold {} in a {}{}; give more memory{}", format_count(bits, "bit"),
                format_count(keys, "key"), kind, condition,
                condition.empty() ? "" : " or a higher rate");
}

std::string at_rate(double fpr) {
  return fpr == 0 ? "" : " at a rate of " + format_rate(fpr);
}

result<void> check_promise(double wanted, double planned, std::uint64_t capacity,
                           std::uint64_t bits) {
  if (wanted == 0 || planned <= wanted * (1 + 1e-6)) return {};
  return refuse(
      "{} in {} would give a rate of {}, not {}; leave one of capacity, rate and memory out",
      format_count(capacity, "key"), format_count(bits, "bit"), format_rate(planned),
      format_rate(wanted));
}

failure hashes_were_chosen() {
  return refuse(
      "the hashes were made to be alike and cannot be laid out; hash the keys with another seed or "
      "with a secret key");
}

result<void> check_equal(std::initializer_list<compared_value> values, std::string_view needed) {
  const auto shown = [](const auto& value) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(value)>, hash_seed>) {
      return value.is_keyed() ? format_text("a key with identifier {:016x}", value.value())
                              : format_text("{}", value.value());
    } else {
      return format_text("{}", value);
    }
  };
  for (const auto& [name, a, b] : values) {
    if (a == b) continue;
    return format_failure(
        errc::incompatible,
        "the filters differ in {} ({} and {}); only filters built with equal {} can be combined",
        name, std::visit(shown, a), std::visit(shown, b), needed);
  }
  return {};
}

result<void> check_version(const filter_header& header, std::string_view filter,
                           std::uint16_t known) {
  if (header.kind_version == known) return {};
  return format_failure(
      errc::unsupported, "this {} has layout version {}, but only version {} is known here; {}",
      filter, header.kind_version, known,
      header.kind_version > known ? "use a newer bloomset" : "build it again from its keys");
}

failure out_of_range(std::string_view filter) {
  return format_failure(errc::corrupt, "the {}'s parameters are out of range; the file is damaged",
                        filter);
}

}  // namespace bloomset::detail
