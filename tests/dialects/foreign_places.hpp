#pragma once

// The bytes that filters of other programs have, and the places that their keys set.

#include <bloomset/dialects/dialect.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/dialect_samples.hpp"

namespace bloomset::test {

namespace d = bloomset::dialects;

/// The filter of these keys as the bytes of a file of that software, in hexadecimal.
inline std::string built(std::string_view format, plan_request request,
                         const std::vector<std::string>& keys) {
  auto filter = d::create(*d::find(format).value(), request);
  if (!filter) return filter.error().message;
  if (const auto ok = insert_all(*filter, keys); !ok) return ok.error().message;
  return to_hex(filter->image()->bytes());
}

/// The places of a key in a filter, from the bits that it sets in an empty one. `order` flips the
/// places of formats with big-endian words.
inline std::set<std::uint64_t> places(std::string_view format, const plan_request& request,
                                      const std::string& key, std::uint64_t order = 0) {
  auto filter = d::create(*d::find(format).value(), request);
  if (!filter) throw std::runtime_error(filter.error().message);
  if (!insert_all(*filter, {key})) throw std::runtime_error("no such key");
  const auto image = filter->image();
  std::set<std::uint64_t> found;
  for (std::uint64_t p = 0; p < image->bits.size() * 8; ++p) {
    if ((std::to_integer<unsigned>(image->bits[p / 8]) >> (p % 8) & 1U) != 0) {
      found.insert(p ^ order);
    }
  }
  return found;
}

using set = std::set<std::uint64_t>;

}  // namespace bloomset::test
