/* search.h: finds the fingerprints within a distance of queries (SPEC.md, chapter 12), by probing the tables of an open
 * index, and among the pending ones. A match that several tables find belongs to the first of them, so a search
 * remembers, allocates and locks nothing. A search belongs to one thread. */
#ifndef IDX_LIBIDX_SEARCH_H
#define IDX_LIBIDX_SEARCH_H

#include "libidx/view/index.h"

/* Probes go through each stage in groups: short loops, so that many of them wait for memory at the same time. Two
 * groups are in progress, and what they prefetch must stay in the caches. Reading from a disk takes so much longer that
 * a group then has many queries. */
#define IDXI_MEMORY_GROUP 64
#define IDXI_MEMORY_GROUP_BYTES 8192
#define IDXI_DISK_GROUP 512

/* One range of permuted fingerprints looked for in one table. */
struct idxi_probe {
    const struct idxi_table *table;
    size_t query;
    size_t order;                 /* the table's place among the tables that are probed */
    uint64_t low, high, permuted; /* the range, and the query */
    struct idxf_start start;
};

/* Probes that go through the stages together. */
struct idxi_group {
    size_t count;
    size_t bytes; /* bytes that are prefetched */
    struct idxi_probe *probes;
};

struct idxi_search {
    const struct idx_index *index;
    const struct idxi_probing *probing; /* the tables to probe for the distance */
    unsigned distance;
    const uint64_t *queries;
    idxi_match_visitor visit;
    void *context;
    struct idx_error *error;
    size_t segment; /* being searched */
    bool stopped;
    uint64_t blocks_searched;

    size_t most, most_bytes;                /* of a group */
    struct idxi_group *beginning, *waiting; /* of `waiting`, the blocks were prefetched */
    struct idxi_group groups[2];

    /* Chains to be searched together, the probes that they are for, and what they have. */
    unsigned lane_count;
    struct idxf_lanes lanes;
    const struct idxi_probe *lane_probes[IDXF_LANES];
    struct idxf_hits hits;
    enum idx_status hits_status; /* of reporting those that had no room */
};

/* Room for the probes of both groups: 64 KiB. An index that is not on a disk needs only its beginning. */
struct idxi_search_room {
    struct idxi_probe probes[2 * IDXI_DISK_GROUP];
};

/* A query as one table is asked for it: what all probes of it there have in common. */
struct idxi_table_query {
    const struct idxi_table *table;
    size_t number; /* the query's */
    size_t order;  /* the table's place in search->probing */
    uint64_t permuted;
};

/* Begins a search. The distance and all its queries must have been checked. Keeps all pointers. */
void idxi_search_init(struct idxi_search *search, const struct idx_index *index, unsigned distance,
                      const uint64_t *queries, idxi_match_visitor visit, void *context, struct idx_error *error);

/* Gives a search that was just begun the room that idxi_search_probes needs. The calls that look up whole queries take
 * it on the stack. */
void idxi_search_give_room(struct idxi_search *search, struct idxi_search_room *room);

/* Finds all matches of the queries `begin` to `end`, in all segments, then in what is pending. */
enum idx_status idxi_search_queries(struct idxi_search *search, size_t begin, size_t end);

/* Those that are only pending. */
enum idx_status idxi_search_pending(struct idxi_search *search, size_t begin, size_t end);

/* Single probes of a table of search->segment, for callers that choose the tables. Begins one probe for each pattern of
 * at most `radius` flipped bits of the prefix of `value`, a permuted query. Bits from bit `bit` on (64: none) were
 * already flipped or not. The probes end with idxi_search_end. */
enum idx_status idxi_search_probes(struct idxi_search *search, const struct idxi_table_query *query, uint64_t value,
                                   unsigned bit, unsigned radius);

/* How many probes a query makes of a table. */
double idxi_count_probes(const struct idxi_table *table, unsigned radius);

/* Ends the probes that are in progress. */
enum idx_status idxi_search_end(struct idxi_search *search);

#endif
