/* divided.c: decides which parts of documents are dropped, from which parts resemble each other. */
#include "tools/dedup/divided.h"

#include "tools/documents/bits.h"
#include "tools/shared/array.h"

#include <stdlib.h>

/* ---- Adding parts ---- */

/* Appends a part of the document that is being added. Returns false after a complaint if memory ran out. */
static bool append_part(struct divided *divided, const struct made_part *part) {
    if (!array_grow(&divided->parts, &divided->part_capacity, divided->part_count, sizeof *divided->parts))
        return complain("out of memory");
    divided->parts[divided->part_count++] =
        (struct divided_part){(uint32_t)divided->document_count, part->number, part->word_count, part->byte_count};
    return true;
}

bool divided_add_part_sets(struct resemble *resemble, struct span id, const struct made *made) {
    struct output part_id = OUTPUT_BUFFER;
    const uint64_t *shingles = made->shingles;
    bool ok = true;
    output_bytes(&part_id, id.bytes, id.length);
    for (size_t i = 0; i < made->part_count && ok; i++) {
        part_id.length = id.length;
        output_format(&part_id, ":%u", made->parts[i].number);
        ok = part_id.error == 0 || complain("out of memory");
        ok = ok && resemble_add_document(resemble, (struct span){part_id.bytes, part_id.length}, shingles,
                                         made->parts[i].shingle_count, 0);
        shingles += made->parts[i].shingle_count;
    }
    free(part_id.bytes);
    return ok;
}

bool divided_add_document(struct divided *divided, struct resemble *resemble, struct span id, const struct made *made) {
    bool ok = divided->document_count < UINT32_MAX || complain("too many documents to compare their parts");
    if (ok && !array_grow(&divided->documents, &divided->document_capacity, divided->document_count,
                          sizeof *divided->documents))
        ok = complain("out of memory");
    if (ok)
        divided->documents[divided->document_count] = (struct divided_document){divided->part_count, made->other_words};
    for (size_t i = 0; i < made->part_count && ok; i++) ok = append_part(divided, &made->parts[i]);
    divided->document_count++;
    return ok && divided_add_part_sets(resemble, id, made);
}

/* ---- Deciding ---- */

/* Returns the index in `parts` behind the last part of a document, which is where those of the next one begin. */
static uint64_t find_end_of_parts(const struct divided *divided, uint64_t document) {
    return document + 1 < divided->document_count ? divided->documents[document + 1].first_part : divided->part_count;
}

/* How many documents have a part that is kept, or a part that joins it. */
struct spread {
    uint32_t document_count;
    uint32_t last_document; /* 1 + the number of the document that was counted last; 0: none was. */
};

/* Returns an array with the spread of each part, by its index in `parts`; parts that are not kept have a spread of 0.
 * The caller frees it. Returns NULL after a complaint if memory ran out. */
static struct spread *count_documents_of_parts(const struct divided *divided, const struct resemble *resemble) {
    struct spread *spreads = calloc((size_t)divided->part_count + 1, sizeof *spreads);
    if (spreads == NULL) complain("out of memory");
    for (uint64_t i = 0; i < divided->part_count && spreads != NULL; i++) {
        if (resemble_is_like_known(resemble, i)) continue;
        struct spread *part_spread = &spreads[resemble->kept[resemble->known + i].kept - resemble->known];
        const uint32_t document = divided->parts[i].document + 1;
        /* The parts of a document follow each other, so it is enough to know the last one that was counted. */
        part_spread->document_count += part_spread->last_document != document;
        part_spread->last_document = document;
    }
    return spreads;
}

/* A part that resembles others is dropped if at least this many documents have it or one like it. */
struct min_spread {
    uint64_t of_copies; /* For all but the first of these parts. */
    uint64_t of_first;  /* For the first one; UINT64_MAX: it is kept. */
};

/* Returns whether the part with index `part` in `parts` is dropped. It joins the part with index `kept`, which is
 * the same for the first one of parts that resemble each other. */
static bool is_part_dropped(const struct divided *divided, const struct spread *spreads,
                            const struct min_spread *min_spread, uint64_t part, uint64_t kept) {
    const bool same_document = divided->parts[kept].document == divided->parts[part].document;
    if (spreads[kept].document_count >= min_spread->of_first) return true;
    return part != kept && (!same_document || divided->within) && spreads[kept].document_count >= min_spread->of_copies;
}

/* Marks the parts that are dropped, and sums up their bytes. A copy that is not dropped, because of `again` or
 * `within`, becomes a part that is kept in `resemble` as well. */
static void mark_dropped_parts(struct divided *divided, struct resemble *resemble, const struct spread *spreads) {
    const uint64_t min_documents = quota_find_count(&divided->again, divided->document_count);
    struct min_spread min_spread = {.of_copies = min_documents, .of_first = UINT64_MAX};
    /* A part that only one document has is no copy of anything, so it stays. */
    if (divided->all_copies) min_spread.of_first = min_documents < 2 ? 2 : min_documents;
    for (uint64_t i = 0; i < divided->part_count; i++) {
        const bool is_known = resemble_is_like_known(resemble, i);
        const uint64_t kept_part = is_known ? i : resemble->kept[resemble->known + i].kept - resemble->known;
        if (!is_known && !is_part_dropped(divided, spreads, &min_spread, i, kept_part)) {
            if (kept_part != i) resemble_keep_document(resemble, i);
            continue;
        }
        bit_set(divided->dropped, i);
        divided->dropped_bytes += divided->parts[i].byte_count;
        divided->first_count += !is_known && kept_part == i;
    }
}

/* Marks and counts the documents to drop as a whole: a part of them is dropped, and they are left with no words, or
 * with fewer than min_document_words. */
static void mark_documents_to_drop(struct divided *divided) {
    for (uint64_t i = 0; i < divided->document_count; i++) {
        uint64_t words_left = divided->documents[i].other_words, dropped_parts = 0;
        for (uint64_t j = divided->documents[i].first_part; j < find_end_of_parts(divided, i); j++) {
            const bool is_dropped = bit_is_set(divided->dropped, j);
            dropped_parts += is_dropped;
            words_left += is_dropped ? 0 : divided->parts[j].word_count;
        }
        if (dropped_parts == 0 || (words_left > 0 && words_left >= divided->min_document_words)) continue;
        bit_set(divided->gone, i);
        divided->gone_count++;
    }
}

bool divided_decide_dropped(struct divided *divided, struct resemble *resemble) {
    struct spread *spreads = count_documents_of_parts(divided, resemble);
    if (spreads == NULL) return false;
    divided->dropped = bits_allocate(divided->part_count);
    divided->gone = bits_allocate(divided->document_count);
    const bool ok = divided->dropped != NULL && divided->gone != NULL;
    if (ok) mark_dropped_parts(divided, resemble, spreads);
    if (ok) mark_documents_to_drop(divided);
    free(spreads);
    return ok;
}

/* ---- What was decided ---- */

void divided_write_dropped_documents(const struct divided *divided, struct resemble *resemble, struct output *output,
                                     const char *line_end) {
    for (uint64_t i = 0; i < divided->document_count; i++) {
        if (!bit_is_set(divided->gone, i)) continue;
        struct span id = resemble_find_id(resemble, resemble->known + divided->documents[i].first_part);
        while (id.bytes[--id.length] != ':') continue; /* What remains of the part's ID is its document's. */
        output_id(output, id.bytes, id.length);
        output_text(output, line_end);
    }
}

bool divided_part_is_dropped(const struct divided *divided, uint64_t document, uint32_t number, uint64_t *next_part) {
    const uint64_t end = find_end_of_parts(divided, document);
    while (*next_part < end && divided->parts[*next_part].number < number) ++*next_part;
    return *next_part < end && divided->parts[*next_part].number == number && bit_is_set(divided->dropped, *next_part);
}

bool divided_has_dropped_part(const struct divided *divided, uint64_t document) {
    for (uint64_t i = divided->documents[document].first_part; i < find_end_of_parts(divided, document); i++) {
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
