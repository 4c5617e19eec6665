#include "registry/halves.hpp"

#include <algorithm>
#include <array>
#include <bloomset/detail/core/record.hpp>
#include <bloomset/plan/formulas.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/format.hpp"
#include "plan/checks.hpp"
#include "registry/options.hpp"

namespace bloomset {
namespace detail {
namespace {

/// The request for a half, which gets half of the memory and the square root of the rate.
plan_request half_of(const plan_request& request, unsigned number) {
  plan_request half = request;
  half.fpr = std::sqrt(request.fpr);
  if (half.bits > 1) half.bits /= 2;  // 0 is no size
  half.hashes /= 2;
  half.seed = request.seed.half(number);
  half.hash_bits = 64;
  return half;
}

result<void> check_halves(const plan_request& request) {
  if (request.hashes % 2 != 0) {
    return format_failure(errc::invalid_argument,
                          "a filter with 128-bit hashes has an even number of hash functions, not "
                          "{}; give an even one",
                          request.hashes);
  }
  return {};
}

/// The plan of a half. The figures in a half's refusal are not those that the user gave, so a
/// refusal of the rate is told in the user's own.
result<plan_report> plan_half(const plan_request& request,
                              result<plan_report> (*plan)(const plan_request&)) {
  if (auto ok = check_request(request.capacity, max_keys, request.fpr, request.bits, 0); !ok) {
    return fail(std::move(ok.error()));
  }
  plan_request half = half_of(request, 0);
  auto planned = plan(half);
  if (planned || request.fpr == 0 || planned.error().code != errc::invalid_argument) return planned;
  half.fpr = half.capacity == 0 || half.bits == 0 ? 0.5 : 0;
  if (!plan(half)) return planned;  // the rate is not the reason
  return refuse(
      "a rate of {:.3g} is too low for this kind, even with 128-bit hashes; give a higher rate{} "
      "or "
      "another kind",
      request.fpr, request.bits == 0 ? "" : ", more memory");
}

/// The plan of a filter whose halves have these plans. A non-member must pass both.
plan_report joined(plan_report all, const plan_report& second) {
  all.capacity = std::max(all.capacity, second.capacity);
  all.bits += second.bits;
  all.bytes = round_up(all.bytes, block_bytes) + second.bytes;
  if (all.hashes && second.hashes) *all.hashes += *second.hashes;
  all.planned_fpr *= second.planned_fpr;
  all.lines_per_query += second.lines_per_query;
  all.scatter = std::sqrt(all.scatter * all.scatter + second.scatter * second.scatter);
  all.hash_bits = 128;
  for (property& extra : all.extras) extra.name = "half_" + extra.name;
  return all;
}

class halves_model final : public any_model {
 public:
  explicit halves_model(std::array<any_filter, 2> halves)
      : halves_(std::move(halves)), seed_(halves_[0].image().header.seed) {}

  /// The filter of the halves that `make_half` gives for 0 and 1.
  template <class Make>
  static result<any_filter> make(const Make& make_half) {
    auto first = make_half(0U);
    if (!first) return first;
    auto second = make_half(1U);
    if (!second) return second;
    return any_filter(
        std::make_unique<halves_model>(std::array{std::move(*first), std::move(*second)}));
  }

  filter_info info() const override {
    filter_info all = halves_[0].info();
    const filter_info second = halves_[1].info();
    all.hash = hash();
    all.plan = joined(std::move(all.plan), second.plan);
    all.count = std::max(all.count, second.count);
    all.estimated_size = (all.estimated_size + second.estimated_size) / 2;
    all.current_fpr *= second.current_fpr;
    all.fill = (all.fill + second.fill) / 2;
    for (property& extra : all.extras) extra.name = "half_" + extra.name;
    return all;
  }
  abilities can() const noexcept override { return halves_[0].can(); }
  std::string_view kind_name() const noexcept override { return "one with 128-bit hashes"; }
  std::uint64_t capacity() const noexcept override {
    return std::max(halves_[0].capacity(), halves_[1].capacity());
  }
  // Each half counts a key that sets a bit in it.
  std::uint64_t size() const noexcept override {
    return std::max(halves_[0].size(), halves_[1].size());
  }
  std::uint64_t size_in_bytes() const noexcept override {
    return round_up(halves_[0].size_in_bytes(), block_bytes) + halves_[1].size_in_bytes();
  }
  std::uint64_t next_growth() const noexcept override { return 0; }
  double current_fpr() const noexcept override {
    return halves_[0].current_fpr() * halves_[1].current_fpr();
  }
  std::span<any_filter> halves() noexcept override { return halves_; }

  result<hash64> hash_of(std::string_view) const override {
    return fail(errc::unsupported,
                "exceptions are hashes of 64 bits, and this filter uses 128-bit hashes; build it "
                "with 64-bit hashes for exceptions");
  }
  bool may_contain(std::string_view key) const noexcept override {
    return halves_[0].may_contain(key) && halves_[1].may_contain(key);
  }
  // The second half is asked for the keys that pass the first.
  void may_contain(std::span<const std::string_view> keys,
                   std::span<bool> answers) const noexcept override {
    halves_[0].may_contain(keys, answers);
    std::array<std::string_view, 128> passing;
    std::array<std::size_t, 128> places;
    std::array<bool, 128> passes;
    for (std::size_t at = 0; at < keys.size();) {
      std::size_t n = 0;
      for (; at < keys.size() && n < passing.size(); ++at) {
        if (!answers[at]) continue;
        passing[n] = keys[at];
        places[n++] = at;
      }
      halves_[1].may_contain(std::span(passing).first(n), passes);
      for (std::size_t i = 0; i < n; ++i) answers[places[i]] = passes[i];
    }
  }
  result<void> may_contain(std::span<const hash64>, std::span<bool>) const override {
    return needs_both();
  }

  bool trace(std::string_view key, const has_interval& has) const override {
    if (!halves_[0].trace(key, has)) return false;
    if (!halves_[0].may_contain(key)) return true;
    const std::uint64_t at = round_up(halves_[0].size_in_bytes(), block_bytes);
    return halves_[1].trace(
        key, [&](byte_interval bytes) { return has({at + bytes.begin, at + bytes.end}); });
  }

  result<insert_summary> insert(std::span<const std::string_view> keys) override {
    auto first = halves_[0].insert(keys);
    if (!first) return first;
    auto second = halves_[1].insert(keys);
    if (!second) return second;
    // A key is new if it is new to one of both, so at least so many are.
    second->inserted = std::max(first->inserted, second->inserted);
    second->maybe_present = second->done - second->inserted;
    return second;
  }
  result<insert_summary> insert(std::span<const hash64>, unsigned) override { return needs_both(); }
  result<void> insert_part(std::span<const hash64>, unsigned, unsigned) override {
    return needs_both();
  }
  result<insert_summary> insert_absent(std::span<const std::string_view> keys,
                                       std::span<bool> added) override {
    insert_summary all;
    may_contain(keys, added);  // also loads their memory into the caches
    for (std::size_t i = 0; i < keys.size(); ++i) {
      insert_outcome outcome = insert_outcome::maybe_present;
      // A key of this batch may have made it a member in the meantime.
      if (!added[i] && !may_contain(keys[i])) {
        if (auto done = insert(keys.subspan(i, 1)); !done) return done;
        outcome = insert_outcome::inserted;
      }
      all.add(outcome);
      added[i] = outcome == insert_outcome::inserted;
    }
    return all;
  }
  result<insert_summary> insert_absent(std::span<const hash64>, std::span<bool>) override {
    return needs_both();
  }
  // No kind with halves erases or counts: a half says so.
  result<void> erase(std::span<const std::string_view> keys, std::span<bool> erased) override {
    return halves_[0].erase(keys, erased);
  }
  result<void> count(std::span<const std::string_view> keys,
                     std::span<std::uint64_t> counts) const override {
    return halves_[0].count(keys, counts);
  }
  result<void> merge(const any_model& other) override { return combine(other, &any_filter::merge); }
  result<void> merge_absent(const any_model& other) override {
    return combine(other, &any_filter::merge_absent);
  }
  result<void> intersect(const any_model& other) override {
    return combine(other, &any_filter::intersect);
  }
  result<void> clear() override {
    if (auto ok = halves_[0].clear(); !ok) return ok;
    return halves_[1].clear();
  }
  void settle_count() noexcept override {
    for (any_filter& half : halves_) half.settle_count();
  }

  filter_image image() const override {
    static constexpr std::array<std::byte, block_bytes> zeros{};
    filter_image all;
    for (const any_filter& half : halves_) {
      const filter_image image = half.image();
      std::uint64_t bytes = 0;
      for (const auto piece : image.payload) bytes += piece.size();
      record_writer lengths;
      lengths.values(std::uint64_t{image.parameters.size()}, bytes, image.header.count);
      const auto block = lengths.finish();
      all.header = image.header;
      all.parameters.insert(all.parameters.end(), block.begin(), block.end());
      all.parameters.insert(all.parameters.end(), image.parameters.begin(), image.parameters.end());
      all.payload.insert(all.payload.end(), image.payload.begin(), image.payload.end());
      if (&half == halves_.data()) {
        all.payload.push_back(std::span(zeros).first(round_up(bytes, block_bytes) - bytes));
      }
    }
    all.header.hash = hash();
    all.header.seed = seed_;
    all.header.count = size();
    return all;
  }
  result<any_filter> copy() const override {
    return make([this](unsigned i) { return halves_.at(i).copy(); });
  }
  result<any_filter> fold(std::uint64_t factor) const override {
    return make([=, this](unsigned i) { return halves_.at(i).fold(factor); });
  }
  result<any_filter> fold_to(double fpr) const override {
    // Both halves must have one size and capacity, so both are folded by one factor to one rate.
    std::uint64_t factor = 1;
    for (double rate = std::sqrt(fpr); rate > 0; rate *= 0.95) {
      std::vector<any_filter> small;
      std::array<std::uint64_t, 2> factors{};
      for (std::size_t i = 0; i < halves_.size(); ++i) {
        auto one = halves_.at(i).fold_to(rate);
        if (!one && rate == std::sqrt(fpr)) return one;
        if (!one) return fold(factor);
        factors.at(i) = halves_.at(i).info().plan.bits / one->info().plan.bits;
        small.push_back(std::move(*one));
      }
      if (factors[0] == factors[1]) {
        return make([&](unsigned i) -> result<any_filter> { return std::move(small[i]); });
      }
      factor = std::min(factors[0], factors[1]);
    }
    return fold(factor);
  }
  void relocate(const memory_mover& mover) noexcept override {
    for (any_filter& half : halves_) half.relocate(mover);
  }

 private:
  hash_id hash() const noexcept {
    return seed_.is_keyed() ? hash_id::siphash_2x64 : hash_id::xxh3_2x64;
  }
  static failure needs_both() {
    return fail(
        errc::unsupported,
        "a filter with 128-bit hashes cannot use hashes of 64 bits; give it the keys themselves");
  }
  result<void> combine(const any_model& other, result<void> (any_filter::*how)(const any_filter&)) {
    const auto* theirs = dynamic_cast<const halves_model*>(&other);
    if (theirs == nullptr) {
      return fail(errc::incompatible,
                  "one of the filters uses 128-bit hashes, the other 64-bit hashes; only filters "
                  "built alike can be combined");
    }
    // Equal first halves have equal second ones (open_halves), so the second call does not fail.
    if (auto ok = (halves_[0].*how)(theirs->halves_[0]); !ok) return ok;
    return (halves_[1].*how)(theirs->halves_[1]);
  }

  std::array<any_filter, 2> halves_;
  hash_seed seed_;
};

/// The halves of a stored filter, which share its payload. The second begins at a multiple of
/// block_bytes. Their parameters must begin with the same `equal` bytes.
result<std::array<stored_filter, 2>> split_halves(const stored_filter& stored, std::size_t equal) {
  const auto damaged = [] {
    return fail(
        errc::corrupt,
        "the two parts of the filter's 128-bit hashes contradict each other; the file is damaged");
  };
  std::array<stored_filter, 2> halves;
  std::span<const std::byte> parameters = stored.parameters;
  const auto payload = stored.payload.bytes();
  std::size_t payload_at = 0;
  for (unsigned i = 0; i < 2; ++i) {
    stored_filter& half = halves.at(i);
    half.header = stored.header;
    half.header.hash = is_keyed(stored.header.hash) ? hash_id::siphash_1_3 : hash_id::xxh3_64;
    half.header.seed = stored.header.seed.half(i);
    if (parameters.size() < block_bytes) return damaged();
    record_reader reader(parameters.first(block_bytes));
    std::uint64_t parameter_bytes = 0;
    std::uint64_t payload_bytes = 0;
    reader.values(parameter_bytes, payload_bytes, half.header.count);
    parameters = parameters.subspan(block_bytes);
    if (!reader.complete() || parameter_bytes > parameters.size() ||
        payload_bytes > payload.size() - payload_at) {
      return damaged();
    }
    const auto own = parameters.first(parameter_bytes);
    half.parameters.assign(own.begin(), own.end());
    parameters = parameters.subspan(parameter_bytes);
    half.payload = stored.payload.slice(payload_at, payload_bytes);
    payload_at += payload_bytes;
    if (i != 0) continue;
    const std::size_t next = round_up(payload_at, block_bytes);
    if (next > payload.size() || !is_zero(payload.subspan(payload_at, next - payload_at))) {
      return damaged();
    }
    payload_at = next;
  }
  const auto front = [equal](const stored_filter& half) {
    return std::span(half.parameters).first(std::min(equal, half.parameters.size()));
  };
  if (!parameters.empty() || payload_at != payload.size() ||
      stored.header.count != std::max(halves[0].header.count, halves[1].header.count) ||
      !std::ranges::equal(front(halves[0]), front(halves[1]))) {
    return damaged();
  }
  return halves;
}

}  // namespace

result<plan_report> plan_halves(const plan_request& request,
                                result<plan_report> (*plan)(const plan_request&)) {
  if (auto ok = check_halves(request); !ok) return fail(std::move(ok.error()));
  auto half = plan_half(request, plan);
  if (!half) return half;
  return joined(*half, *half);
}

result<any_filter> make_halves(
    const plan_request& request,
    const std::function<result<any_filter>(const plan_request&, unsigned)>& make) {
  if (auto ok = check_halves(request); !ok) return fail(std::move(ok.error()));
  return halves_model::make([&](unsigned i) { return make(half_of(request, i), i); });
}

result<any_filter> open_halves(const stored_filter& stored, access how,
                               result<any_filter> (*open)(const stored_filter&, access),
                               std::size_t equal) {
  if (stored.header.seed.is_locked()) return needs_key("the filter");
  const auto halves = split_halves(stored, equal);
  if (!halves) return fail(halves.error());
  return halves_model::make([&](unsigned i) { return open(halves->at(i), how); });
}

result<std::vector<byte_interval>> trace_open_halves(
    const stored_filter& stored,
    result<std::vector<byte_interval>> (*trace_open)(const stored_filter&), std::size_t equal) {
  const auto halves = split_halves(stored, equal);
  if (!halves) return fail(halves.error());
  std::vector<byte_interval> all;
  std::uint64_t at = 0;
  for (const stored_filter& half : *halves) {
    const auto own = trace_open(half);
    if (!own) return own;
    for (const byte_interval bytes : *own) all.push_back({at + bytes.begin, at + bytes.end});
    at = round_up(half.payload.bytes().size(), block_bytes);
  }
  return all;
}

failure other_hash_bits(std::string_view kind, unsigned hash_bits) {
  std::vector<std::string_view> names;
  for (const kind_info& row : kinds()) {
    if (row.takes_128_bits) names.push_back(row.name);
  }
  return format_failure(errc::invalid_argument,
                        "a filter of kind {} cannot use hashes of {} bits; leave the hash out, or "
                        "use a kind that can use 128: {}",
                        kind, hash_bits, join(names, ", "));
}

}  // namespace detail

unsigned hash_bits_for(const kind_info& kind, const plan_request& request) {
  if (request.hash_bits != 0) return request.hash_bits;
  const auto collisions = [](std::uint64_t n) {
    return formulas::hash_collision_fpr(static_cast<double>(n));
  };
  plan_request asked = request;
  if (asked.capacity == 0 && asked.bits == 0) asked.capacity = std::uint64_t{1} << 32;
  if (!kind.takes_128_bits || request.fpr == 0 ||
      request.fpr >= std::max(1e-9, 2 * collisions(asked.capacity))) {
    return 64;
  }
  asked.hash_bits = 64;
  const auto plan = kind.plan(asked);
  // A plan for a given size may meet the rate by holding fewer keys.
  return plan && 2 * collisions(plan->capacity) <= plan->planned_fpr ? 64 : 128;
}

result<any_filter> build_filter(const kind_info& kind, const plan_request& request,
                                std::span<const hash_source> sources) {
  if (sources.size() == 1 || !kind.takes_128_bits) return kind.build(request, sources[0]);
  auto made = detail::make_halves(
      request, [&](const plan_request& half, unsigned i) { return kind.build(half, sources[i]); });
  if (made || made.error().code != errc::invalid_argument) return made;
  // A half's refusal has a half's figures. If the rate is the reason, the plan says so.
  plan_request whole = request;
  if (whole.capacity == 0 && whole.bits == 0) whole.capacity = sources[0].size;
  const auto plan = kind.plan(whole);
  return plan ? std::move(made) : fail(plan.error());
}

result<void> choose_hash(plan_request& request, std::string_view name) {
  const bool is_wide = name.ends_with("-2x64");
  const std::string_view function = name.substr(0, name.size() - (is_wide ? 5 : 0));
  if (function != "xxh3" && function != "siphash") {
    return detail::format_failure(
        errc::invalid_argument,
        "'{}' is not a hash function; give xxh3, siphash, xxh3-2x64 or siphash-2x64", name);
  }
  if (request.seed.is_keyed() != (function == "siphash")) {
    return detail::format_failure(
        errc::invalid_argument,
        request.seed.is_keyed()
            ? "{} uses no secret key; leave the key out, or give siphash"
            : "{} needs a secret key; make one, and give it with the hash function",
        name);
  }
  if (is_wide) request.hash_bits = 128;
  return {};
}

}  // namespace bloomset
