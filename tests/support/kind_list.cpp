// Prints the registry as JSON: the properties of each kind by its name. tests/support/kinds.py
// reads it, so that tests in Python run over the kinds that have an ability and no list is kept by
// hand.

#include <fmt/core.h>

#include <bloomset/any_filter.hpp>

int main() {
  const char* before = "{";
  for (const bloomset::kind_info& kind : bloomset::kinds()) {
    fmt::print(
        "{}\"{}\": {{\"insert\": {}, \"erase\": {}, \"count\": {}, \"merge\": {}, \"intersect\": "
        "{}, "
        "\"grow\": {}, \"fold\": {}, \"any_order\": {}, \"takes_128_bits\": {}, \"of_two_sets\": "
        "{}}}",
        before, kind.name, kind.can.insert, kind.can.erase, kind.can.count, kind.can.merge,
        kind.can.intersect, kind.can.grow, kind.can.fold, kind.any_order, kind.takes_128_bits,
        kind.build_of_two_sets != nullptr);
    before = ",\n ";
  }
  fmt::print("}}\n");
}
