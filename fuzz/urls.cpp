// Any bytes as a URL: refused with one sentence, or brought into a form that is a fixed point, made
// of printable ASCII, with expressions that are parts of it and all different. The same for the
// normal form, which has no expressions.

#include <algorithm>
#include <bloomset/keys/url.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

namespace {

namespace k = bloomset::keys;

void require(bool holds, const char* what, std::string_view which) {
  if (holds) return;
  (void)std::fprintf(stderr, "urls: %s: %.*s\n", what, static_cast<int>(which.size()),
                     which.data());
  std::abort();
}

void check(const k::canonical_url& url) {
  const std::string_view text = url.text();
  require(std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; }),
          "a byte that was to be escaped", text);
  require(text == std::string(url.scheme()) + "://" + std::string(url.host()) +
                      std::string(url.path()) + std::string(url.query()),
          "parts that do not make the text", text);
  require(!url.host().empty() && url.host().size() <= 765 && url.path().starts_with('/') &&
              (url.query().empty() || url.query().starts_with('?')),
          "a part that is no such part", text);
  for (const char* never : {"//", "/./", "/../"}) {
    require(url.path().find(never) == std::string_view::npos, "an unresolved path", text);
  }
  const auto again = k::canonicalise(text);
  require(again.has_value(), "a canonical form that is refused", text);
  require(again->text() == text && again->has_address() == url.has_address(),
          "a canonical form that has another", text);
}

void check_expressions(const k::canonical_url& url) {
  const auto all = k::url_expressions(url);
  require(all.size() >= 1 && all.size() <= 30, "too many expressions, or none", url.text());
  require(all[0] == url.expression(), "the exact expression is not the first", url.text());
  require(std::set<std::string_view>(all.begin(), all.end()).size() == all.size(),
          "an expression twice", url.text());
  for (const auto expression : all) {
    require(url.text().find(expression) != std::string_view::npos, "an expression from elsewhere",
            expression);
  }
}

void check_normal(std::string_view text) {
  const auto form = k::normalise_url(text);
  if (!form) {
    const auto& why = form.error();
    require(why.code == bloomset::errc::invalid_argument, "another class of failure", why.message);
    require(why.message.starts_with("not a URL: "), "another sort of sentence", why.message);
    return;
  }
  require(std::all_of(form->begin(), form->end(), [](char c) { return c > 0x20 && c < 0x7f; }),
          "a byte that was to be escaped", *form);
  const auto again = k::normalise_url(*form);
  require(again.has_value() && *again == *form, "a normal form that has another", *form);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_normal(text);
  const auto url = k::canonicalise(text);
  if (!url) {
    const auto& why = url.error();
    require(why.code == bloomset::errc::invalid_argument, "another class of failure", why.message);
    require(why.message.starts_with("not a URL: "), "another sort of sentence", why.message);
    return 0;
  }
  check(*url);
  check_expressions(*url);
  return 0;
}
