#include "report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/units.hpp>
#include <cmath>
#include <type_traits>
#include <variant>

#include "teach/plan_lines.hpp"

namespace bloomset::cli {
namespace {

std::string label_of(const property& extra) {
  if (extra.name == "ideal_fpr") return "ideal rate";
  if (extra.name == "classic_fpr") return "classic rate";
  std::string label = extra.name;
  std::replace(label.begin(), label.end(), '_', ' ');
  if (label.ends_with(" fpr")) label.replace(label.size() - 4, 4, " rate");
  return label;
}

// The unit of a property follows from its name.
std::string text_of(const property& extra) {
  return std::visit(
      [&](const auto& value) -> std::string {
        using type = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<type, std::uint64_t>) {
          return extra.name.ends_with("_bytes") ? format_bytes(value) : format_count(value);
        } else if constexpr (std::is_same_v<type, double>) {
          if (extra.name == "ideal_fpr") return format_rate(value) + " = 0.6185^(m/n)";
          if (extra.name == "classic_fpr") return format_rate(value) + " = (1 - e^(-kn/m))^k";
          if (extra.name.ends_with("_fpr")) return format_rate(value);
          return fmt::format("{:.4g}", value);
        } else {
          return value;
        }
      },
      extra.value);
}

std::string hashes_text(unsigned hashes, const plan_report& plan) {
  const auto best = std::ranges::find(plan.extras, "optimal_hashes", &property::name);
  if (best == plan.extras.end()) return fmt::format("{}", hashes);
  return fmt::format("{} (k_opt {:.2f})", hashes, std::get<double>(best->value));
}

void append(figures& rows, const std::vector<property>& extras) {
  for (const property& extra : extras) {
    if (extra.name != "optimal_hashes") rows.emplace_back(label_of(extra), text_of(extra));
  }
}

nlohmann::ordered_json json_of(const std::vector<property>& extras) {
  auto object = nlohmann::ordered_json::object();
  for (const property& extra : extras) {
    std::visit([&](const auto& value) { object[extra.name] = value; }, extra.value);
  }
  return object;
}

nlohmann::ordered_json finite_or_null(double value) {
  if (std::isfinite(value)) return value;
  return nullptr;
}

void put_plan(nlohmann::ordered_json& object, const plan_report& plan) {
  object["capacity"] = plan.capacity;
  object["bits"] = plan.bits;
  object["bytes"] = plan.bytes;
  if (plan.hashes) object["hashes"] = *plan.hashes;
  object["bits_per_key"] = plan.bits_per_key();
  object["planned_fpr"] = plan.planned_fpr;
  object["fpr_95"] = plan.fpr_95();
}

std::string hash_text(const filter_info& info) {
  if (info.hash == hash_id::siphash_1_3 || info.hash == hash_id::siphash_2x64) {
    return fmt::format("{}, key with identifier {:016x}", name_of(info.hash), info.seed);
  }
  return info.hash == hash_id::none ? fmt::format("of the probe rule, seed {}", info.seed)
                                    : fmt::format("{}, seed {}", name_of(info.hash), info.seed);
}

std::string keys_text(double keys, double fill) {
  if (!std::isfinite(keys)) {
    return fill < 1 ? "unknown: bits of several intersections do not tell"
                    : "unknown: too full to tell";
  }
  return fmt::format("{} distinct keys",
                     format_count(static_cast<std::uint64_t>(std::llround(keys))));
}

bool holds_copies(const filter_info& info) {
  const abilities can = abilities_of_kind(info);
  return can.erase || can.count;
}

bool is_built_once(const filter_info& info) {
  return find_kind(info.kind)->build != nullptr;
}

/// Whether the count is no more than the estimate from the bits (any_filter::settle_count).
bool is_estimate(const filter_info& info) {
  return !is_built_once(info) && !holds_copies(info) && std::isfinite(info.estimated_size) &&
         info.count == static_cast<std::uint64_t>(std::llround(info.estimated_size));
}

/// The meaning of the count. In kinds of bits it does not include keys that were false positives.
std::string count_text(const filter_info& info) {
  if (is_estimate(info)) return fmt::format("about {} keys", format_count(info.count));
  if (!is_built_once(info) && !holds_copies(info) && info.fill >= 1) {
    return fmt::format("at least {} keys", format_count(info.count));
  }
  return fmt::format("{} keys inserted{}", format_count(info.count),
                     holds_copies(info)    ? ", copies included"
                     : is_built_once(info) ? ""
                                           : ", as far as they were certainly new");
}

/// The abilities that verbs use. No verb inserts into such a filter.
abilities abilities_of(const dialects::foreign_info& info) {
  return {.merge = info.can_merge};
}

double bits_per_key(const dialects::foreign_info& info) {
  return static_cast<double>(info.bits) / static_cast<double>(*info.capacity);
}

/// The planned rate, and its scatter if the rate of one filter may differ from the mean.
void append_rate(figures& rows, const plan_report& plan) {
  rows.emplace_back("planned rate", format_rate(plan.planned_fpr));
  if (plan.scatter > 0) {
    rows.emplace_back("95% point", fmt::format("{}: the rate of 95 filters in 100 is at most this",
                                               format_rate(plan.fpr_95())));
  }
}

}  // namespace

std::string to_text(const figures& rows) {
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.first.size());
  std::string text;
  for (const auto& [label, value] : rows) {
    text += fmt::format("  {:<{}}  {}\n", label, width, value);
  }
  return text;
}

figures plan_figures(const plan_report& plan) {
  const double bound = formulas::information_bound(plan.planned_fpr);
  figures rows = {
      {"capacity (n)", format_count(plan.capacity) + " keys"},
      {"size (m)", fmt::format("{} bits, {}", format_count(plan.bits), format_bytes(plan.bytes))},
  };
  if (plan.hashes) rows.emplace_back("hashes (k)", hashes_text(*plan.hashes, plan));
  rows.emplace_back("bits per key", fmt::format("{:.2f}", plan.bits_per_key()));
  append_rate(rows, plan);
  if (plan.hash_bits != 64) {
    rows.emplace_back("hash bits", "128: two halves, which both must answer yes");
  }
  append(rows, plan.extras);
  std::string bound_text = fmt::format("{:.2f} bits/key = log2(1/rate)", std::fabs(bound));
  if (bound > 0)
    bound_text += fmt::format("; this is {:.2f} times that", plan.bits_per_key() / bound);
  rows.emplace_back("least possible", std::move(bound_text));
  return rows;
}

nlohmann::ordered_json plan_json(std::string_view kind, const plan_report& plan) {
  nlohmann::ordered_json object;
  object["kind"] = kind;
  put_plan(object, plan);
  object["hash_bits"] = plan.hash_bits;
  object["information_bound"] = std::fabs(formulas::information_bound(plan.planned_fpr));
  object["extras"] = json_of(plan.extras);
  return object;
}

figures info_figures(const filter_info& info) {
  const plan_report& plan = info.plan;
  figures rows = {
      {"kind", std::string(info.kind_name)},
      {"capacity (n)", format_count(plan.capacity) + " keys"},
      {"count", count_text(info)},
      {"estimated size", keys_text(info.estimated_size, info.fill)},
      {"size (m)", fmt::format("{} bits, {}", format_count(plan.bits), format_bytes(plan.bytes))},
  };
  if (plan.hashes) rows.emplace_back("hashes (k)", hashes_text(*plan.hashes, plan));
  rows.emplace_back("bits per key", fmt::format("{:.2f} at capacity", plan.bits_per_key()));
  append_rate(rows, plan);
  rows.emplace_back("current rate", format_rate(info.current_fpr));
  rows.emplace_back("fill", fmt::format("{:.1f}%", info.fill * 100));
  rows.emplace_back("hash", hash_text(info));
  rows.emplace_back("can", text_of(abilities_of_kind(info), ", "));
  append(rows, plan.extras);
  append(rows, info.extras);
  for (const auto& [name, value] : info.labels.all()) rows.emplace_back("label " + name, value);
  return rows;
}

nlohmann::ordered_json info_json(const std::string& file, const filter_info& info) {
  nlohmann::ordered_json object;
  object["file"] = file;
  object["kind"] = info.kind_name;
  put_plan(object, info.plan);
  object["count"] = info.count;
  object["estimated_size"] = finite_or_null(info.estimated_size);
  object["current_fpr"] = finite_or_null(info.current_fpr);
  object["overfilled"] = overfilled(info);
  object["fill"] = info.fill;
  object["hash"] = name_of(info.hash);
  object["seed"] = info.seed;
  object["can"] = teach::ability_names(abilities_of_kind(info));
  auto labels = nlohmann::ordered_json::object();
  for (const auto& [name, value] : info.labels.all()) labels[name] = value;
  object["labels"] = std::move(labels);
  auto extras = json_of(info.plan.extras);
  extras.update(json_of(info.extras));
  object["extras"] = std::move(extras);
  return object;
}

figures info_figures(const dialects::foreign_info& info) {
  figures rows = {{"format", fmt::format("{}, {}", info.format, info.variant)},
                  {"kind", std::string(info.kind)}};
  if (info.capacity) {
    rows.emplace_back("capacity (n)", format_count(*info.capacity) + " keys");
  }
  if (info.count) rows.emplace_back("count", format_count(*info.count) + " keys inserted");
  rows.emplace_back("estimated size", keys_text(info.estimated_size, info.fill));
  rows.emplace_back(
      "size (m)", fmt::format("{} bits, {}", format_count(info.bits), format_bytes(info.bytes())));
  rows.emplace_back("hashes (k)", fmt::format("{}", info.hashes));
  if (info.capacity) {
    rows.emplace_back("bits per key", fmt::format("{:.2f} at capacity", bits_per_key(info)));
  }
  if (info.planned_fpr) rows.emplace_back("planned rate", format_rate(*info.planned_fpr));
  rows.emplace_back("current rate", format_rate(info.current_fpr));
  rows.emplace_back("fill", fmt::format("{:.1f}%", info.fill * 100));
  rows.emplace_back("can", text_of(abilities_of(info), ", "));
  append(rows, info.extras);
  return rows;
}

nlohmann::ordered_json info_json(const std::string& file, const dialects::foreign_info& info) {
  const auto or_null = [](const auto& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json object;
  object["file"] = file;
  object["format"] = info.format;
  object["variant"] = info.variant;
  object["kind"] = info.kind;
  object["capacity"] = or_null(info.capacity);
  object["bits"] = info.bits;
  object["bytes"] = info.bytes();
  object["hashes"] = info.hashes;
  object["bits_per_key"] =
      info.capacity ? nlohmann::ordered_json(bits_per_key(info)) : nlohmann::ordered_json(nullptr);
  object["planned_fpr"] = or_null(info.planned_fpr);
  object["count"] = or_null(info.count);
  object["estimated_size"] = finite_or_null(info.estimated_size);
  object["current_fpr"] = finite_or_null(info.current_fpr);
  object["fill"] = info.fill;
  object["can"] = teach::ability_names(abilities_of(info));
  object["extras"] = json_of(info.extras);
  return object;
}

double distinct_keys(const filter_info& info) {
  const auto count = static_cast<double>(info.count);
  if (!std::isfinite(info.estimated_size)) return info.estimated_size;
  return holds_copies(info) ? std::min(count, info.estimated_size)
                            : std::max(count, info.estimated_size);
}

std::string keys_held(const filter_info& info) {
  const std::string counted = format_count(info.count);
  const double keys = distinct_keys(info);
  const auto whole = [&] { return format_count(static_cast<std::uint64_t>(std::llround(keys))); };
  if (holds_copies(info)) {
    if (!(keys < 0.99 * static_cast<double>(info.count))) return counted + " keys";
    return fmt::format("about {} keys in {} copies", whole(), counted);
  }
  if (!std::isfinite(keys)) {
    return info.fill < 1 ? fmt::format("an unknown number of keys ({} counted)", counted)
                         : fmt::format("more keys than it can tell (at least {})", counted);
  }
  if (is_estimate(info)) return fmt::format("{}{} keys", info.count == 0 ? "" : "about ", counted);
  if (whole() == counted) return counted + " keys";
  return fmt::format("about {} keys ({} counted)", whole(), counted);
}

bool beyond_capacity(const filter_info& info) {
  const auto capacity = static_cast<double>(info.plan.capacity);
  const bool counts_room = holds_copies(info) && find_kind(info.kind)->copies_take_room;
  const bool is_certain = counts_room || !(holds_copies(info) || is_estimate(info));
  if (is_certain && info.count > info.plan.capacity) return true;
  // Five standard errors. At capacity the standard error of the estimate is at most 0.67 sqrt(n/k)
  // keys for a Bloom filter, and less for fingerprints.
  if (std::isinf(info.estimated_size) && info.fill < 1) return false;
  return !counts_room && distinct_keys(info) > capacity + 3.4 * std::sqrt(capacity);
}

bool overfilled(const filter_info& info) {
  const double planned = info.plan.planned_fpr;
  if (info.current_fpr <= planned) return false;
  if (beyond_capacity(info) && !abilities_of_kind(info).grow) return true;
  // At capacity the rate scatters about the planned one: three standard deviations, and at least
  // 1%, are tolerated.
  return info.current_fpr >
         std::max(1.01 * planned, formulas::fpr_at(planned, info.plan.scatter, 3));
}

std::string text_of(const abilities& can, std::string_view separator) {
  const auto names = teach::ability_names(can);
  return names.empty() ? "query only" : fmt::format("{}", fmt::join(names, separator));
}

abilities abilities_of_kind(const filter_info& info) {
  return find_kind(info.kind)->can;
}

}  // namespace bloomset::cli
