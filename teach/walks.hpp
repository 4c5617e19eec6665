#pragma once

// The walks of `bloomset explain`, as text.

#include <bloomset/result.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "teach/cell_array.hpp"
#include "teach/hash_family.hpp"
#include "teach/step.hpp"
#include "teach/text/text.hpp"

namespace bloomset::teach {

/// The walk through bits or counters. Precondition: the steps' elements are results of
/// family.element().
std::string walk_array(cell_array& filter, const hash_family& family,
                       const std::vector<step>& steps, const palette& paint);

/// The walk through the buckets of a cuckoo filter. Fails as make_cuckoo_table() does.
result<std::string> walk_cuckoo(std::uint64_t buckets, unsigned slots, unsigned fingerprint_bits,
                                const std::vector<step>& steps, const palette& paint);

/// The build of an exact filter of these words in so many slots, and then the checks. Other steps
/// are passed over. Fails as solve_exact() does.
result<std::string> walk_exact(unsigned slots, const std::vector<std::string>& members,
                               const std::vector<std::string>& others,
                               const std::vector<step>& steps, const palette& paint);

}  // namespace bloomset::teach
