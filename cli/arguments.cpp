#include "arguments.hpp"

#include <algorithm>
#include <span>

namespace bloomery::cli {

std::vector<std::string> arguments(int argc, const char* const* argv) {
  std::vector<std::string> words;
  if (argc < 1) return words;
  bool only_files = false;
  for (const char* const given : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    std::string word = given;
    if (!only_files && word == "--") {
      only_files = true;
      continue;
    }
    const bool special = word.size() > 1 && (word.front() == '-' || word == "++");
    words.push_back(only_files && special ? "./" + word : word);
  }
  std::reverse(words.begin(), words.end());
  return words;
}

}  // namespace bloomery::cli
