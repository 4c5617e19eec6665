// Guava's BloomFilter in the form of writeTo: a byte for the strategy, one for k, the number of
// words, and the words, big-endian. The funnel, from an object to the bytes of a key, is not
// stored.

#include "bloom_model.hpp"

namespace bloomset::dialects {
namespace {
namespace guava_format {

constexpr std::size_t header_bytes = 6;
constexpr std::string_view funnels = "utf8, utf16le, bytes, int32 or int64";

constexpr std::array options = {
    kind_option{"funnel", funnels,
                "how a key becomes bytes: stringFunnel(UTF_8), unencodedCharsFunnel, "
                "byteArrayFunnel, integerFunnel or longFunnel"},
    kind_option{"strategy", "32 or 64 (default 64)",
                "for building: MURMUR128_MITZ_32, which old versions wrote, or _64"}};

result<encoding> funnel_of(const option_list& given) {
  const auto text = find_option(given, "funnel");
  if (!text) return encoding::unknown;
  if (*text == "utf8" || *text == "bytes") return encoding::bytes;
  if (*text == "utf16le") return encoding::utf16le;
  if (*text == "int32") return encoding::int32;
  if (*text == "int64") return encoding::int64;
  return fail(errc::invalid_argument, fmt::format("--with funnel={}: give {}", *text, funnels));
}

template <class Rule>
struct guava_container {
  using rule = Rule;
  static constexpr row id = row::guava;
  static constexpr counting counts = counting::nothing;
  static constexpr bool is_64 = std::same_as<Rule, rules::guava_64>;

  std::uint32_t words = 0;
  unsigned hashes = 0;
  encoding funnel = encoding::unknown;

  bloom_params shape() const { return {.bits = std::uint64_t{words} * 64, .hashes = hashes}; }
  rule probe() const { return {}; }
  key_form form() const { return {funnel, "funnel", funnels}; }
  bit_order order() const { return bit_order::big_endian_words; }

  void describe(foreign_info& info) const {
    info.variant = is_64 ? "MURMUR128_MITZ_64" : "MURMUR128_MITZ_32";
  }
  result<void> check_merge(const guava_container& other) const {
    if (funnel != other.funnel) return fail(errc::incompatible, "their funnels differ");
    return {};
  }
  result<foreign_image> image(std::span<const std::byte> longs, std::uint64_t) const {
    foreign_image image;
    put_big(image.head, static_cast<std::uint8_t>(is_64 ? 1 : 0));
    put_big(image.head, static_cast<std::uint8_t>(hashes));
    put_big(image.head, words);
    image.bits = longs;
    return image;
  }
  result<guava_container> convert(const option_list&) const { return only_container(id); }
};

/// Calls `use(container)` with the container of the strategy.
template <class Use>
result<foreign_filter> with_strategy(bool is_64, Use&& use) {
  return is_64 ? use(guava_container<rules::guava_64>()) : use(guava_container<rules::guava_32>());
}

result<void> check(std::span<const std::byte> bytes) {
  if (bytes.size() < header_bytes) {
    return fail(errc::corrupt, "it ends within Guava's header of 6 bytes; get the whole file");
  }
  if (const auto strategy = std::to_integer<unsigned>(bytes[0]); strategy > 1) {
    return fail(errc::unsupported,
                fmt::format("its strategy is number {}; only 0 and 1 are known", strategy));
  }
  if (bytes[1] == std::byte{0}) {
    return fail(errc::corrupt, "its header says that it has no hash function");
  }
  return check_words(bytes, 2);
}

recognition looks_like(std::span<const std::byte> bytes) noexcept {
  return check(bytes) ? recognition::certain : recognition::no;
}

result<foreign_filter> open_filter(const mapped_storage& bytes, const open_request& request) {
  if (auto ok = check(bytes.bytes()); !ok) return fail(std::move(ok.error()));
  if (find_option(request.options, "strategy")) {
    return fail(errc::invalid_argument, "the strategy is stored in the filter; leave it out");
  }
  const auto funnel = funnel_of(request.options);
  if (!funnel) return fail(funnel.error());
  const std::byte* const at = bytes.bytes().data();
  return with_strategy(at[0] == std::byte{1}, [&](auto made) {
    made.words = big_endian<std::uint32_t>(at + 2);
    made.hashes = std::to_integer<unsigned>(at[1]);
    made.funnel = *funnel;
    return over_bytes(made, bytes.slice(header_bytes, bytes.bytes().size() - header_bytes),
                      request.how);
  });
}

result<foreign_filter> create_filter(const plan_request& request) {
  const auto ok = check_request(request, "guava", {.fpr = true}, "give a capacity and a rate");
  if (!ok) return fail(ok.error());
  const auto strategy = find_option(request.options, "strategy").value_or("64");
  if (strategy != "32" && strategy != "64") {
    return fail(errc::invalid_argument, fmt::format("--with strategy={}: give 32 or 64", strategy));
  }
  const auto funnel = funnel_of(request.options);
  if (!funnel) return fail(funnel.error());
  const auto size = guava_size(request, "guava");
  if (!size) return fail(size.error());
  return with_strategy(strategy == "64", [&](auto made) {
    made.words = size->words;
    made.hashes = size->hashes;
    made.funnel = *funnel;
    return empty_filter(made);
  });
}

}  // namespace guava_format
}  // namespace

dialect guava_dialect() noexcept {
  return {"guava",
          "Guava's BloomFilter.writeTo, strategies MURMUR128_MITZ_32 and _64",
          "the funnel, the capacity and the rate are not stored: give the funnel",
          guava_format::options,
          guava_format::looks_like,
          guava_format::open_filter,
          guava_format::create_filter};
}

}  // namespace bloomset::dialects
