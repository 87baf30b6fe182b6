/* writer_unlike.c: adds the documents whose sets resemble none that an index of sketches has. */
#include <stdlib.h>

#include "libidx/base/base.h"
#include "libidx/change/writer.h"
#include "libidx/lookup/resembling.h"

/* A value of a document that this call adds. */
struct added_value {
    uint64_t value;
    size_t document; /* its place in the call */
    size_t next;     /* the place behind that of the next value of the same slot; 0: there is none */
};

/* Documents of one call. */
struct unlike {
    const struct idx_item *items;
    const struct idx_set *sets;
    size_t count;
    struct idx_resembling_options options;
    size_t values;                   /* how many of a set are looked up */
    bool has_text;                   /* the index has text IDs */
    struct idx_resembling_lists old; /* what resembles each of them in the index */
    struct idxi_resembling_lists made;
    struct added_value *added;
    size_t added_count, *slots, slot_mask;
    size_t *compared; /* of each document, the last one that it was compared with, counted from 1 */
    struct idx_item *records;
    size_t record_count;
};

static enum idx_status make_room(struct unlike *unlike, struct idx_error *error) {
    size_t most = unlike->count * unlike->options.sketch, slots = 1;
    while (slots < most) slots *= 2;
    unlike->slot_mask = slots - 1;
    unlike->slots = calloc(slots, sizeof *unlike->slots);
    unlike->added = malloc(most * sizeof *unlike->added + 1);
    unlike->compared = calloc(unlike->count + 1, sizeof *unlike->compared);
    unlike->records = malloc(most * sizeof *unlike->records + 1);
    bool all = unlike->slots != NULL && unlike->added != NULL && unlike->compared != NULL && unlike->records != NULL;
    return all ? IDX_OK : idxi_fail_memory(error);
}

static size_t *slot_of(const struct unlike *unlike, uint64_t value) {
    return &unlike->slots[idxi_hash(value) & unlike->slot_mask];
}

/* Remembers a document that is added: its values are its records. */
static void add_document(struct unlike *unlike, size_t document) {
    const struct idx_set *set = &unlike->sets[document];
    for (size_t i = 0; i < set->count && i < unlike->options.sketch; i++) {
        size_t *slot = slot_of(unlike, set->hashes[i]);
        unlike->added[unlike->added_count++] = (struct added_value){set->hashes[i], document, *slot};
        *slot = unlike->added_count;
        unlike->records[unlike->record_count] = unlike->items[document];
        unlike->records[unlike->record_count++].fingerprint = set->hashes[i];
    }
}

static enum idx_status compare_added(struct unlike *unlike, size_t document, size_t other, struct idx_error *error) {
    const struct idx_set *a = &unlike->sets[document], *b = &unlike->sets[other];
    const struct idx_item *item = &unlike->items[other];
    const struct idx_document named = {item->number, item->id_length == 0 ? "" : item->id,
                                       unlike->has_text ? item->id_length : 0};
    uint32_t shared, total;
    if (unlike->compared[other] == document + 1) return IDX_OK;
    unlike->compared[other] = document + 1;
    idxi_compare_sets(a->hashes, a->count, b->hashes, b->count, unlike->options.threshold, &shared, &total);
    return idxi_reaches(shared, total, unlike->options.threshold)
               ? idxi_resembling_add(&unlike->made, &named, shared, total, error)
               : IDX_OK;
}

/* Lists what a document resembles: what the index has, and what was added before it. */
static enum idx_status list_document(struct unlike *unlike, size_t document, struct idx_error *error) {
    const struct idx_resembling_lists *old = &unlike->old;
    const struct idx_set *set = &unlike->sets[document];
    for (int64_t i = old->offsets[document]; i < old->offsets[document + 1]; i++) {
        const struct idx_resembling_document *found = &old->documents[i];
        const struct idx_document named = {found->number, old->ids + found->id, found->id_length};
        IDXI_TRY(idxi_resembling_add(&unlike->made, &named, found->shared, found->total, error));
    }
    for (size_t i = 0; i < set->count && i < unlike->values; i++) {
        for (size_t at = *slot_of(unlike, set->hashes[i]); at > 0; at = unlike->added[at - 1].next)
            if (unlike->added[at - 1].value == set->hashes[i])
                IDXI_TRY(compare_added(unlike, document, unlike->added[at - 1].document, error));
    }
    size_t before = unlike->made.documents, listed = (size_t)unlike->made.lists.offsets[unlike->made.queries];
    IDXI_TRY(idxi_resembling_end(&unlike->made, unlike->options.limit, error));
    if (before == listed) add_document(unlike, document);
    return IDX_OK;
}

/* Keeps the sets of the documents that are added, and then adds their records. */
static enum idx_status keep_and_add(const struct unlike *unlike, struct idx_writer *writer, struct idx_kept_sets *kept,
                                    struct idx_error *error) {
    const int64_t *offsets = unlike->made.lists.offsets;
    for (size_t i = 0; i < unlike->count && kept != NULL; i++) {
        if (offsets[i] == offsets[i + 1] && unlike->sets[i].count > 0)
            IDXI_TRY(idx_kept_sets_add(kept, &unlike->items[i], &unlike->sets[i], error));
    }
    if (kept != NULL) IDXI_TRY(idx_kept_sets_sync(kept, error));
    if (unlike->record_count == 0) return IDX_OK;
    return idx_writer_add(writer, unlike->records, unlike->record_count, error);
}

static enum idx_status add_unlike(struct unlike *unlike, struct idx_writer *writer, struct idx_kept_sets *kept,
                                  struct idx_error *error) {
    IDXI_TRY(make_room(unlike, error));
    IDXI_TRY(idx_resembling_make(idx_writer_view(writer), unlike->sets, unlike->count, &unlike->options, &unlike->old,
                                 error));
    unlike->made.lists.unread = unlike->old.unread;
    unlike->made.lists.unknown = unlike->old.unknown;
    IDXI_TRY(idxi_resembling_begin(&unlike->made, error));
    for (size_t i = 0; i < unlike->count; i++) IDXI_TRY(list_document(unlike, i, error));
    return keep_and_add(unlike, writer, kept, error);
}

enum idx_status idx_writer_add_unlike(struct idx_writer *writer, struct idx_kept_sets *kept,
                                      const struct idx_item *items, const struct idx_set *sets, size_t count,
                                      const struct idx_resembling_options *options, struct idx_resembling_lists *lists,
                                      struct idx_error *error) {
    struct unlike unlike = {.items = items, .sets = sets, .count = count};
    IDXI_TRY(idxi_resembling_check(&unlike.options, options, error));
    if (unlike.options.source == NULL)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "adding by resemblance needs the sets of documents");
    if (unlike.options.limit == 0)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "limit = 0 does not say which documents were added");
    for (size_t i = 0; i < count; i++) IDXI_TRY(idxi_check_id(items[i].id_length, error));
    IDXI_TRY(idxi_writer_begin(writer, 0, error));
    struct idx_properties properties;
    idx_get_properties(idx_writer_view(writer), &properties);
    unlike.has_text = properties.id_type == IDX_ID_TEXT;
    unsigned enough = idx_sketch_values(unlike.options.threshold);
    unlike.values = enough > unlike.options.sketch ? unlike.options.sketch : enough;
    enum idx_status status = add_unlike(&unlike, writer, kept, error);
    idx_resembling_free(&unlike.old);
    free(unlike.added);
    free(unlike.slots);
    free(unlike.compared);
    free(unlike.records);
    *lists = unlike.made.lists;
    if (status != IDX_OK) idx_resembling_free(lists);
    return status;
}
