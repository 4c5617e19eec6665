#pragma once

/// The formulas of the literature: n keys, m bits or slots, k functions, eps the rate of false
/// positives. All are pure functions of numbers, O(1) unless stated otherwise, with the same result
/// on every machine (numeric.hpp).

#include <cstdint>

namespace bloomset::formulas {

/// Bits per key that any static filter needs: log2(1/eps) (Carter et al., 1978).
double information_bound(double eps);

/// The number of functions with the lowest rate, a real number: (m/n) ln 2 (Bloom, 1970).
double optimal_hashes(double n, double m);

/// The rate at that optimum: 0.6185^(m/n) = exp(-(m/n) ln^2 2).
double ideal_fpr(double bits_per_key);

/// The classic rate (1 - e^(-kn/m))^k (Mullin, 1983, and every textbook). It is a lower bound of
/// the true rate (Bose et al., 2008), and close to it for large m.
double bloom_fpr_classic(double n, double m, unsigned k);

/// The true rate of k independent functions with replacement, as a mean over filters: E[(X/m)^k],
/// where X is the number of distinct bits that n k throws set (Bose et al., 2008; Christensen,
/// Roginsky and Jimeno, 2010).
///
///     m < 4096 and k <= 28    exact to 1e-10 of itself, with n k rounded up; O(k^3 log(n k))
///     else                    expansion to the variance of X; O(1)
///
/// The relative error of the expansion is below 4e-4 where the rate is above 1e-19. Lower rates do
/// not matter, because equal hashes add more.
double bloom_fpr(double n, std::uint64_t m, unsigned k);

/// The rate of a blocked filter in which a key chooses one of `blocks` blocks and sets one bit in
/// each of its L lanes of w bits:
///
///     mean over i of (1 - (1 - 1/w)^i)^L,  i ~ Binomial(n, 1/blocks)
///
/// i is the number of keys in the non-member's block (Putze, Sanders and Singler, "Cache-, Hash-
/// and Space-Efficient Bloom Filters", 2007, section 3, who use its Poisson limit). The sum over i
/// has positive terms only and is exact to 1e-11 of itself. O(n/blocks).
double split_block_fpr(double n, std::uint64_t blocks, unsigned lanes, unsigned lane_bits);

/// The rate of a blocked filter in which a key sets k bits anywhere in a block of b bits: the mean
/// over i of E[(X/b)^k], where X is the number of distinct bits that i k throws set. Summed like
/// split_block_fpr, exact to 1e-11 of itself. O(k^2 n/blocks). Precondition: k <= 28.
double free_block_fpr(double n, std::uint64_t blocks, unsigned block_bits, unsigned k);

/// The scatter of one filter's rate: the standard deviation of the logarithm of the rate, over all
/// filters of its size. bloom_fpr, split_block_fpr and free_block_fpr give the mean.
///
/// The rate of one filter is assumed to be lognormal, since a low rate is a mean with few large
/// terms. The scatter of a Bloom filter comes from the variance of the fill, O(1). The scatter of a
/// blocked filter comes from the second moment of a block's rate, and costs as much as the mean.
double bloom_fpr_scatter(double n, std::uint64_t m, unsigned k);
/// The same for a filter of split blocks.
double split_block_fpr_scatter(double n, std::uint64_t blocks, unsigned lanes, unsigned lane_bits);
/// The same for a filter of blocks with free bits.
double free_block_fpr_scatter(double n, std::uint64_t blocks, unsigned block_bits, unsigned k);

/// The rate mean * exp(z s - s^2/2), with s the scatter and z the number of standard deviations.
/// One filter exceeds it as often as a normal variable exceeds z standard deviations.
double fpr_at(double mean, double scatter, double deviations);

/// The z that a standard normal variable does not exceed with probability p, for p in [1/2, 1):
/// 1.645 for 95%.
double normal_quantile(double p);

/// The estimated number of distinct keys in a blocked filter with `ones` set bits. A key leaves
/// each bit of its own block clear with probability `stays`, so n keys set a bit with probability 1
/// - (1 - (1 - stays)/blocks)^n. Infinite if every bit is set.
///
/// The bias is t/2 times the square of the relative standard error, with t keys per bit of a lane.
/// It is below a tenth of that error up to three times the planned load.
double blocked_cardinality(double ones, double bits, std::uint64_t blocks, double stays);

/// The estimated number of throws at m places, of which x were hit: m (H_m - H_(m-x)), H_i = 1 +
/// 1/2 + ... + 1/i. This is the mean number of throws until x places are hit (the coupon
/// collector's problem). Infinite if all places are hit.
///
/// It has no bias while a place is free. A throw hits a free place with probability (m - x)/m and
/// then adds m/(m - x), so each throw adds 1 on average. The limit for large m is -m ln(1 - x/m),
/// which is (e^t - 1)/2 throws too high at t throws per place. The standard error is sqrt(m (e^t -
/// t - 1)) throws (Whang, Vander-Zanden and Taylor, "A Linear-Time Probabilistic Counting Algorithm
/// for Database Applications", ACM TODS 15(2), 1990, who use the logarithm).
double throws_behind(double hit, double places);

/// The estimated number of distinct keys, from the number of different fingerprints. A key has one
/// of `values` fingerprints and a pair of buckets. The fingerprint and one bucket give the other. A
/// share 1/buckets of keys has two equal buckets.
///
/// Two keys have equal fingerprint and pair with probability (2 - 1/buckets) / (buckets * values).
/// The table cannot distinguish them. Infinite if every fingerprint is there.
double fingerprint_cardinality(double fingerprints, double buckets, double values);

/// The estimated number of distinct keys among `count` copies with `seen` different fingerprints.
/// count - seen copies have a fingerprint that another copy has. If chance explains this number
/// within three standard errors, all copies may be of different keys, and the result is `count`.
/// Otherwise it is `estimate` (one of those above).
double distinct_among(double count, double seen, double estimate);

/// A bound on the chance that some counter of a counting Bloom filter with n distinct keys reaches
/// the value v:
///
///     m (e n k / (v m))^v, at most 1
///
/// A counter at v was hit by v keys, each with probability at most k/m. The sum over m counters and
/// all C(n, v) <= (e n / v)^v sets of keys gives the bound. Zero if n < v.
///
/// At the optimal k = (m/n) ln 2 and v = 16, where a counter of 4 bits overflows, it is 1.37e-15 m
/// (Fan, Cao, Almeida and Broder, 2000, section V-C, who derive the same from n k independent
/// throws).
double counter_reaches(double n, double m, unsigned k, unsigned value);

/// The smallest m for which bloom_fpr(n, m, k) <= eps, at least 1. With `deviations` z, the
/// smallest for which fpr_at(mean, scatter, z) <= eps.
std::uint64_t bloom_bits(double n, double eps, unsigned k, double deviations = 0);

/// The rate of a large cuckoo filter with b slots per bucket, fingerprints of f bits and the given
/// load: 1 - exp(-2 b load / (2^f - 1)).
///
/// A non-member is compared with 2b slots. They hold 2 b load fingerprints of 2^f - 1 values, since
/// zero means empty (Fan et al., 2014, section 5.1, whose 1 - (1 - 2^-f)^(2b) is its first-order
/// form at load 1).
double cuckoo_fpr(unsigned slots_per_bucket, unsigned fingerprint_bits, double load);

/// The expected rate of a cuckoo filter of n distinct keys in any number of buckets. The class of a
/// key is its fingerprint and its pair of buckets; a non-member passes if one of the n keys has its
/// class.
///
/// A class has probability 2 / (buckets (2^f - 1)), or half of it if its two buckets are the same.
/// For odd numbers of buckets, one of `buckets` pairs (bucket, fingerprint) has two equal buckets.
/// For even numbers such classes are not counted, so the result is an upper bound, with a relative
/// error of at most 1/buckets. The place of a key, in a bucket or in the stash, does not matter.
double cuckoo_fpr_exact(double n, std::uint64_t buckets, unsigned fingerprint_bits);

/// The part of the rate that equal 64-bit hashes add in every filter: n / 2^64.
double hash_collision_fpr(double n);

}  // namespace bloomset::formulas
