#pragma once

/// The literature's formulas, by themselves: n keys, m bits or slots, k functions, eps the rate of
/// false positives. Pure functions of numbers; all are O(1) unless said,
/// and give the same bits on every machine (numeric.hpp).

#include <cstdint>

namespace bloomery::formulas {

/// Bits a key that any static filter needs: log2(1/eps) (Carter et al., 1978).
double information_bound(double eps);

/// The number of functions that minimises the rate, a real number: (m/n) ln 2 (Bloom, 1970).
double optimal_hashes(double n, double m);

/// The rate at that optimum: 0.6185^(m/n), exp(-(m/n) ln^2 2).
double ideal_fpr(double bits_per_key);

/// Bits a key at that optimum: ln(1/eps) / ln^2 2 = 1.44 log2(1/eps).
double ideal_bits_per_key(double eps);

/// The classic rate (1 - e^(-kn/m))^k (Mullin, 1983, and every textbook). It is a lower bound of
/// the true rate (Bose et al., 2008), close to it for large m.
double bloom_fpr_classic(double n, double m, unsigned k);

/// The mean over filters of the true rate of k independent functions with replacement: E[(X/m)^k],
/// X the number of distinct bits that n*k throws set (Bose et al., 2008; Christensen, Roginsky and
/// Jimeno, 2010). For m < 4096 and k <= 28 exact to 1e-10 of itself, O(k^3 log(nk)), with n*k
/// rounded up. Beyond, the expansion to the variance of X, O(1), whose relative error is below 4e-4
/// where the rate is above 1e-19, which equal hashes add anyway.
double bloom_fpr(double n, std::uint64_t m, unsigned k);

/// The rate of a blocked filter whose every key sets one bit in each of `lanes` lanes of
/// `lane_bits` bits of one of `blocks` blocks: the mean over i of (1 - (1 - 1/w)^i)^L, i the number
/// of keys in the stranger's block, Binomial(n, 1/blocks) (Putze, Sanders and Singler, "Cache-,
/// Hash- and Space-Efficient Bloom Filters", 2007, section 3, who take its Poisson limit). Summed
/// over i, with terms that are all positive, to 1e-11 of itself. O(n/blocks).
double split_block_fpr(double n, std::uint64_t blocks, unsigned lanes, unsigned lane_bits);

/// The rate of a blocked filter whose every key sets k bits anywhere in a block of b: the mean over
/// i of E[(X/b)^k], X the distinct bits of i k throws, summed in the same way to 1e-11 of itself.
/// O(k^2 n/blocks). Precondition: k <= 28.
double free_block_fpr(double n, std::uint64_t blocks, unsigned block_bits, unsigned k);

/// How far one filter's rate is from the mean over all filters of its size, which is what the
/// functions above give: the standard deviation of the rate's logarithm. One filter's rate is taken
/// as lognormal, since it is a mean of few large terms where the rate is low. bloom: from the
/// variance of the fill, O(1). Blocks: from the second moment of a block's rate, at the cost of the
/// mean.
double bloom_fpr_scatter(double n, std::uint64_t m, unsigned k);
double split_block_fpr_scatter(double n, std::uint64_t blocks, unsigned lanes, unsigned lane_bits);
double free_block_fpr_scatter(double n, std::uint64_t blocks, unsigned block_bits, unsigned k);

/// The rate that one filter exceeds with the chance that a normal variable exceeds so many standard
/// deviations: mean exp(z s - s^2/2).
double fpr_at(double mean, double scatter, double deviations);

/// The z that a normal variable does not exceed with probability p, for p in [1/2, 1): 1.645 for
/// 95%.
double normal_quantile(double p);

/// Distinct keys behind `ones` set bits of a blocked filter where a key leaves each bit of its own
/// block clear with probability `stays`: each bit is set with 1 - (1 - (1 - stays)/blocks)^n.
/// Infinite when every bit is set. The bias is t/2 times the square of the relative standard error,
/// t keys a lane's bit: below a tenth of that error up to three times the planned load.
double blocked_cardinality(double ones, double bits, std::uint64_t blocks, double stays);

/// Throws at m places behind x of them that were hit: m (H_m - H_(m-x)), H_i = 1 + 1/2 + ... + 1/i,
/// the mean number of throws until so many are hit (the coupon collector's). Infinite when all are.
/// Free of bias until then: a throw hits a free place with probability (m - x)/m and then adds
/// m/(m - x), so that each adds 1 on average. -m ln(1 - x/m) is its limit for large m, and (e^t -
/// 1)/2 throws too high at t throws a place. The standard error is sqrt(m (e^t - t - 1)) throws
/// (Whang, Vander-Zanden and Taylor, "A Linear-Time Probabilistic Counting Algorithm for Database
/// Applications", ACM TODS 15(2), 1990, who take the logarithm).
double throws_behind(double hit, double places);

/// The number of distinct keys behind `ones` set bits: -(m/k) ln(1 - ones/m) (Swamidass and Baldi,
/// 2007). Infinite when every bit is set. A filter's own estimate is throws_behind(ones, m) / k,
/// which is right for small m too.
double bloom_cardinality(double ones, double m, unsigned k);

/// The number of distinct keys behind so many different fingerprints. A key has one of `values`,
/// and a pair of `buckets` that the fingerprint gives for one of them; the pair is a single bucket
/// for a share 1/buckets. Two keys then have equal ones with probability (2 - 1/buckets) / (buckets
/// values), and are one key to the table. Infinite where all there are is taken.
double fingerprint_cardinality(double fingerprints, double buckets, double values);

/// The distinct keys among `count` copies that show as `seen` different ones: the estimate (one of
/// those above), or the count itself if what it has beyond `seen` is within three standard errors
/// of what chance makes equal. Then all copies are of different keys, as far as can be told.
double distinct_among(double count, double seen, double estimate);

/// A bound on the chance that some counter of a counting Bloom filter with n distinct keys reaches
/// `value`: m (e n k / (value m))^value, at most 1. A counter at `value` has been hit by that many
/// keys; each hits it with probability at most k/m; the sum over m counters and all C(n, value) <=
/// (e n / value)^value sets of keys gives the bound. At the optimal k = (m/n) ln 2 and value = 16,
/// where a 4-bit counter overflows, it is 1.37e-15 m (Fan, Cao, Almeida and Broder, 2000, section
/// V-C, who derive the same from nk independent throws). Zero when n < value.
double counter_reaches(double n, double m, unsigned k, unsigned value);

/// The smallest m for which bloom_fpr(n, m, k) <= eps, at least 1; with `deviations` the one for
/// which fpr_at() is.
std::uint64_t bloom_bits(double n, double eps, unsigned k, double deviations = 0);

/// The rate of a large cuckoo filter at that load: 1 - exp(-2 b load / (2^f - 1)). The 2b slots
/// that a stranger is compared with hold 2 b load fingerprints of 2^f - 1 values, since zero means
/// empty (Fan et al., 2014, section 5.1, whose 1 - (1 - 2^-f)^(2b) is its first-order form at load
/// 1).
double cuckoo_fpr(unsigned slots_per_bucket, unsigned fingerprint_bits, double load);

/// The expected rate of a cuckoo filter of n distinct keys in any number of buckets, large or
/// small: a stranger passes if one of the n keys has its class, that is its fingerprint and its
/// pair of buckets. A class has probability 2 / (buckets (2^f - 1)), or half of it where the two
/// buckets are one: for odd numbers of buckets this is so for one (bucket, fingerprint) in
/// `buckets`; for even ones it is not counted, which makes the result an upper bound, 1/buckets of
/// itself too high at most. What holds the keys, bucket or stash, plays no part.
double cuckoo_fpr_exact(double n, std::uint64_t buckets, unsigned fingerprint_bits);

/// The part of a rate that equal 64-bit hashes add, whatever the filter: n / 2^64.
double hash_collision_fpr(double n);

}  // namespace bloomery::formulas
