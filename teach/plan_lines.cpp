#include "teach/plan_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bloomset::teach {

plan_request settled_request(const plan_request& asked, const plan_report& plan) {
  plan_request all = asked;
  all.capacity = plan.capacity;
  // The rate gave the capacity. Beside capacity and bits it would be a bound, so it stays only
  // then.
  if (all.bits != 0 && asked.capacity == 0) all.fpr = 0;
  if (plan.hash_bits == 128) all.hash_bits = 128;
  if (plan.scatter == 0) all.confidence = 0;  // only kinds whose rate scatters have the option
  return all;
}

std::string shell_line(const kind_info& kind, const plan_request& request) {
  std::string line = fmt::format("bloomset build -o members.bloom --kind {} --capacity {}",
                                 kind.name, request.capacity);
  if (request.fpr != 0) line += fmt::format(" --fpr {}", request.fpr);
  if (request.confidence != 0) line += fmt::format(" --confidence {}", request.confidence);
  if (request.bits != 0) line += fmt::format(" --bits {}", request.bits);
  if (request.hashes != 0) line += fmt::format(" --hashes {}", request.hashes);
  if (request.seed.is_keyed()) {
    line += " --key-file members.key";
  } else if (request.seed != default_seed) {
    line += fmt::format(" --seed {}", request.seed.value());
  }
  if (request.hash_bits == 128) {
    line += request.seed.is_keyed() ? " --hash siphash-2x64" : " --hash xxh3-2x64";
  }
  for (const auto& [name, value] : request.options)
    line += fmt::format(" --with {}={}", name, value);
  return line + " members.txt";
}

// With options or 128-bit hashes the line uses the registry's request, which is the same for every
// kind. A kind's own spec has fields of other names.
std::string cpp_line(const kind_info& kind, const plan_request& request) {
  std::string fields = fmt::format(".capacity = {}", request.capacity);
  if (request.fpr != 0) fields += fmt::format(", .fpr = {}", request.fpr);
  if (request.bits != 0) fields += fmt::format(", .bits = {}", request.bits);
  if (request.hashes != 0) fields += fmt::format(", .hashes = {}", request.hashes);
  if (request.seed.is_keyed()) {
    fields += ", .seed = key";
  } else if (request.seed != default_seed) {
    fields += fmt::format(", .seed = {}U", request.seed.value());
  }
  if (request.confidence != 0) fields += fmt::format(", .confidence = {}", request.confidence);
  if (request.hash_bits == 128) fields += ", .hash_bits = 128";
  if (request.options.empty() && request.hash_bits != 128) {
    return kind.build != nullptr
               ? fmt::format("auto members = bloomset::{}::build({{{}}}, keys).value();", kind.name,
                             fields)
               : fmt::format("bloomset::{} members({{{}}});", kind.name, fields);
  }
  std::vector<std::string> pairs;
  pairs.reserve(request.options.size());
  for (const auto& [name, value] : request.options) {
    pairs.push_back(fmt::format(R"({{"{}", "{}"}})", name, value));
  }
  if (!pairs.empty()) fields += fmt::format(", .options = {{{}}}", fmt::join(pairs, ", "));
  const std::string row = fmt::format("bloomset::find_kind(\"{}\").value()", kind.name);
  if (kind.build == nullptr) {
    return fmt::format("auto members = {}->create({{{}}}).value();", row, fields);
  }
  if (request.hash_bits != 128) {
    return fmt::format(
        "auto members = {}->build({{{}}}, bloomset::hash_source::of(hashes)).value();", row,
        fields);
  }
  return fmt::format("auto members = bloomset::build_filter(*{}, {{{}}}, sources).value();", row,
                     fields);
}

std::vector<std::string_view> ability_names(const abilities& can) {
  std::vector<std::string_view> names;
  if (can.insert) names.emplace_back("insert");
  if (can.erase) names.emplace_back("erase");
  if (can.count) names.emplace_back("count");
  if (can.merge) names.emplace_back("merge");
  if (can.intersect) names.emplace_back("intersect");
  if (can.fold) names.emplace_back("fold");
  if (can.grow) names.emplace_back("grow");
  return names;
}

}  // namespace bloomset::teach
