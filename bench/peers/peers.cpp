#include "peers.hpp"

#include <iterator>
#include <utility>

namespace bench {
namespace {

[[maybe_unused]] void append(entries& all, entries more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

}  // namespace

entries peers([[maybe_unused]] std::vector<left_out>& missing) {
  entries all;
#ifdef BLOOMSET_BENCH_BOOST
  append(all, boost_peers());
  append(all, boost_native_peers());
#else
  missing.push_back({"Boost.Bloom", "no checkout was given: -DBLOOMSET_BENCH_BOOST_BLOOM=FOLDER"});
#endif
#ifdef BLOOMSET_BENCH_FASTFILTER
  append(all, fastfilter_peers());
#else
  missing.push_back(
      {"fastfilter_cpp", "no checkout was given: -DBLOOMSET_BENCH_FASTFILTER=FOLDER"});
#endif
#ifdef BLOOMSET_BENCH_BURR
  append(all, burr_peers());
#else
  missing.push_back({"BuRR", "no checkout was given: -DBLOOMSET_BENCH_BURR=FOLDER"});
#endif
#ifdef BLOOMSET_BENCH_PLEAT
  append(all, pleat_peers());
#else
  missing.push_back(
      {"pleat", "it was not asked for: -DBLOOMSET_BENCH_PLEAT=ON, which needs cargo"});
#endif
#ifdef BLOOMSET_BENCH_ROCKSDB_SOURCE
  append(all, rocksdb_hashes_peers());
#else
  missing.push_back({"RocksDB Bloom, of hashes",
                     "no checkout was given: -DBLOOMSET_BENCH_ROCKSDB_SOURCE=FOLDER"});
#endif
#ifdef BLOOMSET_BENCH_VQF
  append(all, vqf_peers());
#else
  missing.push_back({"VQF", "no checkout was given: -DBLOOMSET_BENCH_VQF=FOLDER"});
#endif
#ifdef BLOOMSET_BENCH_CUCKOOFILTER
  append(all, cuckoofilter_peers());
#else
  missing.push_back(
      {"efficient/cuckoofilter", "no checkout was given: -DBLOOMSET_BENCH_CUCKOOFILTER=FOLDER"});
#endif
#ifdef BLOOMSET_BENCH_PREFIX_FILTER
  append(all, prefix_filter_peers());
#else
  missing.push_back(
      {"prefix filter", "no checkout was given: -DBLOOMSET_BENCH_PREFIX_FILTER=FOLDER"});
#endif
#ifdef BLOOMSET_BENCH_TAFFY
  append(all, taffy_peers());
#else
  missing.push_back({"Taffy block filter", "no checkout was given: -DBLOOMSET_BENCH_TAFFY=FOLDER"});
#endif
#ifdef BLOOMSET_BENCH_ROCKSDB
  append(all, rocksdb_peers());
#else
  missing.push_back({"RocksDB", "no librocksdb 7.8 with its headers (librocksdb-dev)"});
#endif
#ifdef BLOOMSET_BENCH_LEVELDB
  append(all, leveldb_peer());
#else
  missing.push_back({"LevelDB", "no libleveldb with its headers (libleveldb-dev)"});
#endif
#ifdef BLOOMSET_BENCH_LIBBLOOM
  append(all, libbloom_peer());
#else
  missing.push_back({"libbloom", "no libbloom with its header (libbloom-dev)"});
#endif
  return all;
}

}  // namespace bench
