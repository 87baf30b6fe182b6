/* against.c: looks up new documents in the index of --against, or reads the texts that they are compared with. */
#include "tools/dedup/against.h"

#include "tools/answers/cluster_listing.h"
#include "tools/answers/resembling.h"
#include "tools/dedup/bits.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- An index ---- */

bool against_open(struct against *against) {
    struct idx_error error;
    if (against->path == NULL) return true;
    enum idx_status status = idx_open(&against->index, against->path, NULL, &error);
    against->is_index = status != IDX_NOT_AN_INDEX;
    if (!against->is_index) return true;
    if (status == IDX_NOT_FOUND) return complain("%s: there is no such index, file or folder", against->path);
    if (!succeeded(status, &error)) return false;
    idx_get_properties(against->index, &against->properties);
    against->has_sketches = recipe_read_sketch(against->properties.recipe, &against->sketch);
    return against->properties.id_type == IDX_ID_NONE ||
           succeeded(idx_documents_open(against->index, &against->cursor, &error), &error);
}

bool against_complete_rules(const struct against *against, struct pipeline_rules *rules, bool has_texts) {
    const struct idx_properties *properties = &against->properties;
    if (rules->bits == 0) rules->bits = properties->bits;
    if (rules->bits != properties->bits)
        return complain("%s has fingerprints of %u bits, not %u: omit --bits", against->path, properties->bits,
                        rules->bits);
    if (!has_texts) return true;
    if (*properties->recipe == '\0')
        return complain(
            "%s does not record the recipe of its fingerprints, so texts can't be compared with them; build it with "
            "--recipe, or from the output of idx fingerprint",
            against->path);
    if (rules->recipe == NULL) rules->recipe = properties->recipe;
    rules->expected_recipe = properties->recipe;
    return true;
}

bool against_look_up(const struct against *against, const uint64_t *fingerprints, size_t count,
                     struct idx_match *matches, size_t *counts) {
    struct idx_lookup_options options = IDX_LOOKUP_OPTIONS_INIT;
    struct idx_error error;
    options.distance = against->distance;
    return succeeded(idx_lookup_many(against->index, fingerprints, count, &options, matches, 1, counts, &error),
                     &error);
}

bool against_put_match_id(struct against *against, const struct idx_match *match, struct output *id) {
    struct idx_document document = {0};
    struct idx_error error;
    bool found;
    if (against->cursor != NULL &&
        !succeeded(idx_documents_find(against->cursor, match->fingerprint, NULL, &error), &error))
        return false;
    if (against->cursor != NULL && !succeeded(idx_documents_next(against->cursor, &document, &found, &error), &error))
        return false;
    listing_put_id(id, &against->properties, &document, match->fingerprint);
    return true;
}

/* ---- Texts ---- */

/* Calls `visit` for each document of a match. Returns false if that did, against->failed then says, or if a signal was
 * noted. */
static bool visit_documents(struct against *against, const struct idx_match *match,
                            bool (*visit)(struct against *against, const struct idx_document *document)) {
    struct idx_document document;
    struct idx_error error;
    bool found = true, ok = succeeded(idx_documents_find(against->cursor, match->fingerprint, NULL, &error), &error);
    while (ok && found && !interrupt_noted())
        ok = succeeded(idx_documents_next(against->cursor, &document, &found, &error), &error) &&
             (!found || visit(against, &document));
    against->failed = !ok;
    return ok && !interrupt_noted();
}

static bool add_document_id(struct against *against, const struct idx_document *document) {
    return id_hashes_add(&against->ids, document->id, document->id_length);
}

/* This is an idx_match_visitor. */
static bool add_ids_of_match(void *context, const struct idx_match *match) {
    return visit_documents(context, match, add_document_id);
}

const char *against_sets_path(const struct against *against) {
    const char *path = against->documents.count == 1 ? against->documents.values[0] : NULL;
    return against->has_sketches && path != NULL && set_file_is_at(path) ? path : NULL;
}

/* Adds the set of a document, if one is kept and it was not added before, by another fingerprint of the document. */
static bool add_document_set(struct against *against, const struct idx_document *document) {
    struct idx_set set = {NULL, 0};
    struct idx_error error;
    size_t at = id_hashes_find(&against->ids, document->id, document->id_length);
    if (bit_is_set(against->found, at)) return true;
    if (!succeeded(idx_kept_sets_find(against->kept, document, &set, &error), &error)) return false;
    if (set.hashes == NULL) return true;
    bit_set(against->found, at);
    return resemble_add(against->resemble, (struct span){document->id, document->id_length}, set.hashes, set.count, 0);
}

/* This is an idx_match_visitor. */
static bool add_sets_of_match(void *context, const struct idx_match *match) {
    return visit_documents(context, match, add_document_set);
}

/* Adds the sets of the index's documents from a file of sets. Returns false also if a signal was noted. */
static bool read_kept_sets(struct against *against, const char *path) {
    struct idx_kept_sets_options options = IDX_KEPT_SETS_OPTIONS_INIT;
    struct idx_error error;
    options.shingles = against->sketch.shingles;
    options.index = against->index;
    if (!open_kept_sets(&against->kept, path, &options)) return false;
    enum idx_status status = idx_visit_all(against->index, add_sets_of_match, against, &error);
    idx_kept_sets_close(against->kept);
    return succeeded(status, &error) && !against->failed && !interrupt_noted();
}

/* Adds a text, unless it is bad or empty, or the index of --against has no such ID. This is a made_visitor. */
static bool add_text(void *context, const struct raw_document *raw, const struct made *made) {
    struct against *against = context;
    if (interrupt_noted()) return false;
    if (raw->bad.kind != BAD_NONE || made->shingle_count == 0) return true;
    if (against->is_index) {
        size_t at = id_hashes_find(&against->ids, made->id.bytes, made->id.length);
        if (at == against->ids.count) return true;
        bit_set(against->found, at);
    }
    return resemble_add(against->resemble, made->id, made->shingles, made->shingle_count, 0);
}

/* Says how many documents of the index have no text. Returns false if there are documents, and none has. */
static bool say_missing(const struct against *against) {
    uint64_t missing = 0, all = 0;
    for (size_t i = 0; i < against->ids.count; i++) {
        /* Of equal hashes, which a document with several fingerprints has, `found` has a bit for the first alone. */
        if (i > 0 && against->ids.hashes[i] == against->ids.hashes[i - 1]) continue;
        all++;
        missing += !bit_is_set(against->found, i);
    }
    if (missing > 0)
        complain("%" PRIu64 " of %" PRIu64 " documents of %s have no text in --documents, and drop nothing; IDs there "
                 "must be those of the index (see --id-field)",
                 missing, all, against->path);
    return missing < all || all == 0;
}

bool against_read_texts(struct against *against, const struct pipeline_rules *rules, struct resemble *resemble) {
    const struct strings texts = {(char **)(uintptr_t)&against->path, 1};
    struct pipeline_rules reading = *rules;
    struct idx_error error;
    reading.visit = add_text;
    reading.makes = MAKES_SHINGLES;
    reading.context = against;
    against->resemble = resemble;
    if (against->is_index) {
        if (idx_visit_all(against->index, add_ids_of_match, against, &error) != IDX_OK)
            return complain("%s", error.sentence);
        if (against->failed || interrupt_noted()) return false;
        id_hashes_sort(&against->ids);
        against->found = bits_make(against->ids.count);
        if (against->found == NULL) return false;
    }
    const char *sets = against_sets_path(against);
    bool ok = sets != NULL
                  ? read_kept_sets(against, sets)
                  : pipeline_run(&reading, against->is_index ? &against->documents : &texts) == PIPELINE_WELL &&
                        !interrupt_noted();
    resemble->known = resemble->count;
    return ok && (!against->is_index || say_missing(against));
}

void against_close(struct against *against) {
    idx_documents_close(against->cursor);
    idx_close(against->index);
    id_hashes_free(&against->ids);
    free(against->found);
    strings_free(&against->documents);
}
