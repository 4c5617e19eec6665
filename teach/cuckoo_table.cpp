#include "teach/cuckoo_table.hpp"

#include <fmt/format.h>

#include <bloomset/plan/formulas.hpp>
#include <utility>

namespace bloomset::teach {

result<cuckoo> make_cuckoo_table(std::uint64_t buckets, unsigned slots, unsigned fingerprint_bits) {
  const cuckoo_params params{.capacity = buckets * slots,
                             .fpr = formulas::cuckoo_fpr(slots, fingerprint_bits, 1),
                             .buckets = buckets,
                             .slots = slots,
                             .fingerprint_bits = fingerprint_bits};
  if (!params.possible()) {
    return fail(errc::invalid_argument,
                fmt::format("{} buckets of {} slots with {}-bit fingerprints do not make a table; "
                            "give 2, 4 or 8 slots and 4 to 32 bits",
                            buckets, slots, fingerprint_bits));
  }
  auto memory = owned_storage::make(params.payload_bytes());
  if (!memory) return fail(std::move(memory.error()));
  return cuckoo::open(params, std::move(*memory), 0);
}

cuckoo_slots slots_of(const cuckoo& filter) {
  cuckoo_slots now;
  for (std::uint64_t bucket = 0; bucket < filter.params().buckets; ++bucket) {
    for (unsigned slot = 0; slot < filter.params().slots; ++slot) {
      now.push_back(filter.slot(bucket, slot));
    }
  }
  return now;
}

std::vector<cuckoo_move> moves_between(const detail::cuckoo_layout& layout,
                                       const cuckoo_slots& before, const cuckoo_slots& after,
                                       const cuckoo_place& at) {
  std::vector<cuckoo_move> chain;
  std::vector<bool> used(before.size());
  const auto changed_to = [&](std::uint32_t fingerprint,
                              std::uint64_t bucket) -> std::optional<std::size_t> {
    const std::size_t first = bucket * layout.slots();
    for (std::size_t slot = first; slot < first + layout.slots(); ++slot) {
      if (!used[slot] && before[slot] != after[slot] && after[slot] == fingerprint) return slot;
    }
    return std::nullopt;
  };
  auto to = changed_to(at.fingerprint, at.first);
  if (!to) to = changed_to(at.fingerprint, at.second);
  std::uint32_t fingerprint = at.fingerprint;
  std::optional<std::size_t> from;
  while (to) {
    used[*to] = true;
    chain.push_back({fingerprint, from, *to});
    fingerprint = before[*to];
    if (fingerprint == 0) break;
    from = to;
    to = changed_to(fingerprint, layout.other_bucket(*from / layout.slots(), fingerprint));
  }
  return chain;
}

}  // namespace bloomset::teach
