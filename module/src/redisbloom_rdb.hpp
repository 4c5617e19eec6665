#pragma once

// The values of RedisBloom's types MBbloom-- and MBbloomCF in an RDB and in DUMP's payloads, in all
// versions that it has written (docs/moving-from-redisbloom.md has the fields). They are read as
// what anybody may have sent.

#include "bloom_chain.hpp"
#include "cuckoo_chain.hpp"

namespace bloomery::server {

/// The version that is written.
inline constexpr int redisbloom_version = 4;

/// A filter from an RDB; null if it is damaged, of a newer version or larger than memory.
std::unique_ptr<filter_value> load_chain(io* from, int version);
std::unique_ptr<filter_value> load_cuckoo(io* from, int version);

/// As RedisBloom reads it. A cuckoo filter of before 2.2 is written as it was then, behind a 0 that
/// RedisBloom refuses: it would look for its items in other places.
void save(io* to, const bloom_chain& filter);
void save(io* to, const cuckoo_chain& filter);

}  // namespace bloomery::server
