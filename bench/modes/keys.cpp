#include "keys.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace bench {
namespace {

constexpr std::array<std::string_view, 8> hosts = {
    "www.example.com", "news.example.org", "shop.example.net",    "en.wiki.example",
    "img.example.com", "blog.example.org", "archive.example.net", "m.example.com"};
constexpr std::array<std::string_view, 8> folders = {
    "articles", "products/view", "2024/05", "user", "wiki", "static/img", "search/results", "tag"};
constexpr std::array<std::string_view, 4> ends = {"", ".html", "/index.html?ref=home", "?lang=en"};

}  // namespace

void fill_questions(std::span<bloomset::hash64> into, keys members, int present,
                    std::uint64_t round) {
  const std::uint64_t first = round * into.size();
  for (std::size_t i = 0; i < into.size(); ++i) {
    // A coin of its own, so that who is a member cannot be foreseen.
    const std::uint64_t coin = mixed((first + i) ^ 0x5851f42d4c957f2d);
    if (present == 100 || (present != 0 && coin % 100 < static_cast<unsigned>(present))) {
      const std::uint64_t at = bloomset::detail::mulhi64(mixed(coin), members.size());
      into[i] = members[at];
    } else {
      into[i] = non_member(first + i);
    }
  }
}

void append_url(std::string& to, std::uint64_t i) {
  const std::uint64_t r = mixed(i);
  fmt::format_to(std::back_inserter(to), FMT_COMPILE("https://{}/{}/{}-{:x}{}"), hosts[r & 7],
                 folders[r >> 3 & 7], i, r >> 40, ends[r >> 6 & 3]);
}

void write_urls(const std::string& path, std::uint64_t n) {
  std::ofstream file(path, std::ios::binary);
  std::string text;
  for (std::uint64_t i = 0; i < n; ++i) {
    append_url(text, i);
    text += '\n';
    if (text.size() < (std::size_t{1} << 18) && i + 1 != n) continue;
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    text.clear();
  }
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
}

urls::urls(std::uint64_t first, std::size_t count) {
  std::vector<std::size_t> ends_at;
  ends_at.reserve(count);
  text_.reserve(count * 64);
  for (std::size_t i = 0; i < count; ++i) {
    append_url(text_, first + i);
    ends_at.push_back(text_.size());
  }
  views_.reserve(count);
  std::size_t begin = 0;
  for (const std::size_t end : ends_at) {
    views_.push_back(std::string_view(text_).substr(begin, end - begin));
    begin = end;
  }
}

}  // namespace bench
