/* against.c: reads the texts of --against, or the sets of an index of texts. */
#include "tools/dedup/against.h"

#include "tools/dedup/divided.h"
#include "tools/dedup/indexed.h"
#include "tools/resemblance/shingling.h"

/* Sets *shingling to that of `index`, which must be one of texts; messages call it `path`. If `is_shingle_given`,
 * --shingle has set *shingling already, and must agree. Returns false after a complaint. */
static bool apply_shingling_of_index(const struct idx_index *index, const char *path, bool is_shingle_given,
                                     struct idx_text_shingle_options *shingling) {
    struct idx_properties properties;
    idx_get_properties(index, &properties);
    struct idx_text_shingle_options stored_shingling;
    shingling_read_recipe(properties.recipe, &stored_shingling);
    if (properties.sketch == 0)
        return complain_of_usage(
            "%s is an index of fingerprints, but --against takes texts, or an index of texts; what "
            "is near to one of the index is printed by: idx fingerprint FILE… | idx lookup "
            "--exists %s",
            path, path);
    if (is_shingle_given && (stored_shingling.unit != shingling->unit || stored_shingling.width != shingling->width))
        return complain_of_usage("%s has the shingles of --shingle %s%u, and no others; leave this option out", path,
                                 stored_shingling.unit == IDX_TEXT_CHARACTERS ? "chars:" : "", stored_shingling.width);
    shingling->unit = stored_shingling.unit;
    shingling->width = stored_shingling.width;
    return true;
}

bool against_open_index(struct idx_index **index, const char *path, bool is_shingle_given,
                        struct idx_text_shingle_options *shingling) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_error error;
    if (path == NULL) return true;
    options.residence = IDX_RESIDENCE_NONE;
    const enum idx_status status = idx_open(index, path, &options, &error);
    if (status == IDX_NOT_AN_INDEX) return true;
    if (status == IDX_NOT_FOUND) return complain("%s: there is no such file or folder", path);
    return succeeded(status, &error) && apply_shingling_of_index(*index, path, is_shingle_given, shingling);
}

/* Adds the texts of the file or folder at `path`, or their parts if `rules` divide them, to `resemble`. Leaves out
 * those that are bad or have no shingles. Returns false after a complaint, or if a signal was noted. */
static bool add_texts_of_files(const char *path, const struct reading_rules *rules, struct resemble *resemble) {
    const struct strings paths = {(char **)(uintptr_t)&path, 1};
    struct reading_rules own_rules = *rules;
    own_rules.makes = MAKES_SHINGLES;
    own_rules.journal = NULL;
    own_rules.takes_other_records = false;
    if (resemble->contains.least > 0) own_rules.by = PARTS_DOCUMENT;
    struct reading *reading = reading_open(&own_rules, &paths);
    const struct made *made;
    bool ok = reading != NULL;
    while (ok && (made = reading_next(reading)) != NULL && !interrupt_is_noted()) {
        if (made->raw->bad.kind != BAD_NONE || made->shingle_count == 0) continue;
        ok = made->part_count > 0 ? divided_add_part_sets(resemble, made->id, made)
                                  : resemble_add_document(resemble, made->id, made->shingles, made->shingle_count, 0);
    }
    return reading_close(reading) == READING_WELL && ok && !interrupt_is_noted();
}

bool against_read(const struct idx_index *index, const char *path, const struct reading_rules *rules,
                  struct resemble *resemble) {
    bool ok = index != NULL ? indexed_add_texts(resemble, index) : add_texts_of_files(path, rules, resemble);
    resemble->known = resemble->count;
    return ok;
}
