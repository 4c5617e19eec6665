#include "filters/key_part.hpp"

#include <fmt/format.h>

#include <bloomset/detail/core/bits.hpp>
#include <bloomset/plan/units.hpp>

namespace bloomset::cli {

std::string list_parts(const key_parts& parts, bool has) {
  std::string text;
  for (std::uint64_t first = 1; first <= parts.of; ++first) {
    if (parts.contains(first) != has) continue;
    std::uint64_t last = first;
    while (last < parts.of && parts.contains(last + 1) == has) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (last != first) text += fmt::format("-{}", last);
    first = last;
  }
  return fmt::format("{} of {}", text, parts.of);
}

result<void> add_parts(key_parts& sum, const key_parts& more) {
  if (sum.of == 0) sum.of = more.of;
  if (more.of != 0 && sum.of != more.of) {
    return fail(errc::incompatible,
                fmt::format("one is a part of a set in {} parts, the other of a set in {} parts; "
                            "merge all parts of each set of keys first",
                            sum.of, more.of));
  }
  for (std::uint64_t part = 1; part <= more.of; ++part) {
    if (!more.contains(part)) continue;
    if (sum.contains(part)) {
      return fail(errc::incompatible,
                  fmt::format("both have part {} of {}; leave one out, or merge all parts of each "
                              "set of keys first",
                              part, more.of));
    }
    sum.add(part);
  }
  return {};
}

result<key_part> key_part::read(const std::string& text) {
  key_part part;
  if (text.empty()) return part;
  const auto slash = text.find('/');
  const auto number = parse_count(std::string_view(text).substr(0, slash));
  const auto of = parse_count(
      slash == std::string::npos ? std::string_view() : std::string_view(text).substr(slash + 1));
  if (!number || !of || *number > *of || *of > key_parts::max_of) {
    return fail(errc::invalid_argument,
                fmt::format("--part: '{}' is not a part; write 2/8 for the second of eight, of at "
                            "most {}",
                            text, key_parts::max_of));
  }
  part.number_ = *number;
  part.of_ = *of;
  return part;
}

bool lacks_none(const key_parts& parts) noexcept {
  for (std::uint64_t part = 1; part <= parts.of; ++part) {
    if (!parts.contains(part)) return false;
  }
  return true;
}

key_parts key_part::parts() const noexcept {
  key_parts one;
  if (is_all()) return one;
  one.of = of_;
  one.add(number_);
  return one;
}

std::string key_part::text() const {
  return fmt::format("{}/{}", number_, of_);
}

hash_lists key_part::select(hash_lists all) {
  const std::size_t n = all[0].size();
  if (is_all()) {
    kept_ += n;
    return all;
  }
  selected_.resize(all.size());
  for (auto& list : selected_) list.clear();
  for (std::size_t i = 0; i < n; ++i) {
    if (detail::mulhi64(all[0][i].value, of_) != number_ - 1) continue;
    for (std::size_t list = 0; list < all.size(); ++list) selected_[list].push_back(all[list][i]);
  }
  kept_ += selected_[0].size();
  return selected_;
}

}  // namespace bloomset::cli
