#include "teach/plan_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace bloomset::teach {
namespace {

// The server's limits: docs/reference/server/operations.md.
constexpr std::uint64_t max_server_capacity = std::uint64_t{1} << 30;
constexpr std::uint64_t max_server_bytes = std::uint64_t{1} << 30;
constexpr double max_server_rate = 0.25;
constexpr double min_blocked_rate = 1e-4;  // the server has a classic filter below
constexpr std::uint64_t min_cuckoo_capacity = 4;

bool server_has(filter_kind kind, std::uint64_t capacity, double rate) {
  const auto plan = find_kind(kind)->plan({.capacity = capacity, .fpr = rate});
  return plan && plan->bytes <= max_server_bytes;
}

/// The second part of a filter that grows, or the only part of a small one: an upper bound of its
/// size, and a lower one of its rate.
bool server_grows(std::uint64_t capacity, double rate) {
  constexpr std::uint64_t small = 10'000;
  return server_has(filter_kind::expandable, capacity / 8 + small, rate);
}

/// A filter for the items that it counts as new, so with room for those that it overlooks.
bool server_holds(std::uint64_t capacity, double rate) {
  const auto items = static_cast<std::uint64_t>(static_cast<double>(capacity) * (1 + rate)) + 1;
  return server_has(rate < min_blocked_rate ? filter_kind::bloom : filter_kind::blocked_bloom,
                    items, rate);
}

}  // namespace

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
  if (kind.build_of_two_sets != nullptr) {
    return fmt::format("bloomset build -o members.bloom --kind {} --universe all.txt members.txt",
                       kind.name);
  }
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
  if (kind.build_of_two_sets != nullptr) {
    return fmt::format("auto members = bloomset::{}::build({{}}, keys, all_keys).value();",
                       kind.name);
  }
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

std::string server_line(const kind_info& kind, std::uint64_t capacity, double rate) {
  if (capacity > max_server_capacity) return {};
  // As the line has it, and as the server reads it.
  const std::string text = fmt::format("{:.6g}", std::min(rate, max_server_rate));
  rate = std::min(rate, max_server_rate) * (1 - 1e-5);
  switch (kind.kind) {
    case filter_kind::bloom:
      if (!server_holds(capacity, rate)) return {};
      return fmt::format("BF.RESERVE members {} {} NONSCALING", text, capacity);
    case filter_kind::scalable_bloom:
      if (!server_holds(capacity, 0.9 * rate) || !server_grows(capacity, rate / 20)) return {};
      return fmt::format("BF.RESERVE members {} {}", text, capacity);
    case filter_kind::cuckoo:
      capacity = std::max(capacity, min_cuckoo_capacity);
      if (!server_has(filter_kind::vector_quotient, capacity, rate / 2) ||
          !server_grows(capacity, rate / 2)) {
        return {};
      }
      return fmt::format("CF.RESERVE members {} ERROR {}", capacity, text);
    default:
      return {};
  }
}

}  // namespace bloomset::teach
