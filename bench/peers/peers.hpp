#pragma once

// One function a peer's file; CMake says which of them this build has.

#include "../subject.hpp"

namespace bench {

entries libbloom_peer();
entries leveldb_peer();
entries rocksdb_peers();
// Compiled for any x86-64 as Boost's users have it by default, and once more for this CPU.
entries boost_peers();
entries boost_native_peers();
entries fastfilter_peers();
entries burr_peers();
entries pleat_peers();
entries rocksdb_hashes_peers();
entries vqf_peers();
entries cuckoofilter_peers();
entries prefix_filter_peers();
entries taffy_peers();

}  // namespace bench
