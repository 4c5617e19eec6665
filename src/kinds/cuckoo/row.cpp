#include <array>
#include <bloomery/cuckoo.hpp>

#include "registry/any_model.hpp"
#include "registry/options.hpp"
#include "registry/rows.hpp"

namespace bloomery::detail {
namespace {

constexpr std::string_view name = "cuckoo";

constexpr std::array options = {
    kind_option{"slots", "2, 4 or 8 (default 4)", "slots in a bucket"},
    kind_option{"fingerprint_bits", "4 to 32 (default: as short as the rate allows)",
                "bits kept of each key"},
};

std::vector<property> shape_of(const cuckoo_params& params) {
  return {{"slots", std::uint64_t{params.slots}},
          {"fingerprint_bits", std::uint64_t{params.fingerprint_bits}},
          {"buckets", params.buckets},
          {"load", params.load()}};
}

struct describe {
  template <class F>
  filter_info operator()(const F& filter) const {
    filter_info info;
    info.plan.bits = 8 * filter.params().payload_bytes();
    info.fill = filter.fill();
    info.extras = shape_of(filter.params());
    info.extras.push_back({"stashed", std::uint64_t{filter.stashed()}});
    return info;
  }
};

// A number given as zero is an answer, not a question: it is passed on as one out of range.
result<unsigned> positive_option(const plan_request& request, std::string_view option) {
  auto value = option_number(request, option, 0);
  if (value && *value == 0 && !option_text(request, option, "").empty()) {
    return fail(
        errc::invalid_argument,
        fmt::format("the option {}=0 is not possible; leave it out to have it chosen", option));
  }
  return value;
}

result<cuckoo_spec> spec_of(const plan_request& request) {
  if (auto ok = check_options(request, name, options); !ok) return fail(std::move(ok.error()));
  if (request.hashes != 0) {
    return fail(errc::invalid_argument,
                "a cuckoo filter has no number of hash functions; leave it out, or give "
                "fingerprint_bits");
  }
  const auto slots = positive_option(request, "slots");
  if (!slots) return fail(slots.error());
  const auto fingerprint_bits = positive_option(request, "fingerprint_bits");
  if (!fingerprint_bits) return fail(fingerprint_bits.error());
  return cuckoo_spec{.capacity = request.capacity,
                     .fpr = request.fpr,
                     .bits = request.bits,
                     .slots = *slots,
                     .fingerprint_bits = *fingerprint_bits,
                     .seed = request.seed};
}

result<plan_report> plan(const plan_request& request) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  const auto params = plan_cuckoo(*spec);
  if (!params) return fail(params.error());
  return plan_report{.capacity = params->capacity,
                     .bits = 8 * params->payload_bytes(),
                     .bytes = params->payload_bytes(),
                     .hashes = std::nullopt,
                     .planned_fpr = params->fpr,
                     .lines_per_query = 2,
                     .extras = shape_of(*params)};
}

result<any_filter> create(const plan_request& request) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  return as_any<describe>(cuckoo::make(*spec), name);
}

result<any_filter> open(const stored_filter& stored, access how) {
  return open_typed<cuckoo, describe>(stored, how, name);
}

}  // namespace

kind_info cuckoo_row() {
  return {.kind = filter_kind::cuckoo,
          .name = name,
          .summary = "a table of fingerprints; insert, erase, count and query",
          .strengths =
              "deletion at about the size of a Bloom filter, smaller from 0.2% down; says when "
              "it is full; holds few copies of one key, and its size is fixed in advance",
          .can = abilities_of<cuckoo>(),
          .takes_hashes = true,
          .options = options,
          .plan = plan,
          .create = create,
          .build = nullptr,
          .open = open};
}

}  // namespace bloomery::detail
