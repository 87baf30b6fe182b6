/* against.c: reads the texts of --against. */
#include "tools/dedup/against.h"

#include "tools/dedup/divided.h"

bool against_check(const char *path) {
    struct idx_index *index = NULL;
    if (path == NULL) return true;
    const enum idx_status status = idx_open(&index, path, NULL, NULL);
    idx_close(index);
    if (status == IDX_NOT_AN_INDEX) return true;
    if (status == IDX_NOT_FOUND) return complain("%s: there is no such file or folder", path);
    return complain_of_usage(
        "%s is an index of fingerprints, but --against takes texts; what is near to one of the index "
        "is printed by: idx fingerprint FILE… | idx lookup --exists %s",
        path, path);
}

/* Adds a text, unless it is bad or empty. This is a made_visitor. */
static bool add_text(void *context, const struct raw_document *raw, const struct made *made) {
    if (interrupt_noted()) return false;
    if (raw->bad.kind != BAD_NONE || made->shingle_count == 0) return true;
    return made->part_count > 0 ? divided_add_known(context, made->id, made)
                                : resemble_add(context, made->id, made->shingles, made->shingle_count, 0);
}

bool against_read_texts(const char *path, const struct pipeline_rules *rules, struct resemble *resemble) {
    const struct strings texts = {(char **)(uintptr_t)&path, 1};
    struct pipeline_rules reading = *rules;
    reading.visit = add_text;
    reading.makes = MAKES_SHINGLES;
    reading.context = resemble;
    if (resemble->contains.least > 0) reading.by = PARTS_DOCUMENT;
    bool ok = pipeline_run(&reading, &texts) == PIPELINE_WELL && !interrupt_noted();
    resemble->known = resemble->count;
    return ok;
}
