/* times.h: all numbers that comparing many with many is expected by: nanoseconds on one core of a typical server.
 * batch/cost.c says what each way takes by them, and balls.c chooses how to cut. bench/pairs and bench/batch show how
 * far they are right. */
#ifndef IDX_LIBIDX_TIMES_H
#define IDX_LIBIDX_TIMES_H

/* ---- Arrays ---- */

/* What the kernel for buckets takes for as many comparisons as a vector has lanes. */
#define IDXI_PORTABLE_TIME 8.0
#define IDXI_AVX2_TIME 0.95
#define IDXI_AVX512_TIME 0.33
#define IDXI_AVX512_LANES 8

/* A fingerprint that is sorted into its bucket by up to IDXI_CACHED_BITS bits, and for each bit more; and going on to
 * the next two buckets. */
#define IDXI_SORT_TIME 6.0
#define IDXI_CACHED_BITS 16
#define IDXI_FAR_TIME 1.5
#define IDXI_VISIT_TIME 6.0

/* A fingerprint of the caller's arrays, which are copied, sorted and made distinct. */
#define IDXI_MAKE_DISTINCT_TIME 30.0

/* Cutting is given up where it is expected to take more than this share of comparing all with all. This also bounds
 * what is compared again and again where most fingerprints are near to each other. */
#define IDXI_WORTH 0.66

/* ---- Pairs by tables ---- */

/* Fingerprints of a range (pairs/join_ranges.c), the most that are compared all with all (pairs/matching.c), what a
 * fingerprint takes beside that and what a comparison takes there; and what a fingerprint takes that is sorted by some
 * bits in a range, and that is sorted for all of a table (pairs/join_spread.c). */
#define IDXI_RANGE_FINGERPRINTS 16384.0
#define IDXI_FEW_FINGERPRINTS 256.0
#define IDXI_GROUP_TIME 2.5
#define IDXI_COMPARE_TIME 0.12
#define IDXI_TABLE_SORT_TIME 2.5
#define IDXI_SPREAD_TIME 6.0

/* ---- Batches ---- */

/* A probe for one query after the other, the next ones asked for ahead, of a table in memory, and of one that caches
 * hold; and where queries are in the table's order, so that its next line is mostly in a cache. */
#define IDXI_PROBE_TIME 90.0
#define IDXI_CACHED_PROBE_TIME 65.0
#define IDXI_ORDERED_PROBE_TIME 67.0

/* A probe of a table on disk, a read at random with others under way beside it; and a byte that is read together with
 * those beside it. */
#define IDXI_DISK_PROBE_TIME 20000.0
#define IDXI_DISK_BYTE_TIME 1.0

/* A byte of blocks, decoded and checked; and a fingerprint. */
#define IDXI_DECODE_BYTE_TIME 0.8
#define IDXI_DECODE_TIME 2.0

/* A fingerprint that is put into an array in memory that was not used before. Of so few, that are searched again and
 * again, this takes nothing. */
#define IDXI_ARRAY_TIME 12.0
#define IDXI_CACHED_ARRAYS 131072.0

/* A query: permuted and sorted for a table; looked for, flipped, in a range that was decoded; sorted among those past
 * which fingerprints stream; found again there for its matches, about one; and put into a bucket of each ball. */
#define IDXI_SORT_QUERY_TIME 30.0
#define IDXI_SEARCH_TIME 8.5
#define IDXI_DISTINCT_TIME 40.0
#define IDXI_FIND_TIME 50.0
#define IDXI_INSERT_TIME 12.0

/* A fingerprint that streams past a ball's queries, about IDXI_MEMBERS or more of which share its bits; if some of
 * these seem near, or are too many to be compared at once; and if all queries are too many for the caches, so that
 * fingerprints are sorted before. */
#define IDXI_MEMBERS 8
#define IDXI_MEET_TIME 1.3
#define IDXI_SEEMING_TIME 10.0
#define IDXI_CACHED_QUERIES 131072
#define IDXI_PARTITION_TIME 3.0

/* Tables of so many bytes are mostly in caches. */
#define IDXI_CACHED_TABLES ((uint64_t)32 << 20)

#endif
