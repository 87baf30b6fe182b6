/* folder_texts.c: fingerprints the files of a folder, one at a time. The fingerprints of a file are kept until
 * folder_texts_next has returned all of them. */
#include "tools/text/folder_texts.h"

#include <stdlib.h>
#include <string.h>

/* A fingerprint that was made of a document; the ID of the document follows it in `made`. */
struct folder_text {
    uint64_t fingerprint;
    size_t id_length;
    size_t shingles_begin, shingles_length; /* Which bytes of `shingles` are the document's. */
};

struct folder_texts {
    struct text_reader *reader;
    const char *path;
    struct documents documents;
    struct output paths; /* The paths of the files, each with its NUL. */
    size_t next_path;    /* Where the path of the next file begins. */
    struct output made;  /* The fingerprints and IDs of the file that was read last. */
    size_t next_made;    /* Where the next one to be returned begins. */
    bool lists_shingles;
    struct output shingles; /* The hashes of the shingles of the documents of the file. */
    struct bad_counts bad;
    uint64_t good; /* Documents that were fingerprinted. */
};

/* Keeps the path of a file. This is a folder_visitor. */
static bool keep_path(void *context, const char *path) {
    struct folder_texts *texts = context;
    output_bytes(&texts->paths, path, strlen(path) + 1);
    return texts->paths.error == 0;
}

/* Keeps the fingerprints of a document, and its shingles if these are asked for. */
static bool keep_made(struct folder_texts *texts, const struct text_result *result, struct bad *bad) {
    size_t begin = texts->shingles.length;
    if (texts->lists_shingles && !text_list_shingles(&result->body, &(struct shingling){0}, &texts->shingles, bad))
        return false;
    for (size_t i = 0; i < result->count; i++) {
        const struct folder_text made = {result->fingerprints[i], result->id.length, begin,
                                         texts->shingles.length - begin};
        output_bytes(&texts->made, &made, sizeof made);
        output_bytes(&texts->made, result->id.bytes, result->id.length);
    }
    return texts->made.error == 0 || bad_set_memory(bad);
}

/* Fingerprints a document, or counts it as bad. Returns false if memory ran out. This is a document_visitor. */
static bool fingerprint_document(void *context, struct raw_document *raw) {
    struct folder_texts *texts = context;
    struct text_result result;
    bool ok = raw->bad.kind == BAD_NONE && text_reader_fingerprint(texts->reader, raw, &result, &raw->bad) &&
              keep_made(texts, &result, &raw->bad);
    const char *place = raw->place != NULL ? raw->place : "input";
    if (ok) texts->good++;
    if (!ok)
        bad_count(&texts->bad, &raw->bad, place);
    else if (raw->cut)
        bad_count_cut(&texts->bad, place);
    raw_document_free(raw);
    return texts->bad.of[BAD_MEMORY] == 0;
}

struct folder_texts *folder_texts_open(struct text_reader *reader, const char *path, const struct globs *globs) {
    const struct extract_rules *rules = reader->extractor.rules;
    struct folder_texts *texts = malloc(sizeof *texts);
    bool ok = texts != NULL;
    if (ok) {
        *texts = (struct folder_texts){
            .reader = reader, .path = path, .paths = OUTPUT_KEPT, .made = OUTPUT_KEPT, .shingles = OUTPUT_KEPT};
        texts->documents = (struct documents){
            .most = rules->max_text, .json = &rules->json, .visit = fingerprint_document, .context = texts};
        texts->documents.links = (struct links){.paths = &texts->path, .path_count = 1, .globs = globs};
        ok = folder_walk(path, globs, &texts->documents.links, keep_path, texts, &texts->documents.failed);
    }
    if (ok) return texts;
    if (texts == NULL || !texts->documents.failed) complain("%s: out of memory for the files in it", path);
    folder_texts_close(texts);
    return NULL;
}

/* Makes fingerprints of the next file. Returns false if memory ran out. */
static bool read_next_file(struct folder_texts *texts) {
    const struct opened_file file = {texts->paths.bytes + texts->next_path, true, -1};
    texts->next_path += strlen(file.path) + 1;
    texts->made.length = texts->next_made = texts->shingles.length = 0;
    return documents_read_again(&texts->documents, &file, 0); /* Nothing here asks for the number of a file. */
}

/* Says what was left out of the folder, once all files were read. Returns the status of the end. */
static enum folder_texts_status end_folder(struct folder_texts *texts) {
    documents_check_folder(&texts->documents, texts->path, &(struct documents){.format = FORMAT_AUTO});
    documents_say_left_out(&texts->documents);
    bool any_read = bad_say_total(&texts->bad, "left out bad records", texts->good);
    return !any_read || texts->documents.failed || texts->bad.of[BAD_FILE] > 0 ? FOLDER_TEXTS_PARTLY : FOLDER_TEXTS_END;
}

enum folder_texts_status folder_texts_next(struct folder_texts *texts, uint64_t *fingerprint, struct span *id,
                                           struct span *shingles) {
    struct folder_text made;
    texts->lists_shingles = shingles != NULL;
    while (texts->next_made == texts->made.length) {
        if (texts->next_path == texts->paths.length) return end_folder(texts);
        if (!read_next_file(texts)) return FOLDER_TEXTS_FAILED;
    }
    memcpy(&made, texts->made.bytes + texts->next_made, sizeof made);
    *fingerprint = made.fingerprint;
    *id = (struct span){texts->made.bytes + texts->next_made + sizeof made, made.id_length};
    if (shingles != NULL && made.shingles_length > 0)
        *shingles = (struct span){texts->shingles.bytes + made.shingles_begin, made.shingles_length};
    texts->next_made += sizeof made + made.id_length;
    return FOLDER_TEXTS_ONE;
}

void folder_texts_close(struct folder_texts *texts) {
    if (texts == NULL) return;
    documents_free(&texts->documents);
    free(texts->paths.bytes);
    free(texts->made.bytes);
    free(texts->shingles.bytes);
    free(texts);
}
