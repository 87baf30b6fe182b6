/* set_sorter.h: sorts sets by integer IDs, which a build gets in any order. The sets go to a temporary file, one after
 * the other; only their keys are sorted. */
#ifndef IDX_LIBIDX_SET_SORTER_H
#define IDX_LIBIDX_SET_SORTER_H

#include "libidx/segment/sets_reader.h"
#include "libidx/segment/sets_writer.h"
#include "libidx/streams/sorter.h"

/* A set sorter. Zeroed, it is closed. */
struct idxi_set_sorter {
    struct idxi_sorter keys; /* with the offset of each set in the file */
    bool is_open;
    int file;
    const char *path;                   /* of the folder of the file, for messages */
    uint8_t *buffer;                    /* the next bytes of the file */
    size_t buffered;                    /* bytes in the buffer */
    uint64_t written;                   /* bytes in the file */
    struct idxi_native_members scratch; /* for idxi_members_to_little_endian */
};

/* Opens an empty sorter; *sorter must be zeroed. `options` are those of the sorter of the keys, and their folder is
 * also that of the temporary file. Call idxi_set_sorter_close even if this fails. The errors of this function and those
 * below are IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_DISK_FULL, IDX_NO_ACCESS, IDX_CANCELLED. */
enum idx_status idxi_set_sorter_open(struct idxi_set_sorter *sorter, const struct idxi_sorter_options *options,
                                     struct idx_error *error);

/* Adds a set. Its members are little-endian, as idxi_members_to_little_endian makes them, and are copied. */
enum idx_status idxi_set_sorter_add(struct idxi_set_sorter *sorter, const struct idxf_set *set,
                                    struct idx_error *error);

/* Adds all sets to `writer` by ascending key; those of equal keys in the order in which they came. Nothing can be added
 * to the sorter after it. Adds no units to `progress`, but stops with IDX_CANCELLED if that was cancelled. */
enum idx_status idxi_set_sorter_write(struct idxi_set_sorter *sorter, struct idxi_sets_writer *writer,
                                      struct idxi_progress *progress, struct idx_error *error);

/* Returns how many bytes were written to temporary files. */
uint64_t idxi_set_sorter_count_written_bytes(const struct idxi_set_sorter *sorter);

/* Frees memory and disk space, and zeroes *sorter. Accepts a zeroed struct. */
void idxi_set_sorter_close(struct idxi_set_sorter *sorter);

#endif
