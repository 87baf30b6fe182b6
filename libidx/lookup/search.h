/* search.h: finds the fingerprints within a distance of queries (SPEC.md, chapter 10), by probes of the tables of an
 * open index, and in what is pending. A match that several tables find belongs to the first of them: nothing is
 * remembered, allocated or locked. A search belongs to one thread. */
#ifndef IDX_LIBIDX_SEARCH_H
#define IDX_LIBIDX_SEARCH_H

#include "libidx/view/live.h"

/* Probes go through a stage in groups: short loops, in which many of them wait for memory at the same time. Two groups
 * are under way, and what they ask for must stay in the caches. What comes from a disk takes so much longer that
 * many queries make one. */
#define IDXI_MEMORY_GROUP 64
#define IDXI_MEMORY_GROUP_BYTES 8192
#define IDXI_DISK_GROUP 512

/* One range of permuted fingerprints looked for in one table. */
struct idxi_probe {
    const struct idxi_table *table;
    size_t query;
    size_t turn;                  /* the table's in the tables that are probed */
    uint64_t low, high, permuted; /* the range, and the query */
    struct idxf_start start;
};

/* Probes that go through the stages together. */
struct idxi_group {
    size_t count;
    size_t bytes; /* that are asked for ahead */
    struct idxi_probe probes[IDXI_DISK_GROUP];
};

/* Called for a match of query number `query`. False stops the search. */
typedef bool (*idxi_match_taker)(void *context, size_t query, const struct idx_match *match);

struct idxi_search {
    const struct idx_index *index;
    const struct idxi_probing *probing; /* the tables to probe for the distance */
    unsigned distance;
    const uint64_t *queries;
    idxi_match_taker take;
    void *context;
    struct idx_error *error;
    size_t segment; /* being searched */
    bool stopped;
    uint64_t blocks_searched;

    size_t most, most_bytes;                /* of a group */
    struct idxi_group *beginning, *waiting; /* that one's blocks were asked for */
    struct idxi_group groups[2];

    /* Chains to be searched together, the probes that they are for, and what they have. */
    unsigned lane_count;
    struct idxf_lanes lanes;
    const struct idxi_probe *lane_probes[IDXF_LANES];
    struct idxf_hits hits;
};

/* What the probes of a query have in common that are for one table. */
struct idxi_turn {
    const struct idxi_table *table;
    size_t query, number; /* the table's in search->probing */
    uint64_t permuted;
};

/* Errors: IDX_BAD_DISTANCE. */
enum idx_status idxi_check_distance(const struct idx_index *index, unsigned distance, struct idx_error *error);

/* Errors: IDX_INVALID_ARGUMENT (a fingerprint of more bits than the index's). */
enum idx_status idxi_check_queries(const struct idx_index *index, const uint64_t *queries, size_t count,
                                   struct idx_error *error);

/* Begins a search, the distance and all queries that it will be asked checked. Keeps all pointers. */
void idxi_search_init(struct idxi_search *search, const struct idx_index *index, unsigned distance,
                      const uint64_t *queries, idxi_match_taker take, void *context, struct idx_error *error);

/* Finds all matches of the queries `begin` to `end`, in all segments, then in what is pending. */
enum idx_status idxi_search_queries(struct idxi_search *search, size_t begin, size_t end);

/* The two parts of it: all in segments, and those that are pending alone. */
enum idx_status idxi_search_segments(struct idxi_search *search, size_t begin, size_t end);
enum idx_status idxi_search_pending(struct idxi_search *search, size_t begin, size_t end);

/* The same by single probes of tables of search->segment, for those who choose them: begins one for each pattern of at
 * most `radius` flipped bits of the prefix of `value`, a permuted query; bits from bit `bit` on, 64 for none, were
 * flipped, or not, before. They end with idxi_search_end. */
enum idx_status idxi_search_probes(struct idxi_search *search, const struct idxi_turn *turn, uint64_t value,
                                   unsigned bit, unsigned radius);

/* How many probes a query makes of a table. */
double idxi_count_probes(const struct idxi_table *table, unsigned radius);

/* Ends the probes that are under way. */
enum idx_status idxi_search_end(struct idxi_search *search);

/* Whether a fingerprint of this segment is not to be given: it was removed from there, or a segment before has it, too.
 */
enum idx_status idxi_is_repeated(const struct idx_index *index, size_t segment, uint64_t fingerprint, bool *repeated,
                                 struct idx_error *error);

#endif
