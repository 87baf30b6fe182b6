/* numbering.h: the distinct fingerprints of an index, numbered from 0 in the order in which they are preferred as
 * representatives. Code that compares two numbers need not know the reason for the preference. */
#ifndef IDX_LIBIDX_NUMBERING_H
#define IDX_LIBIDX_NUMBERING_H

#include "libidx/streams/reading.h"
#include "libidx/streams/sorter.h"

/* The numbers of all fingerprints. Zeroed, it has nothing to close. */
struct idxi_numbering {
    struct idxi_sorter sorter;
    struct idxi_stream *stream; /* fingerprints, ascending, each with its number as value; it may be rewound */
    uint64_t count;             /* up to IDXI_MAX_NUMBERED */
};

#define IDXI_MAX_NUMBERED ((uint64_t)UINT32_MAX)

/* Numbers the fingerprints of an index in the order of preference of `representative`. `options` say how they are
 * sorted, in up to twice the memory that they name. For IDX_REPRESENTATIVE_SMALLEST_ID with text IDs, up to
 * `max_memory` bytes are used. Call idxi_numbering_close even if this fails. Errors: IDX_LIMIT (more than
 * IDXI_MAX_NUMBERED fingerprints), IDX_OUT_OF_MEMORY, IDX_CANCELLED, those of damaged files, and those of temporary
 * files. */
enum idx_status idxi_numbering_open(struct idxi_numbering *numbering, const struct idx_index *index,
                                    enum idx_representative representative, const struct idxi_sorter_options *options,
                                    uint64_t max_memory, struct idx_error *error);

/* Frees the numbers, and closes their temporary files. */
void idxi_numbering_close(struct idxi_numbering *numbering);

#endif
