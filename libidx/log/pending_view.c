/* pending_view.c: what a view of the records says of fingerprints and their documents. Records have numbers from 0; a
 * link to a record is its number plus 1, and 0 is no link. */
#include "libidx/log/pending_records.h"
#include "libidx/log/pending_table.h"

/* Returns whether a view with this range has record `number`. */
static bool is_in_range(struct idxi_pending_range range, uint32_t number) {
    return number >= range.begin && number < range.end;
}

/* Returns whether a record adds a document that no record of the range removes by its ID. `links` are the record's,
 * NULL if it has none. A removal of the whole fingerprint is not considered. */
static bool is_kept_addition(struct idxi_pending_range range, const struct idxi_pending_links *links) {
    if (links == NULL) return true;
    if (links->operation != IDXF_ADD) return false;
    uint32_t link = atomic_load_explicit(&links->removal, memory_order_acquire);
    return link == 0 || link - 1 >= range.end;
}

/* Returns the number of the oldest record in the range that may add a document of the fingerprint with this first
 * record: range.begin, or the record after the newest removal of the whole fingerprint. Sets *removal to which of the
 * fingerprint's documents in segments the records of the range remove. */
static uint32_t find_oldest_record(const struct idxi_pending *pending, struct idxi_pending_range range,
                                   uint32_t first_record, enum idxi_removal *removal) {
    const struct idxi_pending_links *links = idxi_pending_get_links(pending, first_record);
    uint32_t link = links == NULL ? 0 : atomic_load_explicit(&links->newest_removal, memory_order_acquire);
    *removal = IDXI_REMOVED_NONE;
    while (link != 0 && link - 1 >= range.end) link = idxi_pending_get_links(pending, link - 1)->previous_removal;
    if (link == 0 || link - 1 < range.begin) return range.begin;
    uint32_t whole_link = idxi_pending_get_links(pending, link - 1)->newest_whole_removal;
    *removal = whole_link != 0 && whole_link - 1 >= range.begin ? IDXI_REMOVED_ALL : IDXI_REMOVED_SOME;
    /* The link to the removal is the number of the next record: the oldest one that counts. */
    return *removal == IDXI_REMOVED_ALL ? whole_link : range.begin;
}

bool idxi_pending_range_has_document(const struct idxi_pending *pending, struct idxi_pending_range range,
                                     uint32_t first_record) {
    const struct idxi_pending_links *links = idxi_pending_get_links(pending, first_record);
    uint32_t link = links == NULL ? first_record + 1 : atomic_load_explicit(&links->newest, memory_order_acquire);
    /* Goes from the newest record back. The links `previous` leave out removals of single documents. */
    while (link != 0 && link - 1 >= range.begin) {
        links = idxi_pending_get_links(pending, link - 1);
        if (link - 1 < range.end) {
            if (is_kept_addition(range, links)) return true;
            if (links->operation == IDXF_REMOVE_FINGERPRINT) return false;
        }
        link = links == NULL ? 0 : links->previous;
    }
    return false;
}

bool idxi_pending_has_document(const struct idxi_pending_view *view, uint64_t fingerprint) {
    uint32_t link = idxi_pending_find_first_link(view->records, fingerprint);
    return link != 0 && idxi_pending_range_has_document(view->records, idxi_pending_get_range(view), link - 1);
}

enum idxi_removal idxi_pending_get_removal_kind(const struct idxi_pending_view *view, uint64_t fingerprint) {
    enum idxi_removal removal = IDXI_REMOVED_NONE;
    uint32_t link = idxi_pending_find_first_link(view->records, fingerprint);
    if (link != 0) find_oldest_record(view->records, idxi_pending_get_range(view), link - 1, &removal);
    return removal;
}

bool idxi_pending_removes_document(const struct idxi_pending_view *view, uint64_t fingerprint, const void *id,
                                   size_t id_size) {
    enum idxi_removal removal = idxi_pending_get_removal_kind(view, fingerprint);
    if (removal != IDXI_REMOVED_SOME) return removal == IDXI_REMOVED_ALL;
    struct idxi_pending_range range = idxi_pending_get_range(view);
    uint32_t link = idxi_pending_find_newest_link(view->records, id, id_size);
    while (link != 0) {
        const struct idxi_pending_links *links = idxi_pending_get_links(view->records, link - 1);
        if (links == NULL) return false;
        if (links->operation == IDXF_REMOVE_DOCUMENT && is_in_range(range, link - 1) &&
            idxi_pending_get_fingerprint(view->records, link - 1) == fingerprint)
            return true;
        link = links->previous_id;
    }
    return false;
}

/* ---- Documents ---- */

/* Follows the records of one ID, from the one that `link` leads to back to record `oldest`. Returns whether one of them
 * adds a document with the fingerprint that is in the range and not removed by its ID. */
static bool has_document_with_id(const struct idxi_pending *pending, struct idxi_pending_range range, uint32_t oldest,
                                 uint64_t fingerprint, uint32_t link) {
    while (link != 0 && link - 1 >= oldest) {
        const struct idxi_pending_links *links = idxi_pending_get_links(pending, link - 1);
        if (link - 1 < range.end && is_kept_addition(range, links) &&
            idxi_pending_get_fingerprint(pending, link - 1) == fingerprint)
            return true;
        link = links == NULL ? 0 : links->previous_id;
    }
    return false;
}

/* Returns whether cursors return a document for record `number`: it adds one that was not removed, and if its ID is an
 * integer, no older record adds the same ID with the same fingerprint. Each addition of a text ID is a document of its
 * own. Records below `oldest`, the result of find_oldest_record, do not count. */
static bool is_shown_document(const struct idxi_pending *pending, struct idxi_pending_range range, uint32_t oldest,
                              uint32_t number) {
    const struct idxi_pending_links *links = idxi_pending_get_links(pending, number);
    if (number < oldest || !is_kept_addition(range, links)) return false;
    return links == NULL || pending->rules.id_type != IDXF_ID_U64 ||
           !has_document_with_id(pending, range, oldest, idxi_pending_get_fingerprint(pending, number),
                                 links->previous_id);
}

void idxi_pending_seek_fingerprint(const struct idxi_pending_view *view, uint64_t fingerprint,
                                   struct idxi_pending_cursor *cursor) {
    enum idxi_removal removal;
    uint32_t link = idxi_pending_find_first_link(view->records, fingerprint);
    *cursor = (struct idxi_pending_cursor){.view = *view};
    if (link == 0 || view->records->rules.id_type == IDXF_ID_NONE) return;
    cursor->next = link;
    cursor->oldest = find_oldest_record(view->records, idxi_pending_get_range(view), link - 1, &removal);
    if (removal == IDXI_REMOVED_ALL)
        cursor->next = cursor->oldest; /* As a link, this leads to the record before it: the removal. */
}

bool idxi_pending_next_document(struct idxi_pending_cursor *cursor, const uint8_t **id, size_t *id_size) {
    const struct idxi_pending *pending = cursor->view.records;
    struct idxi_pending_range range = idxi_pending_get_range(&cursor->view);
    while (cursor->next != 0 && cursor->next - 1 < range.end) {
        uint32_t number = cursor->next - 1;
        const struct idxi_pending_links *links = idxi_pending_get_links(pending, number);
        cursor->next = links == NULL ? 0 : atomic_load_explicit(&links->next, memory_order_acquire);
        if (!is_shown_document(pending, range, cursor->oldest, number)) continue;
        *id = idxi_pending_read_id(pending, number, id_size);
        cursor->sequence = pending->base + number + 1;
        return true;
    }
    return false;
}

void idxi_pending_get_id(const struct idxi_pending_view *view, uint32_t number, const uint8_t **id, size_t *id_size) {
    *id = idxi_pending_read_id(view->records, idxi_pending_get_range(view).begin + number, id_size);
}

void idxi_pending_seek_id(const struct idxi_pending_view *view, const void *id, size_t id_size,
                          struct idxi_pending_cursor *cursor) {
    *cursor =
        (struct idxi_pending_cursor){.view = *view, .next = idxi_pending_find_newest_link(view->records, id, id_size)};
}

bool idxi_pending_next_fingerprint(struct idxi_pending_cursor *cursor, uint64_t *fingerprint) {
    const struct idxi_pending *pending = cursor->view.records;
    struct idxi_pending_range range = idxi_pending_get_range(&cursor->view);
    enum idxi_removal removal;
    while (cursor->next != 0 && cursor->next - 1 >= range.begin) {
        uint32_t number = cursor->next - 1;
        const struct idxi_pending_links *links = idxi_pending_get_links(pending, number);
        cursor->next = links == NULL ? 0 : links->previous_id;
        if (number >= range.end) continue;
        uint32_t oldest = find_oldest_record(pending, range, links == NULL ? number : links->first, &removal);
        if (!is_shown_document(pending, range, oldest, number)) continue;
        *fingerprint = idxi_pending_get_fingerprint(pending, number);
        return true;
    }
    return false;
}

/* ---- Texts ---- */

bool idxi_pending_get_text(const struct idxi_pending_view *view, uint64_t number, struct idxi_pending_text *text) {
    const struct idxi_pending *pending = view->records;
    uint32_t record = idxi_pending_get_range(view).begin + (uint32_t)number;
    if (number >= idxi_pending_count_records(view)) return false;
    const struct idxi_pending_links *links = idxi_pending_get_links(pending, record);
    if (links != NULL && links->operation != IDXF_ADD) return false;
    uint64_t fingerprint = idxi_pending_get_fingerprint(pending, record);
    size_t place = 0;
    text->id = idxi_pending_read_id(pending, record, &text->id_size);
    text->members = idxf_get_text_members(&pending->rules, text->id, text->id_size, &text->count);
    /* Finds which value of the sketch the record has: `place`. The mapped bytes may have changed, so there may be none:
     * the search ends within the sketch and the view. */
    while (place + 1 < pending->rules.sketch && place < number && idxf_load64(text->members + 8 * place) != fingerprint)
        place++;
    text->number = (uint32_t)(number - place);
    return true;
}

/* Returns whether record `number` of the view, counted from 0, is the first one of a text that was not removed. If so,
 * *text is that text; otherwise *text may have been overwritten. */
static bool is_live_text(const struct idxi_pending_view *view, uint32_t number, struct idxi_pending_text *text) {
    struct idxi_pending_range range = idxi_pending_get_range(view);
    uint32_t record = range.begin + number;
    const struct idxi_pending_links *links = idxi_pending_get_links(view->records, record);
    enum idxi_removal removal;
    if (!is_kept_addition(range, links) || !idxi_pending_get_text(view, number, text)) return false;
    return text->number == number &&
           record >= find_oldest_record(view->records, range, links == NULL ? record : links->first, &removal);
}

bool idxi_pending_find_live_text(const struct idxi_pending_view *view, uint32_t number,
                                 struct idxi_pending_text *text) {
    struct idxi_pending_range range = idxi_pending_get_range(view);
    for (; number < range.end - range.begin; number++)
        if (is_live_text(view, number, text)) return true;
    return false;
}

bool idxi_pending_next_text(struct idxi_pending_cursor *cursor, struct idxi_pending_text *text) {
    const struct idxi_pending *pending = cursor->view.records;
    struct idxi_pending_range range = idxi_pending_get_range(&cursor->view);
    while (cursor->next != 0 && cursor->next - 1 >= range.begin) {
        uint32_t number = cursor->next - 1;
        const struct idxi_pending_links *links = idxi_pending_get_links(pending, number);
        cursor->next = links == NULL ? 0 : links->previous_id;
        if (number < range.end && is_live_text(&cursor->view, number - range.begin, text)) return true;
    }
    return false;
}

uint64_t idxi_pending_count_removals(const struct idxi_pending_view *view) {
    struct idxi_pending_range range = idxi_pending_get_range(view);
    uint64_t count = 0;
    for (uint32_t number = range.begin; number < range.end; number++) {
        const struct idxi_pending_links *links = idxi_pending_get_links(view->records, number);
        count += links != NULL && links->operation != IDXF_ADD;
    }
    return count;
}

/* Returns whether record `number` of the range of the view adds a document, or a fingerprint without ID, that was not
 * removed. `links` are the record's, or NULL if it has none. */
static bool adds_live_document(const struct idxi_pending_view *view, uint32_t number,
                               const struct idxi_pending_links *links) {
    struct idxi_pending_range range = idxi_pending_get_range(view);
    enum idxi_removal removal;
    return links == NULL || (is_kept_addition(range, links) &&
                             number >= find_oldest_record(view->records, range, links->first, &removal));
}

/* Visits the records of a view by ascending number: all, or with `documents_only` those whose document was not removed.
 * Errors: those of the visitor. */
static enum idx_status visit_records(const struct idxi_pending_view *view, bool documents_only,
                                     idxi_pending_record_visitor visit, void *context, struct idx_error *error) {
    struct idxi_pending_range range = idxi_pending_get_range(view);
    for (uint32_t number = range.begin; number < range.end; number++) {
        const struct idxi_pending_links *links = idxi_pending_get_links(view->records, number);
        if (documents_only && !adds_live_document(view, number, links)) continue;
        struct idxf_record shown = {.operation = links == NULL ? IDXF_ADD : (enum idxf_operation)links->operation,
                                    .fingerprint = idxi_pending_get_fingerprint(view->records, number)};
        shown.id = idxi_pending_read_id(view->records, number, &shown.id_size);
        IDXI_TRY(visit(context, view->records->base + number + 1, &shown, error));
    }
    return IDX_OK;
}

enum idx_status idxi_pending_visit_records(const struct idxi_pending_view *view, idxi_pending_record_visitor visit,
                                           void *context, struct idx_error *error) {
    return visit_records(view, false, visit, context, error);
}

enum idx_status idxi_pending_visit_documents(const struct idxi_pending_view *view, idxi_pending_record_visitor visit,
                                             void *context, struct idx_error *error) {
    return visit_records(view, true, visit, context, error);
}
