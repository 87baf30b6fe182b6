/* pending_view.c: what a view of the records says of fingerprints and their documents. */
#include "libidx/log/pending_records.h"

static bool is_in(struct idxi_pending_range range, uint32_t number) {
    return number >= range.begin && number < range.end;
}

/* Returns whether a record of the view, which has these links (NULL: none), adds a document that no record of the view
 * removes by its ID. */
static bool is_kept(struct idxi_pending_range range, const struct idxi_pending_links *links) {
    if (links == NULL) return true;
    if (links->operation != IDXF_ADD) return false;
    uint32_t link = atomic_load_explicit(&links->removal, memory_order_acquire);
    return link == 0 || link - 1 >= range.end;
}

/* Returns the number of the oldest record that no removal of the whole fingerprint removes, and sets *removal to the
 * kind of removals that the view has for the fingerprint. `first` is the number of its first record. */
static uint32_t find_floor(const struct idxi_pending *pending, struct idxi_pending_range range, uint32_t first,
                           enum idxi_removal *removal) {
    const struct idxi_pending_links *links = idxi_pending_links_of(pending, first);
    uint32_t link = links == NULL ? 0 : atomic_load_explicit(&links->newest_removal, memory_order_acquire);
    *removal = IDXI_REMOVED_NONE;
    while (link != 0 && link - 1 >= range.end) link = idxi_pending_links_of(pending, link - 1)->previous_removal;
    if (link == 0 || link - 1 < range.begin) return range.begin;
    uint32_t whole = idxi_pending_links_of(pending, link - 1)->whole;
    *removal = whole != 0 && whole - 1 >= range.begin ? IDXI_REMOVED_ALL : IDXI_REMOVED_SOME;
    return *removal == IDXI_REMOVED_ALL ? whole : range.begin;
}

bool idxi_pending_is_held(const struct idxi_pending *pending, struct idxi_pending_range range, uint32_t first) {
    const struct idxi_pending_links *links = idxi_pending_links_of(pending, first);
    uint32_t link = links == NULL ? first + 1 : atomic_load_explicit(&links->newest, memory_order_acquire);
    while (link != 0 && link - 1 >= range.begin) {
        links = idxi_pending_links_of(pending, link - 1);
        if (link - 1 < range.end) {
            if (is_kept(range, links)) return true;
            if (links->operation == IDXF_REMOVE_FINGERPRINT) return false;
        }
        link = links == NULL ? 0 : links->previous;
    }
    return false;
}

bool idxi_pending_holds(const struct idxi_pending_view *view, uint64_t fingerprint) {
    uint32_t link = idxi_pending_find_first(view->records, fingerprint);
    return link != 0 && idxi_pending_is_held(view->records, idxi_pending_range(view), link - 1);
}

enum idxi_removal idxi_pending_removal(const struct idxi_pending_view *view, uint64_t fingerprint) {
    enum idxi_removal removal = IDXI_REMOVED_NONE;
    uint32_t link = idxi_pending_find_first(view->records, fingerprint);
    if (link != 0) find_floor(view->records, idxi_pending_range(view), link - 1, &removal);
    return removal;
}

bool idxi_pending_removes(const struct idxi_pending_view *view, uint64_t fingerprint, const void *id, size_t id_size) {
    enum idxi_removal removal = idxi_pending_removal(view, fingerprint);
    if (removal != IDXI_REMOVED_SOME) return removal == IDXI_REMOVED_ALL;
    struct idxi_pending_range range = idxi_pending_range(view);
    uint32_t link = idxi_pending_find_id(view->records, id, id_size);
    while (link != 0) {
        const struct idxi_pending_links *links = idxi_pending_links_of(view->records, link - 1);
        if (links == NULL) return false;
        if (links->operation == IDXF_REMOVE_DOCUMENT && is_in(range, link - 1) &&
            idxi_pending_fingerprint(view->records, link - 1) == fingerprint)
            return true;
        link = links->previous_id;
    }
    return false;
}

/* ---- Documents ---- */

/* Returns whether a fingerprint has a document of the view among the records of one ID, of which `link` leads to the
 * newest. */
static bool has_document(const struct idxi_pending *pending, struct idxi_pending_range range, uint32_t floor,
                         uint64_t fingerprint, uint32_t link) {
    while (link != 0 && link - 1 >= floor) {
        const struct idxi_pending_links *links = idxi_pending_links_of(pending, link - 1);
        if (link - 1 < range.end && is_kept(range, links) && idxi_pending_fingerprint(pending, link - 1) == fingerprint)
            return true;
        link = links == NULL ? 0 : links->previous_id;
    }
    return false;
}

/* Returns whether a record adds a document that was not removed, and that no older record of the view added before. */
static bool is_document(const struct idxi_pending *pending, struct idxi_pending_range range, uint32_t floor,
                        uint32_t number) {
    const struct idxi_pending_links *links = idxi_pending_links_of(pending, number);
    if (number < floor || !is_kept(range, links)) return false;
    return links == NULL || pending->rules.id_type != IDXF_ID_U64 ||
           !has_document(pending, range, floor, idxi_pending_fingerprint(pending, number), links->previous_id);
}

void idxi_pending_documents(const struct idxi_pending_view *view, uint64_t fingerprint,
                            struct idxi_pending_cursor *cursor) {
    enum idxi_removal removal;
    *cursor = (struct idxi_pending_cursor){.view = *view};
    if (view->records->rules.id_type == IDXF_ID_NONE) return;
    cursor->next = idxi_pending_find_first(view->records, fingerprint);
    if (cursor->next == 0) return;
    cursor->floor = find_floor(view->records, idxi_pending_range(view), cursor->next - 1, &removal);
    if (removal == IDXI_REMOVED_ALL)
        cursor->next = cursor->floor; /* The cursor begins with the removal, and goes on from there. */
}

bool idxi_pending_next(struct idxi_pending_cursor *cursor, const uint8_t **id, size_t *id_size) {
    const struct idxi_pending *pending = cursor->view.records;
    struct idxi_pending_range range = idxi_pending_range(&cursor->view);
    while (cursor->next != 0 && cursor->next - 1 < range.end) {
        uint32_t number = cursor->next - 1;
        const struct idxi_pending_links *links = idxi_pending_links_of(pending, number);
        cursor->next = links == NULL ? 0 : atomic_load_explicit(&links->next, memory_order_acquire);
        if (!is_document(pending, range, cursor->floor, number)) continue;
        *id = idxi_pending_read_id(pending, number, id_size);
        cursor->sequence = pending->base + number + 1;
        return true;
    }
    return false;
}

void idxi_pending_id(const struct idxi_pending_view *view, uint32_t number, const uint8_t **id, size_t *id_size) {
    *id = idxi_pending_read_id(view->records, idxi_pending_range(view).begin + number, id_size);
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
        const struct idxi_pending_links *links = idxi_pending_links_of(pending, number);
        cursor->next = links == NULL ? 0 : links->previous_id;
        if (number >= range.end) continue;
        uint32_t floor = find_floor(pending, range, links == NULL ? number : links->first, &removal);
        if (!is_document(pending, range, floor, number)) continue;
        *fingerprint = idxi_pending_fingerprint(pending, number);
        return true;
    }
    return false;
}

uint64_t idxi_pending_count_removals(const struct idxi_pending_view *view) {
    struct idxi_pending_range range = idxi_pending_range(view);
    uint64_t count = 0;
    for (uint32_t number = range.begin; number < range.end; number++) {
        const struct idxi_pending_links *links = idxi_pending_links_of(view->records, number);
        count += links != NULL && links->operation != IDXF_ADD;
    }
    return count;
}

enum idx_status idxi_pending_visit(const struct idxi_pending_view *view, idxi_pending_record_visitor visit,
                                   void *context, struct idx_error *error) {
    struct idxi_pending_range range = idxi_pending_range(view);
    for (uint32_t number = range.begin; number < range.end; number++) {
        const struct idxi_pending_links *links = idxi_pending_links_of(view->records, number);
        struct idxf_record shown = {.operation = links == NULL ? IDXF_ADD : (enum idxf_operation)links->operation,
                                    .fingerprint = idxi_pending_fingerprint(view->records, number)};
        shown.id = idxi_pending_read_id(view->records, number, &shown.id_size);
        IDXI_TRY(visit(context, view->records->base + number + 1, &shown, error));
    }
    return IDX_OK;
}
