#include "key_part.hpp"

#include <fmt/format.h>

#include <bloomery/detail/core/bits.hpp>
#include <bloomery/plan/units.hpp>

namespace bloomery::cli {

result<key_part> key_part::read(const std::string& text) {
  key_part part;
  if (text.empty()) return part;
  const auto slash = text.find('/');
  const auto number = parse_count(std::string_view(text).substr(0, slash));
  const auto of = parse_count(
      slash == std::string::npos ? std::string_view() : std::string_view(text).substr(slash + 1));
  if (!number || !of || *number > *of) {
    return fail(errc::invalid_argument,
                fmt::format("--part: '{}' is not a part; write 2/8 for the second of eight", text));
  }
  part.number_ = *number;
  part.of_ = *of;
  return part;
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

}  // namespace bloomery::cli
