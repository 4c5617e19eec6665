#pragma once

// What the program measures beside the comparison of filters. Each gives its records to `write`.

#include <cstdint>
#include <string>

#include "record.hpp"
#include "subject.hpp"

namespace bench {

/// CPU, caches, memory, kernel, compiler, flags; the peers that this build is without.
void describe_machine(const std::vector<left_out>& missing, const sink& write);

/// XXH3 alone, of keys in the cache: eight bytes, and lines like URLs.
void time_hash(unsigned runs, const sink& write);

/// Prints a table: filters of n strings, hashing included, beside Boost.Bloom's.
void time_strings(std::uint64_t n, unsigned runs);

/// Prints a table: filters that grow to n keys, one by one and in batches, in proportion to a peer
/// among `all`, and the limit of calls that branch on what they read.
void time_growth(std::uint64_t n, unsigned runs, const entries& all);

/// The textbook's comparison, over URLs: std::unordered_set, std::set, a sorted array, and filters.
/// Of fewer than `n` keys where memory does not hold so many, one structure at a time.
void compare_sets(std::uint64_t n, const sink& write);

/// `bloomset build` of a file of n URL-like lines against reading, splitting and hashing them
/// alone, `wc -l`, and the DCSO command line where it is installed. Of fewer lines where disk or
/// memory do not hold them.
void time_files(const std::string& program, std::uint64_t n, unsigned runs,
                const std::string& folder, const sink& write);

/// The ways to build a filter at 1% of n URL-like lines if n is not known: time, memory, bits,
/// rate.
void compare_sizing(const std::string& program, std::uint64_t n, unsigned runs,
                    const std::string& folder, const sink& write);

/// `bloomset check` of one key in a filter of so many bytes.
void time_startup(const std::string& program, std::uint64_t bytes, unsigned runs,
                  const std::string& folder, const sink& write);

/// n generated addresses in a blocked filter of `bits` bits per key, by every core; non-members
/// asked.
void fill_billion(std::uint64_t n, double bits, const sink& write);

/// What the textbooks complain of, beside what answers it: the space of counting, over n keys;
/// growth from 64 keys to `most`; inserts into tables of n slots (a power of two: as many or more)
/// as they fill.
void measure_drawbacks(std::uint64_t n, std::uint64_t most, const sink& write);

/// Filters with 128-bit hashes: the rates of their halves, and of both, by so many non-members; and
/// equal hashes among n keys, cut to fewer bits.
void measure_hash_bits(std::uint64_t n, std::uint64_t non_members, const sink& write);

/// Prints a table: an index of n keys in so many files, of four sorts of data, beside a
/// blocked filter for each file.
void time_which(std::uint64_t n, std::uint32_t files, unsigned runs);

/// Prints a table: exact filters of at most so many members, in universes of 2, 10, 100 and 1000
/// times as many other keys, of at most `universe` keys.
void time_exact(std::uint64_t members, std::uint64_t universe, unsigned runs);

/// Prints a table: `revoked` certificates among `universe` of so many issuers, as a clubcard and as
/// an exact filter with partitions, beside the least possible. Every certificate is queried.
void simulate_revocation(std::uint64_t revoked, std::uint64_t universe, std::size_t issuers);

/// Prints a table: the distance of prefetching at which batches of blocked_bloom are fastest on
/// this CPU, by size of the filter, and the distance that the library uses.
void tune(unsigned runs);

/// Prints tables: what attacks achieve against a public seed, a secret seed and a secret key, in
/// filters of that many keys, and the outcome of so many steps of an adversary who sees answers.
void attack(std::uint64_t keys, std::uint64_t steps);

/// Prints a table: whether the times of single queries tell members from non-members, from false
/// positives, and old members from new ones, and those of batches members from non-members, in
/// filters of n keys.
void attack_by_times(std::uint64_t n);

}  // namespace bench
