/* segment_output.c: writes a segment, whatever its source, and the manifest. */
#include "libidx/building/segment_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libidx/segment/table_writer.h"

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* ---- Opening ---- */

/* Opens the folder at a path, and sets *folder to its descriptor, which the caller closes. */
static enum idx_status open_folder(const char *path, int *folder, struct idx_error *error) {
    *folder = open(path, OPEN_FOLDER);
    return *folder >= 0 ? IDX_OK : idxi_fail_system(error, errno, path, "open");
}

/* Opens the folder for temporary files at `temporary_path`, a path that must outlive the output. Makes the folder of
 * segment `number` in the folder at `path`, with a new uuid and an empty document map. */
static enum idx_status make_segment(struct idxi_output *output, const char *path, uint32_t number,
                                    const char *temporary_path, enum idx_id_type id_type, struct idx_error *error) {
    char name[IDXI_NAME_BYTES];
    output->temporary_path = temporary_path;
    IDXI_TRY(open_folder(temporary_path, &output->temporary_folder, error));
    output->segment.number = number;
    IDXI_TRY(idxi_make_uuid(output->segment.uuid, error));
    idxi_format_segment_name(number, name);
    output->segment_path = idxi_join_path(path, name);
    if (output->segment_path == NULL) return idxi_fail_memory(error);
    if (mkdir(output->segment_path, 0777) != 0) return idxi_fail_system(error, errno, output->segment_path, "create");
    IDXI_TRY(open_folder(output->segment_path, &output->segment_folder, error));
    return idxi_map_writer_open(&output->map, IDXI_MAP_DOCUMENTS, output->segment_path, id_type, error);
}

enum idx_status idxi_output_open(struct idxi_output *output, const char *path, bool replace, const char *temporary_path,
                                 enum idx_id_type id_type, struct idx_error *error) {
    *output = (struct idxi_output){.segment_folder = -1, .temporary_folder = -1};
    IDXI_TRY(idxi_publication_open(&output->publication, path, replace, error));
    if (temporary_path == NULL) temporary_path = output->publication.parent;
    return make_segment(output, output->publication.temporary, 1, temporary_path, id_type, error);
}

enum idx_status idxi_output_open_segment(struct idxi_output *output, const char *path, uint32_t number,
                                         const char *temporary_path, enum idx_id_type id_type,
                                         struct idx_error *error) {
    *output = (struct idxi_output){.segment_folder = -1, .temporary_folder = -1};
    return make_segment(output, path, number, temporary_path != NULL ? temporary_path : path, id_type, error);
}

/* ---- Writing ---- */

enum idx_status idxi_output_finish_map(struct idxi_output *output, uint64_t *bytes, struct idx_error *error) {
    return idxi_map_writer_finish(&output->map, output->segment_folder, &output->segment, bytes, error);
}

/* Writes all entries of the stream to a map from IDs. Adds their number to result->entries, and that of their distinct
 * hashes to result->hashes. */
static enum idx_status write_by_id_entries(struct idxi_map_writer *writer, struct idxi_stream *stream,
                                           struct idxi_progress *progress, struct idxi_by_id_result *result,
                                           struct idx_error *error) {
    uint64_t hashes[IDXI_STREAM_ENTRIES], fingerprints[IDXI_STREAM_ENTRIES], last_hash = 0;
    size_t count;
    for (;;) {
        IDXI_TRY(stream->read(stream, hashes, fingerprints, IDXI_STREAM_ENTRIES, &count, error));
        if (count == 0) return IDX_OK;
        IDXI_TRY(idxi_map_writer_add_documents(writer, hashes, fingerprints, count, error));
        for (size_t i = 0; i < count; i++) {
            result->hashes += hashes[i] != last_hash || result->hashes == 0;
            last_hash = hashes[i];
        }
        result->entries += count;
        IDXI_TRY(idxi_progress_add(progress, count, error));
    }
}

enum idx_status idxi_output_write_by_id_map(struct idxi_output *output, struct idxi_stream *entries,
                                            struct idxi_progress *progress, struct idxi_by_id_result *result,
                                            struct idx_error *error) {
    struct idxf_manifest_segment segment = {.number = output->segment.number};
    struct idxi_map_writer writer;
    *result = (struct idxi_by_id_result){0};
    /* No copy of all of output->segment: another thread may be setting its counts. */
    memcpy(segment.uuid, output->segment.uuid, sizeof segment.uuid);
    enum idx_status status = idxi_map_writer_open(&writer, IDXI_MAP_BY_ID, output->segment_path, IDX_ID_U64, error);
    if (status == IDX_OK) status = write_by_id_entries(&writer, entries, progress, result, error);
    segment.fingerprints = result->hashes;
    segment.documents = result->entries;
    if (status == IDX_OK)
        status = idxi_map_writer_finish(&writer, output->segment_folder, &segment, &result->bytes, error);
    idxi_map_writer_close(&writer);
    return status;
}

void idxi_survey_add(struct idxi_survey *survey, const uint64_t *fingerprints, size_t count, unsigned bits) {
    if (count == 0) return;
    size_t skipped = survey->fingerprints == 0 ? 1 : 0; /* the first one of all has no difference */
    if (skipped > 0) survey->last_fingerprint = fingerprints[0];
    idxf_count_differences(&survey->counts, survey->last_fingerprint, fingerprints + skipped, count - skipped, bits);
    survey->fingerprints += count;
    survey->last_fingerprint = fingerprints[count - 1];
}

struct idxf_block_form idxi_survey_choose_form(const struct idxi_survey *survey, unsigned bits, uint32_t block_size) {
    struct idxf_block_form form = {.bits = bits,
                                   .anchor_bits = idxf_choose_anchor_bits(survey->fingerprints, bits, block_size),
                                   .block_size = block_size};
    idxf_code_choose(&form.code, &survey->counts, bits);
    form.long_codes = idxf_needs_long_codes(&form, &survey->counts);
    return form;
}

/* The `progress` of a struct idxi_table_job: adds `fingerprints` units to the struct idxi_progress at `context`.
 * Returns false if the caller of the library has cancelled. */
static bool count_progress(void *context, uint64_t fingerprints) {
    return idxi_progress_add(context, fingerprints, NULL) == IDX_OK;
}

enum idx_status idxi_output_write_table(struct idxi_output *output, const struct idxi_table_form *form, size_t number,
                                        struct idxi_stream *fingerprints, struct idxi_table_result *result,
                                        struct idx_error *error) {
    const struct idx_table *table = &form->scheme->tables[number];
    char name[IDXI_NAME_BYTES];
    idxi_format_table_name(number, name);
    char *path = idxi_join_path(output->segment_path, name);
    if (path == NULL) return idxi_fail_memory(error);
    struct idxi_table_job job = {
        .folder = output->segment_folder,
        .name = name,
        .path = path,
        .header = {.mask = table->mask,
                   .number = (uint32_t)number,
                   .block_size = form->blocks.block_size,
                   .bits = (uint8_t)form->scheme->bits,
                   .radius = (uint8_t)table->radius,
                   .anchor_bits = (uint8_t)form->blocks.anchor_bits,
                   .code = form->blocks.code,
                   .long_codes = form->blocks.long_codes},
        .fingerprints = fingerprints,
        .key_memory = form->key_memory,
        .temporary_folder = output->temporary_folder,
        .temporary_path = output->temporary_path,
        .progress = count_progress,
        .context = form->progress,
    };
    memcpy(job.header.uuid, output->segment.uuid, IDXF_UUID_BYTES);
    enum idx_status status = idxi_table_write(&job, &result->bytes, error);
    result->fingerprints = job.header.fingerprints;
    free(path);
    return status;
}

/* ---- Publishing ---- */

/* Sets all members of *manifest but those that the caller of idxi_output_publish sets. */
static enum idx_status complete_manifest(const struct idxi_output *output, const struct idx_scheme *scheme,
                                         struct idxf_manifest *manifest, struct idx_error *error) {
    IDXI_TRY(idxi_make_uuid(manifest->uuid, error));
    strcpy(manifest->scheme, scheme->name);
    manifest->table_count = (uint32_t)scheme->table_count;
    for (size_t i = 0; i < scheme->table_count; i++)
        manifest->tables[i] = (struct idxf_manifest_table){scheme->tables[i].mask, (uint8_t)scheme->tables[i].radius};
    manifest->segment_count = 1;
    manifest->segments[0] = output->segment;
    return IDX_OK;
}

enum idx_status idxi_output_publish(struct idxi_output *output, const struct idx_scheme *scheme,
                                    struct idxf_manifest *manifest, struct idx_error *error) {
    int new_folder;
    IDXI_TRY(idxi_sync_folder(output->segment_folder, output->segment_path, error));
    IDXI_TRY(complete_manifest(output, scheme, manifest, error));
    IDXI_TRY(open_folder(output->publication.temporary, &new_folder, error));
    enum idx_status status = idxi_manifest_create(new_folder, output->publication.temporary, manifest, error);
    close(new_folder);
    return status == IDX_OK ? idxi_publish(&output->publication, error) : status;
}

enum idx_status idxi_output_switch_manifest(struct idxi_output *output, int folder, const char *folder_path,
                                            idxi_manifest_change *change, void *context, bool *switched,
                                            struct idx_error *error) {
    IDXI_TRY(idxi_sync_folder(output->segment_folder, output->segment_path, error));
    return idxi_manifest_switch(folder, folder_path, change, context, switched, error);
}

void idxi_output_close(struct idxi_output *output) {
    idxi_map_writer_close(&output->map);
    idxi_sets_writer_close(&output->sets);
    if (output->segment_folder >= 0) close(output->segment_folder);
    if (output->temporary_folder >= 0) close(output->temporary_folder);
    idxi_publication_close(&output->publication);
    free(output->segment_path);
}
