#include "registry/figures.hpp"

#include <algorithm>
#include <bloomset/figures.hpp>
#include <bloomset/plan/formulas.hpp>
#include <cmath>
#include <iterator>
#include <string>

namespace bloomset {
namespace {

bool holds_copies(const filter_info& info) {
  return info.can.erase || info.can.count;
}

/// Whether the count is the number of slots in use.
bool counts_room(const filter_info& info) {
  const kind_info* kind = find_kind(info.kind);
  return holds_copies(info) && (kind == nullptr || kind->copies_take_room);
}

void append(std::vector<property>& list, std::vector<property> more) {
  std::ranges::move(more, std::back_inserter(list));
}

/// The figures of a plan that are those of its filter, too.
std::vector<property> common_figures(const plan_report& plan) {
  std::vector<property> list = {{"bits", plan.bits}, {"bytes", plan.bytes}};
  if (plan.hashes) list.push_back({"hashes", std::uint64_t{*plan.hashes}});
  append(list, {{"bits_per_key", plan.bits_per_key()},
                {"planned_fpr", plan.planned_fpr},
                {"fpr_95", plan.fpr_95()},
                {"hash_bits", std::uint64_t{plan.hash_bits}}});
  return list;
}

}  // namespace

std::vector<property> figures_of(std::string_view kind, const plan_report& plan) {
  std::vector<property> list = {{"kind", std::string(kind)}, {"capacity", plan.capacity}};
  append(list, common_figures(plan));
  // The bound of a rate of 100% is a negative zero.
  const double least = plan.min_bits_per_key != 0
                           ? plan.min_bits_per_key
                           : std::fabs(formulas::information_bound(plan.planned_fpr));
  append(list, {{"extras", plan.extras}, {"information_bound", least}});
  return list;
}

std::vector<property> figures_of(const filter_info& info) {
  std::vector<property> list = {{"kind", std::string(info.kind_name)},
                                {"capacity", info.plan.capacity},
                                {"count", info.count},
                                {"estimated_size", info.estimated_size}};
  append(list, common_figures(info.plan));
  std::vector<property> extras = info.plan.extras;
  append(extras, info.extras);
  std::vector<property> labels;
  for (const auto& [name, value] : info.labels.all())
    labels.push_back({std::string(name), std::string(value)});
  append(list, {{"current_fpr", info.current_fpr},
                {"overfilled", info.overfilled},
                {"fill", info.fill},
                {"hash", std::string(name_of(info.hash))},
                {"seed", info.seed},
                {"can", names_of(info.can)},
                {"labels", std::move(labels)}});
  if (info.exceptions != 0) list.push_back({"exceptions", info.exceptions});
  if (info.layers != 0) append(list, {{"layers", info.layers}, {"layer_keys", info.layer_keys}});
  list.push_back({"extras", std::move(extras)});
  return list;
}

std::vector<std::pair<std::string_view, bool>> named(const abilities& can) {
  return {{"insert", can.insert}, {"erase", can.erase},         {"count", can.count},
          {"merge", can.merge},   {"intersect", can.intersect}, {"fold", can.fold},
          {"grow", can.grow}};
}

std::vector<std::string> names_of(const abilities& can) {
  std::vector<std::string> names;
  for (const auto& [name, is_there] : named(can)) {
    if (is_there) names.emplace_back(name);
  }
  return names;
}

count_meaning meaning_of_count(const filter_info& info) {
  const kind_info* kind = find_kind(info.kind);
  if (kind != nullptr && !kind->can.insert) return count_meaning::keys;
  if (holds_copies(info)) return count_meaning::copies;
  const bool is_estimate =
      std::isfinite(info.estimated_size) &&
      info.count == static_cast<std::uint64_t>(std::llround(info.estimated_size));
  return is_estimate ? count_meaning::estimate : count_meaning::new_keys;
}

double distinct_keys(const filter_info& info) {
  const auto count = static_cast<double>(info.count);
  if (!std::isfinite(info.estimated_size)) return info.estimated_size;
  return holds_copies(info) ? std::min(count, info.estimated_size)
                            : std::max(count, info.estimated_size);
}

bool beyond_capacity(const filter_info& info) {
  const auto capacity = static_cast<double>(info.plan.capacity);
  const bool copies_take_room = counts_room(info);
  const count_meaning meaning = meaning_of_count(info);
  const bool is_certain =
      copies_take_room || meaning == count_meaning::keys || meaning == count_meaning::new_keys;
  if (is_certain && info.count > info.plan.capacity) return true;
  // Five standard errors. At capacity the standard error of the estimate is at most 0.67 sqrt(n/k)
  // keys for a Bloom filter, and less for fingerprints.
  if (std::isinf(info.estimated_size) && info.fill < 1) return false;
  return !copies_take_room && distinct_keys(info) > capacity + 3.4 * std::sqrt(capacity);
}

bool detail::is_overfilled(const filter_info& info) {
  const double planned = info.plan.planned_fpr;
  if (info.current_fpr <= planned) return false;
  const bool is_beyond = beyond_capacity(info);
  if (is_beyond && !info.can.grow) return true;
  // A count of slots is exact, and the rate of a small table is not.
  if (!is_beyond && counts_room(info)) return false;
  // At capacity the rate scatters about the planned one: three standard deviations, and at least
  // 1%, are tolerated.
  return info.current_fpr >
         std::max(1.01 * planned, formulas::fpr_at(planned, info.plan.scatter, 3));
}

}  // namespace bloomset
