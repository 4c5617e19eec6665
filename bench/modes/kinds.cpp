// The library's own kinds. Their single queries are inlined, as a user's are.

#include <bloomset/bloomset.hpp>
#include <utility>

#include "typed.hpp"

namespace bench {

entries our_filters() {
  using namespace bloomset;
  entries all = {
#define KIND(name) kind<name>(#name),
#include "registry/kinds.inc"
  };
  // These two are not measured with their default options at their final size.
  std::erase_if(
      all, [](const entry& row) { return row.name == "scalable_bloom" || row.name == "fuse"; });
  all.push_back(kind<blocked_bloom, calls::of_distinct_hashes>("blocked_bloom, distinct keys"));
  all.push_back(kind<blocked_bloom>("blocked_bloom, free", {.layout = block_layout::free_512}));
  all.push_back(kind<scalable_bloom>("scalable_bloom, begun at n/16", {}, 16));
  all.push_back(kind<expandable>("expandable, begun at n/1024", {}, 1024));
  all.push_back(
      kind<expandable>("expandable, begun at n/1024, growth known", {.growth = 1024}, 1024));
  all.push_back(kind<expandable, calls::of_single_hashes>(
      "expandable, begun at n/1024, inserted one by one", {}, 1024));
  all.push_back(
      kind<vector_quotient, calls::of_single_hashes>("vector_quotient, inserted one by one"));
  all.push_back(kind<fuse>("fuse, 3-wise", {.arity = 3}));
  all.push_back(kind<fuse>("fuse, 4-wise", {.arity = 4}));
  for (entry& row : our_native_filters()) all.push_back(std::move(row));
  return all;
}

entries our_filters_of_keys() {
  using namespace bloomset;
  return {
      kind<blocked_bloom, calls::of_keys>("blocked_bloom, of keys"),
      kind<bloom, calls::of_keys>("bloom, of keys"),
  };
}

}  // namespace bench
