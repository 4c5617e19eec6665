#include "lower_letters.hpp"

#include <wctype.h>  // towlower_l

namespace bloomset::keys {

static_assert(sizeof(wchar_t) == sizeof(char32_t));

result<char32_t> lower_letters::lower(char32_t character) {
  if (!locale_) locale_.reset(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr));
  if (!locale_) {
    return fail(errc::unsupported,
                "letters beyond ASCII need the locale C.UTF-8, which this machine lacks; install "
                "it, or leave the option 'lower' out");
  }
  return static_cast<char32_t>(::towlower_l(static_cast<wint_t>(character), locale_.get()));
}

}  // namespace bloomset::keys
