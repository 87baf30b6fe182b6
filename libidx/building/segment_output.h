/* segment_output.h: writes a segment, in a temporary folder that becomes a new index, or in the folder of an existing
 * index. */
#ifndef IDX_LIBIDX_SEGMENT_OUTPUT_H
#define IDX_LIBIDX_SEGMENT_OUTPUT_H

#include "format/block.h"
#include "format/manifest.h"
#include "libidx/base/base.h"
#include "libidx/building/publish.h"
#include "libidx/segment/document_writer.h"
#include "libidx/segment/manifest_file.h"
#include "libidx/segment/sets_writer.h"
#include "libidx/streams/stream.h"

/* A segment that is being written. */
struct idxi_output {
    struct idxi_publication publication;
    char *segment_path; /* in the temporary folder */
    int segment_folder;
    int temporary_folder; /* for temporary files */
    const char *temporary_path;
    struct idxi_map_writer map;
    struct idxi_sets_writer sets;         /* where the index has sets: the caller opens and finishes it */
    struct idxf_manifest_segment segment; /* the caller sets its counts */
};

/* Makes the temporary folder of a new index at `path`, the segment's folder in it, and the document map. With
 * `replace`, an index at the path may be replaced. `temporary` is the path of the folder for temporary files, which
 * must outlive the output; NULL stands for the folder that holds `path`. Call idxi_output_close even if this fails. */
enum idx_status idxi_output_open(struct idxi_output *output, const char *path, bool replace, const char *temporary,
                                 enum idx_id_type id_type, struct idx_error *error);

/* Makes segment `number` of an existing index, whose folder is at `path`. `temporary` is as for idxi_output_open. Call
 * idxi_output_close even if this fails. */
enum idx_status idxi_output_open_segment(struct idxi_output *output, const char *path, uint32_t number,
                                         const char *temporary, enum idx_id_type id_type, struct idx_error *error);

/* Completes the document map, and sets *bytes to the size of its two files. The counts of output->segment must be
 * set. */
enum idx_status idxi_output_finish_map(struct idxi_output *output, uint64_t *bytes, struct idx_error *error);

struct idxi_by_id_made {
    uint64_t hashes, entries; /* distinct hashes, and all entries */
    uint64_t bytes;           /* of both files */
};

/* Writes the map from IDs, and sets *made to its counts and size. The entries of the stream, which ascend, are hashes
 * of IDs with fingerprints for values. Any thread may call it. */
enum idx_status idxi_output_write_by_id(struct idxi_output *output, struct idxi_stream *entries,
                                        struct idxi_progress *progress, struct idxi_by_id_made *made,
                                        struct idx_error *error);

/* What determines the code of a segment's tables: its number of fingerprints, and their differences. Begins zeroed. */
struct idxi_survey {
    uint64_t fingerprints;
    uint64_t last; /* fingerprint */
    struct idxf_difference_counts counts;
};

/* Adds the next fingerprints to the survey. Over all calls they ascend, each once, and are numbers of `bits` bits that
 * are left-aligned; right-aligned ones are numbers of 64 bits. */
void idxi_survey_add(struct idxi_survey *survey, const uint64_t *fingerprints, size_t count, unsigned bits);

/* Returns the form of blocks of `block_size` bytes that suits the fingerprints that were surveyed. */
struct idxf_block_form idxi_survey_choose_form(const struct idxi_survey *survey, unsigned bits, uint32_t block_size);

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

/* Writes table `number` from its permuted, left-aligned, strictly ascending fingerprints, and sets *made to what it
 * then has. Any thread may call it. Errors: those of the stream and of idxi_table_write. */
enum idx_status idxi_output_write_table(struct idxi_output *output, const struct idxi_table_form *form, size_t number,
                                        struct idxi_stream *fingerprints, struct idxi_table_made *made,
                                        struct idx_error *error);

/* Syncs the folder, writes the manifest, and publishes the index, once all tables are written. The caller sets bits, k,
 * ID type, by_id and recipe of `manifest`; the rest is filled in. */
enum idx_status idxi_output_publish(struct idxi_output *output, const struct idx_scheme *scheme,
                                    struct idxf_manifest *manifest, struct idx_error *error);

/* Syncs the folder of a segment of an existing index, and changes its manifest as idxi_manifest_switch does. */
enum idx_status idxi_output_switch_manifest(struct idxi_output *output, int folder, const char *folder_path,
                                            idxi_manifest_change *change, void *context, bool *switched,
                                            struct idx_error *error);

/* Closes the output, and removes what was not published, but not a segment of an existing index. */
void idxi_output_close(struct idxi_output *output);

#endif
