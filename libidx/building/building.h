/* building.h: what builds, compactions and merges share: publishing an index, writing a segment, and its tables. */
#ifndef IDX_LIBIDX_BUILDING_H
#define IDX_LIBIDX_BUILDING_H

#include <idx.h>
#include <sys/types.h>

#include "format/block.h"
#include "format/manifest.h"
#include "libidx/base/base.h"
#include "libidx/segment/document_writer.h"
#include "libidx/segment/manifest_file.h"
#include "libidx/streams/distinct.h"
#include "libidx/streams/stream.h"

/* ---- Options ---- */

/* Checks that an index with this k may have this recipe. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_recipe_check(const char *recipe, unsigned k, struct idx_error *error);

/* Checks the options of a build. Errors: IDX_INVALID_ARGUMENT, IDX_BAD_SCHEME, IDX_WEAK_SCHEME. */
enum idx_status idxi_build_options_check(const struct idx_build_options *options, struct idx_error *error);

/* ---- Publishing ---- */

/* An index is published at its path completely or not at all. It is written in a folder `.NAME.tmp-XXXXXXXX` beside its
 * path. The folder is locked (flock) as long as its builder lives. If nobody holds the lock, a killed build left the
 * folder, and the next build of the same path removes it. */

/* An index that is to be published. One thread uses it at a time. Zeroed, it has nothing to close. */
struct idxi_publication {
    char *path;      /* the path of the index, without slashes at its end */
    char *parent;    /* the folder that holds it */
    char *temporary; /* the path of the temporary folder; NULL if there is nothing to remove */
    int folder;      /* descriptor of `parent`; -1: it may not be read */
    int lock;        /* descriptor of the new index's folder, which holds the lock */
    pid_t process;   /* the process that opened it; one that is forked from it removes nothing */
    bool replace;
    size_t leftovers; /* folders of killed builds that were removed */
};

/* Checks that the index may be published at `path`, removes leftovers of killed builds of it, and makes a temporary
 * folder. To be closed by idxi_publication_close, whatever it returns. */
enum idx_status idxi_publication_open(struct idxi_publication *publication, const char *path, bool replace,
                                      struct idx_error *error);

/* Renames the temporary folder, whose content is synced, to the path, or exchanges it with an existing index that may
 * be replaced. Then syncs the folder that holds it. If only that fails, the new index is at the path, and the old one
 * stays beside it until the next build removes it. */
enum idx_status idxi_publish(struct idxi_publication *publication, struct idx_error *error);

/* Removes the temporary folder, with what was not published or was replaced, and frees all memory. */
void idxi_publication_close(struct idxi_publication *publication);

/* ---- Writing a segment ---- */

/* A segment is written in a temporary folder, which becomes a new index, or in the folder of an existing index. */

/* A segment that is being written. */
struct idxi_output {
    struct idxi_publication publication;
    char *segment_path; /* in the temporary folder */
    int segment_folder;
    int temporary_folder; /* for temporary files */
    const char *temporary_path;
    struct idxi_map_writer map;
    struct idxf_manifest_segment segment; /* the caller sets its counts */
};

/* Makes the temporary folder, the segment's folder in it, and the document map. `temporary` is the folder for temporary
 * files, NULL for the one that holds `path`; it must outlive the output. To be closed also after an error. */
enum idx_status idxi_output_open(struct idxi_output *output, const char *path, bool replace, const char *temporary,
                                 enum idx_id_type id_type, struct idx_error *error);

/* Makes segment `number` of an existing index, whose folder is at `path`. To be closed also after an error. */
enum idx_status idxi_output_open_segment(struct idxi_output *output, const char *path, uint32_t number,
                                         const char *temporary, enum idx_id_type id_type, struct idx_error *error);

/* Completes the document map, and sets *bytes to its size. */
enum idx_status idxi_output_finish_map(struct idxi_output *output, uint64_t *bytes, struct idx_error *error);

struct idxi_by_id_made {
    uint64_t hashes, entries;
    uint64_t bytes; /* of both files */
};

/* Writes the map from IDs. The stream gives hashes of IDs, with fingerprints for values. Any thread may call it. */
enum idx_status idxi_output_write_by_id(struct idxi_output *output, struct idxi_stream *entries,
                                        struct idxi_progress *progress, struct idxi_by_id_made *made,
                                        struct idx_error *error);

/* What determines the code of a segment's tables: its number of fingerprints, and their differences. Begins zeroed. */
struct idxi_survey {
    uint64_t fingerprints;
    uint64_t last; /* fingerprint */
    struct idxf_difference_counts counts;
};

/* Adds ascending fingerprints, each once, left-aligned where they have `bits` bits. */
void idxi_survey_add(struct idxi_survey *survey, const uint64_t *fingerprints, size_t count, unsigned bits);

/* Returns the form of blocks for the fingerprints that were surveyed. */
struct idxf_block_form idxi_survey_end(const struct idxi_survey *survey, unsigned bits, uint32_t block_size);

struct idxi_table_form {
    const struct idx_scheme *scheme;
    struct idxf_block_form blocks; /* the same for all tables of a segment */
    size_t key_memory;             /* bytes per table that is being written */
    struct idxi_progress *progress;
};

struct idxi_table_made {
    uint64_t fingerprints;
    uint64_t bytes; /* of the file */
};

/* Writes table `number` from its permuted, left-aligned, strictly ascending fingerprints. Any thread may call it. */
enum idx_status idxi_output_write_table(struct idxi_output *output, const struct idxi_table_form *form, size_t number,
                                        struct idxi_stream *fingerprints, struct idxi_table_made *made,
                                        struct idx_error *error);

/* Syncs the folder, writes the manifest, and publishes the index, once all tables are written. The caller sets bits, k,
 * ID type, by_id and recipe of `manifest`; the rest is filled in. */
enum idx_status idxi_output_publish(struct idxi_output *output, const struct idx_scheme *scheme,
                                    struct idxf_manifest *manifest, struct idx_error *error);

/* Syncs the folder of a segment of an existing index, and changes its manifest as idxi_manifest_switch does. */
enum idx_status idxi_output_switch(struct idxi_output *output, int folder, const char *folder_path,
                                   idxi_manifest_change *change, void *context, bool *switched,
                                   struct idx_error *error);

/* Closes the output, and removes what was not published, but not a segment of an existing index. */
void idxi_output_close(struct idxi_output *output);

/* ---- All tables of a segment ---- */

/* Fingerprints are sorted once in their own order, from which the orders of tables are derived (SPEC.md, chapter 2). */

struct idxi_tables_made {
    uint64_t bytes;           /* of the table files */
    uint64_t temporary_bytes; /* total written to temporary files */
};

/* Writes the tables, up to `threads` at a time, within `memory` bytes. Progress: each fingerprint counts twice per
 * table, when it is read and when it is written. */
enum idx_status idxi_tables_write(struct idxi_output *output, const struct idxi_table_form *form,
                                  const struct idxi_distinct *distinct, unsigned threads, uint64_t memory,
                                  struct idxi_tables_made *made, struct idx_error *error);

/* Whether a mask below 2^bits is the highest of `bits` bits (1 to 64): some, none or all. Permuting is then a shift,
 * and ascending fingerprints stay in order. */
bool idxi_mask_leads(uint64_t mask, unsigned bits);

#endif
