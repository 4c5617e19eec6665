// The plans of all kinds, and lines of code that make the filters.

#include <bloomset/advise.hpp>
#include <bloomset/defaults.hpp>
#include <bloomset/figures.hpp>
#include <bloomset/plan/units.hpp>

#include "api.hpp"
#include "teach/plan_lines.hpp"

namespace bloomset::explorer {
namespace {

template <class Number, class Parse>
result<void> read(const json& asked, std::string_view name, Parse parse, Number& into) {
  const std::string text = asked.value(std::string(name), "");
  if (text.empty()) return {};
  const auto value = parse(text);
  if (!value) return fail(value.error());
  into = *value;
  return {};
}

result<plan_request> request_of(const json& asked) {
  plan_request request;
  std::uint64_t bytes = 0;
  std::uint64_t hashes = 0;
  if (auto ok = read(asked, "capacity", parse_count, request.capacity); !ok)
    return fail(ok.error());
  if (auto ok = read(asked, "fpr", parse_rate, request.fpr); !ok) return fail(ok.error());
  if (auto ok = read(asked, "memory", parse_bytes, bytes); !ok) return fail(ok.error());
  if (auto ok = read(asked, "hashes", parse_count, hashes); !ok) return fail(ok.error());
  if (bytes > (std::uint64_t{1} << 59)) {
    return fail(errc::invalid_argument, "a filter has at most 2^59 bytes; give less memory");
  }
  if (hashes > max_hash_functions) {
    return fail(errc::invalid_argument,
                fmt::format("a filter has 1 to {} functions", max_hash_functions));
  }
  request.bits = bytes * 8;
  request.hashes = static_cast<unsigned>(hashes);
  return request;
}

/// The Python class of a kind: CountingBloom for counting_bloom.
std::string class_of(std::string_view kind) {
  std::string name;
  bool first = true;
  for (const char c : kind) {
    if (c != '_') name += first ? static_cast<char>(c - 'a' + 'A') : c;
    first = c == '_';
  }
  return name;
}

std::string python_line(const kind_info& kind, const plan_request& request) {
  std::string arguments = fmt::format("capacity={}", request.capacity);
  if (request.fpr != 0) arguments += fmt::format(", fpr={}", request.fpr);
  if (request.bits != 0) arguments += fmt::format(", bits={}", request.bits);
  if (request.hashes != 0) arguments += fmt::format(", hashes={}", request.hashes);
  if (request.hash_bits == 128) arguments += ", hash=\"xxh3-2x64\"";
  return kind.build != nullptr
             ? fmt::format("members = bloomset.{}.build(keys, {})", class_of(kind.name), arguments)
             : fmt::format("members = bloomset.{}({})", class_of(kind.name), arguments);
}

json lines_of(const kind_info& kind, const plan_request& asked, const plan_report& plan) {
  const plan_request settled = teach::settled_request(asked, plan);
  json lines = {{"shell", teach::shell_line(kind, settled)},
                {"cpp", teach::cpp_line(kind, settled)},
                {"python", python_line(kind, settled)}};
  // The server plans by a rate: the requested one, or else the rate that this plan just reaches.
  const double rate = asked.fpr != 0 ? asked.fpr : plan.planned_fpr * (1 + 1e-5);
  const std::string line = teach::server_line(kind, plan.capacity, rate);
  if (!line.empty()) lines["redis"] = line;
  return lines;
}

json row_of(const candidate& each, const plan_request& asked) {
  json row = {{"kind", each.kind->name},
              {"summary", each.kind->summary},
              {"strengths", each.kind->strengths},
              {"can", names_of(each.kind->can)}};
  if (!each.plan) {
    row["refused"] = each.plan.error().message;
    return row;
  }
  const plan_report& plan = *each.plan;
  row.update(json::parse(to_json(figures_of(each.kind->name, plan))));
  row["shown"] = {{"bytes", format_bytes(plan.bytes)}};
  row["lines"] = lines_of(*each.kind, asked, plan);
  return row;
}

}  // namespace

result<json> plan(const json& asked) {
  auto request = request_of(asked);
  if (!request) return fail(request.error());
  const bool rate_assumed = assume_default_fpr(*request);
  const auto found = advise(*request, {.deletable = asked.value("deletable", false),
                                       .counting = asked.value("counting", false),
                                       .growing = asked.value("growing", false),
                                       .unchanging = asked.value("unchanging", false)});
  if (!found) return fail(found.error());
  json all = {{"rate_assumed", rate_assumed},
              {"reason", found->reason},
              {"default", kinds().front().name},
              {"kinds", json::array()}};
  for (const candidate& each : found->ranked) all["kinds"].push_back(row_of(each, *request));
  return all;
}

}  // namespace bloomset::explorer
