#pragma once

// Letters beyond ASCII in lower case.

#include <bloomset/result.hpp>
#include <memory>
#include <type_traits>

#include <locale.h>  // locale_t; <clocale> does not declare it

namespace bloomset::keys {

/// Unicode's simple lower case, by the C library and its locale C.UTF-8, whatever the locale of the
/// process is.
class lower_letters {
 public:
  /// Fails with unsupported if this machine lacks the locale. Loads it on the first call.
  result<char32_t> lower(char32_t character);

 private:
  struct closer {
    void operator()(locale_t locale) const noexcept { ::freelocale(locale); }
  };
  std::unique_ptr<std::remove_pointer_t<locale_t>, closer> locale_;
};

}  // namespace bloomset::keys
