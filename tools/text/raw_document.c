/* raw_document.c: begins documents that are cut from an input, adds bytes to them, and completes them. */
#include "tools/text/documents.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void raw_document_free(struct raw_document *raw) {
    free(raw->bytes.bytes);
    free(raw->place);
    free(raw->id);
    *raw = (struct raw_document){.bytes = OUTPUT_KEPT};
}

struct raw_document cut_begin(const struct documents *documents, enum document_format format) {
    return (struct raw_document){.format = format,
                                 .bytes = OUTPUT_KEPT,
                                 .most = documents->most,
                                 .file = documents->met.opened_files - 1,
                                 .unit = UNIT_LINES,
                                 .begins = documents->source.offset,
                                 .date = documents->date};
}

bool cut_end(const struct documents *documents, struct raw_document *raw, const char *where, uint64_t number) {
    int length = where == NULL ? asprintf(&raw->place, "%s", documents->path)
                               : asprintf(&raw->place, "%s:%s%" PRIu64, documents->path, where, number);
    if (length < 0) {
        raw->place = NULL;
        bad_set_memory(&raw->bad);
    }
    if (raw->ends == 0) raw->ends = documents->source.offset;
    raw->input_bytes = documents->bytes_before + documents->source.bytes_read - documents->read_before;
    if (raw->bad.kind != BAD_NONE) {
        free(raw->bytes.bytes);
        raw->bytes = (struct output)OUTPUT_KEPT;
    }
    return true;
}

bool cut_bad(const struct documents *documents, struct raw_document *raw, enum bad_kind kind, const char *sentence) {
    *raw = cut_begin(documents, FORMAT_PLAIN);
    raw->unit = UNIT_FILE;
    bad_set(&raw->bad, kind, "%s", sentence);
    return cut_end(documents, raw, NULL, 0);
}

bool cut_problem(const struct documents *documents, struct raw_document *raw) {
    const struct source *source = &documents->source;
    enum bad_kind kind = source->error == ENOMEM ? BAD_MEMORY : BAD_FILE;
    return cut_bad(documents, raw, kind, source->problem.sentence);
}

void cut_keep_id(struct raw_document *raw, struct span id) {
    raw->id = malloc(id.length);
    raw->id_length = id.length;
    if (raw->id == NULL)
        bad_set_memory(&raw->bad);
    else
        memcpy(raw->id, id.bytes, id.length);
}

/* Keeps the ID of lines of features that these bytes would make too long, so that the next lines with this ID are not
 * taken for another document. Without a tab in the first raw->most bytes, there is none. */
static void keep_id(struct raw_document *raw, const char *bytes, size_t length) {
    size_t room = raw->most - raw->bytes.length;
    output_bytes(&raw->bytes, bytes, length < room ? length : room);
    const char *tab = raw->bytes.length > 0 ? memchr(raw->bytes.bytes, '\t', raw->bytes.length) : NULL;
    if (tab == NULL || tab == raw->bytes.bytes) return;
    cut_keep_id(raw, (struct span){raw->bytes.bytes, (size_t)(tab - raw->bytes.bytes)});
}

void cut_append(struct raw_document *raw, const char *bytes, size_t length) {
    if (raw->bad.kind != BAD_NONE) return;
    if (length > raw->most - raw->bytes.length) {
        bad_set(&raw->bad, BAD_LONG, "it has more than %" PRIu64 " bytes; --max-text takes longer ones", raw->most);
        if (raw->format == FORMAT_FEATURES) keep_id(raw, bytes, length);
        raw->bytes.length = 0;
        return;
    }
    output_bytes(&raw->bytes, bytes, length);
    if (raw->bytes.error != 0) bad_set_memory(&raw->bad);
}
