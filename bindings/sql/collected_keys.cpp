#include "collected_keys.hpp"

#include <algorithm>
#include <array>

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
  request.capacity = keeps_copies ? std::max<std::uint64_t>(1, hashes_.size())
                                  : distinct_.upper_bound(hashes_.size());
  auto made = row.create(request);
  if (!made) return made;
  const auto inserted = made->insert(hashes_);
  if (!inserted) return fail(inserted.error());
  if (inserted->done < hashes_.size()) {
    return fail(errc::full, "the filter has no room for all keys; choose another kind");
  }
  return made;
}

}  // namespace bloomery::sql
