/* against.c: see against.h. */
#include "tools/dedup/against.h"

#include "tools/answers/cluster_listing.h"
#include "tools/shared/message.h"

static bool say(enum idx_status status, const struct idx_error *error) {
    if (status != IDX_OK) complain("%s", error->sentence);
    return status == IDX_OK;
}

bool against_open(struct against *against) {
    struct idx_error error;
    if (!say(idx_open(&against->index, against->path, NULL, &error), &error)) return false;
    idx_get_properties(against->index, &against->properties);
    return against->properties.id_type == IDX_ID_NONE ||
           say(idx_documents_open(against->index, &against->documents, &error), &error);
}

bool against_settle(const struct against *against, struct pipeline_rules *rules, bool texts) {
    const struct idx_properties *properties = &against->properties;
    if (rules->bits == 0) rules->bits = properties->bits;
    if (rules->bits != properties->bits) {
        complain("%s has fingerprints of %u bits, not %u: omit --bits", against->path, properties->bits, rules->bits);
        return false;
    }
    if (!texts) return true;
    if (*properties->recipe == '\0') {
        complain(
            "%s does not record the recipe of its fingerprints, so texts can't be compared with them; build it with "
            "--recipe, or from the output of idx fingerprint",
            against->path);
        return false;
    }
    if (rules->recipe == NULL) rules->recipe = properties->recipe;
    rules->expected_recipe = properties->recipe;
    return true;
}

bool against_look_up(const struct against *against, const uint64_t *fingerprints, size_t count,
                     struct idx_match *matches, size_t *counts) {
    struct idx_error error;
    return say(idx_lookup_many(against->index, fingerprints, count, against->distance, 1, matches, 1, counts, &error),
               &error);
}

bool against_put_id(struct against *against, const struct idx_match *match, struct output *id) {
    struct idx_document document = {0};
    struct idx_error error;
    bool found;
    if (against->documents != NULL &&
        !say(idx_documents_find(against->documents, match->fingerprint, NULL, &error), &error))
        return false;
    if (against->documents != NULL && !say(idx_documents_next(against->documents, &document, &found, &error), &error))
        return false;
    listing_put_id(id, &against->properties, &document, match->fingerprint);
    return true;
}

void against_close(struct against *against) {
    idx_documents_close(against->documents);
    idx_close(against->index);
}
