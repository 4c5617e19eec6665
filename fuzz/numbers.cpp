// Any text as a count, a size and a rate: a number in its range, or one sentence.

#include <bloomset/plan/units.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void require(bool holds, const char* what, std::string_view text) {
  if (holds) return;
  std::fprintf(stderr, "numbers: %s: '%.*s'\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

template <class Number>
void require_sentence(const bloomset::result<Number>& parsed, std::string_view text) {
  require(parsed.error().code == bloomset::errc::invalid_argument, "another error", text);
  require(parsed.error().message.size() > 20, "no sentence", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::uint64_t beyond = std::uint64_t{1} << 63;
  for (const auto parse : {bloomset::parse_count, bloomset::parse_bytes}) {
    const auto number = parse(text);
    if (number) {
      require(*number >= 1 && *number < beyond, "outside of its range", text);
      const auto again = parse(std::to_string(*number));
      require(again && *again == *number, "a number is not read as itself", text);
      (void)bloomset::format_count(*number);
      (void)bloomset::format_bytes(*number);
    } else {
      require_sentence(number, text);
    }
  }
  const auto rate = bloomset::parse_rate(text);
  if (rate) {
    require(*rate > 0 && *rate < 1, "outside of its range", text);
    (void)bloomset::format_rate(*rate);
  } else {
    require_sentence(rate, text);
  }
  return 0;
}
