#pragma once

// Parts of the formats whose filters are built once, from members and the universe of all keys that
// will be queried.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model.hpp"
#include "options.hpp"

namespace bloomset::dialects {

/// A filter that cannot change.
class static_model : public foreign_filter::model {
 public:
  result<insert_summary> insert(std::span<const std::string_view>) override {
    return fixed("inserts a key");
  }
  result<void> merge(const model&) override { return fixed("can be merged"); }

 private:
  failure fixed(std::string_view what) const {
    return fail(
        errc::unsupported,
        fmt::format("no filter of format {} {}; build it anew from all keys", format().name, what));
  }
};

/// Refuses values that size other filters.
inline result<void> check_static(const plan_request& request, std::string_view format) {
  constexpr std::string_view advice = "its size follows from the members and the universe";
  if (request.capacity != 0) {
    return fail(errc::invalid_argument,
                fmt::format("format {} is not sized by a capacity; {}", format, advice));
  }
  return check_request(request, format, {.capacity = false}, advice);
}

/// Bytes that live as long as the storage.
inline mapped_storage keep(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  const std::span<const std::byte> view(*owner);
  return {std::move(owner), view};
}

/// The bytes that a filter is opened from: a copy unless it is read-only.
inline mapped_storage bytes_for(const mapped_storage& bytes, access how) {
  if (how == access::read_only) return bytes;
  return keep({bytes.bytes().begin(), bytes.bytes().end()});
}

/// Keys in memory of their own.
class kept_keys {
 public:
  result<void> read(const key_source& keys) {
    return keys.for_each([this](std::span<const std::string_view> some) -> result<void> {
      for (const std::string_view key : some) {
        text_ += key;
        ends_.push_back(text_.size());
      }
      return {};
    });
  }
  std::vector<std::string_view> views() const {
    std::vector<std::string_view> all;
    all.reserve(ends_.size());
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      all.push_back(std::string_view(text_).substr(begin, end - begin));
      begin = end;
    }
    return all;
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

/// Two sorted sets of keys that share none.
struct split_universe {
  std::vector<std::string_view> members;
  std::vector<std::string_view> others;
};

/// Splits the universe, in which members may be missing and any key may be repeated.
inline split_universe split(std::vector<std::string_view> members,
                            std::vector<std::string_view> universe) {
  const auto make_set = [](std::vector<std::string_view>& keys) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  };
  make_set(members);
  make_set(universe);
  split_universe both{std::move(members), {}};
  std::set_difference(universe.begin(), universe.end(), both.members.begin(), both.members.end(),
                      std::back_inserter(both.others));
  return both;
}

}  // namespace bloomset::dialects
