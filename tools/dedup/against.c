/* against.c: reads the texts of --against, or the sets of an index of texts. */
#include "tools/dedup/against.h"

#include "tools/dedup/divided.h"
#include "tools/dedup/indexed.h"

/* Returns the words or characters of a shingle. */
static unsigned width_of(const struct shingling *shingling) {
    return shingling->width != 0 ? shingling->width : DEFAULT_SHINGLE_WORDS;
}

/* Takes the shingles of an index, or if `is_given` compares them with those that --shingle gave. */
static bool take_shingling(const struct idx_index *index, const char *path, bool is_given,
                           struct shingling *shingling) {
    struct idx_properties properties;
    idx_get_properties(index, &properties);
    const struct shingling stored = indexed_shingling(&properties);
    if (properties.sketch == 0)
        return complain_of_usage(
            "%s is an index of fingerprints, but --against takes texts, or an index of texts; what "
            "is near to one of the index is printed by: idx fingerprint FILE… | idx lookup "
            "--exists %s",
            path, path);
    if (is_given && (stored.of_characters != shingling->of_characters || width_of(&stored) != width_of(shingling)))
        return complain_of_usage("%s has the shingles of --shingle %s%u, and no others; leave this option out", path,
                                 stored.of_characters ? "chars:" : "", width_of(&stored));
    shingling->of_characters = stored.of_characters;
    shingling->width = stored.width;
    return true;
}

bool against_open(struct idx_index **index, const char *path, bool is_given, struct shingling *shingling) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_error error;
    if (path == NULL) return true;
    options.residence = IDX_RESIDENCE_NONE;
    const enum idx_status status = idx_open(index, path, &options, &error);
    if (status == IDX_NOT_AN_INDEX) return true;
    if (status == IDX_NOT_FOUND) return complain("%s: there is no such file or folder", path);
    return succeeded(status, &error) && take_shingling(*index, path, is_given, shingling);
}

/* Adds a text, unless it is bad or empty. This is a made_visitor. */
static bool add_text(void *context, const struct raw_document *raw, const struct made *made) {
    if (interrupt_noted()) return false;
    if (raw->bad.kind != BAD_NONE || made->shingle_count == 0) return true;
    return made->part_count > 0 ? divided_add_known(context, made->id, made)
                                : resemble_add(context, made->id, made->shingles, made->shingle_count, 0);
}

/* Adds the texts of files. */
static bool read_texts(const char *path, const struct pipeline_rules *rules, struct resemble *resemble) {
    const struct strings texts = {(char **)(uintptr_t)&path, 1};
    struct pipeline_rules reading = *rules;
    reading.visit = add_text;
    reading.makes = MAKES_SHINGLES;
    reading.context = resemble;
    if (resemble->contains.least > 0) reading.by = PARTS_DOCUMENT;
    return pipeline_run(&reading, &texts) == PIPELINE_WELL && !interrupt_noted();
}

bool against_read(const struct idx_index *index, const char *path, const struct pipeline_rules *rules,
                  struct resemble *resemble) {
    bool ok = index != NULL ? indexed_add(resemble, index) : read_texts(path, rules, resemble);
    resemble->known = resemble->count;
    return ok;
}
