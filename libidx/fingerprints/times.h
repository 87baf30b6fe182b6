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
#define IDXI_MAX_COMPARED_GROUP 256.0
#define IDXI_GROUP_TIME 1.5
#define IDXI_COMPARE_TIME 0.12
#define IDXI_TABLE_SORT_TIME 2.5
#define IDXI_SPREAD_TIME 4.0

/* ---- Batches ---- */

/* The times of a probe with later ones prefetched, if the tables take more than IDXI_FAR_TABLES bytes, or less; and
 * what is added for each fingerprint that has the bits which the probe looks for. Then the same if queries come in the
 * table's order, so that its next line is mostly in a cache. */
#define IDXI_FAR_TABLES ((uint64_t)1 << 30)
#define IDXI_FAR_PROBE_TIME 85.0
#define IDXI_PROBE_TIME 40.0
#define IDXI_PROBED_TIME 2.0
#define IDXI_ORDERED_PROBE_TIME 43.0
#define IDXI_ORDERED_PROBED_TIME 1.75

/* The times of a probe of a table on disk, which is a random read with others under way, and of each byte that is read
 * in order. */
#define IDXI_DISK_PROBE_TIME 20000.0
#define IDXI_DISK_BYTE_TIME 1.0

/* The times to decode and check a byte of blocks, and to decode a fingerprint. */
#define IDXI_DECODE_BYTE_TIME 0.5
#define IDXI_DECODE_TIME 2.0

/* The time to put a fingerprint into an array in new memory. */
#define IDXI_ARRAY_TIME 12.0

/* The times of a query: to permute and sort it for a table, and to permute it again for its range; to search a decoded
 * range for one of its patterns, and to compare it with a fingerprint there; to sort it among those past which
 * fingerprints stream; to find it again there for about one match; and to put it into a bucket of a ball. */
#define IDXI_SORT_QUERY_TIME 20.0
#define IDXI_SEARCH_TIME 4.5
#define IDXI_SEARCHED_TIME 0.2
#define IDXI_DISTINCT_TIME 60.0
#define IDXI_FIND_TIME 70.0
#define IDXI_INSERT_TIME 8.0

/* The time to compare a fingerprint with the folds of the queries in its bucket of a ball, if buckets have about
 * IDXI_MIN_BUCKET_QUERIES or more; what is added if some folds are near, or too many to be compared at once; and what
 * is added for more queries than IDXI_CACHED_QUERIES, since fingerprints are sorted first then. */
#define IDXI_MIN_BUCKET_QUERIES 8
#define IDXI_FOLD_TIME 1.8
#define IDXI_BUCKET_TIME 10.0
#define IDXI_CACHED_QUERIES 131072
#define IDXI_PARTITION_TIME 3.0

#endif
