/* pending_view.c: what a view of the records says of fingerprints and their documents. */
#include "libidx/log/pending_records.h"

static bool is_in(struct idxi_pending_range range, uint32_t number) {
    return number >= range.begin && number < range.end;
}

/* Whether an added document, of the view, is not removed by its ID. */
static bool is_kept(struct idxi_pending_range range, const struct idxi_pending_record *record) {
    uint32_t link = atomic_load_explicit(&record->removal, memory_order_acquire);
    return link == 0 || link - 1 >= range.end;
}

/* The first number that no removal of the whole fingerprint concerns, and what removals there are. */
static uint32_t find_floor(const struct idxi_pending *pending, struct idxi_pending_range range,
                           const struct idxi_pending_record *first, enum idxi_removal *removal) {
    uint32_t link = atomic_load_explicit(&first->newest_removal, memory_order_acquire);
    *removal = IDXI_REMOVED_NONE;
    while (link != 0 && link - 1 >= range.end) link = idxi_pending_record(pending, link - 1)->previous_removal;
    if (link == 0 || link - 1 < range.begin) return range.begin;
    uint32_t whole = idxi_pending_record(pending, link - 1)->whole;
    *removal = whole != 0 && whole - 1 >= range.begin ? IDXI_REMOVED_ALL : IDXI_REMOVED_SOME;
    return *removal == IDXI_REMOVED_ALL ? whole : range.begin;
}

bool idxi_pending_is_held(const struct idxi_pending *pending, struct idxi_pending_range range,
                          const struct idxi_pending_record *first) {
    uint32_t link = atomic_load_explicit(&first->newest, memory_order_acquire);
    while (link != 0 && link - 1 >= range.begin) {
        const struct idxi_pending_record *record = idxi_pending_record(pending, link - 1);
        bool counts = link - 1 < range.end;
        if (counts && record->operation == IDXF_REMOVE_FINGERPRINT) return false;
        if (counts && record->operation == IDXF_ADD && is_kept(range, record)) return true;
        link = record->previous;
    }
    return false;
}

bool idxi_pending_holds(const struct idxi_pending_view *view, uint64_t fingerprint) {
    uint32_t link = idxi_pending_find_first(view->records, fingerprint);
    return link != 0 &&
           idxi_pending_is_held(view->records, idxi_pending_range(view), idxi_pending_record(view->records, link - 1));
}

enum idxi_removal idxi_pending_removal(const struct idxi_pending_view *view, uint64_t fingerprint) {
    enum idxi_removal removal = IDXI_REMOVED_NONE;
    uint32_t link = idxi_pending_find_first(view->records, fingerprint);
    if (link != 0)
        find_floor(view->records, idxi_pending_range(view), idxi_pending_record(view->records, link - 1), &removal);
    return removal;
}

bool idxi_pending_removes(const struct idxi_pending_view *view, uint64_t fingerprint, const void *id, size_t id_size) {
    enum idxi_removal removal = idxi_pending_removal(view, fingerprint);
    if (removal != IDXI_REMOVED_SOME) return removal == IDXI_REMOVED_ALL;
    struct idxi_pending_range range = idxi_pending_range(view);
    uint32_t link = idxi_pending_find_id(view->records, id, id_size);
    while (link != 0) {
        const struct idxi_pending_record *record = idxi_pending_record(view->records, link - 1);
        if (record->fingerprint == fingerprint && record->operation == IDXF_REMOVE_DOCUMENT && is_in(range, link - 1))
            return true;
        link = record->previous_id;
    }
    return false;
}

/* ---- Documents ---- */

/* The link to the newest document of a fingerprint among those with an ID that `link` leads to. */
static uint32_t find_document(const struct idxi_pending *pending, struct idxi_pending_range range, uint32_t floor,
                              uint64_t fingerprint, uint32_t link) {
    while (link != 0 && link - 1 >= floor) {
        const struct idxi_pending_record *record = idxi_pending_record(pending, link - 1);
        if (record->fingerprint == fingerprint && record->operation == IDXF_ADD && link - 1 < range.end &&
            is_kept(range, record))
            return link;
        link = record->previous_id;
    }
    return 0;
}

/* Whether this added document is there, and not the same as one before it. */
static bool is_document(const struct idxi_pending *pending, struct idxi_pending_range range, uint32_t floor,
                        const struct idxi_pending_record *record) {
    if (record->operation != IDXF_ADD || !is_kept(range, record)) return false;
    return pending->rules.id_type != IDXF_ID_U64 ||
           find_document(pending, range, floor, record->fingerprint, record->previous_id) == 0;
}

void idxi_pending_documents(const struct idxi_pending_view *view, uint64_t fingerprint,
                            struct idxi_pending_cursor *cursor) {
    enum idxi_removal removal;
    *cursor = (struct idxi_pending_cursor){.view = *view};
    if (view->records->rules.id_type == IDXF_ID_NONE) return;
    cursor->next = idxi_pending_find_first(view->records, fingerprint);
    if (cursor->next == 0) return;
    cursor->floor = find_floor(view->records, idxi_pending_range(view),
                               idxi_pending_record(view->records, cursor->next - 1), &removal);
    if (removal == IDXI_REMOVED_ALL) cursor->next = cursor->floor; /* the removal itself, to go on from there */
}

bool idxi_pending_next(struct idxi_pending_cursor *cursor, const uint8_t **id, size_t *id_size) {
    const struct idxi_pending *pending = cursor->view.records;
    struct idxi_pending_range range = idxi_pending_range(&cursor->view);
    while (cursor->next != 0 && cursor->next - 1 < range.end) {
        uint32_t number = cursor->next - 1;
        const struct idxi_pending_record *record = idxi_pending_record(pending, number);
        cursor->next = atomic_load_explicit(&record->next, memory_order_acquire);
        if (number < cursor->floor || !is_document(pending, range, cursor->floor, record)) continue;
        *id = record->id;
        *id_size = record->id_size;
        cursor->sequence = pending->base + number + 1;
        return true;
    }
    return false;
}

void idxi_pending_id(const struct idxi_pending_view *view, uint32_t number, const uint8_t **id, size_t *id_size) {
    const struct idxi_pending_record *record =
        idxi_pending_record(view->records, idxi_pending_range(view).begin + number);
    *id = record->id;
    *id_size = record->id_size;
}

void idxi_pending_fingerprints(const struct idxi_pending_view *view, const void *id, size_t id_size,
                               struct idxi_pending_cursor *cursor) {
    *cursor = (struct idxi_pending_cursor){.view = *view};
    if (view->records->rules.id_type != IDXF_ID_NONE) cursor->next = idxi_pending_find_id(view->records, id, id_size);
}

bool idxi_pending_next_fingerprint(struct idxi_pending_cursor *cursor, uint64_t *fingerprint) {
    const struct idxi_pending *pending = cursor->view.records;
    struct idxi_pending_range range = idxi_pending_range(&cursor->view);
    enum idxi_removal removal;
    while (cursor->next != 0 && cursor->next - 1 >= range.begin) {
        uint32_t number = cursor->next - 1;
        const struct idxi_pending_record *record = idxi_pending_record(pending, number);
        cursor->next = record->previous_id;
        if (number >= range.end) continue;
        uint32_t floor = find_floor(pending, range, idxi_pending_record(pending, record->first), &removal);
        if (number < floor || !is_document(pending, range, floor, record)) continue;
        *fingerprint = record->fingerprint;
        return true;
    }
    return false;
}

enum idx_status idxi_pending_visit(const struct idxi_pending_view *view, idxi_pending_record_visitor visit,
                                   void *context, struct idx_error *error) {
    struct idxi_pending_range range = idxi_pending_range(view);
    for (uint32_t number = range.begin; number < range.end; number++) {
        const struct idxi_pending_record *record = idxi_pending_record(view->records, number);
        struct idxf_record shown = {.operation = (enum idxf_operation)record->operation,
                                    .fingerprint = record->fingerprint,
                                    .id = record->id,
                                    .id_size = record->id_size};
        IDXI_TRY(visit(context, view->records->base + number + 1, &shown, error));
    }
    return IDX_OK;
}
