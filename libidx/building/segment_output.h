/* segment_output.h: writes a segment, whatever its source, and the manifest. The segment is either in a temporary
 * folder, which becomes a new index, or in the folder of an existing index. */
#ifndef IDX_LIBIDX_SEGMENT_OUTPUT_H
#define IDX_LIBIDX_SEGMENT_OUTPUT_H

#include <idx.h>

#include "format/block.h"
#include "format/manifest.h"
#include "libidx/base/parallel.h"
#include "libidx/building/publish.h"
#include "libidx/segment/document_writer.h"
#include "libidx/segment/manifest_file.h"
#include "libidx/streams/stream.h"

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

/* The result of writing a map from IDs. */
struct idxi_by_id_made {
    uint64_t hashes, entries;
    uint64_t bytes; /* of both files */
};

/* Writes the map from IDs: the stream gives hashes of IDs, with fingerprints for values. From any thread. */
enum idx_status idxi_output_write_by_id(struct idxi_output *output, struct idxi_stream *entries,
                                        struct idxi_progress *progress, struct idxi_by_id_made *made,
                                        struct idx_error *error);

/* What determines the code of a segment's tables: how many fingerprints there are, and their differences. All 0 at
 * first. */
struct idxi_survey {
    uint64_t fingerprints;
    uint64_t last;
    struct idxf_difference_counts counts;
};

/* Adds ascending fingerprints, each once, left-aligned where they have `bits` bits. */
void idxi_survey_add(struct idxi_survey *survey, const uint64_t *fingerprints, size_t count, unsigned bits);

/* The form of blocks for the fingerprints that were surveyed. */
struct idxf_block_form idxi_survey_end(const struct idxi_survey *survey, unsigned bits, uint32_t block_size);

/* How to write tables. */
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

/* Writes table `number` of the scheme from its fingerprints, permuted, left-aligned, strictly ascending. From any
 * thread. */
enum idx_status idxi_output_write_table(struct idxi_output *output, const struct idxi_table_form *form, size_t number,
                                        struct idxi_stream *fingerprints, struct idxi_table_made *made,
                                        struct idx_error *error);

/* Once all tables are written: syncs, writes the manifest, publishes. `manifest` comes with bits, k, ID type, by_id
 * and recipe; the rest is filled in. */
enum idx_status idxi_output_publish(struct idxi_output *output, const struct idx_scheme *scheme,
                                    struct idxf_manifest *manifest, struct idx_error *error);

/* The same in an existing index: syncs, and changes the manifest in the index's folder, as idxi_manifest_switch. */
enum idx_status idxi_output_switch(struct idxi_output *output, int folder, const char *folder_path,
                                   idxi_manifest_change *change, void *context, bool *switched,
                                   struct idx_error *error);

/* Removes what was not published, except a segment of an existing index. */
void idxi_output_close(struct idxi_output *output);

#endif
