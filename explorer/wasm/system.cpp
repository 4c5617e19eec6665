// What the library asks of a system, in the page: memory, and MD5 without OpenSSL.

#include <array>
#include <bit>
#include <bloomery/detail/bits.hpp>
#include <bloomery/probe.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "pages.hpp"

namespace bloomery {
namespace {

// One block of MD5 (R. Rivest, RFC 1321, 3.4), its 64 constants by their definition there:
// floor(2^32 |sin(i + 1)|).
void digest_block(std::array<std::uint32_t, 4>& state, const std::byte* block) noexcept {
  constexpr std::array<std::array<int, 4>, 4> shifts = {
      {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};
  auto [a, b, c, d] = state;
  for (unsigned i = 0; i < 64; ++i) {
    std::uint32_t mixed = 0;
    unsigned word = 0;
    switch (i / 16) {
      case 0:
        mixed = (b & c) | (~b & d);
        word = i;
        break;
      case 1:
        mixed = (d & b) | (~d & c);
        word = (5 * i + 1) % 16;
        break;
      case 2:
        mixed = b ^ c ^ d;
        word = (3 * i + 5) % 16;
        break;
      default:
        mixed = c ^ (b | ~d);
        word = 7 * i % 16;
    }
    const auto constant =
        static_cast<std::uint32_t>(std::floor(0x1p32 * std::fabs(std::sin(i + 1))));
    const std::uint32_t sum =
        a + mixed + constant + detail::load<std::uint32_t>(block + std::size_t{4} * word);
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, shifts.at(i / 16).at(i % 4));
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

}  // namespace

std::uint64_t md5_hashing::word(key_ref key, unsigned i) noexcept {
  std::vector<std::byte> text(key.bytes.begin(), key.bytes.end());
  std::array<char, 10> digits{};
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), i).ptr;
  for (const char* at = digits.data(); at != end; ++at) text.push_back(std::byte(*at));
  const std::uint64_t bits = 8 * std::uint64_t{text.size()};
  text.push_back(std::byte{0x80});
  text.resize(detail::round_up(text.size() + 8, 64));
  detail::store(text.data() + text.size() - 8, bits);
  std::array<std::uint32_t, 4> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for (std::size_t at = 0; at < text.size(); at += 64) digest_block(state, text.data() + at);
  const std::uint64_t digest = state[0] | std::uint64_t{state[1]} << 32;
  return __builtin_bswap64(digest);
}

namespace detail {

std::byte* map_pages(std::size_t size, paging) noexcept {
  const std::size_t rounded = round_up(size, 64);
  void* const at = rounded < size ? nullptr : std::aligned_alloc(64, rounded);
  if (at != nullptr) std::memset(at, 0, rounded);
  return static_cast<std::byte*>(at);
}

void unmap_pages(std::byte* data, std::size_t) noexcept {
  std::free(data);  // NOLINT(*-no-malloc): the pair of aligned_alloc
}

std::uint64_t machine_bytes() noexcept {
  return std::uint64_t{1} << 32;  // what 32-bit addresses reach
}

}  // namespace detail
}  // namespace bloomery

// A throw, which there is no way to catch here: it ends the module's call, and the page starts the
// module anew. The names are the C++ ABI's (itanium-cxx-abi, "Exception Handling", 2.4).
extern "C" {

void* __cxa_allocate_exception(std::size_t) noexcept {  // NOLINT(bugprone-reserved-identifier)
  __builtin_trap();
}
[[noreturn]] void __cxa_throw(void*, void*,
                              void (*)(void*)) {  // NOLINT(bugprone-reserved-identifier)
  __builtin_trap();
}

// The compiler's own 128-bit division was built with a guard on its stack, which this is.
std::uintptr_t __stack_chk_guard = 0x9e3779b9;  // NOLINT(*-reserved-identifier, *-global-variables)
[[noreturn]] void __stack_chk_fail() {          // NOLINT(bugprone-reserved-identifier)
  __builtin_trap();
}

}  // extern "C"
