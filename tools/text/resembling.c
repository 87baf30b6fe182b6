/* resembling.c: how much a text resembles those of files, for `idx lookup --text --documents`. A build without
 * libidxtext has commands/without_text.c in place of this file. */
#include "tools/text/resembling.h"

#include <idx_text.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct listing_file {
    struct text_reader *reader;
    struct output *list;
    double resemblance; /* 0 once the shingles are listed, or else what is returned in place of one. */
};

/* Lists the shingles of a file's document, and notes whether that succeeded. Complains of a file that can't be read as
 * a text. This is a document_visitor. */
static bool list_document(void *context, struct raw_document *raw) {
    struct listing_file *file = context;
    struct span id, body;
    bool ok = raw->bad.kind == BAD_NONE && text_reader_read(file->reader, raw, &id, &body, &raw->bad) &&
              text_list_shingles(&body, &(struct shingling){0}, file->list, &raw->bad);
    file->resemblance = ok ? 0 : raw->bad.kind == BAD_MEMORY ? RESEMBLANCE_NO_MEMORY : RESEMBLANCE_UNKNOWN;
    if (!ok && raw->bad.kind != BAD_MEMORY) complain("%s: %s", raw->place, raw->bad.problem.sentence);
    raw_document_free(raw);
    return true;
}

static bool is_regular_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Makes the path of a document's file, which is the ID below the folder, or the ID itself if it begins with the folder.
 * `path` has room for the folder, a slash, the ID and a NUL. Returns whether there is such a file. */
static bool make_file_path(const char *folder, struct span id, char *path) {
    size_t length = strlen(folder);
    if (id.length == 0 || memchr(id.bytes, '\0', id.length) != NULL) return false;
    memcpy(path, folder, length);
    path[length] = '/';
    memcpy(path + length + 1, id.bytes, id.length);
    path[length + 1 + id.length] = '\0';
    if (is_regular_file(path)) return true;
    memmove(path, path + length + 1, id.length + 1);
    while (length > 0 && folder[length - 1] == '/') length--;
    return strncmp(path, folder, length) == 0 && path[length] == '/' && is_regular_file(path);
}

double resemblance_round(double resemblance) {
    double units = floor(resemblance * 10000);
    /* The product may have been rounded to less than a whole number that it should be. */
    return ((units + 1) / 10000 <= resemblance ? units + 1 : units) / 10000;
}

double resembling_compare(struct text_reader *reader, const struct resembling *resembling, struct span id) {
    struct output list = OUTPUT_KEPT;
    struct listing_file file = {.reader = reader, .list = &list, .resemblance = RESEMBLANCE_UNKNOWN};
    char *path = malloc(strlen(resembling->folder) + id.length + 2);
    if (path == NULL) return RESEMBLANCE_NO_MEMORY;
    struct documents documents = {.most = reader->extractor.rules->max_text, .visit = list_document, .context = &file};
    if (make_file_path(resembling->folder, id, path)) documents_read_one(&documents, path);
    documents_free(&documents);
    free(path);
    if (file.resemblance == 0)
        file.resemblance =
            idx_text_jaccard(resembling->hashes, resembling->count, (const uint64_t *)(const void *)list.bytes,
                             list.length / sizeof *resembling->hashes);
    free(list.bytes);
    return file.resemblance;
}
