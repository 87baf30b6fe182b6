/* intake.c: takes documents in batches. It looks them up in the index of --against, and adds those that are not known
 * to the index that is clustered, at once or in the order of preference. */
#include "tools/dedup/dedup.h"

#include "tools/input/index_making.h"

#include <stdlib.h>
#include <string.h>

/* ---- The index that documents are compared with ---- */

bool against_open(struct against *against) {
    struct idx_error error;
    if (!succeeded(idx_open(&against->index, against->path, NULL, &error), &error)) return false;
    idx_get_properties(against->index, &against->properties);
    return against->properties.id_type == IDX_ID_NONE ||
           succeeded(idx_documents_open(against->index, &against->documents, &error), &error);
}

bool against_settle(const struct against *against, struct pipeline_rules *rules, bool texts) {
    const struct idx_properties *properties = &against->properties;
    if (rules->bits == 0) rules->bits = properties->bits;
    if (rules->bits != properties->bits)
        return complain("%s has fingerprints of %u bits, not %u: omit --bits", against->path, properties->bits,
                        rules->bits);
    if (!texts) return true;
    if (*properties->recipe == '\0')
        return complain(
            "%s does not record the recipe of its fingerprints, so texts can't be compared with them; build it with "
            "--recipe, or from the output of idx fingerprint",
            against->path);
    if (rules->recipe == NULL) rules->recipe = properties->recipe;
    rules->expected_recipe = properties->recipe;
    return true;
}

/* Looks up fingerprints. Sets counts[i] to how many are near to fingerprints[i], and matches[i] to the nearest of
 * these. Returns false after a complaint. */
static bool against_look_up(const struct against *against, const uint64_t *fingerprints, size_t count,
                            struct idx_match *matches, size_t *counts) {
    struct idx_lookup_options options = IDX_LOOKUP_OPTIONS_INIT;
    struct idx_error error;
    options.distance = against->distance;
    return succeeded(idx_lookup_many(against->index, fingerprints, count, &options, matches, 1, counts, &error),
                     &error);
}

/* Appends the ID of the first document of a match, or without documents the fingerprint. Returns false after a
 * complaint. */
static bool against_put_id(struct against *against, const struct idx_match *match, struct output *id) {
    struct idx_document document = {0};
    struct idx_error error;
    bool found;
    if (against->documents != NULL &&
        !succeeded(idx_documents_find(against->documents, match->fingerprint, NULL, &error), &error))
        return false;
    if (against->documents != NULL &&
        !succeeded(idx_documents_next(against->documents, &document, &found, &error), &error))
        return false;
    listing_put_id(id, &against->properties, &document, match->fingerprint);
    return true;
}

void against_close(struct against *against) {
    idx_documents_close(against->documents);
    idx_close(against->index);
}

/* ---- The order of preference ---- */

/* The record of a document in the temporary file; its ID follows the record. */
struct preferred_record {
    uint64_t fingerprint;
    size_t id_length;
    bool escaped;
};

/* Takes a document. Those with larger values are preferred, and of equal ones the first. Returns false after a
 * complaint. */
static bool preference_add(struct preference *preference, const struct tsv_record *record, int64_t value) {
    const struct preferred_record kept = {record->fingerprint, record->id_length, record->escaped};
    struct output *output = &preference->documents.output;
    if (!array_grow(&preference->order, &preference->capacity, preference->count, sizeof *preference->order))
        return complain("out of memory");
    preference->order[preference->count] = (struct preferred_document){value, preference->count, preference->length};
    preference->count++;
    preference->length += sizeof kept + kept.id_length;
    output_bytes(output, &kept, sizeof kept);
    output_bytes(output, record->id, record->id_length);
    return output->error == 0 || temporary_flush(&preference->documents);
}

static int compare_preference(const void *first, const void *second) {
    const struct preferred_document *a = first, *b = second;
    if (a->value != b->value) return a->value > b->value ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static bool add_preferred(struct preference *preference, struct idx_builder *builder, uint64_t offset) {
    struct preferred_record kept;
    memcpy(&kept, temporary_take(&preference->documents, &offset, sizeof kept), sizeof kept);
    const struct tsv_record record = {.fingerprint = kept.fingerprint,
                                      .id = temporary_take(&preference->documents, &offset, kept.id_length),
                                      .id_length = kept.id_length,
                                      .escaped = kept.escaped};
    return making_add(builder, IDX_ID_TEXT, &record) && !interrupt_noted();
}

/* Adds all documents to the index, in the order of preference. Returns false after a complaint. */
static bool preference_build(struct preference *preference, struct idx_builder *builder) {
    bool good = temporary_map(&preference->documents);
    if (preference->count > 1)
        qsort(preference->order, preference->count, sizeof *preference->order, compare_preference);
    for (size_t i = 0; i < preference->count && good; i++)
        good = add_preferred(preference, builder, preference->order[i].offset);
    return good;
}

uint64_t preference_number(const struct preference *preference, uint64_t number) {
    return preference->preferred == PREFERRED_NONE || number >= preference->count ? number
                                                                                  : preference->order[number].number;
}

static void preference_close(struct preference *preference) {
    temporary_close(&preference->documents);
    free(preference->order);
}

/* ---- Taking documents ---- */

/* The record of a document that the other index has; its ID and that of the other document follow the record. */
struct known_record {
    size_t id_length, near_length;
    unsigned distance;
};

/* Keeps the ID of a document that the other index has, and the ID of the document that it is near to. Frees both
 * IDs. */
static bool put_known(struct intake *intake, struct output *id, struct output *near, unsigned distance) {
    const struct known_record record = {id->length, near->length, distance};
    bool good = id->error == 0 && near->error == 0;
    if (good) {
        output_bytes(&intake->known.output, &record, sizeof record);
        output_bytes(&intake->known.output, id->bytes, id->length);
        output_bytes(&intake->known.output, near->bytes, near->length);
        intake->known_count++;
    } else {
        complain("out of memory");
    }
    free(near->bytes);
    free(id->bytes);
    return good;
}

static bool keep_known(struct intake *intake, const struct arrival *arrival, const struct idx_match *match) {
    struct output near = OUTPUT_KEPT, id = OUTPUT_KEPT;
    if (!against_put_id(intake->against, match, &near)) {
        free(near.bytes);
        return false;
    }
    if (intake->id_type == IDX_ID_U64)
        output_decimal(&id, arrival->record.number);
    else
        output_id(&id, arrival->record.id, arrival->record.id_length);
    return put_known(intake, &id, &near, match->distance);
}

bool intake_add_known(struct intake *intake, const struct idx_document *document, const struct idx_document *other,
                      const struct idx_match *match) {
    struct output near = OUTPUT_KEPT, id = OUTPUT_KEPT;
    output_id(&id, document->id, document->id_length);
    listing_put_id(&near, &intake->against->properties, other, match->fingerprint);
    return put_known(intake, &id, &near, match->distance);
}

bool intake_end_known(struct intake *intake) { return temporary_flush(&intake->known); }

static bool take_arrival(struct intake *intake, struct arrival *arrival, const struct idx_match *match) {
    bool is_compared = arrival->place.fate == FATE_COMPARED;
    if (is_compared && match != NULL) arrival->place.fate = FATE_KNOWN;
    if (intake->journal != NULL) journal_add(intake->journal, &arrival->place);
    if (!is_compared) return true;
    if (match != NULL) return keep_known(intake, arrival, match);
    intake->compared++;
    if (intake->preference.preferred != PREFERRED_NONE)
        return preference_add(&intake->preference, &arrival->record, arrival->value);
    return making_add(intake->builder, intake->id_type, &arrival->record);
}

/* Sets the pointers to the IDs of a batch, once it is complete and its IDs don't move any more. */
static void set_ids(struct intake *intake) {
    const char *id = intake->ids.bytes == NULL ? "" : intake->ids.bytes;
    for (size_t i = 0; i < intake->count; i++) {
        struct arrival *arrival = &intake->arrivals[i];
        intake->fingerprints[i] = arrival->record.fingerprint;
        arrival->record.id = id;
        id += arrival->record.id_length;
    }
}

/* Looks up the documents of a batch if need be, and keeps each as known or to be compared. Empties the batch. */
static bool take_batch(struct intake *intake) {
    bool compares = intake->looks_up, good = intake->ids.error == 0;
    if (!good) complain("out of memory");
    set_ids(intake);
    if (good && compares)
        good = against_look_up(intake->against, intake->fingerprints, intake->count, intake->matches,
                               intake->match_counts);
    for (size_t i = 0; i < intake->count && good; i++)
        good = take_arrival(intake, &intake->arrivals[i],
                            compares && intake->match_counts[i] > 0 ? &intake->matches[i] : NULL);
    intake->count = intake->ids.length = 0;
    return good;
}

static bool add_arrival(struct intake *intake, const struct tsv_record *record, const struct place *place,
                        enum fate fate, int64_t value) {
    struct arrival *arrival = &intake->arrivals[intake->count++];
    *arrival = (struct arrival){.record = *record, .value = value};
    if (place != NULL) arrival->place = *place;
    arrival->place.fate = fate;
    output_bytes(&intake->ids, record->id, record->id_length);
    return intake->count < INTAKE_BATCH || take_batch(intake);
}

bool intake_take(struct intake *intake, const struct tsv_record *record, const struct place *place, int64_t value) {
    if (intake->id_type == IDX_ID_TEXT && !repeats_add(&intake->repeats, record->id, record->id_length)) return false;
    return add_arrival(intake, record, place, FATE_COMPARED, value);
}

bool intake_keep(struct intake *intake, const char *id, size_t length, const struct place *place) {
    static const struct tsv_record none;
    if (length > 0) {
        output_id(&intake->apart.output, id, length);
        output_byte(&intake->apart.output, '\n');
        intake->apart_count++;
        if (!repeats_add(&intake->repeats, id, length)) return false;
    }
    if (intake->builder == NULL && intake->journal != NULL) journal_add(intake->journal, place);
    return intake->builder == NULL || intake->journal == NULL || add_arrival(intake, &none, place, FATE_KEPT, 0);
}

bool intake_note(struct intake *intake, const char *id, size_t length, const struct place *place) {
    intake->compared++;
    if (intake->journal != NULL) journal_add(intake->journal, place);
    return repeats_add(&intake->repeats, id, length);
}

bool intake_end(struct intake *intake) {
    if (!take_batch(intake) || !temporary_flush(&intake->apart) || !temporary_flush(&intake->known)) return false;
    return intake->builder == NULL || intake->preference.preferred == PREFERRED_NONE ||
           preference_build(&intake->preference, intake->builder);
}

/* ---- Printing ---- */

bool intake_put_known(struct intake *intake, struct output *output, const char *middle) {
    struct known_record known;
    const char *record;
    uint64_t offset = 0;
    if (!temporary_map(&intake->known)) return false;
    while ((record = temporary_take(&intake->known, &offset, sizeof known)) != NULL) {
        memcpy(&known, record, sizeof known);
        output_bytes(output, temporary_take(&intake->known, &offset, known.id_length), known.id_length);
        const char *near = temporary_take(&intake->known, &offset, known.near_length);
        if (middle != NULL) {
            output_text(output, middle);
            output_bytes(output, near, known.near_length);
            output_format(output, "\t%u", known.distance);
        }
        output_byte(output, '\n');
    }
    return true;
}

bool intake_print(struct intake *intake, struct listing *listing) {
    if (listing->quiet) return true;
    if (listing->keep) return temporary_copy(&intake->apart, &listing->output);
    return intake_put_known(intake, &listing->output, listing->drop ? NULL : "\t-\t");
}

void intake_close(struct intake *intake) {
    temporary_close(&intake->apart);
    temporary_close(&intake->known);
    repeats_free(&intake->repeats);
    preference_close(&intake->preference);
    free(intake->ids.bytes);
}
