#include "teach/hash_family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "teach/formula.hpp"
#include "teach/text/text.hpp"

namespace bloomset::teach {
namespace {

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

class formulas_of_x final : public hash_family {
 public:
  explicit formulas_of_x(std::vector<formula> formulas) : formulas_(std::move(formulas)) {}

  unsigned functions() const noexcept override { return static_cast<unsigned>(formulas_.size()); }

  std::vector<std::string> definition() const override {
    std::vector<std::string> lines;
    lines.reserve(formulas_.size());
    for (const formula& h : formulas_) {
      lines.push_back(fmt::format("h{}(x) = {}", lines.size() + 1, h.text()));
    }
    return lines;
  }

  result<std::string> element(std::string_view text) const override {
    const auto x = whole_number<std::int64_t>(text);
    if (!x) {
      return fail(errc::invalid_argument,
                  fmt::format("'{}' is not a whole number of 64 bits, which the formulas of --hash "
                              "need; for words leave --hash out",
                              printable(text)));
    }
    // Any m will do: only a modulus or an exponent in the formula can be wrong.
    for (const formula& h : formulas_) {
      if (const auto value = h.value_modulo(*x, 1); !value) return fail(value.error());
    }
    return fmt::format("{}", *x);
  }

  std::string working(std::string_view element, unsigned i, std::uint64_t m) const override {
    const formula& h = formulas_.at(i);
    const std::int64_t x = number(element);
    const std::uint64_t place = position(element, i, m);
    const auto value = h.value(x);
    // A value beyond 64 bits still has its remainder.
    if (!value) return fmt::format("{}, modulo {} = {}", h.substituted(x), m, place);
    if (*value >= 0 && static_cast<std::uint64_t>(*value) < m) {
      return fmt::format("{} = {}", h.substituted(x), place);
    }
    return fmt::format("{} = {}, modulo {} = {}", h.substituted(x), *value, m, place);
  }

  std::uint64_t position(std::string_view element, unsigned i,
                         std::uint64_t m) const noexcept override {
    return formulas_[i].value_modulo(number(element), m).value_or(0);
  }

 private:
  static std::int64_t number(std::string_view element) noexcept {
    return whole_number<std::int64_t>(element).value_or(0);
  }

  std::vector<formula> formulas_;
};

class position_table final : public hash_family {
 public:
  using table = std::map<std::string, std::vector<std::uint64_t>, std::less<>>;

  explicit position_table(table places) : places_(std::move(places)) {}

  unsigned functions() const noexcept override {
    return static_cast<unsigned>(places_.begin()->second.size());
  }

  std::vector<std::string> definition() const override {
    std::vector<std::string> lines = {"places as given, not computed:"};
    for (const auto& [word, places] : places_) {
      lines.push_back(fmt::format("{} -> {}", printable(word), fmt::join(places, ", ")));
    }
    return lines;
  }

  result<std::string> element(std::string_view text) const override {
    if (places_.find(text) == places_.end()) {
      return fail(
          errc::invalid_argument,
          fmt::format("'{0}' has no places; give them with --place {0}=0,1", printable(text)));
    }
    return std::string(text);
  }

  std::string working(std::string_view element, unsigned i, std::uint64_t m) const override {
    return fmt::format("{} (given)", position(element, i, m));
  }

  std::uint64_t position(std::string_view element, unsigned i,
                         std::uint64_t) const noexcept override {
    return places_.find(element)->second[i];
  }

 private:
  table places_;
};

/// Definition and computation of a rule.
template <class Rule>
struct working_of;

template <>
struct working_of<double_hashing> {
  static std::vector<std::string> definition() {
    return {"double hashing: h_i(x) = mix(a + (i-1)*b) * m / 2^64, rounded down, i = 1, 2, ...",
            "a = XXH3(x), b = another mix of a, made odd; all modulo 2^64"};
  }
  static std::string preface(hash64 h) {
    return fmt::format("a = {:#018x}, b = {:#018x}", h.value, double_hashing::step(h));
  }
  static std::string working(std::string_view, hash64 h, unsigned i, std::uint64_t m) {
    return fmt::format("mix(a+{}*b) = {:#018x} -> {}", i, double_hashing::word(h, i),
                       double_hashing::position(h, i, m));
  }
};

template <>
struct working_of<salted_hashing> {
  static std::vector<std::string> definition() {
    return {"h_i(x) = XXH3(x, seed_i) * m / 2^64, rounded down, i = 1, 2, ..."};
  }
  static std::string preface(key_ref) { return {}; }
  static std::string working(std::string_view, key_ref key, unsigned i, std::uint64_t m) {
    return fmt::format("XXH3, seed {} = {:#018x} -> {}", i, salted_hashing::word(key, i),
                       salted_hashing::position(key, i, m));
  }
};

template <>
struct working_of<md5_hashing> {
  static std::vector<std::string> definition() {
    return {"h_i(x) = MD5(x then i-1) % m, of its 16 bytes the first 8, read big-endian"};
  }
  static std::string preface(key_ref) { return {}; }
  static std::string working(std::string_view element, key_ref key, unsigned i, std::uint64_t m) {
    return fmt::format("MD5(\"{}{}\"): {:#018x} % {} = {}", printable(element), i,
                       md5_hashing::word(key, i), m, md5_hashing::position(key, i, m));
  }
};

template <>
struct working_of<fnv_murmur_hashing> {
  static std::vector<std::string> definition() {
    return {"h1(x) = FNV-1(x) in double arithmetic, h2(x) = MurmurHash2(x) with seed 0,",
            "h_i(x) = FNV-1(x) + (i-1)*MurmurHash2(x) from i = 3 on; each % m"};
  }
  static std::string preface(hash32_pair) { return {}; }
  static std::string working(std::string_view, hash32_pair h, unsigned i, std::uint64_t m) {
    const std::uint64_t place = fnv_murmur_hashing::position(h, i, m);
    if (i == 0) return fmt::format("FNV-1: {} % {} = {}", h.first, m, place);
    if (i == 1) return fmt::format("MurmurHash2: {} % {} = {}", h.second, m, place);
    return fmt::format("({} + {}*{}) % {} = {}", h.first, i, h.second, m, place);
  }
};

template <class Rule>
class rule_family final : public hash_family {
 public:
  explicit rule_family(unsigned k) : k_(k) {}

  unsigned functions() const noexcept override { return k_; }
  std::vector<std::string> definition() const override { return working_of<Rule>::definition(); }
  std::string preface(std::string_view element) const override {
    return working_of<Rule>::preface(hashed(element));
  }
  std::string working(std::string_view element, unsigned i, std::uint64_t m) const override {
    return working_of<Rule>::working(element, hashed(element), i, m);
  }
  std::uint64_t position(std::string_view element, unsigned i,
                         std::uint64_t m) const noexcept override {
    return Rule::position(hashed(element), i, m);
  }

 private:
  static typename Rule::hash_type hashed(std::string_view element) noexcept {
    return typename Rule::hasher_type()(bytes_of(element));
  }

  unsigned k_;
};

struct family_row {
  std::string_view name;
  shared_family (*make)(unsigned k);
};
template <class Rule>
constexpr family_row row_of{
    Rule::name, [](unsigned k) -> shared_family { return std::make_shared<rule_family<Rule>>(k); }};
/// The rules that --family and the explorer offer. Each has its working_of above.
constexpr std::array families = {row_of<double_hashing>, row_of<salted_hashing>,
                                 row_of<md5_hashing>, row_of<fnv_murmur_hashing>};

}  // namespace

result<std::string> hash_family::element(std::string_view text) const {
  return std::string(text);
}

std::string hash_family::preface(std::string_view) const {
  return {};
}

result<std::vector<std::string>> split_commas(std::string_view option, std::string_view text) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end == at) {
      return fail(errc::invalid_argument,
                  fmt::format("{}: element {} of '{}' is empty; separate elements by single commas",
                              option, pieces.size() + 1, printable(text)));
    }
    pieces.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return pieces;
}

result<shared_family> formula_family(const std::vector<std::string>& formulas) {
  if (formulas.size() > max_hash_functions) {
    return fail(errc::invalid_argument,
                fmt::format("--hash: {} formulas are too many; give at most {}", formulas.size(),
                            max_hash_functions));
  }
  std::vector<formula> parsed;
  for (const std::string& text : formulas) {
    auto one = formula::parse(text);
    if (!one) return fail(one.error().code, "--hash: " + one.error().message);
    parsed.push_back(std::move(*one));
  }
  return std::make_shared<const formulas_of_x>(std::move(parsed));
}

result<shared_family> table_family(const std::vector<std::string>& table, std::uint64_t m) {
  const auto refuse = [](const std::string& pair, const std::string& why) {
    return fail(errc::invalid_argument, fmt::format("--place {}: {}", printable(pair), why));
  };
  position_table::table all;
  for (const std::string& pair : table) {
    const std::size_t at = pair.rfind('=');
    if (at == std::string::npos || at == 0) {
      return refuse(pair, "this is not WORD=PLACE,PLACE; write for example hello=6,0");
    }
    const auto texts = split_commas("--place", std::string_view(pair).substr(at + 1));
    if (!texts) return fail(texts.error());
    std::vector<std::uint64_t> places;
    for (const std::string& text : *texts) {
      const auto place = whole_number<std::uint64_t>(text);
      if (!place || *place >= m) {
        return refuse(pair, fmt::format("'{}' is not a place among {}; give 0 to {}",
                                        printable(text), m, m - 1));
      }
      places.push_back(*place);
    }
    if (places.size() > max_hash_functions) {
      return refuse(pair, fmt::format("these are more than {} places", max_hash_functions));
    }
    if (!all.empty() && all.begin()->second.size() != places.size()) {
      return refuse(
          pair,
          fmt::format("{} places here and {} for '{}'; give every word the same number",
                      places.size(), all.begin()->second.size(), printable(all.begin()->first)));
    }
    if (!all.emplace(pair.substr(0, at), std::move(places)).second) {
      return refuse(pair, "the word was given before; give it once");
    }
  }
  return std::make_shared<const position_table>(std::move(all));
}

std::string family_names() {
  std::string names;
  for (const family_row& row : families) {
    if (!names.empty()) names += &row == &families.back() ? " or " : ", ";
    names += row.name;
  }
  return names;
}

result<shared_family> named_family(std::string_view name, unsigned k) {
  for (const family_row& row : families) {
    if (name == row.name) return row.make(k);
  }
  return fail(errc::invalid_argument,
              fmt::format("--family: '{}' is not a family of hash functions; give {}",
                          printable(name), family_names()));
}

}  // namespace bloomset::teach
