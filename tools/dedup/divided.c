/* divided.c: decides which parts of documents are dropped, from which parts resemble each other. */
#include "tools/dedup/divided.h"

#include "tools/dedup/bits.h"
#include "tools/shared/array.h"

#include <stdlib.h>

/* ---- Taking parts ---- */

/* Takes a part, and adds its set with the ID DOCUMENT:NUMBER. `id` begins with the ID of the document, of `id_length`
 * bytes; what follows is replaced. */
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

static uint64_t end_of_parts(const struct divided *divided, uint64_t document) {
    return document + 1 < divided->document_count ? divided->documents[document + 1].first : divided->part_count;
}

/* How many documents have a part that is kept, or a part that joins it. */
struct spread {
    uint32_t documents;
    uint32_t last; /* The number, plus 1, of the document that was counted last; 0: none was. */
};

/* Returns the spread of each part, which stays 0 for those that are not kept. The caller frees the array. */
static struct spread *count_documents_of_parts(const struct divided *divided, const struct resemble *resemble) {
    struct spread *spread = calloc((size_t)divided->part_count + 1, sizeof *spread);
    if (spread == NULL) complain("out of memory");
    for (uint64_t i = 0; i < divided->part_count && spread != NULL; i++) {
        struct spread *of_part = &spread[resemble->kept[i].kept];
        const uint32_t document = divided->parts[i].document + 1;
        of_part->documents += of_part->last != document;
        of_part->last = document;
    }
    return spread;
}

/* Marks the parts that join another one. Those that stay nevertheless, because of `again` and `within`, are kept. */
static void mark_dropped_parts(struct divided *divided, struct resemble *resemble, const struct spread *spread) {
    for (uint64_t i = 0; i < divided->part_count; i++) {
        struct idx_kept_set *kept = &resemble->kept[i];
        const struct divided_part *part = &divided->parts[i];
        if (kept->kept == i) continue;
        const bool is_within = divided->parts[kept->kept].document == part->document;
        if ((is_within && !divided->within) || spread[kept->kept].documents < divided->again) {
            resemble_keep(resemble, i);
            continue;
        }
        bit_set(divided->dropped, i);
        divided->dropped_count++;
        divided->dropped_bytes += part->bytes;
    }
}

/* Marks documents of which parts are dropped, and fewer words than min_document_words or none are left. */
static void mark_gone_documents(struct divided *divided) {
    for (uint64_t i = 0; i < divided->document_count; i++) {
        uint64_t words = divided->documents[i].other_words, dropped = 0;
        for (uint64_t j = divided->documents[i].first; j < end_of_parts(divided, i); j++) {
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
    struct spread *spread = count_documents_of_parts(divided, resemble);
    if (spread == NULL) return false;
    divided->dropped = bits_make(divided->part_count);
    divided->gone = bits_make(divided->document_count);
    const bool ok = divided->dropped != NULL && divided->gone != NULL;
    if (ok) mark_dropped_parts(divided, resemble, spread);
    if (ok) mark_gone_documents(divided);
    free(spread);
    return ok;
}

/* ---- What was decided ---- */

void divided_put_gone(const struct divided *divided, struct resemble *resemble, struct output *output,
                      const char *end) {
    for (uint64_t i = 0; i < divided->document_count; i++) {
        if (!bit_is_set(divided->gone, i)) continue;
        struct span id = resemble_id(resemble, divided->documents[i].first);
        while (id.bytes[--id.length] != ':') continue; /* What remains of the part's ID is its document's. */
        output_id(output, id.bytes, id.length);
        output_text(output, end);
    }
}

bool divided_part_is_dropped(const struct divided *divided, uint64_t document, uint32_t number, uint64_t *next) {
    const uint64_t end = end_of_parts(divided, document);
    while (*next < end && divided->parts[*next].number < number) ++*next;
    return *next < end && divided->parts[*next].number == number && bit_is_set(divided->dropped, *next);
}

bool divided_has_dropped_part(const struct divided *divided, uint64_t document) {
    for (uint64_t i = divided->documents[document].first; i < end_of_parts(divided, document); i++) {
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
