/* times.h: all numbers from which the time of comparing many with many is estimated, in nanoseconds on one core of a
 * typical server unless they are counts. batch/cost.c computes what each way takes, and balls.c chooses how to cut.
 * bench/pairs and bench/batch show how accurate they are. */
#ifndef IDX_LIBIDX_TIMES_H
#define IDX_LIBIDX_TIMES_H

/* ---- Arrays ---- */

/* The time that idxi_compare_way.buckets takes for as many comparisons as a vector has lanes. */
#define IDXI_PORTABLE_TIME 8.0
#define IDXI_AVX2_TIME 0.95
#define IDXI_AVX512_TIME 0.33
#define IDXI_AVX512_LANES 8

/* The times to sort a fingerprint into its bucket by up to IDXI_CACHED_BITS bits, what each further bit adds, and to go
 * on to the next two buckets. */
#define IDXI_SORT_TIME 6.0
#define IDXI_CACHED_BITS 16
#define IDXI_FAR_TIME 1.5
#define IDXI_VISIT_TIME 6.0

/* The time to copy, sort and make distinct each fingerprint of the caller's arrays. */
#define IDXI_MAKE_DISTINCT_TIME 30.0

/* Bits are not cut if that is expected to take more than this share of comparing all with all. It also limits what is
 * compared again and again if most fingerprints are near to each other. */
#define IDXI_WORTH 0.66

/* ---- Pairs by tables ---- */

/* The fingerprints of a range (pairs/join_ranges.c), and the most that are compared all with all (pairs/matching.c);
 * then the times per fingerprint besides comparisons, per comparison, to sort a fingerprint by some bits within a
 * range, and to sort it for a whole table (pairs/join_spread.c). */
#define IDXI_RANGE_FINGERPRINTS 16384.0
#define IDXI_FEW_FINGERPRINTS 256.0
#define IDXI_GROUP_TIME 2.5
#define IDXI_COMPARE_TIME 0.12
#define IDXI_TABLE_SORT_TIME 2.5
#define IDXI_SPREAD_TIME 6.0

/* ---- Batches ---- */

/* The times of a probe with later ones prefetched: in a large table in memory; in one that caches hold; and if queries
 * come in the table's order, so that its next line is mostly in a cache. */
#define IDXI_PROBE_TIME 90.0
#define IDXI_CACHED_PROBE_TIME 65.0
#define IDXI_ORDERED_PROBE_TIME 67.0

/* The times of a probe of a table on disk, which is a random read with others under way, and of each byte that is read
 * in order. */
#define IDXI_DISK_PROBE_TIME 20000.0
#define IDXI_DISK_BYTE_TIME 1.0

/* The times to decode and check a byte of blocks, and to decode a fingerprint. */
#define IDXI_DECODE_BYTE_TIME 0.8
#define IDXI_DECODE_TIME 2.0

/* The time to put a fingerprint into an array in new memory. Up to IDXI_CACHED_ARRAYS fingerprints, which are searched
 * again and again in the same memory, take nothing. */
#define IDXI_ARRAY_TIME 12.0
#define IDXI_CACHED_ARRAYS 131072.0

/* The times of a query: to permute and sort it for a table; to search a decoded range for one of its patterns; to sort
 * it among those past which fingerprints stream; to find it again there for about one match; and to put it into a
 * bucket of a ball. */
#define IDXI_SORT_QUERY_TIME 30.0
#define IDXI_SEARCH_TIME 8.5
#define IDXI_DISTINCT_TIME 40.0
#define IDXI_FIND_TIME 50.0
#define IDXI_INSERT_TIME 12.0

/* The times of a fingerprint to meet the queries of a ball, where about IDXI_MEMBERS or more share its bits; what is
 * added if some seem near, or are too many to be compared at once; and if there are more queries than
 * IDXI_CACHED_QUERIES, so that fingerprints are sorted first. */
#define IDXI_MEMBERS 8
#define IDXI_MEET_TIME 1.3
#define IDXI_SEEMING_TIME 10.0
#define IDXI_CACHED_QUERIES 131072
#define IDXI_PARTITION_TIME 3.0

/* Tables of up to so many bytes are mostly in caches. */
#define IDXI_CACHED_TABLES ((uint64_t)32 << 20)

#endif
