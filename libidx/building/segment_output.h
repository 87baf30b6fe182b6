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

/* Makes the temporary folder of a new index at `path`, the folder of segment 1 in it, and the segment's document map.
 * With `replace`, an index at the path may be replaced. `temporary_path` is the path of the folder for temporary files;
 * the string must outlive the output; NULL stands for the folder that holds `path`. Call idxi_output_close even if this
 * fails. Errors: those of idxi_publication_open and idxi_map_writer_open. */
enum idx_status idxi_output_open(struct idxi_output *output, const char *path, bool replace, const char *temporary_path,
                                 enum idx_id_type id_type, struct idx_error *error);

/* Makes the folder of segment `number`, and its document map, in the folder of an existing index at `path`.
 * `temporary_path` is as for idxi_output_open, but NULL stands for `path`. Call idxi_output_close even if this fails.
 * Errors: those of idxi_map_writer_open, IDX_NOT_FOUND, IDX_EXISTS. */
enum idx_status idxi_output_open_segment(struct idxi_output *output, const char *path, uint32_t number,
                                         const char *temporary_path, enum idx_id_type id_type, struct idx_error *error);

/* Completes the document map, and sets *bytes to the size of its two files. output->segment.fingerprints and .documents
 * must be set before. Errors: those of idxi_map_writer_finish. */
enum idx_status idxi_output_finish_map(struct idxi_output *output, uint64_t *bytes, struct idx_error *error);

/* What idxi_output_write_by_id_map has written. */
struct idxi_by_id_result {
    uint64_t hashes, entries; /* distinct hashes, and all entries */
    uint64_t bytes;           /* of both files */
};

/* Writes the map from IDs, and sets *result to its counts and size. The stream has the hashes of IDs in place of
 * fingerprints, and fingerprints for values. Each entry counts as progress. Any thread may call it. Errors: those of
 * the stream and of map writers, IDX_CANCELLED. */
enum idx_status idxi_output_write_by_id_map(struct idxi_output *output, struct idxi_stream *entries,
                                            struct idxi_progress *progress, struct idxi_by_id_result *result,
                                            struct idx_error *error);

/* What determines the code of a segment's tables: its number of fingerprints, and their differences. Begins zeroed. */
struct idxi_survey {
    uint64_t fingerprints;
    uint64_t last_fingerprint;
    struct idxf_difference_counts counts;
};

/* Adds `count` fingerprints to the survey. Over all calls they ascend, each once. `bits` is their width if they are
 * left-aligned, and 64 if they are right-aligned. */
void idxi_survey_add(struct idxi_survey *survey, const uint64_t *fingerprints, size_t count, unsigned bits);

/* Returns the form of blocks of `block_size` bytes that suits the surveyed fingerprints, of `bits` bits, best. */
struct idxf_block_form idxi_survey_choose_form(const struct idxi_survey *survey, unsigned bits, uint32_t block_size);

/* What the tables of a segment have in common. */
struct idxi_table_form {
    const struct idx_scheme *scheme;
    struct idxf_block_form blocks; /* the same for all tables of a segment */
    size_t key_memory;             /* bytes for keys of blocks, per table that is being written */
    struct idxi_progress *progress;
};

/* What idxi_output_write_table has written. */
struct idxi_table_result {
    uint64_t fingerprints;
    uint64_t bytes; /* of the file */
};

/* Writes table `number` of form->scheme from its permuted, left-aligned, strictly ascending fingerprints, which count
 * as progress, and sets *result. After an error result->bytes is unchanged. Any number of threads may call it at a
 * time, each for another table. Errors: those of the stream and of idxi_table_write. */
enum idx_status idxi_output_write_table(struct idxi_output *output, const struct idxi_table_form *form, size_t number,
                                        struct idxi_stream *fingerprints, struct idxi_table_result *result,
                                        struct idx_error *error);

/* Publishes the new index, once all files of its segment are written: syncs the segment's folder, writes the manifest,
 * and calls idxi_publish. The caller sets bits, k, ID type, by_id, sketch, resemblance and recipe of *manifest, and
 * zeroes the rest, which this sets. Errors: those of idxi_manifest_create and idxi_publish. */
enum idx_status idxi_output_publish(struct idxi_output *output, const struct idx_scheme *scheme,
                                    struct idxf_manifest *manifest, struct idx_error *error);

/* Adds the segment to an existing index: syncs the segment's folder, and calls idxi_manifest_switch with the other
 * parameters, whose `change` adds output->segment. */
enum idx_status idxi_output_switch_manifest(struct idxi_output *output, int folder, const char *folder_path,
                                            idxi_manifest_change *change, void *context, bool *switched,
                                            struct idx_error *error);

/* Closes all files and frees all memory. Removes a new index that was not published, but not the folder of a segment of
 * an existing index. */
void idxi_output_close(struct idxi_output *output);

#endif
