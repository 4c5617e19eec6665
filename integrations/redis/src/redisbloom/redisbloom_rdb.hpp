#pragma once

// RedisBloom's types MBbloom-- and MBbloomCF in RDB files and DUMP payloads, in all versions that
// it has written (docs/use/moving-from-redisbloom.md lists the fields). Input is not trusted.

#include "redisbloom/bloom_chain.hpp"
#include "redisbloom/cuckoo_chain.hpp"

namespace bloomset::server {

/// The version of the types that is written.
inline constexpr int redisbloom_version = 4;

/// Null if the filter is damaged, has a newer version, or does not fit into memory.
std::unique_ptr<filter_value> load_chain(io* stream, int version);
std::unique_ptr<filter_value> load_cuckoo(io* stream, int version);

/// Writes a filter for RedisBloom. A cuckoo filter from before 2.2 is written in its old form after
/// a 0, which RedisBloom refuses: it would look for the items in other buckets.
void save(io* stream, const bloom_chain& filter);
void save(io* stream, const cuckoo_chain& filter);

}  // namespace bloomset::server
