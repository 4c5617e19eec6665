// Revoked certificates of many issuers, as a clubcard, as an exact filter with partitions, and the
// least possible. The published figures are totals: 12.2 million revoked certificates and 789.2
// million others, whose clubcard has 8.5 MB (documentation of the crate clubcard, 0.3). Shares by
// issuer are not published. So issuers here have sizes by Zipf's law, and revoked shares whose
// logarithm is normally distributed, with the deviation at which a clubcard of the published totals
// has the published size.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <bloomset/partitioned_exact.hpp>
#include <bloomset/plan/units.hpp>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "../keys.hpp"
#include "../measure.hpp"
#include "../modes.hpp"

namespace bench {
namespace {

using namespace bloomset;

struct issuer {
  std::uint64_t revoked = 0;
  std::uint64_t others = 0;
};

constexpr double published_bytes = 8.5e6;
constexpr double published_revoked = 12.2e6;
constexpr double published_others = 789.2e6;

/// A number of the standard normal distribution, the same for the same i (Box and Muller, 1958).
double normal(std::uint64_t i) {
  const auto uniform = [](std::uint64_t hash) {
    return (static_cast<double>(hash >> 12) + 0.5) * 0x1p-52;
  };
  return std::sqrt(-2 * std::log(uniform(mixed(2 * i)))) *
         std::cos(2 * 3.14159265358979 * uniform(mixed(2 * i + 1)));
}

/// Issuers whose revoked certificates, relative to the others, are exp(deviation x) with normally
/// distributed x, times what gives the total.
std::vector<issuer> issuers_of(std::size_t count, double revoked, double others, double deviation) {
  double sizes = 0;
  for (std::size_t i = 1; i <= count; ++i) sizes += 1 / static_cast<double>(i);
  const auto share = [&](std::size_t i, double factor) {
    const double ratio = factor * std::exp(deviation * normal(i));
    return ratio / (1 + ratio);
  };
  const auto size = [&](std::size_t i) {
    return (revoked + others) / static_cast<double>(i) / sizes;
  };
  double low = 1e-12;
  double high = 1e12;
  for (int step = 0; step < 100; ++step) {
    const double middle = std::sqrt(low * high);
    double total = 0;
    for (std::size_t i = 1; i <= count; ++i) total += size(i) * share(i, middle);
    (total < revoked ? low : high) = middle;
  }
  std::vector<issuer> all(count);
  for (std::size_t i = 1; i <= count; ++i) {
    const double mine = size(i) * share(i, low);
    all[i - 1] = {static_cast<std::uint64_t>(mine), static_cast<std::uint64_t>(size(i) - mine)};
  }
  return all;
}

/// The size of a clubcard: whole columns, 2% more rows than keys, and 52 bytes per issuer. Files of
/// the crate are 2% larger with 500 keys per issuer, whose systems need up to 255 rows more.
double clubcard_bytes(std::span<const issuer> all) {
  double bits = 0;
  for (const issuer& each : all) {
    const std::uint64_t held = std::min(each.revoked, each.others);
    const std::uint64_t others = std::max(each.revoked, each.others);
    bits += 8 * 52;
    if (held == 0) continue;
    const int rank = static_cast<int>(std::bit_width(others / held)) - 1;
    const auto keys = static_cast<double>(held);
    bits += 1.02 * (keys * rank + keys + std::ldexp(static_cast<double>(others), -rank));
  }
  return bits / 8;
}

/// log2 of the number of possible sets, in bytes.
double bound_bytes(std::span<const issuer> all) {
  const auto log_factorial = [](std::uint64_t n) {
    return std::lgamma(static_cast<double>(n) + 1);
  };
  double nats = 0;
  for (const issuer& each : all) {
    nats += log_factorial(each.revoked + each.others) - log_factorial(each.revoked) -
            log_factorial(each.others);
  }
  return nats / std::log(2) / 8;
}

/// The deviation at which a clubcard of the published totals has the published size.
double fitted_deviation(std::size_t issuers) {
  double low = 0;
  double high = 6;
  for (int step = 0; step < 50; ++step) {
    const double middle = (low + high) / 2;
    const auto all = issuers_of(issuers, published_revoked, published_others, middle);
    (clubcard_bytes(all) > published_bytes ? low : high) = middle;
  }
  return low;
}

/// Certificates by number, of all issuers; hashed while they are read.
template <class Use>
result<void> read_certificates(std::span<const issuer> all, bool of_revoked, Use&& use) {
  std::array<partitioned_hash, 4096> batch;
  std::size_t size = 0;
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    const std::uint64_t count = of_revoked ? all[i].revoked : all[i].others;
    const std::uint64_t first = of_revoked ? 0 : all[i].revoked;
    for (std::uint64_t serial = first; serial < first + count; ++serial) {
      batch[size++] = {member(i), {mixed(mixed(i) ^ serial)}};
      if (size < batch.size()) continue;
      if (auto ok = use(std::span<const partitioned_hash>(batch)); !ok) return ok;
      size = 0;
    }
  }
  return use(std::span<const partitioned_hash>(batch).first(size));
}

partitioned_hash_source source_of(std::span<const issuer> all, bool of_revoked) {
  partitioned_hash_source source;
  for (const issuer& each : all) source.size += of_revoked ? each.revoked : each.others;
  source.for_each = [=](const partitioned_hash_source::sink& use) {
    return read_certificates(all, of_revoked, use);
  };
  return source;
}

/// Throws if a certificate of these is answered wrongly.
void check(const partitioned_exact& filter, std::span<const issuer> all, bool of_revoked) {
  std::array<bool, 4096> answers{};
  static_cast<void>(read_certificates(
      all, of_revoked, [&](std::span<const partitioned_hash> hashes) -> result<void> {
        filter.may_contain(hashes, answers);
        const auto end = answers.begin() + static_cast<std::ptrdiff_t>(hashes.size());
        if (std::count(answers.begin(), end, !of_revoked) != 0) {
          throw std::runtime_error("an exact filter answered a certificate wrongly");
        }
        return {};
      }));
}

}  // namespace

void simulate_revocation(std::uint64_t revoked, std::uint64_t universe, std::size_t issuers) {
  const double deviation = fitted_deviation(issuers);
  const auto all = issuers_of(issuers, static_cast<double>(revoked),
                              static_cast<double>(universe - revoked), deviation);
  const auto members = source_of(all, true);
  const auto others = source_of(all, false);
  fmt::print("{} revoked of {} certificates, {} issuers; the deviation is {:.2f}\n",
             format_count(members.size), format_count(members.size + others.size), issuers,
             deviation);
  const stopwatch watch;
  const partitioned_exact filter =
      partitioned_exact::build({.threads = 0}, members, others).value();
  const double build = watch.seconds();
  check(filter, all, true);
  check(filter, all, false);
  const double bound = bound_bytes(all);
  const auto row = [&](std::string_view name, double bytes) {
    fmt::print("{:<16} {:>10} {:>8.3f} bits per revoked, {:.3f} of the bound\n", name,
               format_bytes(static_cast<std::uint64_t>(bytes)),
               8 * bytes / static_cast<double>(members.size), bytes / bound);
  };
  row("lower bound", bound);
  row("clubcard", clubcard_bytes(all));
  row("exact", static_cast<double>(filter.size_in_bytes()));
  fmt::print("exact: built in {:.1f} s; all certificates were queried without an error\n", build);
}

}  // namespace bench
