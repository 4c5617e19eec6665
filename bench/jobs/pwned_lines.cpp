// Synthetic lines as the Pwned Passwords download has them, to stdout: 40 hexadecimal digits, a
// colon, a count. Line i is SplitMix64's numbers 3i to 3i + 2, so that any part of a list can be
// made again.
//   pwned_lines LINES [FIRST] | bloomset build --keys pwned ...

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <vector>

namespace {

/// Vigna's generator at any place of its sequence (prng.di.unimi.it/splitmix64.c).
std::uint64_t split_mix(std::uint64_t at) noexcept {
  std::uint64_t z = (at + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

char* put_hex(char* at, std::uint64_t bits, int digits) noexcept {
  for (int i = digits - 1; i >= 0; --i) *at++ = "0123456789ABCDEF"[(bits >> (4 * i)) & 15];
  return at;
}

/// Most passwords were seen a few times, some millions of times: counts fall as 1/x from 1.
char* put_count(char* at, std::uint64_t bits) noexcept {
  const std::uint64_t count = (bits >> 32) >> (bits & 31);
  return std::to_chars(at, at + 10, count == 0 ? 1 : count).ptr;
}

bool read(const char* text, std::uint64_t& number) {
  const char* const end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, number);
  return error == std::errc() && stopped == end && number <= std::uint64_t{1} << 60;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t lines = 0;
  std::uint64_t first = 0;
  if (argc < 2 || argc > 3 || !read(argv[1], lines) || (argc == 3 && !read(argv[2], first))) {
    (void)std::fputs("usage: pwned_lines LINES [FIRST]\n", stderr);
    return 2;
  }
  constexpr std::size_t longest = 40 + 1 + 10 + 1;
  std::vector<char> block(std::size_t{1} << 18);
  char* at = block.data();
  for (std::uint64_t i = first; i < first + lines; ++i) {
    at = put_hex(at, split_mix(3 * i), 16);
    at = put_hex(at, split_mix(3 * i + 1), 16);
    const std::uint64_t rest = split_mix(3 * i + 2);
    at = put_hex(at, rest >> 32, 8);
    *at++ = ':';
    at = put_count(at, rest);
    *at++ = '\n';
    const bool last = i + 1 == first + lines;
    if (!last && at + longest <= block.data() + block.size()) continue;
    const auto size = static_cast<std::size_t>(at - block.data());
    if (std::fwrite(block.data(), 1, size, stdout) != size) return errno == EPIPE ? 0 : 1;
    at = block.data();
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
