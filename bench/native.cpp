// The default filter as who compiles for this CPU has it: its single queries are other
// instructions.

#include <bloomset/blocked_bloom.hpp>

#include "strings.hpp"
#include "typed.hpp"

namespace bench {

[[gnu::visibility("default")]] entries our_native_filters() {
  return {kind<bloomset::blocked_bloom>("blocked_bloom, for this CPU")};
}
[[gnu::visibility("default")]] std::unique_ptr<string_subject> our_native_strings() {
  return std::make_unique<our_strings>(false);
}

}  // namespace bench
