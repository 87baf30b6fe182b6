/* waiting.h: the sets that wait for a further round, as they were prepared: in a temporary file, so that each further
 * round reads only the few members of each by which it finds others. */
#ifndef IDX_LIBIDX_SET_WAITING_H
#define IDX_LIBIDX_SET_WAITING_H

#include "libidx/sets/probe.h"

/* A part of the file: some sets whose ranks are from `begin` to before `end`. */
struct idxi_waiting_part {
    uint64_t offset; /* in the file, in numbers of 32 bits */
    uint32_t count;  /* of these numbers */
    uint32_t begin, end;
};

/* All sets that wait. Several threads may add and read parts. */
struct idxi_waiting {
    struct idxi_set_store *store; /* in whose folder the file is */
    int file;                     /* below 0 until there is a part */
    uint64_t used;                /* numbers that the file has */
    struct idxi_waiting_part *parts;
    size_t count, capacity;
    bool complete;         /* no part is added any more */
    pthread_mutex_t mutex; /* guards what parts change that are added */
};

/* Makes an empty list of parts, whose file will be in the folder of the store. Call idxi_waiting_close afterwards. */
void idxi_waiting_init(struct idxi_waiting *waiting, struct idxi_set_store *store);

/* Appends a prepared set to `numbers`, which idxi_waiting_write_part writes later. Does nothing if its prefix is empty.
 * Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_waiting_append_set(struct idxi_query_arena *numbers, const struct idxi_query *query,
                                        struct idx_error *error);

/* Writes the sets in `numbers` to the file as a part, and empties `numbers`, even if this fails. Their ranks are from
 * `begin_rank` to before `end_rank`. Does nothing if there are no sets. Several threads may call it at once. Errors:
 * IDX_OUT_OF_MEMORY, IDX_DISK_FULL, those of files. */
enum idx_status idxi_waiting_write_part(struct idxi_waiting *waiting, struct idxi_query_arena *numbers,
                                        uint32_t begin_rank, uint32_t end_rank, struct idx_error *error);

/* Replaces `numbers` by the numbers of a part of the file. Errors: IDX_OUT_OF_MEMORY, those of files. */
enum idx_status idxi_waiting_read_part(const struct idxi_waiting *waiting, const struct idxi_waiting_part *part,
                                       struct idxi_query_arena *numbers, struct idx_error *error);

/* Sets *query to the set that begins at position *position of the numbers of a part that was read, and moves *position
 * behind it. Its tags stay in `numbers`. The query has a prefix, but no `members`, and its min_to_contain is 0 until
 * idxi_prober_set_min_to_contain is called. */
void idxi_waiting_parse_set(const struct idxi_query_arena *numbers, size_t *position, struct idxi_query *query);

/* Closes the file, which deletes it, and frees the list of parts. */
void idxi_waiting_close(struct idxi_waiting *waiting);

#endif
