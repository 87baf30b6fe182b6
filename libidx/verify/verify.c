/* verify.c: checks all that SPEC.md requires of an index. It first opens all files, so that a compaction which deletes
 * some of them does not matter, and then checks them one after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "libidx/base/base.h"
#include "libidx/log/log_reader.h"
#include "libidx/verify/verify.h"
#include "libidx/view/index.h"

/* So often an index is opened again because it was replaced at the same time; then what was found is reported. */
#define MAX_ATTEMPTS 1000

/* The result of opening a file, or a segment's folder. */
struct open_result {
    enum idx_status status;
    struct idx_error error;
};

/* The indices of a segment's open results. Table number i has the index OPEN_TABLES + i. */
enum { OPEN_FOLDER, OPEN_DOCUMENTS, OPEN_BY_ID, OPEN_SETS, OPEN_REMOVED, OPEN_TABLES };

struct verification {
    struct idx_index *index;
    struct open_result *open_results; /* those of all segments, one after the other */
    struct open_result log;
    idx_verify_visitor visit;
    void *context;
    enum idx_status status;  /* that of the first damage */
    struct idx_error *error; /* never NULL */
};

/* Returns the open results of segment number `segment`, from 0; if that is the number of segments, the end of all. */
static struct open_result *get_open_results(const struct verification *verification, size_t segment) {
    return verification->open_results + segment * (OPEN_TABLES + verification->index->scheme.table_count);
}

/* Reports the status of the file `folder`/`name`, or `name` if `folder` is NULL, to the visitor, and keeps the first
 * error. *error is not read if the status is IDX_OK. */
static void report_file(struct verification *verification, const char *folder, const char *name, enum idx_status status,
                        const struct idx_error *error) {
    char file[2 * IDXI_NAME_BYTES + 2];
    snprintf(file, sizeof file, "%s%s%s", folder == NULL ? "" : folder, folder == NULL ? "" : "/", name);
    if (verification->visit != NULL)
        verification->visit(verification->context, file, status, status == IDX_OK ? "" : error->sentence);
    if (status == IDX_OK || verification->status != IDX_OK) return;
    verification->status = status;
    *verification->error = *error;
}

/* ---- Opening ---- */

/* Opens all files of segment number `segment`, from 0, and keeps for each the status and the error of opening it. If
 * the folder can't be opened, opens no file. */
static void open_segment(struct verification *verification, size_t segment) {
    struct idx_index *index = verification->index;
    struct open_result *results = get_open_results(verification, segment), *result = &results[OPEN_FOLDER];
    int folder;
    result->status = idxi_segment_open_folder(index, segment, &folder, &result->error);
    if (result->status != IDX_OK) return;
    for (size_t table = 0; table < index->scheme.table_count; table++) {
        result = &results[OPEN_TABLES + table];
        result->status = idxi_segment_open_table(index, segment, table, folder, &result->error);
    }
    result = &results[OPEN_SETS];
    result->status = idxi_segment_open_sets(index, segment, folder, &result->error);
    result = &results[OPEN_DOCUMENTS];
    result->status = idxi_segment_open_map(index, segment, IDXI_MAP_DOCUMENTS, folder, &result->error);
    result = &results[OPEN_BY_ID];
    if (index->manifest->by_id)
        result->status = idxi_segment_open_map(index, segment, IDXI_MAP_BY_ID, folder, &result->error);
    result = &results[OPEN_REMOVED];
    result->status = idxi_segment_open_removed(index, segment, folder, &result->error);
    close(folder);
}

/* A visitor of records that does nothing: they are checked as they are read. */
static enum idx_status accept_record(void *context, const struct idxf_record *record, struct idx_error *error) {
    (void)context;
    (void)record;
    (void)error;
    return IDX_OK;
}

/* Checks the log, if there is one, by reading all of it, also the records that are in segments. */
static enum idx_status check_log(const struct idx_index *index, struct idx_error *error) {
    const struct idxf_manifest *manifest = index->manifest;
    const struct idxf_record_rules rules = idxi_index_get_rules(index);
    struct idxi_log log;
    if (!manifest->log.exists) return IDX_OK;
    enum idx_status status =
        idxi_log_open(&log, index->folder, index->path, &rules, &manifest->log, manifest->sequence, error);
    if (status == IDX_OK) status = idxi_log_visit_records(&log, 0, NULL, accept_record, NULL, error);
    idxi_log_close(&log);
    return status;
}

/* Opens all files of the index at `path`, and checks the log. Errors of segments and of the log are kept as open
 * results; others are returned. In any case, close_all_files closes what was opened. */
static enum idx_status open_all_files(struct verification *verification, const char *path, struct idx_error *error) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    options.residence = IDX_RESIDENCE_NONE;
    struct idx_index *index = idxi_index_new(&options);
    verification->index = index;
    if (index == NULL) return idxi_fail_memory(error);
    IDXI_TRY(idxi_index_open_folder(index, path, error));
    IDXI_TRY(idxi_index_read_manifest(index, error));
    size_t segments = index->manifest->segment_count, tables = index->scheme.table_count;
    index->segments = calloc(segments, sizeof(struct idxi_segment *));
    verification->open_results = calloc(segments, sizeof(struct open_result) * (OPEN_TABLES + tables));
    if (index->segments == NULL || verification->open_results == NULL) return idxi_fail_memory(error);
    for (size_t segment = 0; segment < segments; segment++) open_segment(verification, segment);
    verification->log.status = check_log(index, &verification->log.error);
    return IDX_OK;
}

/* Closes what open_all_files opened, so that it can be called again. */
static void close_all_files(struct verification *verification) {
    free(verification->open_results);
    idx_close(verification->index);
    verification->open_results = NULL;
    verification->index = NULL;
}

/* Returns whether all files of the index were opened, and the log is valid. */
static bool are_all_files_open(const struct verification *verification) {
    size_t segments = verification->index->manifest->segment_count;
    const struct open_result *end = get_open_results(verification, segments);
    for (const struct open_result *result = verification->open_results; result < end; result++) {
        if (result->status != IDX_OK) return false;
    }
    return verification->log.status == IDX_OK;
}

/* Opens the index as open_all_files does, and again if it was replaced meanwhile, as a whole or by compaction. */
static enum idx_status open_newest_index(struct verification *verification, const char *path, struct idx_error *error) {
    for (int attempt = 1;; attempt++) {
        enum idx_status status = open_all_files(verification, path, error);
        const struct idx_index *index = verification->index; /* NULL if memory ran out */
        bool is_complete = status == IDX_OK && are_all_files_open(verification);
        if (is_complete || attempt == MAX_ATTEMPTS || index == NULL || !idxi_index_is_outdated(index)) return status;
        close_all_files(verification);
    }
}

/* ---- The whole ---- */

/* Checks and reports table number `number` of segment number `segment`, whose folder is called `folder_name`. The first
 * undamaged table of a segment sets *expected to its fingerprints; the others must have the same. */
static void verify_table_file(struct verification *verification, size_t segment, size_t number, const char *folder_name,
                              struct idxi_fingerprint_set *expected) {
    const struct open_result *result = &get_open_results(verification, segment)[OPEN_TABLES + number];
    struct idx_error error = result->error;
    struct idxi_fingerprint_set set = {0};
    char name[IDXI_NAME_BYTES];
    idxi_format_table_name(number, name);
    enum idx_status status = result->status;
    const struct idxi_table *table = &verification->index->segments[segment]->tables[number];
    if (status == IDX_OK) status = idxi_verify_table(table, &set, &error);
    if (status == IDX_OK && !expected->is_known) {
        *expected = set;
        expected->is_known = true;
    }
    if (status == IDX_OK && set.sum != expected->sum)
        status =
            idxi_fail(&error, IDX_BAD_CONTENT, table->path,
                      "contains other fingerprints than the first undamaged table: rebuild the index, or restore it");
    report_file(verification, folder_name, name, status, &error);
}

/* Checks and reports a segment's file of sets. Unless `map` is NULL, also compares it with this document map. */
static void verify_sets_file(struct verification *verification, size_t segment_number, const char *folder_name,
                             const struct idxi_map *map) {
    const struct open_result *result = &get_open_results(verification, segment_number)[OPEN_SETS];
    const struct idx_index *index = verification->index;
    struct idx_error error = result->error;
    enum idx_status status = result->status;
    if (status == IDX_OK)
        status = idxi_verify_sets(&index->segments[segment_number]->sets, index->manifest->sketch, map, &error);
    report_file(verification, folder_name, IDXI_SETS_NAME, status, &error);
}

/* Checks and reports the document map of a segment, and then the file of sets (in an index of texts) or the map from
 * IDs, if there is one. If the document map is sound, compares it with these, too. */
static void verify_maps_and_sets(struct verification *verification, size_t segment_number, const char *folder_name,
                                 const struct idxi_fingerprint_set *expected) {
    static const struct idxi_fingerprint_set nothing_expected = {0}; /* a map from IDs has no fingerprints to expect */
    const struct open_result *results = get_open_results(verification, segment_number);
    struct idx_error error = results[OPEN_DOCUMENTS].error;
    struct idxi_segment *segment = verification->index->segments[segment_number];
    enum idx_status status = results[OPEN_DOCUMENTS].status;
    if (status == IDX_OK) status = idxi_verify_map(&segment->map, expected, &error);
    report_file(verification, folder_name, idxi_get_map_name(IDXI_MAP_DOCUMENTS), status, &error);
    bool is_map_sound = status == IDX_OK;
    if (verification->index->manifest->sketch > 0)
        verify_sets_file(verification, segment_number, folder_name, is_map_sound ? &segment->map : NULL);
    if (!verification->index->manifest->by_id) return;
    error = results[OPEN_BY_ID].error;
    status = results[OPEN_BY_ID].status;
    if (status == IDX_OK) status = idxi_verify_map(&segment->by_id, &nothing_expected, &error);
    if (status == IDX_OK && is_map_sound)
        status = idxi_verify_by_id(&segment->map, &segment->by_id, IDXI_VERIFY_CHUNK, &error);
    report_file(verification, folder_name, idxi_get_map_name(IDXI_MAP_BY_ID), status, &error);
}

/* Checks and reports all files of a segment, or just its folder if that can't be opened. */
static void verify_segment(struct verification *verification, size_t segment) {
    char folder_name[IDXI_NAME_BYTES];
    struct idxi_fingerprint_set expected = {0};
    const struct idx_index *index = verification->index;
    const struct open_result *results = get_open_results(verification, segment);
    idxi_format_segment_name(index->manifest->segments[segment].number, folder_name);
    if (results[OPEN_FOLDER].status != IDX_OK) {
        report_file(verification, NULL, folder_name, results[OPEN_FOLDER].status, &results[OPEN_FOLDER].error);
        return;
    }
    for (size_t table = 0; table < index->scheme.table_count; table++)
        verify_table_file(verification, segment, table, folder_name, &expected);
    verify_maps_and_sets(verification, segment, folder_name, &expected);
    if (index->segments[segment]->entry.removed > 0)
        report_file(verification, folder_name, IDXI_REMOVED_NAME, results[OPEN_REMOVED].status,
                    &results[OPEN_REMOVED].error);
}

/* Opens and checks all files, and reports each. Returns the status of the first damage, or of an error that is no
 * damage. `error`, which must not be NULL, is verification->error, so it has the first damage, too. */
static enum idx_status verify_index(struct verification *verification, const char *path, struct idx_error *error) {
    enum idx_status status = open_newest_index(verification, path, error);
    bool is_damage = status >= IDX_MISSING_FILE && status < IDX_OUT_OF_MEMORY; /* enum idx_status is in groups */
    if (status != IDX_OK && !is_damage) return status;
    struct idx_error error_copy = *error; /* reporting damage writes to *error */
    report_file(verification, NULL, IDXI_MANIFEST_NAME, status, &error_copy);
    if (status != IDX_OK) return status;
    const struct idx_index *index = verification->index;
    for (size_t segment = 0; segment < index->manifest->segment_count; segment++) verify_segment(verification, segment);
    if (verification->log.status != IDX_OK || index->manifest->log.exists)
        report_file(verification, NULL, IDXI_LOG_NAME, verification->log.status, &verification->log.error);
    return verification->status;
}

enum idx_status idx_verify(const char *path, idx_verify_visitor visit, void *context, struct idx_error *error) {
    struct idx_error own;
    struct verification verification = {.visit = visit, .context = context, .error = error == NULL ? &own : error};
    enum idx_status status = verify_index(&verification, path, verification.error);
    close_all_files(&verification);
    return status;
}
