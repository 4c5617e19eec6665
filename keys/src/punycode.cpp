#include "punycode.hpp"

#include <idn2.h>

#include <array>
#include <memory>

namespace bloomset::keys {
namespace {

/// Whether the two mappings of UTS #46 differ for a label: by one of four characters.
bool has_deviation(std::string_view label) noexcept {
  constexpr std::array<std::string_view, 4> all = {"\xc3\x9f", "\xcf\x82", "\xe2\x80\x8c",
                                                   "\xe2\x80\x8d"};
  for (const std::string_view one : all) {
    if (label.find(one) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

result<std::string> ascii_label(std::string_view label) {
  if (label.find('\0') != std::string_view::npos) {  // libidn2 reads C strings
    return fail(errc::invalid_argument, "it has a zero byte");
  }
  const std::string terminated(label);
  char* made = nullptr;
  int status = idn2_to_ascii_8z(terminated.c_str(), &made, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
  // libidn2 also refuses what IDNA2008 disallows, such as symbols, unless the mapping is the
  // transitional one.
  if (status == IDN2_DISALLOWED && !has_deviation(label)) {
    status = idn2_to_ascii_8z(terminated.c_str(), &made, IDN2_NFC_INPUT | IDN2_TRANSITIONAL);
  }
  if (status != IDN2_OK) return fail(errc::invalid_argument, idn2_strerror(status));
  const std::unique_ptr<char, void (*)(void*)> owner(made, idn2_free);
  return std::string(made);
}

}  // namespace bloomset::keys
