#include <array>
#include <bloomery/vector_quotient.hpp>

#include "registry/any_model.hpp"
#include "registry/options.hpp"
#include "registry/rows.hpp"

namespace bloomery::detail {
namespace {

constexpr std::string_view name = "vector_quotient";

constexpr std::array options = {
    kind_option{"remainder_bits", "5 to 32 (default: as the rate needs)",
                "bits kept of each key beside its bucket"},
    kind_option{"slots", "1 to 63 (default: as the rate needs)", "keys in a block of 64 bytes"},
};

std::vector<property> shape_of(const vector_quotient_params& params) {
  return {{"blocks", params.blocks},
          {"slots", std::uint64_t{params.slots}},
          {"buckets", std::uint64_t{params.buckets}},
          {"remainder_bits", std::uint64_t{params.remainder_bits}},
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
    info.extras.push_back({"side_entries", filter.params().side_entries});
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

result<vector_quotient_spec> spec_of(const plan_request& request) {
  if (auto ok = check_options(request, name, options); !ok) return fail(std::move(ok.error()));
  if (request.hashes != 0) {
    return fail(errc::invalid_argument,
                "a vector quotient filter has no number of hash functions; leave it out, or give "
                "remainder_bits");
  }
  const auto remainder_bits = positive_option(request, "remainder_bits");
  if (!remainder_bits) return fail(remainder_bits.error());
  const auto slots = positive_option(request, "slots");
  if (!slots) return fail(slots.error());
  return vector_quotient_spec{.capacity = request.capacity,
                              .fpr = request.fpr,
                              .bits = request.bits,
                              .slots = *slots,
                              .remainder_bits = *remainder_bits,
                              .seed = request.seed};
}

result<plan_report> plan(const plan_request& request) {
  const auto spec = spec_of(request);
  if (!spec) return fail(spec.error());
  const auto params = plan_vector_quotient(*spec);
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
  return as_any<describe>(vector_quotient::make(*spec), name);
}

result<any_filter> open(const stored_filter& stored, access how) {
  return open_typed<vector_quotient, describe>(stored, how, name);
}

}  // namespace

kind_info vector_quotient_row() {
  return {.kind = filter_kind::vector_quotient,
          .name = name,
          .summary = "cache-line blocks of short remainders; insert, erase, count and query",
          .strengths =
              "deletion and exact counts in about a Bloom filter's space, at full speed up to 97% "
              "full; says when it is full; any number of copies; its size is fixed in advance",
          .can = abilities_of<vector_quotient>(),
          .takes_hashes = true,
          .copies_take_room = false,
          .copies_to_plan_for = detail::vq_most_copies,
          .options = options,
          .plan = plan,
          .create = create,
          .build = nullptr,
          .open = open};
}

}  // namespace bloomery::detail
