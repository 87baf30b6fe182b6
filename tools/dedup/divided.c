/* divided.c: decides which parts of documents are dropped, from which parts resemble each other. */
#include "tools/dedup/divided.h"

#include "tools/dedup/bits.h"
#include "tools/shared/array.h"

#include <stdlib.h>

/* ---- Taking parts ---- */

/* Takes a part. Its ID is that of its document, a colon, and its number. */
static bool add_part(struct divided *divided, struct resemble *resemble, struct output *id, size_t id_length,
                     const struct made_part *part, const uint64_t *shingles) {
    if (!array_grow(&divided->parts, &divided->part_capacity, divided->part_count, sizeof *divided->parts))
        return complain("out of memory");
    divided->parts[divided->part_count++] =
        (struct divided_part){(uint32_t)divided->document_count, part->number, part->words, part->bytes};
    id->length = id_length;
    output_format(id, ":%u", part->number);
    if (id->error != 0) return complain("out of memory");
    return resemble_add(resemble, (struct span){id->bytes, id->length}, shingles, part->shingles, 0);
}

bool divided_add(struct divided *divided, struct resemble *resemble, struct span id, const struct made *made) {
    struct output part_id = OUTPUT_KEPT;
    const uint64_t *shingles = made->shingles;
    bool ok = divided->document_count < UINT32_MAX || complain("too many documents to compare their parts");
    if (ok && !array_grow(&divided->documents, &divided->document_capacity, divided->document_count,
                          sizeof *divided->documents))
        ok = complain("out of memory");
    if (ok)
        divided->documents[divided->document_count] = (struct divided_document){divided->part_count, made->other_words};
    output_bytes(&part_id, id.bytes, id.length);
    for (size_t i = 0; i < made->part_count && ok; i++) {
        ok = add_part(divided, resemble, &part_id, id.length, &made->parts[i], shingles);
        shingles += made->parts[i].shingles;
    }
    divided->document_count++;
    free(part_id.bytes);
    return ok;
}

/* ---- Deciding ---- */

static uint64_t end_of(const struct divided *divided, uint64_t document) {
    return document + 1 < divided->document_count ? divided->documents[document + 1].first : divided->part_count;
}

/* How many documents have a part that is kept, or one that resembles it. */
struct having {
    uint32_t documents, last; /* `last` is one more than the number of the last one. */
};

/* Returns an item for each part; those of parts that are not kept stay empty. The caller frees the array. */
static struct having *count_documents(const struct divided *divided, const struct resemble *resemble) {
    struct having *having = calloc((size_t)divided->part_count + 1, sizeof *having);
    if (having == NULL) complain("out of memory");
    for (uint64_t i = 0; i < divided->part_count && having != NULL; i++) {
        struct having *of_kept = &having[resemble->kept[i].kept];
        const uint32_t document = divided->parts[i].document + 1;
        of_kept->documents += of_kept->last != document;
        of_kept->last = document;
    }
    return having;
}

/* Keeps what joins another part, but stays for other reasons; marks the others. */
static void mark_dropped(struct divided *divided, struct resemble *resemble, const struct having *having) {
    for (uint64_t i = 0; i < divided->part_count; i++) {
        struct idx_kept_set *kept = &resemble->kept[i];
        const struct divided_part *part = &divided->parts[i];
        if (kept->kept == i) continue;
        const bool is_within = divided->parts[kept->kept].document == part->document;
        if ((is_within && !divided->within) || having[kept->kept].documents < divided->again) {
            resemble_keep(resemble, i);
            continue;
        }
        bit_set(divided->dropped, i);
        divided->dropped_count++;
        divided->dropped_bytes += part->bytes;
    }
}

/* Marks documents of which parts are dropped, and too few words or none are left. */
static void mark_gone(struct divided *divided) {
    for (uint64_t i = 0; i < divided->document_count; i++) {
        uint64_t words = divided->documents[i].other_words, dropped = 0;
        for (uint64_t j = divided->documents[i].first; j < end_of(divided, i); j++) {
            const bool is_dropped = bit_is_set(divided->dropped, j);
            dropped += is_dropped;
            words += is_dropped ? 0 : divided->parts[j].words;
        }
        if (dropped == 0 || (words > 0 && words >= divided->min_document_words)) continue;
        bit_set(divided->gone, i);
        divided->gone_count++;
    }
}

bool divided_decide(struct divided *divided, struct resemble *resemble) {
    struct having *having = count_documents(divided, resemble);
    if (having == NULL) return false;
    divided->dropped = bits_make(divided->part_count);
    divided->gone = bits_make(divided->document_count);
    const bool ok = divided->dropped != NULL && divided->gone != NULL;
    if (ok) mark_dropped(divided, resemble, having);
    if (ok) mark_gone(divided);
    free(having);
    return ok;
}

/* ---- What was decided ---- */

void divided_put_gone(const struct divided *divided, struct resemble *resemble, struct output *output,
                      const char *end) {
    for (uint64_t i = 0; i < divided->document_count; i++) {
        if (!bit_is_set(divided->gone, i)) continue;
        struct span id = resemble_id(resemble, divided->documents[i].first);
        while (id.bytes[--id.length] != ':') continue;
        output_id(output, id.bytes, id.length);
        output_text(output, end);
    }
}

bool divided_is_dropped(const struct divided *divided, uint64_t document, uint32_t number, uint64_t *next) {
    const uint64_t end = end_of(divided, document);
    while (*next < end && divided->parts[*next].number < number) ++*next;
    return *next < end && divided->parts[*next].number == number && bit_is_set(divided->dropped, *next);
}

bool divided_has_dropped(const struct divided *divided, uint64_t document) {
    for (uint64_t i = divided->documents[document].first; i < end_of(divided, document); i++) {
        if (bit_is_set(divided->dropped, i)) return true;
    }
    return false;
}

void divided_close(struct divided *divided) {
    free(divided->parts);
    free(divided->documents);
    free(divided->dropped);
    free(divided->gone);
}
