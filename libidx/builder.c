/* builder.c: collects documents, then sorts, encodes and writes one segment, and publishes the index. Fingerprints are
 * sorted once; each table's order is derived from that (SPEC.md, chapter 3). */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes.h"
#include "libidx/document_map.h"
#include "libidx/error.h"
#include "libidx/file.h"
#include "libidx/index.h"
#include "libidx/plan.h"
#include "libidx/publish.h"
#include "libidx/sample.h"
#include "libidx/scheme.h"
#include "libidx/sort.h"
#include "libidx/table_writer.h"

struct idx_builder {
    struct idx_build_options options;
    char recipe[IDX_MAX_RECIPE_BYTES + 1];
    char *scheme_text;
    struct idxi_publication publication;
    char *segment_path; /* in the temporary folder */
    int segment_folder;
    struct idxi_map_writer map;
    uint64_t *fingerprints;
    uint64_t *values; /* document numbers or integer IDs; NULL for IDX_ID_NONE */
    size_t count, capacity;
    bool values_ascend; /* in the order they were added */
    bool failed;        /* it can only be freed */

    struct idx_scheme scheme;
    struct idxf_manifest_segment segment;
};

/* ---- Opening ---- */

static enum idx_status check_recipe(const char *recipe, struct idx_error *error) {
    size_t length = strlen(recipe);
    bool valid = length <= IDX_MAX_RECIPE_BYTES;
    for (size_t i = 0; i < length && valid; i++) valid = (unsigned char)recipe[i] >= 32 && recipe[i] != 127;
    return valid ? IDX_OK
                 : idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "a recipe has up to %d bytes and no control characters",
                             IDX_MAX_RECIPE_BYTES);
}

static enum idx_status check_options(const struct idx_build_options *options, struct idx_error *error) {
    struct idx_scheme scheme;
    uint32_t size = options->block_size;
    bool settled_later = options->scheme != NULL && strcmp(options->scheme, IDXI_AUTO) == 0;
    IDXI_TRY(idxi_scheme_check(options->bits, options->k, error));
    if (!settled_later) IDXI_TRY(idx_scheme_parse(&scheme, options->scheme, options->bits, options->k, 0, error));
    if (size < IDX_MIN_BLOCK_SIZE || size > IDX_MAX_BLOCK_SIZE || (size & (size - 1)) != 0)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "block size %u: it must be a power of two from %d to %d",
                         size, IDX_MIN_BLOCK_SIZE, IDX_MAX_BLOCK_SIZE);
    if (options->codec != IDX_CODEC_XOR && options->codec != IDX_CODEC_DELTA)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "there is no codec %d", (int)options->codec);
    if ((unsigned)options->id_type >= IDXF_ID_TYPE_COUNT)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "there is no ID type %d", (int)options->id_type);
    if (options->threads < 1 || options->threads > IDX_MAX_THREADS)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "%u threads: it must be 1 to %d", options->threads,
                         IDX_MAX_THREADS);
    return options->recipe == NULL ? IDX_OK : check_recipe(options->recipe, error);
}

static enum idx_status make_uuid(uint8_t uuid[IDXF_UUID_BYTES], struct idx_error *error) {
    if (getrandom(uuid, IDXF_UUID_BYTES, 0) != IDXF_UUID_BYTES)
        return idxi_fail_system(error, errno, NULL, "get random bytes");
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40); /* RFC 9562, version 4 */
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
    return IDX_OK;
}

static enum idx_status open_segment(struct idx_builder *builder, struct idx_error *error) {
    char name[IDXI_NAME_BYTES];
    builder->segment.number = 1;
    IDXI_TRY(make_uuid(builder->segment.uuid, error));
    idxi_segment_name(builder->segment.number, name);
    builder->segment_path = idxi_path(builder->publication.temporary, name);
    if (builder->segment_path == NULL) return idxi_fail_memory(error);
    if (mkdir(builder->segment_path, 0777) != 0) return idxi_fail_system(error, errno, builder->segment_path, "create");
    builder->segment_folder = open(builder->segment_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (builder->segment_folder < 0) return idxi_fail_system(error, errno, builder->segment_path, "open");
    return idxi_map_writer_open(&builder->map, builder->segment_path, builder->options.id_type, error);
}

static enum idx_status open_builder(struct idx_builder *builder, const char *path,
                                    const struct idx_build_options *options, struct idx_error *error) {
    size_t size = options->size < sizeof *options ? options->size : sizeof *options;
    builder->options = (struct idx_build_options)IDX_BUILD_OPTIONS_INIT;
    memcpy(&builder->options, options, size);
    IDXI_TRY(check_options(&builder->options, error));
    builder->scheme_text = strdup(builder->options.scheme);
    if (builder->scheme_text == NULL) return idxi_fail_memory(error);
    if (builder->options.recipe != NULL) strcpy(builder->recipe, builder->options.recipe);
    IDXI_TRY(idxi_publication_open(&builder->publication, path, builder->options.replace, error));
    return open_segment(builder, error);
}

enum idx_status idx_builder_open(struct idx_builder **result, const char *path, const struct idx_build_options *options,
                                 struct idx_error *error) {
    struct idx_build_options defaults = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL) return idxi_fail_memory(error);
    builder->segment_folder = -1;
    builder->values_ascend = true;
    enum idx_status status = open_builder(builder, path, options == NULL ? &defaults : options, error);
    if (status == IDX_OK)
        *result = builder;
    else
        idx_builder_free(builder);
    return status;
}

/* ---- Adding ---- */

static enum idx_status grow(struct idx_builder *builder, struct idx_error *error) {
    size_t capacity = builder->capacity * 2 + 1024;
    uint64_t *fingerprints = realloc(builder->fingerprints, capacity * sizeof *fingerprints);
    if (fingerprints == NULL) return idxi_fail_memory(error);
    builder->fingerprints = fingerprints;
    if (builder->options.id_type != IDX_ID_NONE) {
        uint64_t *values = realloc(builder->values, capacity * sizeof *values);
        if (values == NULL) return idxi_fail_memory(error);
        builder->values = values;
    }
    builder->capacity = capacity;
    return IDX_OK;
}

static enum idx_status check_usable(const struct idx_builder *builder, struct idx_error *error) {
    return builder->failed ? idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                                       "this builder has finished or failed: it can only be freed")
                           : IDX_OK;
}

static enum idx_status check_fingerprint(const struct idx_builder *builder, uint64_t fingerprint,
                                         struct idx_error *error) {
    IDXI_TRY(check_usable(builder, error));
    if ((fingerprint & ~idxf_low_bits(builder->options.bits)) == 0) return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "fingerprint %016llx has more than %u bits",
                     (unsigned long long)fingerprint, builder->options.bits);
}

static void add(struct idx_builder *builder, uint64_t fingerprint, uint64_t value) {
    size_t at = builder->count++;
    builder->fingerprints[at] = fingerprint;
    if (builder->values == NULL) return;
    builder->values[at] = value;
    if (at > 0 && value < builder->values[at - 1]) builder->values_ascend = false;
}

enum idx_status idx_builder_add(struct idx_builder *builder, uint64_t fingerprint, const void *id, size_t length,
                                struct idx_error *error) {
    IDXI_TRY(check_fingerprint(builder, fingerprint, error));
    if (builder->options.id_type != IDX_ID_TEXT)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "this builder does not take text IDs");
    enum idx_status status = builder->count == builder->capacity ? grow(builder, error) : IDX_OK;
    if (status == IDX_OK) status = idxi_map_writer_add_id(&builder->map, builder->count, id, length, error);
    builder->failed = status != IDX_OK;
    if (status == IDX_OK) add(builder, fingerprint, builder->count);
    return status;
}

enum idx_status idx_builder_add_u64(struct idx_builder *builder, uint64_t fingerprint, uint64_t id,
                                    struct idx_error *error) {
    IDXI_TRY(check_fingerprint(builder, fingerprint, error));
    if (builder->options.id_type == IDX_ID_TEXT)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "this builder takes text IDs");
    enum idx_status status = builder->count == builder->capacity ? grow(builder, error) : IDX_OK;
    builder->failed = status != IDX_OK;
    if (status == IDX_OK) add(builder, fingerprint, id);
    return status;
}

/* ---- Finishing: documents ---- */

static enum idx_status sort_documents(struct idx_builder *builder, struct idx_error *error) {
    size_t count = builder->count;
    uint64_t *spare = malloc((count + 1) * sizeof *spare);
    uint64_t *spare_values = builder->values == NULL ? NULL : malloc((count + 1) * sizeof *spare_values);
    bool enough = spare != NULL && (builder->values == NULL || spare_values != NULL);
    if (enough)
        idxi_sort_pairs(builder->fingerprints, builder->values, count,
                        builder->values != NULL && !builder->values_ascend, spare, spare_values);
    free(spare);
    free(spare_values);
    return enough ? IDX_OK : idxi_fail_memory(error);
}

/* Leaves one of the sorted documents that are the same. */
static void drop_same_documents(struct idx_builder *builder) {
    uint64_t *fingerprints = builder->fingerprints, *values = builder->values;
    size_t kept = 0;
    for (size_t i = 0; i < builder->count; i++) {
        if (kept > 0 && fingerprints[i] == fingerprints[kept - 1] && values[i] == values[kept - 1]) continue;
        fingerprints[kept] = fingerprints[i];
        values[kept++] = values[i];
    }
    builder->count = kept;
}

/* Writes the sorted documents to the map, and leaves the distinct fingerprints. */
static enum idx_status write_documents(struct idx_builder *builder, struct idx_error *error) {
    uint64_t *fingerprints = builder->fingerprints;
    size_t distinct = 0;
    if (builder->values != NULL) {
        drop_same_documents(builder);
        IDXI_TRY(idxi_map_writer_add(&builder->map, fingerprints, builder->values, builder->count, error));
        builder->segment.documents = builder->count;
    }
    for (size_t i = 0; i < builder->count; i++) {
        if (distinct == 0 || fingerprints[i] != fingerprints[distinct - 1]) fingerprints[distinct++] = fingerprints[i];
    }
    builder->segment.fingerprints = distinct;
    free(builder->values);
    builder->values = NULL;
    return IDX_OK;
}

/* ---- Finishing: tables ---- */

/* What the threads share: each takes the next table until there is none, or one has failed. */
struct work {
    struct idx_builder *builder;
    atomic_size_t next_table;
    atomic_bool failed;
    pthread_mutex_t mutex; /* for what follows */
    uint64_t table_bytes;
    enum idx_status status;
    struct idx_error error;
};

static enum idx_status write_table(struct idx_builder *builder, size_t number, uint64_t *permuted, uint64_t *spare,
                                   uint64_t *bytes, struct idx_error *error) {
    const struct idx_table *table = &builder->scheme.tables[number];
    struct idxi_array_stream stream;
    struct idxi_table_job job = {
        .folder = builder->segment_folder,
        .header = {.mask = table->mask,
                   .number = (uint32_t)number,
                   .block_size = builder->options.block_size,
                   .bits = (uint8_t)builder->options.bits,
                   .radius = (uint8_t)table->radius,
                   .codec = (uint8_t)builder->options.codec},
        .fingerprints = &stream.stream,
        .key_memory = SIZE_MAX,
        .temporary_folder = builder->segment_folder,
        .temporary_path = builder->segment_path,
    };
    struct idxf_permutation permutation;
    char name[IDXI_NAME_BYTES];
    size_t count = (size_t)builder->segment.fingerprints;
    memcpy(job.header.uuid, builder->segment.uuid, IDXF_UUID_BYTES);
    idxf_permutation_init(&permutation, table->mask, builder->options.bits);
    uint64_t *sorted = idxi_sort_table(builder->fingerprints, count, &permutation,
                                       (unsigned)__builtin_popcountll(table->mask), permuted, spare);
    idxi_array_stream_init(&stream, sorted, NULL, count);
    idxi_table_name(number, name);
    char *path = idxi_path(builder->segment_path, name);
    if (path == NULL) return idxi_fail_memory(error);
    job.name = name;
    job.path = path;
    enum idx_status status = idxi_table_write(&job, bytes, error);
    free(path);
    return status;
}

static enum idx_status take_tables(struct work *work, struct idx_error *error) {
    struct idx_builder *builder = work->builder;
    size_t count = (size_t)builder->segment.fingerprints + 1, number;
    uint64_t *permuted = malloc(count * sizeof *permuted), *spare = malloc(count * sizeof *spare);
    enum idx_status status = permuted == NULL || spare == NULL ? idxi_fail_memory(error) : IDX_OK;
    while (status == IDX_OK && !work->failed &&
           (number = atomic_fetch_add(&work->next_table, 1)) < builder->scheme.table_count) {
        uint64_t bytes;
        status = write_table(builder, number, permuted, spare, &bytes, error);
        if (status != IDX_OK) continue;
        pthread_mutex_lock(&work->mutex);
        work->table_bytes += bytes;
        pthread_mutex_unlock(&work->mutex);
    }
    free(permuted);
    free(spare);
    return status;
}

static void *run_thread(void *context) {
    struct work *work = context;
    struct idx_error error;
    enum idx_status status = take_tables(work, &error);
    if (status == IDX_OK) return NULL;
    work->failed = true;
    pthread_mutex_lock(&work->mutex);
    if (work->status == IDX_OK) {
        work->status = status;
        work->error = error;
    }
    pthread_mutex_unlock(&work->mutex);
    return NULL;
}

/* The calling thread takes part; others help where they can be started. */
static enum idx_status write_tables(struct idx_builder *builder, uint64_t *bytes, struct idx_error *error) {
    struct work work = {.builder = builder, .mutex = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[IDX_MAX_THREADS];
    unsigned started = 0, wanted = builder->options.threads;
    if (wanted > builder->scheme.table_count) wanted = (unsigned)builder->scheme.table_count;
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, run_thread, &work) == 0) started++;
    run_thread(&work);
    while (started > 0) pthread_join(threads[--started], NULL);
    pthread_mutex_destroy(&work.mutex);
    if (work.status != IDX_OK && error != NULL) *error = work.error;
    *bytes = work.table_bytes;
    return work.status;
}

/* ---- Finishing: the whole ---- */

static enum idx_status make_manifest(const struct idx_builder *builder, struct idxf_manifest *manifest,
                                     struct idx_error *error) {
    IDXI_TRY(make_uuid(manifest->uuid, error));
    manifest->bits = (uint8_t)builder->options.bits;
    manifest->k = (uint8_t)builder->options.k;
    manifest->id_type = (enum idxf_id_type)builder->options.id_type;
    strcpy(manifest->recipe, builder->recipe);
    strcpy(manifest->scheme, builder->scheme.name);
    manifest->table_count = (uint32_t)builder->scheme.table_count;
    for (size_t i = 0; i < builder->scheme.table_count; i++)
        manifest->tables[i] =
            (struct idxf_manifest_table){builder->scheme.tables[i].mask, (uint8_t)builder->scheme.tables[i].radius};
    manifest->segment_count = 1;
    manifest->segments[0] = builder->segment;
    return IDX_OK;
}

static enum idx_status write_manifest_file(int folder, const char *path, const char *text, size_t size,
                                           struct idx_error *error) {
    struct idxi_page_writer writer;
    enum idx_status status = idxi_page_writer_open(&writer, folder, IDXI_MANIFEST_NAME, 0, path, error);
    if (status == IDX_OK) status = idxi_page_writer_finish(&writer, text, size, error);
    idxi_page_writer_close(&writer);
    return status;
}

static enum idx_status write_manifest(const struct idx_builder *builder, struct idx_error *error) {
    const char *path = builder->publication.temporary;
    struct idxf_manifest *manifest = calloc(1, sizeof *manifest);
    char *text = malloc(IDXF_MAX_MANIFEST_BYTES);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum idx_status status = IDX_OK;
    if (manifest == NULL || text == NULL) status = idxi_fail_memory(error);
    if (status == IDX_OK && folder < 0) status = idxi_fail_system(error, errno, path, "open");
    if (status == IDX_OK) status = make_manifest(builder, manifest, error);
    if (status == IDX_OK) status = write_manifest_file(folder, path, text, idxf_manifest_write(manifest, text), error);
    if (status == IDX_OK) status = idxi_sync_folder(folder, path, error);
    if (folder >= 0) close(folder);
    free(manifest);
    free(text);
    return status;
}

/* The scheme that `auto` takes for these fingerprints. */
static enum idx_status plan_scheme(struct idx_builder *builder, struct idx_error *error) {
    size_t count = (size_t)builder->segment.fingerprints;
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    struct idxi_sample sample;
    options.count = count;
    options.bits = builder->options.bits;
    options.k = builder->options.k;
    options.block_size = builder->options.block_size;
    options.max_bytes_per_fingerprint = builder->options.max_bytes_per_fingerprint;
    enum idx_status status = idxi_sample_take(&sample, builder->fingerprints, count, options.bits, error);
    options.dead_bits = sample.dead_bits;
    options.expected_group = idxi_sample_group;
    options.context = &sample;
    if (status == IDX_OK) status = idxi_plan_auto(&options, &builder->scheme, error);
    idxi_sample_free(&sample);
    return status;
}

static enum idx_status settle_scheme(struct idx_builder *builder, struct idx_error *error) {
    if (strcmp(builder->scheme_text, IDXI_AUTO) == 0) return plan_scheme(builder, error);
    return idx_scheme_parse(&builder->scheme, builder->scheme_text, builder->options.bits, builder->options.k,
                            builder->segment.fingerprints, error);
}

static enum idx_status finish(struct idx_builder *builder, struct idx_build_summary *summary, struct idx_error *error) {
    IDXI_TRY(check_usable(builder, error));
    IDXI_TRY(sort_documents(builder, error));
    IDXI_TRY(write_documents(builder, error));
    IDXI_TRY(idxi_map_writer_finish(&builder->map, builder->segment_folder, &builder->segment,
                                    &summary->documents_bytes, error));
    IDXI_TRY(settle_scheme(builder, error));
    IDXI_TRY(write_tables(builder, &summary->table_bytes, error));
    IDXI_TRY(idxi_sync_folder(builder->segment_folder, builder->segment_path, error));
    IDXI_TRY(write_manifest(builder, error));
    IDXI_TRY(idxi_publish(&builder->publication, error));
    summary->documents = builder->segment.documents;
    summary->fingerprints = builder->segment.fingerprints;
    summary->tables = builder->scheme.table_count;
    strcpy(summary->scheme, builder->scheme.name);
    return IDX_OK;
}

enum idx_status idx_builder_finish(struct idx_builder *builder, struct idx_build_summary *summary,
                                   struct idx_error *error) {
    struct idx_build_summary made = {0};
    enum idx_status status = finish(builder, &made, error);
    builder->failed = true;
    if (status == IDX_OK && summary != NULL) *summary = made;
    return status;
}

void idx_builder_free(struct idx_builder *builder) {
    if (builder == NULL) return;
    idxi_map_writer_close(&builder->map);
    if (builder->segment_folder >= 0) close(builder->segment_folder);
    idxi_publication_close(&builder->publication);
    free(builder->segment_path);
    free(builder->scheme_text);
    free(builder->fingerprints);
    free(builder->values);
    free(builder);
}
