/* files.c: how much a text resembles those of files, for `idx lookup --text --documents`. A build without
 * libidxtext has commands/without_text.c in place of this file. */
#include "tools/resemblance/files.h"

#include <idx_text.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Appends the hashes of the shingles of the document at `path` to `hashes`. Returns 0 if it succeeds;
 * RESEMBLANCE_UNKNOWN, after a complaint, if the file can't be read as a text; or RESEMBLANCE_NO_MEMORY. */
static double list_document_shingles(struct text_reader *reader, const char *path, struct output *hashes) {
    struct documents documents = {.most = reader->extractor.rules->max_text};
    struct raw_document raw;
    struct span id, body;
    documents_read_one(&documents, path, &raw);
    bool ok = raw.bad.kind == BAD_NONE && text_reader_extract_text(reader, &raw, &id, &body, &raw.bad) &&
              text_list_shingles(&body, NULL, hashes, &raw.bad);
    const bool no_memory = raw.bad.kind == BAD_MEMORY;
    if (!ok && !no_memory) complain("%s: %s", raw.place, raw.bad.problem.sentence);
    raw_document_free(&raw);
    documents_free(&documents);
    return ok ? 0 : no_memory ? RESEMBLANCE_NO_MEMORY : RESEMBLANCE_UNKNOWN;
}

/* Returns whether there is a regular file at `path`. */
static bool is_regular_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Writes the path of a document's file to `path`: FOLDER/ID, or the ID itself if it begins with the folder and there is
 * no file FOLDER/ID. `path` must have room for the folder, a slash, the ID and a NUL. Returns whether there is such a
 * file; if not, `path` is unspecified. */
static bool find_document_file(const char *folder, struct span id, char *path) {
    size_t folder_length = strlen(folder);
    if (id.length == 0 || memchr(id.bytes, '\0', id.length) != NULL) return false;
    memcpy(path, folder, folder_length);
    path[folder_length] = '/';
    memcpy(path + folder_length + 1, id.bytes, id.length);
    path[folder_length + 1 + id.length] = '\0';
    if (is_regular_file(path)) return true;
    memmove(path, path + folder_length + 1, id.length + 1); /* Leaves the ID, with its NUL. */
    while (folder_length > 0 && folder[folder_length - 1] == '/') folder_length--;
    return strncmp(path, folder, folder_length) == 0 && path[folder_length] == '/' && is_regular_file(path);
}

double resemblance_round_down(double resemblance) {
    double ten_thousandths = floor(resemblance * 10000);
    /* The product may have been rounded to less than a whole number that it should be. */
    return ((ten_thousandths + 1) / 10000 <= resemblance ? ten_thousandths + 1 : ten_thousandths) / 10000;
}

double resembling_compare(struct text_reader *reader, const struct resembling *resembling, struct span id) {
    struct output list = OUTPUT_BUFFER;
    char *path = malloc(strlen(resembling->folder) + id.length + 2);
    if (path == NULL) return RESEMBLANCE_NO_MEMORY;
    double resemblance = find_document_file(resembling->folder, id, path) ? list_document_shingles(reader, path, &list)
                                                                          : RESEMBLANCE_UNKNOWN;
    free(path);
    if (resemblance == 0) /* The shingles were listed. */
        resemblance =
            idx_text_jaccard(resembling->hashes, resembling->count, (const uint64_t *)(const void *)list.bytes,
                             list.length / sizeof *resembling->hashes);
    free(list.bytes);
    return resemblance;
}
