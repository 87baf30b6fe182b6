/* intake.c: see intake.h. */
#include "tools/dedup/intake.h"

#include "tools/input/index_making.h"
#include "tools/shared/message.h"

#include <stdlib.h>

/* As a known document is kept; its ID and the other's follow. */
struct noted {
    size_t id_length, near_length;
    unsigned distance;
};

/* ---- Taking ---- */

static void put_known(struct intake *intake, const struct output *id, const struct output *near, unsigned distance) {
    struct noted noted = {id->length, near->length, distance};
    output_bytes(&intake->known.output, &noted, sizeof noted);
    output_bytes(&intake->known.output, id->bytes, id->length);
    output_bytes(&intake->known.output, near->bytes, near->length);
    intake->known_count++;
}

static bool keep_known(struct intake *intake, const struct arrival *arrival, const struct idx_match *match) {
    struct output near = OUTPUT_KEPT, id = OUTPUT_KEPT;
    bool put = against_put_id(intake->against, match, &near);
    if (intake->id_type == IDX_ID_U64)
        output_decimal(&id, arrival->record.number);
    else
        output_bytes(&id, arrival->record.id, arrival->record.id_length);
    if (near.error != 0 || id.error != 0) complain("out of memory");
    bool good = put && near.error == 0 && id.error == 0;
    if (good) put_known(intake, &id, &near, match->distance);
    free(near.bytes);
    free(id.bytes);
    return good;
}

bool intake_add_known(struct intake *intake, const struct idx_document *document, const struct idx_document *other,
                      const struct idx_match *match) {
    struct output near = OUTPUT_KEPT, id = OUTPUT_KEPT;
    output_id(&id, document->id, document->id_length);
    listing_put_id(&near, &intake->against->properties, other, match->fingerprint);
    bool good = id.error == 0 && near.error == 0;
    if (good) put_known(intake, &id, &near, match->distance);
    if (!good) complain("out of memory");
    free(near.bytes);
    free(id.bytes);
    return good;
}

bool intake_end_known(struct intake *intake) { return temporary_flush(&intake->known); }

static bool settle(struct intake *intake, struct arrival *arrival, const struct idx_match *match) {
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

/* Only now that the IDs don't move any more. */
static void set_ids(struct intake *intake) {
    const char *id = intake->ids.bytes == NULL ? "" : intake->ids.bytes;
    for (size_t i = 0; i < intake->count; i++) {
        struct arrival *arrival = &intake->arrivals[i];
        intake->fingerprints[i] = arrival->record.fingerprint;
        arrival->record.id = id;
        id += arrival->record.id_length;
    }
}

/* The batch at hand. */
static bool settle_all(struct intake *intake) {
    bool compares = intake->looks_up, good = intake->ids.error == 0;
    if (!good) complain("out of memory");
    set_ids(intake);
    if (good && compares)
        good = against_look_up(intake->against, intake->fingerprints, intake->count, intake->matches,
                               intake->match_counts);
    for (size_t i = 0; i < intake->count && good; i++)
        good =
            settle(intake, &intake->arrivals[i], compares && intake->match_counts[i] > 0 ? &intake->matches[i] : NULL);
    intake->count = intake->ids.length = 0;
    return good;
}

static bool arrive(struct intake *intake, const struct tsv_record *record, const struct place *place, enum fate fate,
                   int64_t value) {
    struct arrival *arrival = &intake->arrivals[intake->count++];
    *arrival = (struct arrival){.record = *record, .value = value};
    if (place != NULL) arrival->place = *place;
    arrival->place.fate = fate;
    output_bytes(&intake->ids, record->id, record->id_length);
    return intake->count < INTAKE_BATCH || settle_all(intake);
}

bool intake_take(struct intake *intake, const struct tsv_record *record, const struct place *place, int64_t value) {
    return arrive(intake, record, place, FATE_COMPARED, value);
}

bool intake_keep(struct intake *intake, const char *id, size_t length, const struct place *place) {
    static const struct tsv_record none;
    output_bytes(&intake->few.output, id, length);
    if (length > 0) output_byte(&intake->few.output, '\n');
    if (length > 0) intake->few_count++;
    return intake->journal == NULL || arrive(intake, &none, place, FATE_KEPT, 0);
}

bool intake_end(struct intake *intake) {
    if (!settle_all(intake) || !temporary_flush(&intake->few) || !temporary_flush(&intake->known)) return false;
    return intake->preference.preferred == PREFERRED_NONE || preference_build(&intake->preference, intake->builder);
}

/* ---- Printing ---- */

/* Reads the IDs of the next one, one behind the other, to where they are returned; NULL after a complaint. */
static const char *read_known(struct intake *intake, const struct noted *noted) {
    size_t length = noted->id_length + noted->near_length;
    intake->ids.length = 0;
    char *bytes = output_reserve(&intake->ids, length + 1);
    if (bytes == NULL) complain("out of memory");
    return bytes != NULL && temporary_read(&intake->known, bytes, length) ? bytes : NULL;
}

bool intake_put_known(struct intake *intake, struct output *output, const char *middle) {
    struct noted noted;
    const char *ids;
    temporary_rewind(&intake->known);
    while (temporary_read(&intake->known, &noted, sizeof noted)) {
        if ((ids = read_known(intake, &noted)) == NULL) return false;
        output_bytes(output, ids, noted.id_length);
        if (middle != NULL) {
            output_text(output, middle);
            output_bytes(output, ids + noted.id_length, noted.near_length);
            output_format(output, "\t%u", noted.distance);
        }
        output_byte(output, '\n');
    }
    return !intake->known.failed;
}

bool intake_print(struct intake *intake, struct listing *listing) {
    if (listing->quiet) return true;
    if (listing->keep) return temporary_copy(&intake->few, &listing->output);
    return intake_put_known(intake, &listing->output, listing->drop ? NULL : "\t-\t");
}

void intake_close(struct intake *intake) {
    temporary_close(&intake->few);
    temporary_close(&intake->known);
    preference_close(&intake->preference);
    free(intake->ids.bytes);
}
