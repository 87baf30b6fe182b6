/* folder_texts.c: fingerprints the files of a folder, one at a time. The fingerprints of a file are kept until
 * below_next has returned all of them. */
#include "tools/text/folder_texts.h"

#include <stdlib.h>
#include <string.h>

/* What precedes each ID in the fingerprints that were made of a file. */
struct below_text {
    uint64_t fingerprint;
    size_t id_length;
    size_t shingles, shingles_length; /* Bytes of `shingles` that are those of the document. */
};

struct below {
    struct text_reader *reader;
    const char *path;
    struct documents documents;
    struct output paths; /* The paths of the files, each with its NUL. */
    size_t next_path;
    struct output made; /* The fingerprints and IDs of the file that was read last. */
    size_t next_made;
    bool lists_shingles;
    struct output shingles; /* Those of the documents of the file. */
    struct bad_counts bad;
    uint64_t good; /* Documents that were fingerprinted. */
};

static bool visit_path(void *context, const char *path) {
    struct below *below = context;
    output_bytes(&below->paths, path, strlen(path) + 1);
    return below->paths.error == 0;
}

/* Keeps what was made of a document. Sets *bad and returns false if that fails. */
static bool keep_fingerprints(struct below *below, const struct text_result *result, struct bad *bad) {
    size_t begin = below->shingles.length;
    if (below->lists_shingles && !text_list_shingles(&result->body, &(struct shingling){0}, &below->shingles, bad))
        return false;
    for (size_t i = 0; i < result->count; i++) {
        const struct below_text made = {result->fingerprints[i], result->id.length, begin,
                                        below->shingles.length - begin};
        output_bytes(&below->made, &made, sizeof made);
        output_bytes(&below->made, result->id.bytes, result->id.length);
    }
    return below->made.error == 0 || bad_set_memory(bad);
}

/* Keeps the fingerprints of a document. This is a document_visitor. */
static bool fingerprint_document(void *context, struct raw_document *raw) {
    struct below *below = context;
    struct text_result result;
    bool ok = raw->bad.kind == BAD_NONE && text_reader_fingerprint(below->reader, raw, &result, &raw->bad) &&
              keep_fingerprints(below, &result, &raw->bad);
    const char *place = raw->place != NULL ? raw->place : "input";
    below->good += ok;
    if (!ok)
        bad_count(&below->bad, &raw->bad, place);
    else if (raw->cut)
        bad_count_cut(&below->bad, place);
    raw_document_free(raw);
    return below->bad.of[BAD_MEMORY] == 0;
}

struct below *below_new(struct text_reader *reader, const char *path, const struct globs *globs) {
    struct below *below = malloc(sizeof *below);
    if (below != NULL) {
        *below = (struct below){
            .reader = reader, .path = path, .paths = OUTPUT_KEPT, .made = OUTPUT_KEPT, .shingles = OUTPUT_KEPT};
        below->documents.most = reader->extractor.rules->max_text;
        below->documents.json = &reader->extractor.rules->json;
        below->documents.visit = fingerprint_document;
        below->documents.context = below;
    }
    if (below != NULL && folder_walk(path, globs, visit_path, below, &below->documents.failed)) return below;
    if (below == NULL || !below->documents.failed) complain("%s: out of memory for the files in it", path);
    below_free(below);
    return NULL;
}

/* Makes fingerprints of the next file. Returns false if memory ran out. */
static bool read_next(struct below *below) {
    const struct opened_file file = {below->paths.bytes + below->next_path, true, -1};
    below->next_path += strlen(file.path) + 1;
    below->made.length = below->next_made = below->shingles.length = 0;
    return documents_read_again(&below->documents, &file, 0);
}

static enum below_status end_search(struct below *below) {
    documents_check_folder(&below->documents, below->path, 0, 0);
    documents_say_left_out(&below->documents);
    bool any = bad_say_total(&below->bad, "left out bad records", below->good);
    return !any || below->documents.failed || below->bad.of[BAD_FILE] > 0 ? BELOW_PARTLY : BELOW_END;
}

enum below_status below_next(struct below *below, uint64_t *fingerprint, struct span *id, struct span *shingles) {
    struct below_text made;
    below->lists_shingles = shingles != NULL;
    while (below->next_made == below->made.length) {
        if (below->next_path == below->paths.length) return end_search(below);
        if (!read_next(below)) return BELOW_FAILED;
    }
    memcpy(&made, below->made.bytes + below->next_made, sizeof made);
    *fingerprint = made.fingerprint;
    *id = (struct span){below->made.bytes + below->next_made + sizeof made, made.id_length};
    if (shingles != NULL && made.shingles_length > 0)
        *shingles = (struct span){below->shingles.bytes + made.shingles, made.shingles_length};
    below->next_made += sizeof made + made.id_length;
    return BELOW_ONE;
}

void below_free(struct below *below) {
    if (below == NULL) return;
    documents_free(&below->documents);
    free(below->paths.bytes);
    free(below->made.bytes);
    free(below->shingles.bytes);
    free(below);
}
