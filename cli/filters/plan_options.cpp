#include "filters/plan_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <bloomset/plan/units.hpp>
#include <bloomset/probe.hpp>
#include <charconv>

#include "filters/opened.hpp"
#include "terminal/declare.hpp"

namespace bloomset::cli {

namespace {

unsigned read_hashes(const std::string& text) {
  unsigned k = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, k);
  if (read.ec == std::errc{} && read.ptr == end && k >= 1 && k <= max_hash_functions) return k;
  throw CLI::ValidationError(
      "--hashes", fmt::format("'{}' is not a number of hash functions; give 1 to {}", text,
                              max_hash_functions));
}

std::uint64_t read_seed(const std::string& text) {
  if (text == "random") {
    const auto drawn = new_hash_key();
    if (!drawn) throw CLI::ValidationError("--seed", drawn.error().message);
    return drawn->words[0];
  }
  std::uint64_t seed = 0;
  const bool hexadecimal = text.starts_with("0x");
  const char* end = text.data() + text.size();
  const auto read =
      std::from_chars(text.data() + (hexadecimal ? 2 : 0), end, seed, hexadecimal ? 16 : 10);
  if (read.ec != std::errc{} || read.ptr != end) {
    throw CLI::ValidationError(
        "--seed",
        fmt::format("'{}' is not a seed; give a whole number below 2^64, or random", text));
  }
  return seed;
}

}  // namespace

void plan_options::declare(CLI::App& app) {
  option(app, "--capacity", capacity, "keys to plan for: 1000, 10M, 1e9")
      .value("N")
      .under(headings::size);
  option(app, "--fpr", fpr, "rate of false positives: 1%, 0.01, 1/1000")
      .value("P")
      .under(headings::size);
  option(app, "--confidence", confidence,
         "plan a filter whose rate is at most --fpr with probability P, such as 95% (default: "
         "--fpr is the mean rate of many such filters)")
      .value("P")
      .under(headings::size);
  option(app, "--memory", memory, "size of the filter in bytes: 120MB, 1GiB")
      .value("SIZE")
      .under(headings::size);
  option(app, "--bits", bits, "size of the filter in bits: 8000, 10M")
      .value("M")
      .under(headings::size);
  app.get_option("--bits")->excludes(app.get_option("--memory"));
  // CLI11's parser of numbers would wrap -3 around and read 010 as octal.
  app.add_option_function<std::string>(
         "--hashes", [this](const std::string& given) { hashes = read_hashes(given); },
         "number of hash functions, 1 to 64")
      ->type_name("K")
      ->group(headings::kind);
  option(app, "--kind", kind, "kind of filter").value("KIND").under(headings::kind);
  app.add_option_function<std::string>(
         "--seed", [this](const std::string& given) { seed = read_seed(given); },
         fmt::format(
             "seed of the hash function: a 64-bit number, or the word random to draw one; the file "
             "stores it, so it is not a secret (default {})",
             default_seed))
      ->type_name("SEED")
      ->group(headings::kind);
  option(app, "--hash", hash,
         "hash function: xxh3 (default without a secret key) or siphash (default with one); "
         "their 128-bit versions, xxh3-2x64 and siphash-2x64, are chosen automatically if --fpr "
         "is too low for 64-bit hashes")
      .value("NAME")
      .one_of({"xxh3", "siphash", "xxh3-2x64", "siphash-2x64"})
      .under(headings::kind);
  key.declare(app);
  find_declared(app, "--key-file").under(headings::kind);
  option(app, "--with", with, "an option of the kind; 'bloomset man' lists those of each kind")
      .value("NAME=VALUE")
      .one_value_per_use()
      .under(headings::kind);
}

result<void> plan_options::choose_seed(plan_request& request) const {
  const bool without_key = hash.starts_with("xxh3");
  if (without_key && !key.file.empty()) {
    return fail(errc::invalid_argument,
                "--hash: xxh3 takes no secret key; leave --key-file out, or give --hash siphash");
  }
  if (without_key || (hash.empty() && !key.is_given())) {
    request.seed = seed.value_or(default_seed);
    return {};
  }
  if (seed) {
    return fail(errc::invalid_argument,
                fmt::format("--seed: a filter has a seed or a secret key, and {} asks for a key; "
                            "leave --seed out{}",
                            hash.empty() ? key.source() : "--hash",
                            hash.empty() && key.file.empty() ? ", or give --hash xxh3" : ""));
  }
  const auto secret = key.read();
  if (!secret) return fail(secret.error());
  if (!*secret) {
    return fail(
        errc::invalid_argument,
        "--hash: siphash needs a secret key; make one with 'bloomset key new FILE', and give "
        "it by --key-file");
  }
  request.seed = **secret;
  return {};
}

result<plan_request> plan_options::request() const {
  plan_request request;
  request.hashes = hashes;
  if (auto ok = choose_seed(request); !ok) return fail(std::move(ok.error()));
  if (!hash.empty()) {
    if (auto ok = choose_hash(request, hash); !ok) return fail(std::move(ok.error()));
  }
  std::uint64_t bytes = 0;
  if (auto ok = read_option("--capacity", capacity, parse_count, request.capacity); !ok) {
    return fail(ok.error());
  }
  if (auto ok = read_option("--fpr", fpr, parse_rate, request.fpr); !ok) return fail(ok.error());
  if (auto ok = read_option("--confidence", confidence, parse_rate, request.confidence); !ok) {
    return fail(ok.error());
  }
  if (request.confidence != 0 && request.confidence < 0.5) {
    return fail(errc::invalid_argument,
                fmt::format("--confidence: {} is below 50%; write it as 95% or 0.95", confidence));
  }
  if (auto ok = read_option("--memory", memory, parse_bytes, bytes); !ok) return fail(ok.error());
  if (auto ok = read_option("--bits", bits, parse_count, request.bits); !ok) {
    return fail(ok.error());
  }
  if (bytes != 0) {
    if (bytes > (std::uint64_t{1} << 59)) {
      return fail(errc::invalid_argument,
                  fmt::format("--memory: {} is too large; give at most 2^59 bytes", memory));
    }
    request.bits = bytes * 8;
  }
  auto options = read_pairs(with, "--with", "slots=4");
  if (!options) return fail(std::move(options.error()));
  request.options = std::move(*options);
  return request;
}

}  // namespace bloomset::cli
