// The Filter.db beside each table of Cassandra and Scylla: k, the number of words, and the words.
// The table's version decides which half of the hash is the base, and the order of the words'
// bytes. The file does not store the version; its name has it (mc-1-big-Filter.db). It does not
// store the type of the keys either.

#include <algorithm>
#include <bloomset/defaults.hpp>
#include <bloomset/plan/numeric.hpp>
#include <cmath>
#include <limits>

#include "bloom_model.hpp"

namespace bloomset::dialects {
namespace {
namespace cassandra_format {

constexpr std::size_t header_bytes = 8;
constexpr std::string_view versions = "ka, la, lb, ma to me, ms, mt, na, nb, oa or da";
constexpr std::string_view types =
    "bytes (or text or ascii, the same), int, bigint, smallint, tinyint, or uuid (or timeuuid)";

constexpr std::array options = {
    kind_option{"version", versions,
                "the version of the filter's table; read from a name such as mc-1-big-Filter.db if "
                "not given"},
    kind_option{"type", types,
                "the type of the table's partition key; bytes if a key is given as it is stored"}};

result<value_form> type_of(const option_list& given) {
  const auto text = find_option(given, "type");
  if (!text) return value_form{};
  const auto number = [](encoding how) { return value_form{.how = how, .big_endian = true}; };
  if (*text == "bytes" || *text == "text" || *text == "ascii") return value_form{encoding::bytes};
  if (*text == "int") return number(encoding::int32);
  if (*text == "bigint") return number(encoding::int64);
  if (*text == "smallint") return number(encoding::int16);
  if (*text == "tinyint") return number(encoding::int8);
  if (*text == "uuid" || *text == "timeuuid") return value_form{encoding::uuid};
  return fail(errc::invalid_argument, fmt::format("--with type={}: give {}", *text, types));
}

/// Versions with the same format.
enum class generation : std::uint8_t { unknown, ka, ma, na };

struct cassandra_container {
  using rule = rules::cassandra;
  static constexpr row id = row::cassandra;
  static constexpr counting counts = counting::nothing;

  std::uint32_t hashes = 0;
  std::uint32_t words = 0;
  generation version = generation::unknown;
  value_form type = {};

  bloom_params shape() const { return {.bits = std::uint64_t{words} * 64, .hashes = hashes}; }
  rule probe() const {
    rule made;
    made.first_is_base = version == generation::ka;
    made.order = order();
    return made;
  }
  key_form form() const {
    if (version == generation::unknown) return {encoding::unknown, "version", versions};
    return {type, "type", types};
  }
  bit_order order() const {
    return version == generation::na ? bit_order::bytes : bit_order::big_endian_words;
  }

  void describe(foreign_info& info) const {
    info.variant = version == generation::ka   ? "versions ka and la"
                   : version == generation::ma ? "versions ma to mt"
                   : version == generation::na ? "version na and later"
                                               : "of an unknown version";
  }
  result<void> check_merge(const cassandra_container& other) const {
    if (version == generation::unknown || other.version == generation::unknown) {
      return fail(errc::invalid_argument,
                  fmt::format("the table's version is not known, and each version has other bits; "
                              "give --with version={}",
                              versions));
    }
    if (version != other.version) {
      return fail(errc::incompatible, "their versions differ; convert one of them");
    }
    if (type != other.type) return fail(errc::incompatible, "their types differ");
    return {};
  }
  result<foreign_image> image(std::span<const std::byte> longs, std::uint64_t) const {
    foreign_image image;
    put_big(image.head, hashes);
    put_big(image.head, words);
    image.bits = longs;
    return image;
  }
  result<cassandra_container> convert(const option_list& given) const;
};

struct table_version {
  std::string_view name;
  std::string_view format;  // of the table, in the names of its files
  generation filter;
};
constexpr std::array known_versions = {
    table_version{"ka", "", generation::ka}, table_version{"la", "big", generation::ka},
    table_version{"lb", "big", generation::ka}, table_version{"ma", "big", generation::ma},
    table_version{"mb", "big", generation::ma}, table_version{"mc", "big", generation::ma},
    table_version{"md", "big", generation::ma}, table_version{"me", "big", generation::ma},
    // Scylla's own, whose indexes differ.
    table_version{"ms", "big", generation::ma}, table_version{"mt", "big", generation::ma},
    table_version{"na", "big", generation::na}, table_version{"nb", "big", generation::na},
    table_version{"oa", "big", generation::na}, table_version{"da", "bti", generation::na}};

const table_version* find_version(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(known_versions, name, &table_version::name);
  return found != known_versions.end() ? found : nullptr;
}

/// The version that an option gives. A failure calls the option by its `flag`.
result<generation> generation_of(std::string_view version, std::string_view flag = "--with") {
  if (const auto* const found = find_version(version)) return found->filter;
  return fail(errc::unsupported,
              fmt::format("{} version={}: the filters of this version are not known; give {}", flag,
                          version, versions));
}

result<cassandra_container> cassandra_container::convert(const option_list& given) const {
  if (find_option(given, "type")) {
    return fail(errc::invalid_argument, "the type of the keys cannot change; leave it out");
  }
  const auto text = find_option(given, "version");
  if (!text) {
    return fail(
        errc::invalid_argument,
        fmt::format("the version to write is missing; give --to-with version={}", versions));
  }
  const auto to = generation_of(*text, "--to-with");
  if (!to) return fail(to.error());
  if (version == generation::unknown) {
    return fail(
        errc::invalid_argument,
        fmt::format("the version of the filter is missing; give --with version={}", versions));
  }
  if (*to != version && (*to == generation::ka || version == generation::ka)) {
    return fail(errc::incompatible,
                "versions ka and la probe from the other half of the hash, so that no bit would "
                "mean the same keys; build it anew from the keys");
  }
  cassandra_container other = *this;
  other.version = *to;
  return other;
}

/// The version in the name of a table's filter: VERSION-ID-FORMAT-Filter.db, or for ka
/// KEYSPACE-TABLE-ka-ID-Filter.db. Empty for other names.
std::string_view named_version(std::string_view path) {
  constexpr std::string_view ending = "-Filter.db";
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.ends_with(ending)) return {};
  name.remove_suffix(ending.size());
  std::vector<std::string_view> parts;
  while (name.find('-') != std::string_view::npos) {
    parts.push_back(name.substr(0, name.find('-')));
    name.remove_prefix(parts.back().size() + 1);
  }
  parts.push_back(name);
  if (parts.size() >= 4 && parts[parts.size() - 2] == "ka") return "ka";
  if (parts.size() != 3) return {};
  const auto* const version = find_version(parts[0]);
  return version != nullptr && version->format == parts[2] ? version->name : std::string_view();
}

option_list named(const std::string& path) {
  const auto version = named_version(path);
  return version.empty() ? option_list() : option_list{{"version", std::string(version)}};
}

result<void> check(std::span<const std::byte> bytes) {
  if (bytes.size() < header_bytes) {
    return fail(errc::corrupt, "it ends within the header of 8 bytes; get the whole file");
  }
  const auto hashes = big_endian<std::uint32_t>(bytes.data());
  if (hashes == 0 || hashes > rules::rule::max_hashes()) {
    return fail(errc::corrupt,
                fmt::format("its header says {} hash functions; a filter has 1 to 255", hashes));
  }
  return check_words(bytes, 4);
}

recognition looks_like(std::span<const std::byte> bytes) noexcept {
  return check(bytes) ? recognition::certain : recognition::no;
}

result<foreign_filter> open_filter(const mapped_storage& bytes, const open_request& request) {
  if (auto ok = check(bytes.bytes()); !ok) return fail(std::move(ok.error()));
  cassandra_container made{.hashes = big_endian<std::uint32_t>(bytes.bytes().data()),
                           .words = big_endian<std::uint32_t>(bytes.bytes().data() + 4)};
  const auto said = find_option(request.options, "version");
  if (const auto text = said ? *said : named_version(request.name); !text.empty() || said) {
    const auto version = generation_of(text);
    if (!version) return fail(version.error());
    made.version = *version;
  }
  if (const auto name = named_version(request.name); said && !name.empty()) {
    if (const auto by_name = generation_of(name); by_name && *by_name != made.version) {
      return fail(errc::invalid_argument,
                  fmt::format("the file's name says version {}, and --with version={}, whose "
                              "filters differ; leave the option out, or rename the file",
                              name, *said));
    }
  }
  const auto type = type_of(request.options);
  if (!type) return fail(type.error());
  made.type = *type;
  return over_bytes(made, bytes.slice(header_bytes, bytes.bytes().size() - header_bytes),
                    request.how);
}

// Rates with b bits per key and k functions, as in Cassandra's table: (1 - e^(-k/b))^k with three
// digits (from P. Cao, "Bloom Filters - the math", of summary-cache). One entry of the table is cut
// to two digits.
double table_fpr(unsigned b, unsigned k) {
  if (b == 5 && k == 3) return 0.092;
  const double fpr = numeric::power(1 - numeric::exp(-static_cast<double>(k) / b), k);
  const auto decimals = static_cast<unsigned>(2 - std::floor(numeric::log10(fpr)));
  const double scale = numeric::power(10, decimals);
  return std::round(fpr * scale) / scale;
}

unsigned best_hashes(unsigned b) {
  unsigned best = 1;
  for (unsigned k = 2; k <= b; ++k) {
    if (table_fpr(b, k) < table_fpr(b, best)) best = k;
  }
  return best;
}

struct size_rule {
  unsigned bits_per_key;
  unsigned hashes;
};

/// BloomCalculations.computeBloomSpec: the fewest bits that reach the rate with the best k, then
/// the fewest functions that still reach it. For rates that need no filter it gives one bit and two
/// functions, and so does this function.
result<size_rule> size_for(double fpr) {
  constexpr unsigned most = 20;
  // A rounding error must not distinguish 0.01 from the table's 0.01.
  const auto reaches = [fpr](double entry) { return entry <= fpr * (1 + 1e-9); };
  if (reaches(table_fpr(2, 1))) return size_rule{1, 2};
  unsigned b = 2;
  while (b <= most && !reaches(table_fpr(b, best_hashes(b)))) ++b;
  if (b > most) {
    return fail(errc::invalid_argument,
                "Cassandra's table of sizes ends at a rate of 6.71e-05; give a greater rate");
  }
  unsigned k = best_hashes(b);
  while (k > 1 && reaches(table_fpr(b, k - 1))) --k;
  return size_rule{b, k};
}

result<foreign_filter> create_filter(const plan_request& request) {
  const auto ok = check_request(request, "cassandra", {.fpr = true}, "give a capacity and a rate");
  if (!ok) return fail(ok.error());
  const auto text = find_option(request.options, "version");
  if (!text) {
    return fail(
        errc::invalid_argument,
        fmt::format("the layout depends on the table's version; give --with version={}", versions));
  }
  const auto version = generation_of(*text);
  if (!version) return fail(version.error());
  const auto type = type_of(request.options);
  if (!type) return fail(type.error());
  const auto size = size_for(request.fpr == 0 ? default_fpr : request.fpr);
  if (!size) return fail(size.error());
  constexpr std::uint64_t excess = 20;  // bits that are always added
  constexpr std::uint64_t most = 64ULL * std::numeric_limits<std::int32_t>::max();
  if (request.capacity > (most - excess) / size->bits_per_key) {
    return too_large("cassandra", "2^31 - 1 words of 64 bits");
  }
  const std::uint64_t bits = request.capacity * size->bits_per_key + excess;
  return empty_filter(cassandra_container{
      size->hashes, static_cast<std::uint32_t>((bits + 63) / 64), *version, *type});
}

}  // namespace cassandra_format
}  // namespace

dialect cassandra_dialect() noexcept {
  return {"cassandra",
          "the Filter.db of a table of Cassandra or Scylla",
          "neither the version nor the type of the partition keys is stored: give the type, and "
          "also the version if the file's name does not show it",
          cassandra_format::options,
          cassandra_format::looks_like,
          cassandra_format::open_filter,
          cassandra_format::create_filter,
          cassandra_format::named};
}

}  // namespace bloomset::dialects
