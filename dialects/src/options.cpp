#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bloomset/plan/numeric.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>

namespace bloomset::dialects {

std::optional<std::string_view> find_option(const option_list& options, std::string_view name) {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [name](const auto& each) { return each.first == name; });
  if (found == options.end()) return std::nullopt;
  return found->second;
}

result<std::uint64_t> number_option(const option_list& options, std::string_view name,
                                    std::uint64_t low, std::uint64_t high,
                                    std::uint64_t otherwise) {
  const auto text = find_option(options, name);
  if (!text) return otherwise;
  std::uint64_t value = 0;
  const char* const end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end || value < low || value > high) {
    return fail(
        errc::invalid_argument,
        fmt::format("--with {}={}: not a whole number from {} to {}", name, *text, low, high));
  }
  return value;
}

result<bool> flag_option(const option_list& options, std::string_view name, bool otherwise,
                         std::string_view flag) {
  const auto text = find_option(options, name);
  if (!text) return otherwise;
  if (*text == "yes") return true;
  if (*text == "no") return false;
  return fail(errc::invalid_argument, fmt::format("{} {}={}: give yes or no", flag, name, *text));
}

result<void> check_request(const plan_request& request, std::string_view format, takes has,
                           std::string_view advice) {
  const auto refuse = [&](std::string_view what) {
    return fail(errc::invalid_argument,
                fmt::format("format {} is not sized by {}; {}", format, what, advice));
  };
  if (request.fpr != 0 && !has.fpr) return refuse("a rate of false positives");
  if (request.bits != 0 && !has.bits) return refuse("a number of bits");
  if (request.hashes != 0) return refuse("a number of hash functions");
  if (request.confidence != 0) return refuse("a confidence");
  if (!(request.fpr >= 0 && request.fpr < 1)) {
    return fail(errc::invalid_argument, "the rate must lie between 0 and 1");
  }
  if (request.hash_bits > 64) {
    return fail(errc::unsupported,
                fmt::format("format {} fixes the hash function; leave it out", format));
  }
  if (request.seed.is_keyed()) {
    return fail(errc::unsupported,
                fmt::format("format {} fixes the hash function; leave the secret key out", format));
  }
  if (request.seed != default_seed && !has.seed) {
    return fail(errc::invalid_argument,
                fmt::format("format {} has no place for a seed; leave it out", format));
  }
  if (request.capacity == 0 && has.capacity) {
    return fail(errc::invalid_argument,
                fmt::format("format {} needs the number of keys first; give a capacity", format));
  }
  return {};
}

failure too_large(std::string_view format, std::string_view limit) {
  return fail(errc::invalid_argument,
              fmt::format("the filter would be too large for format {}, which allows at most {}; "
                          "give a smaller capacity or a greater rate",
                          format, limit));
}

result<void> check_words(std::span<const std::byte> bytes, std::size_t at) {
  const auto words = big_endian<std::uint32_t>(bytes.data() + at);
  const std::size_t payload = bytes.size() - at - sizeof words;
  if (words == 0 || words > std::numeric_limits<std::int32_t>::max() ||
      payload != std::uint64_t{words} * 8) {
    return fail(
        errc::corrupt,
        fmt::format("its header says {} words of 8 bytes, but {} bytes follow", words, payload));
  }
  return {};
}

result<words_and_hashes> guava_size(const plan_request& request, std::string_view format) {
  constexpr double max_hashes = 255;
  const auto n = static_cast<double>(request.capacity);
  const double ln2 = std::numbers::ln2;
  const double p = request.fpr == 0 ? 0.03 : request.fpr;
  const double bits = request.bits != 0 ? static_cast<double>(request.bits)
                                        : std::floor(-n * numeric::log(p) / (ln2 * ln2));
  if (!(bits < 64.0 * std::numeric_limits<std::int32_t>::max())) {
    return too_large(format, "2^31 - 1 words of 64 bits");
  }
  if (bits < 1) {
    return fail(errc::invalid_argument,
                "Guava's formula gives no bits for this capacity and rate; give a smaller rate");
  }
  // Math.round: to the nearest, halves up. (Guava 33 uses -log2 p instead of m/n ln 2. The results
  // differ for a few keys only.)
  const double hashes = std::max(1.0, std::floor(bits / n * ln2 + 0.5));
  if (hashes > max_hashes) {
    return fail(errc::invalid_argument,
                "so many bits per key need more than the 255 hash functions of a filter; give a "
                "greater rate or fewer bits");
  }
  return words_and_hashes{static_cast<std::uint32_t>((static_cast<std::uint64_t>(bits) + 63) / 64),
                          static_cast<unsigned>(hashes)};
}

}  // namespace bloomset::dialects
