#include "collected_keys.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace bloomery::sql {

result<any_filter> collected_keys::build(std::string_view kind, double fpr) const {
  const auto found = find_kind(kind);
  if (!found) return fail(found.error());
  const kind_info& row = **found;
  plan_request request{.fpr = fpr, .hash_bits = 64};
  if (row.build != nullptr) {
    const std::array sources = {hash_source::of(hashes_)};
    return build_filter(row, request, sources);
  }
  const bool keeps_copies = row.can.erase || row.can.count;
  request.capacity = keeps_copies ? std::max<std::uint64_t>(1, hashes_.size()) : distinct_keys();
  auto made = row.create(request);
  if (!made) return made;
  const auto inserted = made->insert(hashes_);
  if (!inserted) return fail(inserted.error());
  if (inserted->done < hashes_.size()) {
    return fail(errc::full, "the filter has no room for all keys; choose another kind");
  }
  made->settle_count();
  return made;
}

std::uint64_t collected_keys::distinct_keys() const {
  const std::uint64_t bound = distinct_.upper_bound(hashes_.size());
  if (bound > 2 * detail::max_counted_keys) return bound;
  std::unordered_set<std::uint64_t> found;
  for (const hash64 h : hashes_) found.insert(h.value);
  return found.size() <= detail::max_counted_keys ? std::max<std::uint64_t>(1, found.size())
                                                  : bound;
}

}  // namespace bloomery::sql
