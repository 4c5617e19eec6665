// The functions that the page's script calls. The page writes a question into memory from
// explorer_alloc(). The answer stays in this module's memory until the next question.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api.hpp"

namespace bloomset::explorer {
namespace {

std::string answer;  // NOLINT(*-avoid-non-const-global-variables): see above

struct question {
  std::string_view name;
  result<json> (*answer)(const json&);
};
constexpr std::array questions = {question{"walk", walk},     question{"plan", plan},
                                  question{"curve", curve},   question{"measure", measure},
                                  question{"sample", sample}, question{"ask", ask}};

std::uint32_t put(const result<json>& made) {
  const json all = made ? *made : json{{"error", made.error().message}};
  answer = all.dump(-1, ' ', false, json::error_handler_t::replace);
  return static_cast<std::uint32_t>(answer.size());
}

result<json> read(const char* text, std::uint32_t size) {
  json asked = json::parse(text, text + size, nullptr, false);
  if (!asked.is_object()) return fail(errc::invalid_argument, "the question is no JSON object");
  return asked;
}

}  // namespace
}  // namespace bloomset::explorer

// Names are not mangled, and every pointer is into this module's memory.
extern "C" {

[[clang::export_name("explorer_alloc")]] void* explorer_alloc(std::uint32_t size) {
  return std::malloc(size);  // NOLINT(*-no-malloc): the page frees it below
}
[[clang::export_name("explorer_free")]] void explorer_free(void* at) {
  std::free(at);  // NOLINT(*-no-malloc)
}

/// Answers a question; returns the answer's size.
[[clang::export_name("explorer_ask")]] std::uint32_t explorer_ask(const char* text,
                                                                  std::uint32_t size) {
  using namespace bloomset::explorer;
  const auto asked = read(text, size);
  if (!asked) return put(asked);
  const std::string what = asked->value("ask", "");
  for (const question& each : questions) {
    if (each.name == what) return put(each.answer(*asked));
  }
  return put(bloomset::fail(bloomset::errc::invalid_argument, "no such question: " + what));
}

/// Opens a filter file. The bytes must stay at their address until the next file is opened.
[[clang::export_name("explorer_inspect")]] std::uint32_t explorer_inspect(const std::byte* file,
                                                                          std::uint32_t bytes,
                                                                          const char* text,
                                                                          std::uint32_t size) {
  using namespace bloomset::explorer;
  const auto asked = read(text, size);
  return put(asked ? inspect({file, bytes}, *asked) : asked);
}

[[clang::export_name("explorer_answer")]] const char* explorer_answer() {
  return bloomset::explorer::answer.data();
}

}  // extern "C"
