// Spark's BloomFilter (org.apache.spark.util.sketch) in the form of writeTo: the version, k, in
// version 2 the seed, the number of words, and the words, all big-endian. The type of the keys is
// not stored.

#include <limits>

#include "bloom_model.hpp"

namespace bloomset::dialects {
namespace {
namespace spark_format {

constexpr std::string_view types = "string (or bytes, the same) or long (or int64, the same)";

constexpr std::array options = {
    kind_option{"type", types,
                "the column's type: strings and binary, or whole numbers of any size"},
    kind_option{"version", "1 or 2 (default 2)",
                "for building: 1, which Spark wrote before 4.1, or 2"}};

result<encoding> type_of(const option_list& given) {
  const auto text = find_option(given, "type");
  if (!text) return encoding::unknown;
  if (*text == "string" || *text == "bytes") return encoding::bytes;
  if (*text == "long" || *text == "int64") return encoding::int64;
  return fail(errc::invalid_argument, fmt::format("--with type={}: give {}", *text, types));
}

template <class Rule>
struct spark_container {
  using rule = Rule;
  static constexpr row id = row::spark;
  static constexpr counting counts = counting::nothing;
  static constexpr bool has_seed = std::same_as<Rule, rules::spark_2>;

  std::uint32_t words = 0;
  unsigned hashes = 0;
  std::uint32_t seed = 0;
  encoding type = encoding::unknown;

  bloom_params shape() const {
    return {.bits = std::uint64_t{words} * 64, .hashes = hashes, .seed = seed};
  }
  rule probe() const { return {}; }
  key_form form() const { return {type, "type", types}; }
  bit_order order() const { return bit_order::big_endian_words; }

  void describe(foreign_info& info) const {
    info.variant = has_seed ? "version 2" : "version 1";
    if (has_seed) info.extras.push_back({"seed", std::uint64_t{seed}});
  }
  result<void> check_merge(const spark_container& other) const {
    if (type == other.type) return {};
    return fail(errc::incompatible, "their types differ");
  }
  result<foreign_image> image(std::span<const std::byte> longs, std::uint64_t) const {
    foreign_image image;
    put_big(image.head, std::uint32_t{has_seed ? 2 : 1});
    put_big(image.head, std::uint32_t{hashes});
    if (has_seed) put_big(image.head, seed);
    put_big(image.head, words);
    image.bits = longs;
    return image;
  }
  result<spark_container> convert(const option_list&) const { return only_container(id); }
};

/// The container that the header describes, without a type.
template <class Rule>
result<spark_container<Rule>> read(std::span<const std::byte> bytes) {
  using container = spark_container<Rule>;
  constexpr std::size_t words_at = container::has_seed ? 12 : 8;
  if (bytes.size() < words_at + 4) {
    return fail(errc::corrupt, fmt::format("it ends within Spark's header of {} bytes; get the "
                                           "whole file",
                                           words_at + 4));
  }
  const auto hashes = big_endian<std::uint32_t>(bytes.data() + 4);
  if (hashes == 0 || hashes > Rule::max_hashes()) {
    return fail(errc::unsupported,
                fmt::format("its header says {} hash functions; 1 to {} are supported", hashes,
                            Rule::max_hashes()));
  }
  if (auto ok = check_words(bytes, words_at); !ok) return fail(std::move(ok.error()));
  return container{.words = big_endian<std::uint32_t>(bytes.data() + words_at),
                   .hashes = hashes,
                   .seed = container::has_seed ? big_endian<std::uint32_t>(bytes.data() + 8) : 0};
}

/// Calls `use` with the container of a file.
template <class Use>
auto with_file(std::span<const std::byte> bytes, Use&& use)
    -> decltype(use(read<rules::spark_1>(bytes))) {
  if (bytes.size() < 4) return fail(errc::corrupt, "it ends within Spark's version number");
  const auto version = big_endian<std::uint32_t>(bytes.data());
  if (version == 1) return use(read<rules::spark_1>(bytes));
  if (version == 2) return use(read<rules::spark_2>(bytes));
  return fail(errc::unsupported, fmt::format("its version is {}, and 1 and 2 are known", version));
}

recognition looks_like(std::span<const std::byte> bytes) noexcept {
  const auto read = with_file(bytes, [](const auto& made) -> result<void> {
    if (!made) return fail(made.error());
    return {};
  });
  return read ? recognition::certain : recognition::no;
}

result<foreign_filter> open_filter(const mapped_storage& bytes, const open_request& request) {
  if (find_option(request.options, "version")) {
    return fail(errc::invalid_argument, "the version is stored in the filter; leave it out");
  }
  const auto type = type_of(request.options);
  if (!type) return fail(type.error());
  return with_file(bytes.bytes(), [&](auto made) -> result<foreign_filter> {
    if (!made) return fail(std::move(made.error()));
    made->type = *type;
    const std::size_t size = std::size_t{made->words} * 8;
    return over_bytes(*made, bytes.slice(bytes.bytes().size() - size, size), request.how);
  });
}

result<foreign_filter> create_filter(const plan_request& request) {
  const auto version = number_option(request.options, "version", 1, 2, 2);
  if (!version) return fail(version.error());
  const auto ok =
      check_request(request, "spark", {.fpr = true, .bits = true, .seed = *version == 2},
                    "give a capacity, and a rate or a number of bits");
  if (!ok) return fail(ok.error());
  if (request.fpr != 0 && request.bits != 0) {
    return fail(errc::invalid_argument, "give a rate or a number of bits, not both");
  }
  if (request.seed.value() > std::numeric_limits<std::uint32_t>::max()) {
    return fail(errc::invalid_argument, "the seed of Spark's filter is a number of 32 bits");
  }
  const auto type = type_of(request.options);
  if (!type) return fail(type.error());
  const auto size = guava_size(request, "spark");
  if (!size) return fail(size.error());
  const auto seed = static_cast<std::uint32_t>(request.seed.value());
  if (*version == 1) {
    return empty_filter(spark_container<rules::spark_1>{size->words, size->hashes, seed, *type});
  }
  return empty_filter(spark_container<rules::spark_2>{size->words, size->hashes, seed, *type});
}

}  // namespace spark_format
}  // namespace

dialect spark_dialect() noexcept {
  return {"spark",
          "Spark's BloomFilter.writeTo (org.apache.spark.util.sketch), versions 1 and 2",
          "the type of the keys, the capacity and the rate are not stored: give the type",
          spark_format::options,
          spark_format::looks_like,
          spark_format::open_filter,
          spark_format::create_filter};
}

}  // namespace bloomset::dialects
