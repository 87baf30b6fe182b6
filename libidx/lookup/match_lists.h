/* match_lists.h: makes the lists of the matches of many queries, of any length. Matches are found in any order, for
 * shares of consecutive queries, which threads work on side by side; at the end they are put one after the other. */
#ifndef IDX_LIBIDX_MATCH_LISTS_H
#define IDX_LIBIDX_MATCH_LISTS_H

#include "libidx/view/index.h"

/* How many queries a share has, but for the last one. */
#define IDXI_SHARE_QUERIES 128

struct idxi_found_match;

struct idxi_match_share {
    struct idxi_listing *listing;
    size_t begin, end;              /* its queries, by number */
    struct idxi_found_match *found; /* matches as they were found, of all queries together */
    size_t count, capacity;         /* of `found`; once the share is ended, `count` is of `matches` */
    uint64_t counted_bytes;         /* how many bytes of listing->bytes are of this share */
    struct idx_match *matches;      /* ordered by query */
    enum idx_status status;         /* of adding a match */
    struct idx_error *error;        /* where adding a match puts its error */
};

struct idxi_listing {
    const struct idx_index *index;
    struct idx_match_lists_options options;
    size_t count; /* of queries */
    struct idxi_match_share *shares;
    size_t share_count;
    atomic_uint_fast64_t bytes; /* that the lists take so far */
    struct idx_match_lists lists;
    struct idxi_progress progress;
};

/* Prepares lists for `count` queries, and copies and checks the options, which may be NULL. Call idxi_listing_end even
 * after an error. Errors: IDX_INVALID_ARGUMENT, IDX_BAD_DISTANCE, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_listing_begin(struct idxi_listing *listing, const struct idx_index *index, size_t count,
                                   const struct idx_match_lists_options *options, struct idx_error *error);

/* Adds all matches that the index has of the share's queries: queries[0] is the first of them, number share->begin. All
 * must have been checked (idxi_check_queries). Errors: IDX_LIMIT, IDX_OUT_OF_MEMORY, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT.
 */
enum idx_status idxi_match_share_search(struct idxi_match_share *share, const uint64_t *queries,
                                        struct idx_error *error);

/* Adds a match of query number `place` of the share, counted from 0. Returns share->status: after an error, that error
 * in this and all later calls. Errors: IDX_LIMIT, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_match_share_add(struct idxi_match_share *share, size_t place, const struct idx_match *match,
                                     struct idx_error *error);

/* Call it once, when all matches of a share were added: keeps the nearest matches of each query, as many as the options
 * say, and orders them as idx_lookup does. Errors: IDX_LIMIT, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_match_share_end(struct idxi_match_share *share, struct idx_error *error);

/* Ends a listing, and frees its shares. If `status` is IDX_OK, all shares must be ended: then sets *lists to the lists,
 * for idx_match_lists_close. If it is an error, returns that. After any error, *lists is as before. Errors: `status`;
 * IDX_OUT_OF_MEMORY. */
enum idx_status idxi_listing_end(struct idxi_listing *listing, enum idx_status status, struct idx_match_lists *lists,
                                 struct idx_error *error);

#endif
