#pragma once

// Keys: random hashes, and lines that look like URLs. Key i of a series is a function of i, so that
// no series need be kept, and members and non-members never meet.

#include <array>
#include <bloomset/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subject.hpp"

namespace bench {

/// A bijection of 64 bits that no statistic of ours tells from a random one (the finisher of
/// splitmix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014; its
/// constants are Stafford's variant 13).
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Member i, and non-member i. i below 2^62.
constexpr bloomset::hash64 member(std::uint64_t i) noexcept {
  return {mixed(i)};
}
constexpr bloomset::hash64 non_member(std::uint64_t i) noexcept {
  return {mixed(i | std::uint64_t{1} << 63)};
}

/// The shares of members among the keys that are asked for, in percent.
inline constexpr std::array shares = {0, 50, 100};

/// Keys to ask for, `present` percent of them from `members` at random; others every `round`.
void fill_questions(std::span<bloomset::hash64> into, keys members, int present,
                    std::uint64_t round);

/// Appends a line that looks like a URL, of 35 to 90 bytes, 50 to 57 in the mean.
void append_url(std::string& to, std::uint64_t i);

/// Writes the URLs below n into a file, one per line.
void write_urls(const std::string& path, std::uint64_t n);

/// URLs first, first + 1, ... in one block of memory.
class urls {
 public:
  urls(std::uint64_t first, std::size_t count);
  std::span<const std::string_view> all() const noexcept { return views_; }
  std::size_t bytes() const noexcept { return text_.size(); }

 private:
  std::string text_;
  std::vector<std::string_view> views_;
};

/// The first URL that no set has.
inline constexpr std::uint64_t strange_urls = std::uint64_t{1} << 40;

}  // namespace bench
