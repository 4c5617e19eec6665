#include "publish/base.hpp"

#include <utility>

namespace bloomset::cli {

result<base_filter> open_base(const mapped_storage& bytes, const std::string& name,
                              const std::optional<hash_key>& key) {
  auto stored = read_stored(bytes, verification::always, name);
  if (!stored) return fail(stored.error());
  if (key || !stored->header.seed.is_locked()) {
    if (auto ok = unlock(*stored, key, name); !ok) return fail(std::move(ok.error()));
  } else {
    stored->header.seed = hash_seed(stored->header.seed.value());  // to show its figures
  }
  if (!stored->header.layers.empty()) {
    return fail(errc::invalid_argument,
                name + ": the filter has layers already; publish the one without");
  }
  auto filter = open_any(*stored, access::read_only, name);
  if (!filter) return fail(std::move(filter.error()));
  return base_filter{std::move(*stored), std::move(*filter)};
}

result<base_filter> open_for_changes(const mapped_storage& bytes, const std::string& name,
                                     const std::optional<hash_key>& key) {
  if (auto stored = read_stored(bytes, verification::header, name);
      stored && stored->header.seed.is_locked() && !key) {
    return fail(unlock(*stored, key, name).error());
  }
  auto base = open_base(bytes, name, key);
  if (base && !filter_hasher::is_one(base->stored.header.hash)) {
    return fail(errc::unsupported, name +
                                       ": --layer and --removed need keys with hashes of 64 bits, "
                                       "and this filter has 128 bits "
                                       "or partitions; leave them out and publish whole filters");
  }
  return base;
}

}  // namespace bloomset::cli
