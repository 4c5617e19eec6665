#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bloomset/figures.hpp>
#include <bloomset/plan/formulas.hpp>
#include <bloomset/plan/units.hpp>
#include <cmath>
#include <map>
#include <type_traits>
#include <variant>

namespace bloomset::cli {
namespace {

/// The labels that do not follow from the figure's name.
std::string label_of(const property& figure) {
  constexpr std::array<std::pair<std::string_view, const char*>, 7> labels = {
      {{"capacity", "capacity (n)"},
       {"bits", "size (m)"},
       {"hashes", "hashes (k)"},
       {"fpr_95", "95% point"},
       {"information_bound", "least possible"},
       {"ideal_fpr", "ideal rate"},
       {"classic_fpr", "classic rate"}}};
  for (const auto& [name, label] : labels) {
    if (figure.name == name) return label;
  }
  std::string label = figure.name;
  std::replace(label.begin(), label.end(), '_', ' ');
  if (label.ends_with(" fpr")) label.replace(label.size() - 4, 4, " rate");
  return label;
}

// The unit of a figure follows from its name.
std::string text_of(const property& figure) {
  const std::string& name = figure.name;
  return std::visit(
      [&](const auto& value) -> std::string {
        using type = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<type, std::uint64_t>) {
          return name.ends_with("bytes") ? format_bytes(value) : format_count(value);
        } else if constexpr (std::is_same_v<type, double>) {
          if (name == "ideal_fpr") return format_rate(value) + " = 0.6185^(m/n)";
          if (name == "classic_fpr") return format_rate(value) + " = (1 - e^(-kn/m))^k";
          if (name.ends_with("_fpr")) return format_rate(value);
          if (name == "fill") return fmt::format("{:.1f}%", value * 100);
          return fmt::format("{:.4g}", value);
        } else if constexpr (std::is_same_v<type, bool>) {
          return value ? "yes" : "no";
        } else if constexpr (std::is_same_v<type, std::vector<std::string>>) {
          return value.empty() ? "none" : fmt::format("{}", fmt::join(value, ", "));
        } else if constexpr (std::is_same_v<type, std::string>) {
          return value;
        } else {
          return {};
        }
      },
      figure.value);
}

/// Texts of figures that their names alone do not give, by the figures' names. Without a text a
/// figure has no row: another row shows it.
using own_texts = std::map<std::string_view, std::string>;

/// A row for each figure that has a value; the figures of a group follow each other.
void append(figures& rows, const std::vector<property>& list, const own_texts& own) {
  for (const property& figure : list) {
    if (const auto* group = std::get_if<std::vector<property>>(&figure.value)) {
      if (figure.name == "labels") {  // names that users chose
        for (const property& label : *group)
          rows.emplace_back("label " + label.name, text_of(label));
      } else {
        append(rows, *group, own);
      }
      continue;
    }
    if (std::holds_alternative<std::monostate>(figure.value)) continue;
    const auto at = own.find(figure.name);
    std::string text = at != own.end() ? at->second : text_of(figure);
    if (!text.empty()) rows.emplace_back(label_of(figure), std::move(text));
  }
}

std::string size_text(std::uint64_t bits, std::uint64_t bytes) {
  return fmt::format("{} bits, {}", format_count(bits), format_bytes(bytes));
}

own_texts texts_of(const plan_report& plan) {
  own_texts own = {{"capacity", format_count(plan.capacity, "key")},
                   {"bits", size_text(plan.bits, plan.bytes)},
                   {"bytes", ""},
                   {"bits_per_key", fmt::format("{:.2f}", plan.bits_per_key())},
                   {"fpr_95", ""},
                   {"hash_bits", ""}};
  if (plan.scatter > 0) {
    own["fpr_95"] = fmt::format("{}: the rate of 95 filters in 100 is at most this",
                                format_rate(plan.fpr_95()));
  }
  if (const property* best = find_property(plan.extras, "optimal_hashes"); best && plan.hashes) {
    own["hashes"] = fmt::format("{} (k_opt {:.2f})", *plan.hashes, std::get<double>(best->value));
    own["optimal_hashes"] = "";
  }
  return own;
}

std::string bound_text(const plan_report& plan) {
  const bool has_own = plan.min_bits_per_key != 0;
  const double bound =
      has_own ? plan.min_bits_per_key : formulas::information_bound(plan.planned_fpr);
  std::string text = fmt::format("{:.2f} bits/key{}", std::fabs(bound),
                                 has_own ? " for these two sets" : " = log2(1/rate)");
  if (bound > 0) text += fmt::format("; this is {:.2f} times that", plan.bits_per_key() / bound);
  return text;
}

std::string hash_text(const filter_info& info) {
  if (info.hash == hash_id::siphash_1_3 || info.hash == hash_id::siphash_2x64 ||
      info.hash == hash_id::siphash_partitioned) {
    return fmt::format("{}, key with identifier {:016x}", name_of(info.hash), info.seed);
  }
  return fmt::format("{}, seed {}", name_of(info.hash), info.seed);
}

std::string keys_text(double keys, double fill) {
  if (!std::isfinite(keys)) {
    return fill < 1 ? "unknown: the filter is a result of several intersections"
                    : "unknown: the filter is too full";
  }
  return format_count(static_cast<std::uint64_t>(std::llround(keys)), "distinct key");
}

/// The meaning of the count. In kinds of bits it does not include keys that were false positives.
std::string count_text(const filter_info& info) {
  const std::string count = format_count(info.count, "key");
  switch (meaning_of_count(info)) {
    case count_meaning::copies:
      return count + " inserted, copies included";
    case count_meaning::keys:
      return count + " inserted";
    case count_meaning::estimate:
      return "about " + count;
    case count_meaning::new_keys:
      break;
  }
  return info.fill >= 1 ? "at least " + count : count + " inserted that were certainly new";
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
  own_texts own = texts_of(plan);
  own["kind"] = "";
  own["information_bound"] = bound_text(plan);
  if (plan.hash_bits != 64) own["hash_bits"] = "128: two 64-bit hashes, which must both match";
  figures rows;
  append(rows, figures_of("", plan), own);
  return rows;
}

nlohmann::ordered_json plan_json(std::string_view kind, const plan_report& plan) {
  return nlohmann::ordered_json::parse(to_json(figures_of(kind, plan)));
}

figures info_figures(const filter_info& info) {
  own_texts own = texts_of(info.plan);
  own["bits_per_key"] += " at capacity";
  own["count"] = count_text(info);
  own["estimated_size"] = keys_text(info.estimated_size, info.fill);
  own["overfilled"] = "";  // a sentence says so
  own["hash"] = hash_text(info);
  own["seed"] = "";
  own["can"] = text_of(info.can, ", ");
  own["exceptions"] = fmt::format("{} of at most {}", format_count(info.exceptions, "key"),
                                  format_count(exception_list::max_size));
  figures rows;
  append(rows, figures_of(info), own);
  return rows;
}

figures info_figures(const std::vector<property>& info) {
  figures rows;
  append(rows, info, {});
  return rows;
}

figures info_figures(const dialects::foreign_info& info) {
  own_texts own = {{"format", fmt::format("{}, {}", info.format, info.variant)},
                   {"variant", ""},
                   {"bits", size_text(info.bits, info.bytes())},
                   {"bytes", ""}};
  if (info.estimated_size) {
    own["estimated_size"] = keys_text(*info.estimated_size, info.fill.value_or(0));
  }
  if (info.current_fpr && dialects::find(info.format).value()->is_static()) {
    own["current_fpr"] = format_rate(*info.current_fpr) + " of keys outside the universe";
  }
  if (info.capacity) {
    own["capacity"] = format_count(*info.capacity, "key");
    own["bits_per_key"] = fmt::format("{:.2f} at capacity", *info.bits_per_key());
  }
  if (info.count) own["count"] = format_count(*info.count, "key") + " inserted";
  if (!info.can_merge) own["can"] = text_of(abilities{}, ", ");
  figures rows;
  append(rows, figures_of(info), own);
  return rows;
}

std::string keys_held(const filter_info& info) {
  const std::string counted = format_count(info.count);
  const count_meaning meaning = meaning_of_count(info);
  const double keys = distinct_keys(info);
  const auto whole = [&] {
    return format_count(static_cast<std::uint64_t>(std::llround(keys)), "key");
  };
  if (meaning == count_meaning::copies) {
    if (!(keys < 0.99 * static_cast<double>(info.count))) return format_count(info.count, "key");
    return fmt::format("about {} in {} copies", whole(), counted);
  }
  if (!std::isfinite(keys)) {
    return info.fill < 1 ? fmt::format("an unknown number of keys ({} counted)", counted)
                         : fmt::format("too many keys to count (at least {})", counted);
  }
  std::string exact = format_count(info.count, "key");
  if (meaning == count_meaning::estimate) return (info.count == 0 ? "" : "about ") + exact;
  if (whole() == exact) return exact;
  return fmt::format("about {} ({} counted)", whole(), counted);
}

std::string text_of(const abilities& can, std::string_view separator) {
  const auto names = names_of(can);
  return names.empty() ? "query only" : fmt::format("{}", fmt::join(names, separator));
}

}  // namespace bloomset::cli
