#include "plan_options.hpp"

#include <fmt/format.h>

#include <bloomery/plan/units.hpp>

namespace bloomery::cli {

void plan_options::declare(CLI::App& app) {
  app.add_option("--capacity", capacity, "keys to plan for: 1000, 10M, 1e9")->type_name("N");
  app.add_option("--fpr", fpr, "rate of false positives: 1%, 0.01, 1/1000")->type_name("P");
  auto* size = app.add_option("--memory", memory, "size of the filter: 120MB, 1GiB");
  size->type_name("SIZE");
  app.add_option("--bits", bits, "the same in bits: 8000, 10M")->type_name("M")->excludes(size);
  app.add_option("--hashes", hashes, "number of hash functions")->type_name("K");
  app.add_option("--kind", kind, "kind of filter")->type_name("KIND");
  app.add_option("--seed", seed, "of the hash function (default 0)")->type_name("SEED");
  app.add_option("--with", with, "an option of the kind's own")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

result<plan_request> plan_options::request() const {
  plan_request request;
  request.hashes = hashes;
  request.seed = seed;
  const auto read = [](std::string_view option, const std::string& text, auto parse,
                       auto& into) -> result<void> {
    if (text.empty()) return {};
    auto value = parse(text);
    if (!value) {
      return fail(value.error().code, fmt::format("{}: {}", option, value.error().message));
    }
    into = *value;
    return {};
  };
  std::uint64_t bytes = 0;
  if (auto ok = read("--capacity", capacity, parse_count, request.capacity); !ok)
    return fail(ok.error());
  if (auto ok = read("--fpr", fpr, parse_rate, request.fpr); !ok) return fail(ok.error());
  if (auto ok = read("--memory", memory, parse_bytes, bytes); !ok) return fail(ok.error());
  if (auto ok = read("--bits", bits, parse_count, request.bits); !ok) return fail(ok.error());
  if (bytes != 0) {
    if (bytes > (std::uint64_t{1} << 59)) {
      return fail(
          errc::invalid_argument,
          fmt::format("--memory: {} is more than a filter can have; give at most 2^59 bytes",
                      memory));
    }
    request.bits = bytes * 8;
  }
  for (const std::string& pair : with) {
    const auto at = pair.find('=');
    if (at == std::string::npos || at == 0) {
      return fail(errc::invalid_argument,
                  fmt::format("--with: '{}' is not NAME=VALUE; write for example slots=4", pair));
    }
    request.options.emplace_back(pair.substr(0, at), pair.substr(at + 1));
  }
  return request;
}

}  // namespace bloomery::cli
