/* preference.c: see preference.h. */
#include "tools/dedup/preference.h"

#include "tools/input/index_making.h"
#include "tools/shared/interrupt.h"
#include "tools/shared/message.h"

#include <stdlib.h>

/* As a document is kept; its ID follows. */
struct noted {
    uint64_t fingerprint;
    size_t id_length;
    bool escaped;
};

static bool grow(struct preference *preference) {
    size_t capacity = 2 * preference->capacity + 1024;
    struct preferred_document *grown = realloc(preference->order, capacity * sizeof *grown);
    if (grown == NULL) {
        complain("out of memory");
        return false;
    }
    preference->order = grown;
    preference->capacity = capacity;
    return true;
}

bool preference_add(struct preference *preference, const struct tsv_record *record, int64_t value) {
    const struct noted noted = {record->fingerprint, record->id_length, record->escaped};
    struct output *output = &preference->documents.output;
    if (preference->count == preference->capacity && !grow(preference)) return false;
    preference->order[preference->count] = (struct preferred_document){value, preference->count, preference->length};
    preference->count++;
    preference->length += sizeof noted + noted.id_length;
    output_bytes(output, &noted, sizeof noted);
    output_bytes(output, record->id, record->id_length);
    return output->error == 0 || temporary_flush(&preference->documents);
}

static int compare(const void *first, const void *second) {
    const struct preferred_document *a = first, *b = second;
    if (a->value != b->value) return a->value > b->value ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static bool add(struct preference *preference, struct idx_builder *builder, uint64_t offset, struct output *id) {
    struct noted noted;
    id->length = 0;
    if (!temporary_read_at(&preference->documents, &noted, sizeof noted, offset)) return false;
    char *bytes = output_reserve(id, noted.id_length + 1);
    if (bytes == NULL) complain("out of memory");
    if (bytes == NULL || !temporary_read_at(&preference->documents, bytes, noted.id_length, offset + sizeof noted))
        return false;
    const struct tsv_record record = {
        .fingerprint = noted.fingerprint, .id = bytes, .id_length = noted.id_length, .escaped = noted.escaped};
    return making_add(builder, IDX_ID_TEXT, &record) && !interrupt_noted();
}

bool preference_build(struct preference *preference, struct idx_builder *builder) {
    struct output id = OUTPUT_KEPT;
    bool good = temporary_flush(&preference->documents);
    if (preference->count > 1) qsort(preference->order, preference->count, sizeof *preference->order, compare);
    for (size_t i = 0; i < preference->count && good; i++)
        good = add(preference, builder, preference->order[i].offset, &id);
    free(id.bytes);
    return good;
}

uint64_t preference_number(const struct preference *preference, uint64_t number) {
    return preference->preferred == PREFERRED_NONE || number >= preference->count ? number
                                                                                  : preference->order[number].number;
}

void preference_close(struct preference *preference) {
    temporary_close(&preference->documents);
    free(preference->order);
}
