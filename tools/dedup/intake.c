/* intake.c: takes documents in batches. It looks them up in the index of --against, and adds those that are not known
 * to the index that is clustered, at once or in the order of preference. */
#include "tools/dedup/intake.h"

#include "tools/input/index_making.h"
#include "tools/shared/array.h"

#include <stdlib.h>
#include <string.h>

/* ---- The order of preference ---- */

/* The record of a document in the temporary file; its ID follows the record. */
struct preferred_record {
    uint64_t fingerprint;
    size_t id_length;
    bool escaped;
};

/* Takes a document. Those with larger values are preferred, and of equal ones the first. */
static bool preference_add(struct preference *preference, const struct tsv_record *record, int64_t value) {
    const struct preferred_record head = {record->fingerprint, record->id_length, record->escaped};
    struct output *output = &preference->documents.output;
    if (!array_grow(&preference->order, &preference->capacity, preference->count, sizeof *preference->order))
        return complain("out of memory");
    preference->order[preference->count] = (struct preferred_document){value, preference->count, preference->length};
    preference->count++;
    preference->length += sizeof head + head.id_length;
    output_bytes(output, &head, sizeof head);
    output_bytes(output, record->id, record->id_length);
    return output->error == 0 || temporary_flush(&preference->documents);
}

static int compare_preference(const void *first, const void *second) {
    const struct preferred_document *a = first, *b = second;
    if (a->value != b->value) return a->value > b->value ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Adds the document whose record is at `offset` to the index. Returns false also if a signal was noted. */
static bool add_preferred_document(struct preference *preference, struct idx_builder *builder, uint64_t offset) {
    struct preferred_record head;
    memcpy(&head, temporary_take(&preference->documents, &offset, sizeof head), sizeof head);
    const struct tsv_record record = {.fingerprint = head.fingerprint,
                                      .id = temporary_take(&preference->documents, &offset, head.id_length),
                                      .id_length = head.id_length,
                                      .escaped = head.escaped};
    return making_add_document(builder, IDX_ID_TEXT, &record) && !interrupt_noted();
}

/* Adds all documents to the index, in the order of preference. Returns false also if a signal was noted. */
static bool add_all_by_preference(struct preference *preference, struct idx_builder *builder) {
    bool ok = temporary_map(&preference->documents);
    if (preference->count > 1)
        qsort(preference->order, preference->count, sizeof *preference->order, compare_preference);
    for (size_t i = 0; i < preference->count && ok; i++)
        ok = add_preferred_document(preference, builder, preference->order[i].offset);
    return ok;
}

uint64_t preference_input_number(const struct preference *preference, uint64_t number) {
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

/* Writes the record of a known document, with its ID and that of the document that it is near to. Frees both IDs. */
static bool put_known_record(struct intake *intake, struct output *id, struct output *near, unsigned distance) {
    const struct known_record head = {id->length, near->length, distance};
    bool ok = id->error == 0 && near->error == 0;
    if (ok) {
        output_bytes(&intake->known.output, &head, sizeof head);
        output_bytes(&intake->known.output, id->bytes, id->length);
        output_bytes(&intake->known.output, near->bytes, near->length);
        intake->known_count++;
    } else {
        complain("out of memory");
    }
    free(near->bytes);
    free(id->bytes);
    return ok;
}

/* Keeps the ID of an arrival, and that of the first document of its nearest match. */
static bool keep_known_document(struct intake *intake, const struct arrival *arrival, const struct idx_match *match) {
    struct output near = OUTPUT_KEPT, id = OUTPUT_KEPT;
    if (!against_put_match_id(intake->against, match, &near)) {
        free(near.bytes);
        return false;
    }
    if (intake->id_type == IDX_ID_U64)
        output_decimal(&id, arrival->record.number);
    else
        output_id(&id, arrival->record.id, arrival->record.id_length);
    return put_known_record(intake, &id, &near, match->distance);
}

/* Takes an arrival: as known, if looking it up found `match`, the nearest one; if that is NULL, hands it to what
 * compares documents. One whose fate is not to be compared only goes into the journal. */
static bool take_arrival(struct intake *intake, const struct arrival *arrival, const struct idx_match *match) {
    struct place place = arrival->place;
    const bool is_compared = place.fate == FATE_COMPARED;
    const struct tsv_record *record = &arrival->record;
    if (is_compared && match != NULL) place.fate = FATE_KNOWN;
    if (intake->journal != NULL) journal_add_place(intake->journal, &place);
    if (!is_compared) return true;
    if (match != NULL) return keep_known_document(intake, arrival, match);
    intake->compared++;
    if (intake->divided != NULL)
        return divided_add(intake->divided, intake->resemble, (struct span){record->id, record->id_length},
                           arrival->made);
    if (intake->builder == NULL)
        return resemble_add(intake->resemble, (struct span){record->id, record->id_length}, arrival->shingles,
                            arrival->shingle_count, arrival->value);
    if (intake->preference.preferred != PREFERRED_NONE)
        return preference_add(&intake->preference, record, arrival->value);
    return making_add_document(intake->builder, intake->id_type, record);
}

/* Sets the pointers to the IDs and shingles of a batch, once it is complete and they don't move any more. */
static void set_pointers(struct intake *intake) {
    const char *id = intake->ids.bytes == NULL ? "" : intake->ids.bytes;
    const uint64_t *shingles = (const uint64_t *)(const void *)intake->shingles.bytes;
    for (size_t i = 0; i < intake->count; i++) {
        struct arrival *arrival = &intake->arrivals[i];
        intake->fingerprints[i] = arrival->record.fingerprint;
        arrival->record.id = id;
        arrival->shingles = shingles;
        id += arrival->record.id_length;
        if (arrival->shingle_count > 0) shingles += arrival->shingle_count; /* Otherwise, it may be NULL. */
    }
}

/* Looks up the documents of the batch, and takes each as known or to be compared. Empties the batch. */
static bool take_batch(struct intake *intake) {
    bool ok = (intake->ids.error == 0 && intake->shingles.error == 0) || complain("out of memory");
    set_pointers(intake);
    ok = ok &&
         against_look_up(intake->against, intake->fingerprints, intake->count, intake->matches, intake->match_counts);
    for (size_t i = 0; i < intake->count && ok; i++) {
        bool is_near = intake->arrivals[i].has_fingerprint && intake->match_counts[i] > 0;
        ok = take_arrival(intake, &intake->arrivals[i], is_near ? &intake->matches[i] : NULL);
    }
    intake->count = intake->ids.length = intake->shingles.length = 0;
    return ok;
}

/* Takes an arrival at once, or if documents are looked up, adds it to the batch, which is taken once it is full. */
static bool take_or_add_to_batch(struct intake *intake, const struct arrival *arrival) {
    if (!intake->looks_up) return take_arrival(intake, arrival, NULL);
    intake->arrivals[intake->count++] = *arrival;
    output_bytes(&intake->ids, arrival->record.id, arrival->record.id_length);
    output_bytes(&intake->shingles, arrival->shingles, arrival->shingle_count * sizeof *arrival->shingles);
    return (intake->count < INTAKE_BATCH && intake->shingles.length < INTAKE_BYTES) || take_batch(intake);
}

static bool note_id(struct intake *intake, const char *id, size_t length) {
    return !intake->notes_ids || id_hashes_add(&intake->all_ids, id, length);
}

bool intake_take(struct intake *intake, const struct arrival *arrival) {
    bool has_text_id = intake->id_type == IDX_ID_TEXT;
    return (!has_text_id || note_id(intake, arrival->record.id, arrival->record.id_length)) &&
           take_or_add_to_batch(intake, arrival);
}

bool intake_keep_apart(struct intake *intake, const char *id, size_t length, const struct place *place) {
    if (length > 0) {
        output_id(&intake->apart.output, id, length);
        output_byte(&intake->apart.output, '\n');
        intake->apart_count++;
        if (!note_id(intake, id, length)) return false;
    }
    if (intake->journal == NULL) return true;
    struct arrival arrival = {.place = *place};
    arrival.place.fate = FATE_KEPT;
    return take_or_add_to_batch(intake, &arrival);
}

bool intake_end(struct intake *intake) {
    if (intake->looks_up && !take_batch(intake)) return false;
    if (!temporary_flush(&intake->apart) || !temporary_flush(&intake->known)) return false;
    return intake->builder == NULL || intake->preference.preferred == PREFERRED_NONE ||
           add_all_by_preference(&intake->preference, intake->builder);
}

/* ---- Printing ---- */

bool intake_put_known(struct intake *intake, struct output *output, const char *middle) {
    struct known_record head;
    const char *record;
    uint64_t offset = 0;
    if (!temporary_map(&intake->known)) return false;
    while ((record = temporary_take(&intake->known, &offset, sizeof head)) != NULL) {
        memcpy(&head, record, sizeof head);
        output_bytes(output, temporary_take(&intake->known, &offset, head.id_length), head.id_length);
        const char *near = temporary_take(&intake->known, &offset, head.near_length);
        if (middle != NULL) {
            output_text(output, middle);
            output_bytes(output, near, head.near_length);
            output_format(output, "\t%u", head.distance);
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
    id_hashes_free(&intake->all_ids);
    preference_close(&intake->preference);
    free(intake->ids.bytes);
    free(intake->shingles.bytes);
}
