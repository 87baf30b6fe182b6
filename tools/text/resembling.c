/* resembling.c: how much a text resembles those of files, for `idx lookup --text --documents`. A build without
 * libidxtext has commands/without_text.c in place of this file. */
#include "tools/text/text.h"

#include <idx_text.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file that is being compared. */
struct compared {
    struct text *text;
    const struct resembling *resembling;
    double resemblance; /* Or what resembling_compare returns in its place. */
};

static bool compare_document(void *context, struct raw_document *raw) {
    struct compared *compared = context;
    const struct resembling *resembling = compared->resembling;
    struct output list = OUTPUT_KEPT;
    struct span id, body;
    if (raw->bad.kind == BAD_NONE && text_read(compared->text, raw, &id, &body, &raw->bad) &&
        text_list_shingles(&body, &(struct shingling){0}, &list, &raw->bad))
        compared->resemblance =
            idx_text_jaccard(resembling->hashes, resembling->count, (const uint64_t *)(const void *)list.bytes,
                             list.length / sizeof *resembling->hashes);
    else if (raw->bad.kind == BAD_MEMORY)
        compared->resemblance = RESEMBLANCE_NO_MEMORY;
    else
        complain("%s: %s", raw->place, raw->bad.problem.sentence);
    raw_document_free(raw);
    free(list.bytes);
    return true;
}

static bool is_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Makes the path of a document's file of the folder and the ID. Returns whether there is such a file. */
static bool find_file(const char *folder, struct span id, char *path) {
    size_t length = strlen(folder);
    if (id.length == 0 || memchr(id.bytes, '\0', id.length) != NULL) return false;
    memcpy(path, folder, length);
    path[length] = '/';
    memcpy(path + length + 1, id.bytes, id.length);
    path[length + 1 + id.length] = '\0';
    if (is_file(path)) return true;
    memmove(path, path + length + 1, id.length + 1);
    while (length > 0 && folder[length - 1] == '/') length--;
    return strncmp(path, folder, length) == 0 && path[length] == '/' && is_file(path);
}

double resemblance_round(double resemblance) {
    double parts = floor(resemblance * 10000);
    return ((parts + 1) / 10000 <= resemblance ? parts + 1 : parts) / 10000; /* The product may be rounded down. */
}

double resembling_compare(struct text *text, const struct resembling *resembling, struct span id) {
    struct compared compared = {.text = text, .resembling = resembling, .resemblance = RESEMBLANCE_UNKNOWN};
    char *path = malloc(strlen(resembling->folder) + id.length + 2);
    if (path == NULL) return RESEMBLANCE_NO_MEMORY;
    struct documents documents = {
        .most = text->extractor.rules->max_text, .visit = compare_document, .context = &compared};
    if (find_file(resembling->folder, id, path)) documents_read_one(&documents, path);
    documents_free(&documents);
    free(path);
    return compared.resemblance;
}
