/* texts.c: see texts.h; and the call that visits all texts of a view. */
#include "libidx/view/texts.h"

#include <stdlib.h>

#include "libidx/base/base.h"
#include "libidx/view/documents.h"
#include "libidx/view/live.h"

enum idx_status idxi_check_has_sets(const struct idx_index *index, struct idx_error *error) {
    if (index->manifest->sketch > 0) return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path, "has no sets: build it of texts");
}

/* ---- By integer IDs ---- */

enum idx_status idxi_visit_sets_of_integer(const struct idx_index *index, uint64_t id, idxi_set_visitor visit,
                                           void *context, struct idx_error *error) {
    uint8_t bytes[sizeof id];
    struct idxf_set set;
    for (size_t i = 0; i < index->open_segments; i++) {
        struct idxi_sets_cursor cursor;
        IDXI_TRY(idxi_sets_seek(&cursor, &index->segments[i]->sets, id, error));
        for (bool found = true;;) {
            IDXI_TRY(idxi_sets_next(&cursor, &set, &found, error));
            if (!found || set.key != id) break;
            if (idxi_is_set_live(index, i, &set)) IDXI_TRY(visit(context, i, &set, error));
        }
    }
    struct idxi_pending_cursor pending;
    struct idxi_pending_text text;
    idxf_store64(bytes, id);
    idxi_pending_with_id(&index->pending, bytes, sizeof bytes, &pending);
    while (idxi_pending_next_text(&pending, &text)) {
        set = (struct idxf_set){id, text.count, text.members};
        IDXI_TRY(visit(context, index->open_segments, &set, error));
    }
    return IDX_OK;
}

/* ---- By document numbers ---- */

/* Returns the segment of a value, and takes the documents of the segments before off *value; the number of segments if
 * it is pending. */
static size_t find_segment(const struct idx_index *index, uint64_t *value) {
    size_t segment = 0;
    for (; segment < index->open_segments && *value >= index->segments[segment]->entry.documents; segment++)
        *value -= index->segments[segment]->entry.documents;
    return segment;
}

uint64_t idxi_text_value(const struct idx_index *index, uint64_t value) {
    struct idxi_pending_text text;
    uint64_t number = value;
    bool is_pending =
        find_segment(index, &number) == index->open_segments && idxi_pending_get_text(&index->pending, number, &text);
    return is_pending ? value - (number - text.number) : value;
}

enum idx_status idxi_find_numbered_set(const struct idxi_sets *sets, uint64_t number, struct idxf_set *set,
                                       struct idx_error *error) {
    struct idxi_sets_cursor cursor;
    bool found;
    IDXI_TRY(idxi_sets_seek(&cursor, sets, number, error));
    IDXI_TRY(idxi_sets_next(&cursor, set, &found, error));
    return found ? IDX_OK : idxi_sets_fail(&cursor, IDXF_FAULT_COUNT, error);
}

enum idx_status idxi_find_set(const struct idx_index *index, uint64_t value, struct idxf_set *set,
                              struct idx_error *error) {
    struct idxi_pending_text text;
    size_t segment = find_segment(index, &value);
    if (segment < index->open_segments)
        return idxi_find_numbered_set(&index->segments[segment]->sets, value, set, error);
    if (!idxi_pending_get_text(&index->pending, value, &text))
        return idxi_fail(error, IDX_BAD_CONTENT, index->path,
                         "has no text %llu behind those of all segments: rebuild the index, or restore it from a copy",
                         (unsigned long long)value);
    *set = (struct idxf_set){value, text.count, text.members};
    return IDX_OK;
}

/* ---- All texts ---- */

struct visiting {
    const struct idx_index *index;
    idx_set_visitor visit;
    void *context;
    bool stopped; /* by the visitor */
    struct idx_documents *documents;
    struct idxi_native_members native;
};

static enum idx_status give_set(struct visiting *visiting, const struct idx_document *document, const uint8_t *members,
                                uint64_t count, struct idx_error *error) {
    IDXI_TRY(idxi_members_copy(&visiting->native, members, (size_t)count, error));
    struct idx_set set = {visiting->native.hashes, (size_t)count};
    visiting->stopped = !visiting->visit(visiting->context, document, &set);
    return IDX_OK;
}

/* Gives the text of a set of a segment, whose texts are numbered from `offset` on, unless it was removed. */
static enum idx_status give_if_live(struct visiting *visiting, size_t segment, uint64_t offset,
                                    const struct idxf_set *set, struct idx_error *error) {
    const struct idx_index *index = visiting->index;
    struct idx_document document = {set->key, NULL, 0};
    bool live;
    if (index->manifest->id_type == IDXF_ID_U64) {
        live = idxi_is_set_live(index, segment, set);
    } else {
        IDXI_TRY(idxi_documents_get(visiting->documents, offset + set->key, &document, error));
        live = idxi_is_document_live(index, segment, idxf_load64(set->members), document.id, document.id_length);
    }
    return live ? give_set(visiting, &document, set->members, set->count, error) : IDX_OK;
}

static enum idx_status visit_segments(struct visiting *visiting, struct idx_error *error) {
    const struct idx_index *index = visiting->index;
    uint64_t offset = 0;
    for (size_t i = 0; i < index->open_segments; offset += index->segments[i++]->entry.documents) {
        struct idxi_sets_cursor cursor;
        struct idxf_set set;
        bool found = true;
        idxi_sets_begin(&cursor, &index->segments[i]->sets);
        while (!visiting->stopped) {
            IDXI_TRY(idxi_sets_next(&cursor, &set, &found, error));
            if (!found) break;
            IDXI_TRY(give_if_live(visiting, i, offset, &set, error));
        }
    }
    return IDX_OK;
}

static enum idx_status visit_pending(struct visiting *visiting, struct idx_error *error) {
    const struct idx_index *index = visiting->index;
    struct idxi_pending_text text;
    for (uint32_t at = 0; !visiting->stopped && idxi_pending_find_text(&index->pending, at, &text);
         at = text.number + 1) {
        struct idx_document document = {UINT64_MAX, text.id, text.id_size};
        if (index->manifest->id_type == IDXF_ID_U64) document = (struct idx_document){idxf_load64(text.id), NULL, 0};
        IDXI_TRY(give_set(visiting, &document, text.members, text.count, error));
    }
    return IDX_OK;
}

enum idx_status idx_visit_sets(const struct idx_index *index, idx_set_visitor visit, void *context,
                               struct idx_error *error) {
    struct visiting visiting = {.index = index, .visit = visit, .context = context};
    IDXI_TRY(idxi_check_has_sets(index, error));
    IDXI_TRY(idx_documents_open(index, &visiting.documents, error));
    enum idx_status status = visit_segments(&visiting, error);
    if (status == IDX_OK) status = visit_pending(&visiting, error);
    idx_documents_close(visiting.documents);
    free(visiting.native.hashes);
    return status;
}
