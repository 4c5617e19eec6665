#include <array>
#include <bloomset/exact.hpp>
#include <bloomset/partitioned_exact.hpp>
#include <bloomset/plan/units.hpp>

#include "registry/kind_row.hpp"

namespace bloomset::detail {
namespace {

constexpr std::string_view universe = "universe";
constexpr std::string_view partitions = "partitions";

struct exact_kind : one_type<exact> {
  static constexpr std::string_view name = "exact";
  static constexpr std::string_view summary =
      "built once from members and all other keys of a universe: no errors among them";
  static constexpr std::string_view strengths =
      "no false positives among the keys of a universe that is known when it is built; 8.3 bits "
      "per member with 100 other keys per member; keys outside the universe pass at a fixed rate; "
      "none can be added or erased later";
  static constexpr std::array<kind_option, 2> options{
      {{universe, "a number, such as 100M; plan only",
        "all keys that are ever queried, members included"},
       {partitions, "a number, such as 1000; plan only",
        "parts of the universe, such as issuers of certificates, of about equal sizes"}}};

  static constexpr bool in_hash_order = true;
  static constexpr bool of_two_sets = true;
  using partitioned = partitioned_exact;

  /// The type of a stored filter.
  template <class Use>
  static result<any_filter> with_type(const stored_filter& stored, Use&& use) {
    if (partition_hasher::is_one(stored.header.hash)) {
      return use(std::type_identity<partitioned>());
    }
    return use(std::type_identity<exact>());
  }

  static result<void> set_options(const plan_request& request, exact_spec& spec) {
    for (const auto& [option, number] :
         {std::pair(universe, &spec.universe), {partitions, &spec.partitions}}) {
      const std::string_view text = option_text(request, option, "");
      if (text.empty()) continue;
      const auto parsed = parse_count(text);
      if (!parsed)
        return format_failure(parsed.error().code, "{}: {}", option, parsed.error().message);
      *number = *parsed;
    }
    return {};
  }

  static constexpr auto plan = plan_exact;
  static plan_report report(const exact_plan& planned) {
    plan_report report{
        .capacity = planned.capacity,
        .bits = planned.bytes * 8,
        .bytes = planned.bytes,
        .planned_fpr = planned.fpr,
        .lines_per_query = 6,
        .min_bits_per_key = planned.information_bits / static_cast<double>(planned.capacity),
        .extras = {{"universe", planned.universe}}};
    if (planned.partitions != 0) report.extras.emplace_back("partitions", planned.partitions);
    return report;
  }

  template <storage Storage>
  static void describe(const basic_exact<Storage>& filter, filter_info& info) {
    const exact_params& params = filter.params();
    const std::string_view held = params.negated ? "other keys" : "members";
    info.fill = filter.fill();
    info.extras = {
        {"holds", std::string(held)},
        {"first_columns", std::uint64_t{params.first.columns}},
        {"guided_columns", std::uint64_t{params.guided.columns}},
        {"last_section_keys", params.stored},
        {"meaning",
         format_text("members and the other keys of its universe are answered exactly; a key "
                     "outside the universe passes at a rate of {}",
                     format_rate(params.unknown_rate()))}};
  }
  template <storage Storage>
  static void describe(const basic_partitioned_exact<Storage>& filter, filter_info& info) {
    const unknown_rates& rates = filter.rates();
    info.fill = filter.fill();
    info.extras = {
        {"partitions", filter.partitions()},
        {"last_section_keys", filter.params().stored},
        {"meaning",
         format_text("members and the other keys of its universe are answered exactly; a key of "
                     "another partition has no answer; another key of a partition passes at a rate "
                     "of {}{}",
                     format_rate(rates.mean),
                     rates.lowest == rates.highest
                         ? ""
                         : format_text(" in the mean, {} to {}", format_rate(rates.lowest),
                                       format_rate(rates.highest)))}};
  }
};

}  // namespace

kind_info exact_row() {
  return kind_row<exact_kind>::info();
}

}  // namespace bloomset::detail
