/* raw_document.c: adds bytes to a document that is cut from an input. */
#include "tools/formats/raw_document.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void raw_document_free(struct raw_document *raw) {
    free(raw->bytes.bytes);
    free(raw->place);
    free(raw->id);
    *raw = (struct raw_document){.bytes = OUTPUT_BUFFER};
}

void raw_document_keep_id(struct raw_document *raw, struct span id) {
    raw->id = malloc(id.length);
    raw->id_length = id.length;
    if (raw->id == NULL)
        bad_set_memory(&raw->bad);
    else
        memcpy(raw->id, id.bytes, id.length);
}

/* Sets raw->id to the ID of lines of features that are too long, so that the next lines with this ID are not taken for
 * another document. `bytes` are those that would make the lines too long, and may have the end of the ID. Without a tab
 * in the first raw->most bytes, or with an empty ID, raw->id stays as it is. */
static void keep_id_of_long_lines(struct raw_document *raw, const char *bytes, size_t length) {
    size_t bytes_left = raw->most - raw->bytes.length;
    output_bytes(&raw->bytes, bytes, length < bytes_left ? length : bytes_left);
    const char *tab = raw->bytes.length > 0 ? memchr(raw->bytes.bytes, '\t', raw->bytes.length) : NULL;
    if (tab == NULL || tab == raw->bytes.bytes) return;
    raw_document_keep_id(raw, (struct span){raw->bytes.bytes, (size_t)(tab - raw->bytes.bytes)});
}

void raw_document_append(struct raw_document *raw, const char *bytes, size_t length) {
    if (raw->bad.kind != BAD_NONE) return;
    if (length > raw->most - raw->bytes.length) {
        bad_set(&raw->bad, BAD_LONG, "it has more than %" PRIu64 " bytes; --max-text takes longer ones", raw->most);
        if (raw->format == FORMAT_FEATURES) keep_id_of_long_lines(raw, bytes, length);
        raw->bytes.length = 0;
        return;
    }
    output_bytes(&raw->bytes, bytes, length);
    if (raw->bytes.error != 0) bad_set_memory(&raw->bad);
}
