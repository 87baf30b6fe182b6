/* search.h: finds the fingerprints within a distance of queries (SPEC.md, chapter 12), by probing the tables of an open
 * index, and among the pending ones. A match that several tables find belongs to the first of them, so a search
 * remembers no matches, and it neither allocates nor locks. A search belongs to one thread. */
#ifndef IDX_LIBIDX_SEARCH_H
#define IDX_LIBIDX_SEARCH_H

#include "libidx/log/pending_find.h"
#include "libidx/view/index.h"

/* Probes go through each stage in groups: short loops, so that many of them wait for memory at the same time. Two
 * groups are in progress, and what they prefetch must stay in the caches, hence the limit in bytes. Reads from a disk
 * take so much longer that groups have more probes there. */
#define IDXI_MEMORY_GROUP 64
#define IDXI_MEMORY_GROUP_BYTES 8192
#define IDXI_DISK_GROUP 512

/* A probe: one range of permuted fingerprints that is looked for in one table. */
struct idxi_probe {
    const struct idxi_table *table;
    size_t query;
    size_t order;                 /* the table's place among the tables that are probed */
    uint64_t low, high, permuted; /* the range, and the query */
    struct idxf_start start;      /* the block in which the range begins, once it is found */
};

struct idxi_group {
    size_t count;
    size_t bytes; /* bytes of blocks to prefetch */
    struct idxi_probe *probes;
};

/* Is called for a match with query number `query`. Returns false to stop. */
typedef bool (*idxi_match_visitor)(void *context, size_t query, const struct idx_match *match);

struct idxi_search {
    const struct idx_index *index;
    const struct idxi_probing *probing; /* the tables to probe for the distance */
    unsigned distance;
    const uint64_t *queries;
    idxi_match_visitor visit;
    void *context;
    struct idx_error *error;
    size_t segment; /* the number of the segment that is searched, or of segments: what is pending is the last source */
    bool stopped;
    uint64_t blocks_searched;

    size_t max_probes, max_bytes;               /* bounds of a group: probes, and bytes to prefetch */
    struct idxi_group *new_group, *ready_group; /* gets new probes; has probes whose blocks were prefetched */
    struct idxi_group groups[2];

    /* Chains that wait to be searched side by side, the probes that they are for, and what was found. */
    unsigned lane_count;
    struct idxf_lanes lanes;
    const struct idxi_probe *lane_probes[IDXF_LANES];
    struct idxf_hits hits;
    enum idx_status visit_status; /* the status of visiting what was found during a search */
};

/* Memory for the probes of both groups: 64 KiB. Only a search on disk uses more than its first 2 * IDXI_MEMORY_GROUP
 * probes. */
struct idxi_probe_buffer {
    struct idxi_probe probes[2 * IDXI_DISK_GROUP];
};

/* A query for one table: what all probes of the query there have in common. */
struct idxi_table_query {
    const struct idxi_table *table;
    size_t number; /* the query's */
    size_t order;  /* the table's place in search->probing */
    uint64_t permuted;
};

/* Prepares a search for the matches of `queries` within `distance` bits; nothing has to be freed. `visit`, with
 * `context`, is called for each match. Errors of the search go to *error. All pointers must stay valid as long as the
 * search is used. The caller must have checked the distance and all queries. */
void idxi_search_init(struct idxi_search *search, const struct idx_index *index, unsigned distance,
                      const uint64_t *queries, idxi_match_visitor visit, void *context, struct idx_error *error);

/* Gives a new search the memory for probes that idxi_probe_table needs. It must outlive the search. Not needed for
 * idxi_search_queries and idxi_search_pending, which have such memory on the stack. */
void idxi_search_set_probe_buffer(struct idxi_search *search, struct idxi_probe_buffer *buffer);

/* Visits all matches of the queries [begin, end), each once, until the visitor stops: those in segments, then those
 * that are only pending. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
enum idx_status idxi_search_queries(struct idxi_search *search, size_t begin, size_t end);

/* Visits the matches of the queries [begin, end) that are only pending, until the visitor stops. Errors: as
 * idxi_search_queries. */
enum idx_status idxi_search_pending(struct idxi_search *search, size_t begin, size_t end);

/* Probes one table of search->segment, for callers that choose the tables. Makes one probe for each way to flip at most
 * `radius` bits of the prefix of `value`, a permuted query. Only bits below bit `end_bit` are flipped; call it with 64,
 * for all bits. Matches are visited during this or a later call, and by idxi_search_complete_probes at the latest.
 * Errors: as idxi_search_queries. */
enum idx_status idxi_probe_table(struct idxi_search *search, const struct idxi_table_query *query, uint64_t value,
                                 unsigned end_bit, unsigned radius);

/* Returns how many probes idxi_probe_table makes of one query in a table, with this radius: the number of ways to flip
 * at most `radius` bits. */
double idxi_count_probes(const struct idxi_table *table, unsigned radius);

/* Completes all probes that are in progress: visits their matches, until the visitor stops. Errors: as
 * idxi_search_queries. */
enum idx_status idxi_search_complete_probes(struct idxi_search *search);

#endif
