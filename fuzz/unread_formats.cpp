// A line as the name of a file, then its bytes: not recognised, or recognised as a form that is not
// read, and refused with its sentence. What has a signature is also recognised by less.

#include <algorithm>
#include <bloomset/file.hpp>
#include <bloomset/unread_formats.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace bloomset;

void require(bool holds, const char* what, const std::string& which = {}) {
  if (holds) return;
  (void)std::fprintf(stderr, "unread_formats: %s: %s\n", what, which.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find('\n'), size);
  const std::string name(text.substr(0, end));
  const auto file = std::as_bytes(std::span(text.substr(std::min(end + 1, size))));
  const unread_format* const certain = recognise_unread(file, name, certainty::signature);
  const unread_format* const likely = recognise_unread(file, name, certainty::first_word);
  require(certain == nullptr || certain == likely, "another form with less certainty");
  if (has_signature(file)) return 0;
  const auto stored = read_stored({nullptr, file}, verification::always, name);
  require(!stored, "a filter without a signature");
  require(stored.error().code == (certain == nullptr ? errc::corrupt : errc::unsupported),
          "another kind of failure", stored.error().message);
  if (certain != nullptr) {
    require(stored.error().message == not_read(*certain, name).message, "another sentence",
            stored.error().message);
  }
  return 0;
}
