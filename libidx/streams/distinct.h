/* distinct.h: the distinct fingerprints of a build, ascending, from which its tables are written. They are in memory,
 * or if that is too small, in a run on disk. */
#ifndef IDX_LIBIDX_DISTINCT_H
#define IDX_LIBIDX_DISTINCT_H

#include "libidx/streams/runs.h"

struct idxi_distinct {
    uint64_t count;
    uint64_t *fingerprints; /* NULL when on disk */
    size_t capacity;        /* of `fingerprints`; 0 when on disk */
    bool on_disk;
    struct idxi_run_file file; /* when on disk, as `run`, the only run in it */
    struct idxi_run run;
};

/* Begins an empty set. If `capacity` is not 0, up to so many fingerprints can be added, and stay in memory. If it is 0,
 * any number can be added, and they go to a temporary file in `folder`, a descriptor; `path`, its path for messages,
 * must outlive the set. Call idxi_distinct_free even if this fails. Errors: IDX_OUT_OF_MEMORY, and those of
 * idxi_make_temporary_file. */
enum idx_status idxi_distinct_begin(struct idxi_distinct *distinct, uint64_t capacity, int folder, const char *path,
                                    struct idx_error *error);

/* Adds `count` fingerprints, which must ascend strictly, and be above all that were added before. Fails only on disk,
 * as idxi_run_file_write does. */
enum idx_status idxi_distinct_add(struct idxi_distinct *distinct, const uint64_t *fingerprints, size_t count,
                                  struct idx_error *error);

/* Ends adding: on disk, writes what is buffered, which may fail. Only then can the fingerprints be read. */
enum idx_status idxi_distinct_end(struct idxi_distinct *distinct, struct idx_error *error);

/* Frees the disk space of the fingerprints, if the system can do that. They must not be read afterwards. Does nothing
 * in memory. */
void idxi_distinct_drop(const struct idxi_distinct *distinct);

/* Frees memory and disk space. All streams must be closed before. */
void idxi_distinct_free(struct idxi_distinct *distinct);

/* A stream of all fingerprints in ascending order. Any number of streams may be open at a time. */
struct idxi_distinct_stream {
    struct idxi_array_stream array;
    struct idxi_run_stream run;
    struct idxi_stream *stream; /* one of the two */
};

/* Opens a stream of a set, which must outlive it. Call idxi_distinct_close_stream even if this fails. Errors:
 * IDX_OUT_OF_MEMORY. */
enum idx_status idxi_distinct_open_stream(const struct idxi_distinct *distinct, struct idxi_distinct_stream *stream,
                                          struct idx_error *error);

/* Frees the stream's memory. The fingerprints stay. */
void idxi_distinct_close_stream(struct idxi_distinct_stream *stream);

#endif
