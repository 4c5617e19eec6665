// Points of the theory's lines, and measured rates.

#include <bloomset/plan/blocked_bloom_plan.hpp>
#include <bloomset/plan/bloom_plan.hpp>
#include <cmath>
#include <functional>

#include "walk.hpp"

namespace bloomset::explorer {
namespace {

constexpr std::uint64_t max_measured = 300'000;
constexpr std::uint64_t max_asked = 2'000'000;

struct asked_filter {
  const kind_info* kind;
  plan_request request;
};

result<asked_filter> filter_of(const json& asked) {
  const auto kind = find_kind(asked.value("kind", ""));
  if (!kind) return fail(kind.error());
  const auto capacity = number_of(asked, "capacity", 1000, 1, std::uint64_t{1} << 40);
  if (!capacity) return fail(capacity.error());
  const auto bits = number_of(asked, "bits", 0, 0, std::uint64_t{1} << 50);
  if (!bits) return fail(bits.error());
  const auto hashes = number_of(asked, "hashes", 0, 0, max_hash_functions);
  if (!hashes) return fail(hashes.error());
  return asked_filter{*kind,
                      {.capacity = *capacity,
                       .fpr = asked.value("fpr", 0.0),
                       .bits = *bits,
                       .hashes = static_cast<unsigned>(*hashes)}};
}

/// The rate over bits per key.
result<json> space_curve(const asked_filter& of, const json& asked) {
  json points = json::array();
  for (const double rate : asked.value("rates", std::vector<double>{})) {
    plan_request request = of.request;
    request.fpr = rate;
    const auto plan = of.kind->plan(request);
    if (!plan) continue;
    points.push_back({{"x", plan->bits_per_key()}, {"y", plan->planned_fpr}});
  }
  return json{{"points", points}};
}

/// The rate over the number of functions, of n keys in m bits.
result<json> hashes_curve(const asked_filter& of) {
  const auto n = static_cast<double>(of.request.capacity);
  const auto m = of.request.bits;
  if (m == 0) return fail(errc::invalid_argument, "this plot needs a number of bits");
  json points = json::array();
  for (unsigned k = 1; k <= 24; ++k) {
    points.push_back({{"x", k},
                      {"y", formulas::bloom_fpr(n, m, k)},
                      {"classic", formulas::bloom_fpr_classic(n, static_cast<double>(m), k)}});
  }
  return json{{"points", points},
              {"best", formulas::optimal_hashes(n, static_cast<double>(m))},
              {"ideal", formulas::ideal_fpr(static_cast<double>(m) / n)}};
}

/// The rate as a function of the number of keys; null if the theory has no formula for the kind.
result<std::function<double(double)>> overfilled_rate(const asked_filter& of) {
  const auto& [kind, request] = of;
  if (kind->kind == filter_kind::bloom) {
    const auto plan = plan_bloom({.capacity = request.capacity, .fpr = request.fpr});
    if (!plan) return fail(plan.error());
    return [m = plan->bits, k = plan->hashes](double n) { return formulas::bloom_fpr(n, m, k); };
  }
  if (kind->kind == filter_kind::blocked_bloom) {
    const auto plan = plan_blocked_bloom({.capacity = request.capacity, .fpr = request.fpr});
    if (!plan) return fail(plan.error());
    if (plan->layout == block_layout::free_512) {
      return [p = *plan](double n) { return formulas::free_block_fpr(n, p.blocks, 512, p.hashes); };
    }
    return [p = *plan](double n) {
      return formulas::split_block_fpr(n, p.blocks, 8,
                                       static_cast<unsigned>(block_bits(p.layout)) / 8);
    };
  }
  // The promised rate of a growing kind holds at any size.
  if (kind->can.grow) return [fpr = request.fpr](double) { return fpr; };
  return nullptr;
}

/// The rate over the number of keys, up to three times the capacity.
result<json> fill_curve(const asked_filter& of) {
  const auto rate = overfilled_rate(of);
  if (!rate) return fail(rate.error());
  json points = json::array();
  constexpr unsigned steps = 60;
  for (unsigned i = 1; i <= steps && *rate; ++i) {
    const double n = std::round(static_cast<double>(of.request.capacity) * 3 * i / steps);
    points.push_back({{"x", n}, {"y", (*rate)(n)}});
  }
  return json{{"points", points}};
}

std::string key_number(std::uint64_t i) {
  return fmt::format("key {}", i);
}

result<any_filter> filled(const asked_filter& of, std::uint64_t n, std::uint64_t& taken) {
  if (of.kind->build != nullptr) {
    std::vector<hash64> hashes;
    const xxh3_hasher hash(of.request.seed.value());
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::string key = key_number(i);
      hashes.push_back(hash(std::as_bytes(std::span(key))));
    }
    taken = n;
    return of.kind->build(of.request, hash_source::of(hashes));
  }
  auto filter = of.kind->create(of.request);
  if (!filter) return filter;
  for (taken = 0; taken < n; ++taken) {
    const std::string key = key_number(taken);
    const std::array one = {std::string_view(key)};
    const auto done = filter->insert(one);
    if (!done) return fail(done.error());
    if (done->done == 0) break;
  }
  return filter;
}

}  // namespace

result<json> curve(const json& asked) {
  const auto of = filter_of(asked);
  if (!of) return fail(of.error());
  const std::string over = asked.value("over", "");
  if (over == "space") return space_curve(*of, asked);
  if (over == "hashes") return hashes_curve(*of);
  if (over == "keys") return fill_curve(*of);
  return fail(errc::invalid_argument, "there is no such plot: " + over);
}

result<json> measure(const json& asked) {
  const auto of = filter_of(asked);
  if (!of) return fail(of.error());
  const auto n = number_of(asked, "keys", of->request.capacity, 1, max_measured);
  if (!n) return fail(n.error());
  const auto non_members = number_of(asked, "non_members", 100'000, 1, max_asked);
  if (!non_members) return fail(non_members.error());
  std::uint64_t taken = 0;
  const auto filter = filled(*of, *n, taken);
  if (!filter) return fail(filter.error());
  std::uint64_t passed = 0;
  for (std::uint64_t i = 0; i < *non_members; ++i) {
    passed += filter->may_contain(fmt::format("non-member {}", i)) ? 1 : 0;
  }
  return json{{"rate", static_cast<double>(passed) / static_cast<double>(*non_members)},
              {"keys", taken},
              {"bits_per_key",
               8.0 * static_cast<double>(filter->info().plan.bytes) / static_cast<double>(taken)}};
}

}  // namespace bloomset::explorer
