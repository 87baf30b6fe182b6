/* resembling.c: answers which documents resemble a text, by an index of sketches. Their sets come from the file of
 * --documents, or are made of the files of its folder; without --documents, sketches estimate. */
#include "tools/serve/resembling.h"

#include "tools/answers/resembling.h"
#include "tools/serve/files.h"
#include "tools/serve/service.h"
#include "tools/serve/texts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- The file of sets ---- */

/* A file of sets, which requests read one after the other, under the mutex. */
struct sets_file {
    pthread_mutex_t mutex;
    const char *path;
    struct set_source source;
    off_t opened_size; /* The file's size when it was opened, since it may grow. */
};

/* Returns -1 if there is no regular file. */
static off_t size_of_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : -1;
}

bool sets_file_open(struct sets_file **result, const char *path, const struct idx_index *index) {
    struct idx_properties properties;
    char reason[RESEMBLING_REASON];
    off_t size = size_of_file(path);
    if (size < 0) return true;
    struct sets_file *file = calloc(1, sizeof *file);
    if (file == NULL) return complain("out of memory");
    *result = file;
    pthread_mutex_init(&file->mutex, NULL);
    file->path = path;
    file->opened_size = size;
    idx_get_properties(index, &properties);
    if (!resembling_can_answer(&properties, "a file of sets in --documents", "the index", true, &file->source.sketch,
                               reason))
        return complain("%s", reason);
    return set_source_open(&file->source, path, index, NULL);
}

void sets_file_close(struct sets_file *file) {
    if (file == NULL) return;
    set_source_close(&file->source);
    pthread_mutex_destroy(&file->mutex);
    free(file);
}

/* Opens the file again if its size has changed. Returns false if it has not, or, after a complaint, if it can't be
 * opened again; then it stays as it was opened before, until its size changes once more. */
static bool reopen_if_changed(struct sets_file *file, const struct idx_index *index) {
    struct idx_kept_sets_options options = IDX_KEPT_SETS_OPTIONS_INIT;
    struct idx_kept_sets *newer;
    struct idx_error error;
    off_t size = size_of_file(file->path);
    if (size == file->opened_size) return false;
    file->opened_size = size;
    options.shingles = file->source.sketch.shingles;
    options.index = index;
    if (!succeeded(idx_kept_sets_open(&newer, file->path, &options, &error), &error)) return false;
    idx_kept_sets_close(file->source.kept);
    file->source.kept = newer;
    return true;
}

/* ---- Looking up ---- */

/* What find_set needs in order to find the sets of documents for a request. */
struct set_finder {
    struct request *request;
    struct sketch sketch; /* That of the index. */
    struct output hashes; /* The set of the file that was read last. */
};

/* Makes the set of a document's file, which is valid until the next one is made. Leaves *set alone, as one that is not
 * known, if there is no such file or it can't be read as a text. */
static void make_set(struct set_finder *finder, const struct idx_document *document, struct idx_set *set) {
    const struct service *service = finder->request->service;
    struct output bytes = OUTPUT_KEPT;
    char *name = document->id == NULL ? NULL : malloc(document->id_length + 1);
    free(finder->hashes.bytes);
    finder->hashes = (struct output)OUTPUT_KEPT;
    if (name == NULL) return;
    memcpy(name, document->id, document->id_length);
    name[document->id_length] = '\0';
    if (strlen(name) == document->id_length && files_read(service, name, &bytes) &&
        texts_list_shingles(&service->texts, &bytes, name, &finder->sketch, &finder->hashes) &&
        finder->hashes.bytes != NULL)
        *set = (struct idx_set){(const uint64_t *)(const void *)finder->hashes.bytes,
                                finder->hashes.length / sizeof(uint64_t)};
    free(bytes.bytes);
    free(name);
}

/* This is an idx_set_source, whose context is a struct set_finder. It ends the look-up once the request has failed. */
static enum idx_status find_set(void *context, const struct idx_document *document, struct idx_set *set,
                                struct idx_error *error) {
    struct set_finder *finder = context;
    struct sets_file *file = finder->request->service->texts.sets;
    if (!request_check_limits(finder->request)) {
        *error = (struct idx_error){.status = IDX_CANCELLED, .sentence = "the request ended"};
        return IDX_CANCELLED;
    }
    if (file != NULL) return set_source_find(&file->source, document, set, error);
    make_set(finder, document, set);
    return IDX_OK;
}

bool resembling_read_sketch(struct answers *answers, struct sketch *sketch) {
    const struct service *service = answers->request->service;
    const struct sets_file *file = service->texts.sets;
    char reason[RESEMBLING_REASON];
    if (!resembling_can_answer(answers->properties, "resemble", "the index",
                               file != NULL || service->documents_folder >= 0, sketch, reason))
        return request_fail(answers->request, MHD_HTTP_CONFLICT, "%s", reason);
    return file == NULL || strcmp(file->source.sketch.shingles, sketch->shingles) == 0 ||
           request_fail(answers->request, MHD_HTTP_CONFLICT,
                        "the sets of --documents are of '%s', and the index of '%s'", file->source.sketch.shingles,
                        sketch->shingles);
}

/* Looks the set up, and once more if a document has no set in a file that has changed. Returns false where the request
 * failed; otherwise the caller frees the lists. */
static bool look_up(struct answers *answers, const struct idx_set *set, const struct idx_resembling_options *options,
                    struct idx_resembling_lists *lists) {
    struct sets_file *file = answers->request->service->texts.sets;
    struct idx_error error;
    if (file != NULL) pthread_mutex_lock(&file->mutex);
    enum idx_status status = idx_resembling_make(answers->index, set, 1, options, lists, &error);
    if (status == IDX_OK && file != NULL && lists->unknown > 0 && reopen_if_changed(file, answers->index)) {
        idx_resembling_free(lists);
        status = idx_resembling_make(answers->index, set, 1, options, lists, &error);
    }
    if (file != NULL) pthread_mutex_unlock(&file->mutex);
    if (status != IDX_OK && answers->request->status == 0) request_fail_by_error(answers->request, &error);
    return status == IDX_OK;
}

void resembling_answer_set(struct answers *answers, const struct idx_set *set, const struct sketch *sketch) {
    struct request *request = answers->request;
    struct idx_resembling_options options = IDX_RESEMBLING_OPTIONS_INIT;
    struct set_finder finder = {.request = request, .sketch = *sketch, .hashes = OUTPUT_KEPT};
    struct idx_resembling_lists lists;
    bool has_sets = request->service->texts.sets != NULL || request->service->documents_folder >= 0;
    options.threshold = request->resemble;
    options.sketch = sketch->values;
    options.limit = request->limit;
    options.source = has_sets ? find_set : NULL;
    options.context = &finder;
    if (look_up(answers, set, &options, &lists)) {
        output_format(&request->answer, "{\"features\":%zu,\"missed\":%.2g,\"unknown\":%llu,\"resembling\":[",
                      set->count, resembling_miss_probability(sketch, request->resemble),
                      (unsigned long long)lists.unknown);
        for (int64_t i = 0; i < lists.offsets[1]; i++) {
            output_text(&request->answer, i == 0 ? "{" : ",{");
            put_resembling_document(&request->answer, &lists, &lists.documents[i], answers->properties->id_type,
                                    has_sets ? 0 : sketch->values, true);
            output_byte(&request->answer, '}');
        }
        output_text(&request->answer, "]}\n");
        answers->queries++;
        answers->matches += (uint64_t)lists.offsets[1];
        idx_resembling_free(&lists);
    }
    free(finder.hashes.bytes);
}
