#pragma once

// Hash functions that can show their working: the library's rules and the student's own.

#include <bloomery/hash.hpp>
#include <bloomery/probe.hpp>
#include <bloomery/result.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomery::cli {

/// k functions from elements to m places.
class taught_family {
 public:
  taught_family() = default;
  taught_family(const taught_family&) = delete;
  taught_family& operator=(const taught_family&) = delete;
  virtual ~taught_family() = default;

  virtual unsigned functions() const noexcept = 0;
  /// What the functions are, a line each.
  virtual std::vector<std::string> definition() const = 0;
  /// The element that an argument names, as it is written from then on; a failure if it is none of
  /// this family's or a function has no value for it.
  virtual result<std::string> element(std::string_view text) const;
  /// What all functions of an element share; empty if nothing.
  virtual std::string preface(std::string_view element) const;
  /// How function i comes to its place: "(2+3)%10 = 5".
  virtual std::string working(std::string_view element, unsigned i, std::uint64_t m) const = 0;
  /// That place. Precondition: element() gave this key.
  virtual std::uint64_t position(std::string_view element, unsigned i,
                                 std::uint64_t m) const noexcept = 0;
};

using shared_family = std::shared_ptr<const taught_family>;

/// The functions given by formulas in x, of whole numbers.
result<shared_family> formula_family(const std::vector<std::string>& formulas);

/// Places as given, WORD=P,P,...: for retellings that do not say what their hash is.
result<shared_family> literal_family(const std::vector<std::string>& table, std::uint64_t m);

/// k functions of one of the library's rules, by its name.
result<shared_family> named_family(std::string_view name, unsigned k);

/// The text between commas. An empty piece is a failure that names the option.
result<std::vector<std::string>> split_commas(std::string_view option, std::string_view text);

/// A family as a probe rule, so that the library's own filters work with it.
struct taught_rule {
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
    // Bytes may be read as characters; no cast but this one says so.
    return {reinterpret_cast<const char*>(key.bytes.data()),  // NOLINT(*-reinterpret-cast)
            key.bytes.size()};
  }
};

}  // namespace bloomery::cli
