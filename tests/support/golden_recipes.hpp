#pragma once

// The recipes of the golden files: a small file of every kind and of every way to store it. A new
// kind or option needs a line here. make_golden.cpp then writes the missing files.

#include <algorithm>
#include <array>
#include <bloomset/any_filter.hpp>
#include <filesystem>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>

#include "tests/support/words.hpp"

namespace bloomset::test {

struct recipe {
  std::string_view name;  ///< of the file, without ".bloom"
  std::string_view kind;
  hash_seed seed;
  std::vector<std::pair<std::string, std::string>> options;
  std::uint64_t capacity = 60;
  std::uint64_t more = 0;  ///< keys beyond golden_keys(): "more-0" and so on
  unsigned hash_bits = 64;
  std::vector<label_list::label> labels = {};
  std::string_view exceptions = {};  ///< "x" for those of x-0 to x-499 that pass
  bool partitioned = false;          ///< whether keys are in_partitions()
  std::string_view layers = {};      ///< "x" for one of x-0 to x-19 and one of x-20 to x-39
};

/// The secret key of the keyed files: the bytes 0 to 15.
inline constexpr hash_key golden_key{{0x0706050403020100, 0x0f0e0d0c0b0a0908}};

/// The key that opens the file, if it needs one.
inline std::optional<hash_key> key_of(const recipe& how) {
  return how.seed.is_keyed() ? std::optional(how.seed.key()) : std::nullopt;
}

inline std::span<const recipe> recipes() {
  static const std::array all = {
      recipe{"blocked_bloom-split", "blocked_bloom", 0, {}},
      recipe{"blocked_bloom-free", "blocked_bloom", 8, {{"layout", "free"}}},
      recipe{"blocked_bloom-parquet", "blocked_bloom", 9, {{"layout", "parquet"}}},
      recipe{"blocked_bloom-keyed", "blocked_bloom", golden_key, {}},
      recipe{"blocked_bloom-labels",
             "blocked_bloom",
             0,
             {},
             60,
             0,
             64,
             {{"licence", "CC0"}, {"source", "Zoë's list"}}},
      recipe{"bloom-double", "bloom", 0, {}},
      recipe{"bloom-exceptions", "bloom", 0, {}, 60, 0, 64, {}, "mistaken"},
      recipe{"bloom-layers", "bloom", 0, {}, 60, 0, 64, {}, {}, false, "layer"},
      recipe{"bloom-seeded", "bloom", 0x0123456789abcdef, {}},
      recipe{"counting_bloom-4", "counting_bloom", 0, {}},
      recipe{"counting_bloom-8", "counting_bloom", 1, {{"counter_bits", "8"}}},
      recipe{"counting_bloom-16", "counting_bloom", 2, {{"counter_bits", "16"}}},
      recipe{"scalable_bloom-1", "scalable_bloom", 0, {}},
      recipe{"scalable_bloom-grown",
             "scalable_bloom",
             3,
             {{"growth", "1.5"}, {"tightening", "0.8"}},
             4},
      recipe{"cuckoo-4", "cuckoo", 0, {}},
      recipe{"cuckoo-2", "cuckoo", 4, {{"slots", "2"}}},
      recipe{"cuckoo-8", "cuckoo", 5, {{"slots", "8"}, {"fingerprint_bits", "12"}}},
      recipe{"expandable-block", "expandable", 13, {{"growth", "16"}}, 8},
      recipe{"expandable-wide", "expandable", 0, {}},
      recipe{"expandable-wide-split", "expandable", 12, {}, 64, 17000},
      recipe{"expandable-narrow-grown", "expandable", 11, {{"growth", "16"}}, 8, 100},
      recipe{"expandable-fixed-split", "expandable", 14, {{"growth", "1"}}, 1500, 1400},
      recipe{"fuse-3", "fuse", 0, {}, 50},
      recipe{"fuse-4", "fuse", 6, {{"arity", "4"}, {"fingerprint_bits", "13"}}, 50},
      recipe{"fuse-8", "fuse", 7, {{"fingerprint_bits", "8"}}, 50},
      recipe{"fuse-keyed", "fuse", golden_key, {}, 50},
      recipe{"ribbon-1", "ribbon", 0, {}, 50},
      recipe{"ribbon-2", "ribbon", 10, {}, 3050, 3000},
      recipe{"exact-1", "exact", 0, {}, 50},
      recipe{"exact-keyed", "exact", golden_key, {}, 50},
      recipe{"exact-levels", "exact", 15, {}, 3050, 3000},
      recipe{"exact-partitions", "exact", 0, {}, 50, 0, 64, {}, {}, true},
      recipe{"exact-partitions-keyed", "exact", golden_key, {}, 50, 0, 64, {}, {}, true},
      recipe{"halves-bloom", "bloom", 0, {}, 60, 0, 128},
      recipe{"halves-bloom-keyed", "bloom", golden_key, {}, 60, 0, 128},
      recipe{"halves-blocked_bloom", "blocked_bloom", 9, {}, 60, 0, 128},
      recipe{"halves-fuse", "fuse", 0, {}, 50, 0, 128},
      recipe{"halves-ribbon", "ribbon", 10, {}, 50, 0, 128},
      recipe{"vector_quotient-1", "vector_quotient", 0, {}},
      recipe{"vector_quotient-full", "vector_quotient", 11, {{"slots", "50"}}, 50},
      recipe{"vector_quotient-many", "vector_quotient", 12, {{"remainder_bits", "13"}}, 3050, 3000},
  };
  return all;
}

inline std::ostream& operator<<(std::ostream& out, const recipe& how) {
  return out << how.name;
}

/// "bloom_double": the name of a test over a recipe.
inline std::string test_name(const recipe& how) {
  std::string name(how.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// The keys of every golden file: texts, the numbers 0 to 9 as eight little-endian bytes, the
/// empty key, and one longer than any hash's short paths.
inline std::vector<std::string> golden_keys(const recipe& how) {
  auto keys = words("member", 38);
  for (char digit = 0; digit < 10; ++digit) {
    keys.push_back(std::string(1, digit) + std::string(7, '\0'));
  }
  keys.emplace_back();
  keys.emplace_back(1000, 'x');
  for (std::uint64_t i = 0; i < how.more; ++i) keys.push_back(word("more", i));
  if (how.partitioned) return in_partitions(keys);
  return keys;
}

/// The filter of a recipe, built by today's code.
inline any_filter cook(const recipe& how) {
  plan_request request;
  request.capacity = how.capacity;
  request.fpr = 0.02;
  request.seed = how.seed;
  request.options = how.options;
  request.hash_bits = how.hash_bits;
  const kind_info& kind = *value_of(find_kind(how.kind));
  const auto members = golden_keys(how);
  any_filter filter = how.partitioned ? filter_of_partitions(kind, request, members)
                                      : filter_of(kind, request, members);
  for (const auto& [name, value] : how.labels) value_of(filter.labels().set(name, value));
  if (!how.exceptions.empty()) {
    const auto keys = words(how.exceptions, 500);
    value_of(filter.add_exceptions(std::vector<std::string_view>(keys.begin(), keys.end())));
  }
  if (filter.can().erase) {
    // One key three times, and one that was taken out again.
    value_of(filter.insert(std::array<std::string_view, 3>{"member-0", "member-0", "erased"}));
    std::array<bool, 1> erased{};
    value_of(filter.erase(std::array<std::string_view, 1>{"erased"}, erased));
  }
  if (how.layers.empty()) return filter;
  const auto base = serialize(filter.image());
  std::vector<std::vector<std::byte>> layers;
  for (std::uint64_t first = 0; first < 40; first += 20) {
    std::vector<hash64> hashes;
    for (std::uint64_t i = first; i < first + 20; ++i) {
      const std::string key = word(how.layers, i);
      hashes.push_back(filter_hasher(how.seed)(std::as_bytes(std::span(key))));
    }
    layers.push_back(value_of(make_layer(hashes, 1.0 / 256, layer_base_of(base))));
  }
  auto stored = value_of(read_stored({nullptr, base}, verification::always, "base"));
  stored.header.layers = value_of(layer_list::of(layers, layer_base_of(base)));
  return value_of(open_any(stored, access::writable, "base"));
}

#ifdef BLOOMSET_GOLDEN_FOLDER
inline std::filesystem::path golden_folder() {
  return BLOOMSET_GOLDEN_FOLDER;
}
inline std::filesystem::path golden_path(const recipe& how) {
  return golden_folder() / (std::string(how.name) + ".bloom");
}
#endif

}  // namespace bloomset::test
