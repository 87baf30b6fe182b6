/* set_sorter.h: sorts sets by integer IDs, which a build gets in any order. The sets go to a temporary file, one after
 * the other; only their keys are sorted. */
#ifndef IDX_LIBIDX_SET_SORTER_H
#define IDX_LIBIDX_SET_SORTER_H

#include "libidx/segment/sets_reader.h"
#include "libidx/segment/sets_writer.h"
#include "libidx/streams/sorter.h"

/* Zeroed, it is closed. */
struct idxi_set_sorter {
    struct idxi_sorter keys; /* with the offset of each set in the file */
    bool is_open;
    int file;
    const char *path;                  /* of the folder of the file, for messages */
    uint8_t *buffer;                   /* the next bytes of the file */
    size_t used;                       /* bytes in the buffer */
    uint64_t written;                  /* bytes in the file */
    struct idxi_native_members stored; /* for idxi_members_store */
};

/* Opens a sorter without sets. `options` are those of sorting the keys. Call idxi_set_sorter_close even if this
 * fails. */
enum idx_status idxi_set_sorter_open(struct idxi_set_sorter *sorter, const struct idxi_sorter_options *options,
                                     struct idx_error *error);

/* Adds a set, whose members are in the order of bytes of files and are copied. */
enum idx_status idxi_set_sorter_add(struct idxi_set_sorter *sorter, const struct idxf_set *set,
                                    struct idx_error *error);

/* Adds all sets to `writer` by ascending key; those of equal keys in the order in which they came. */
enum idx_status idxi_set_sorter_write(struct idxi_set_sorter *sorter, struct idxi_sets_writer *writer,
                                      struct idxi_progress *progress, struct idx_error *error);

/* Returns how many bytes were written to temporary files. */
uint64_t idxi_set_sorter_count_written_bytes(const struct idxi_set_sorter *sorter);

/* Frees memory and disk space. Accepts a sorter that was never opened. */
void idxi_set_sorter_close(struct idxi_set_sorter *sorter);

#endif
