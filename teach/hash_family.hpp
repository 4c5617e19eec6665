#pragma once

// Hash functions that show their computation: the library's rule, those of lectures (rules.hpp) and
// the student's own.

#include <bloomset/hash.hpp>
#include <bloomset/probe.hpp>
#include <bloomset/result.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "teach/rules.hpp"

namespace bloomset::teach {

/// k functions from elements to positions in [0, m).
class hash_family {
 public:
  hash_family() = default;
  hash_family(const hash_family&) = delete;
  hash_family& operator=(const hash_family&) = delete;
  virtual ~hash_family() = default;

  virtual unsigned functions() const noexcept = 0;
  /// The definition of the functions, in lines.
  virtual std::vector<std::string> definition() const = 0;
  /// The canonical spelling of the element that an argument names. Fails if the family has no such
  /// element, or a function has no value for it.
  virtual result<std::string> element(std::string_view text) const;
  /// The values that all functions of an element share, or an empty text.
  virtual std::string preface(std::string_view element) const;
  /// The computation of function i: "(2+3)%10 = 5".
  virtual std::string working(std::string_view element, unsigned i, std::uint64_t m) const = 0;
  /// The value of function i. Precondition: `element` is a result of element().
  virtual std::uint64_t position(std::string_view element, unsigned i,
                                 std::uint64_t m) const noexcept = 0;
};

using shared_family = std::shared_ptr<const hash_family>;

/// Functions given by formulas in x. Their elements are whole numbers.
result<shared_family> formula_family(const std::vector<std::string>& formulas);

/// Functions given by a table, WORD=P,P,..., for examples that do not name their hash functions.
result<shared_family> table_family(const std::vector<std::string>& table, std::uint64_t m);

/// The names of the rules: "a, b or c".
std::string family_names();
/// k functions of the rule of that name.
result<shared_family> named_family(std::string_view name, unsigned k);

/// The texts between commas. Fails if one is empty; the message names the option.
result<std::vector<std::string>> split_commas(std::string_view option, std::string_view text);

/// A family as a probe rule, for the library's filters.
struct family_rule {
  using hash_type = key_ref;
  using hasher_type = key_ref_hasher;
  static constexpr probe_id id = probe_id::caller;
  static constexpr std::string_view name = "caller";
  static constexpr std::uint64_t max_places = fnv_murmur_hashing::max_places;

  shared_family family;

  unsigned max_hashes() const noexcept { return family->functions(); }
  std::uint64_t position(key_ref key, unsigned i, std::uint64_t m) const noexcept {
    return family->position(text_of(key), i, m);
  }

 private:
  static std::string_view text_of(key_ref key) noexcept {
    // Reading bytes as characters is allowed, but only this cast expresses it.
    return {reinterpret_cast<const char*>(key.bytes.data()),  // NOLINT(*-reinterpret-cast)
            key.bytes.size()};
  }
};

}  // namespace bloomset::teach
