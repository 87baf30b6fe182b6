/* texts.c: see texts.h; and the call that visits all texts of a view. */
#include "libidx/view/texts.h"

#include <stdlib.h>

#include "libidx/base/base.h"
#include "libidx/streams/sort.h"
#include "libidx/view/documents.h"
#include "libidx/view/live.h"

enum idx_status idxi_check_has_sets(const struct idx_index *index, struct idx_error *error) {
    if (index->manifest->sketch > 0) return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path, "has no sets: build it of texts");
}

/* ---- By integer IDs ---- */

enum idx_status idxi_visit_sets_of_integer_id(const struct idx_index *index, uint64_t id, idxi_set_visitor visit,
                                              void *context, struct idx_error *error) {
    uint8_t bytes[sizeof id];
    struct idxf_set set;
    for (size_t i = 0; i < index->open_segments; i++) {
        struct idxi_sets_cursor cursor;
        IDXI_TRY(idxi_sets_cursor_seek(&cursor, &index->segments[i]->sets, id, error));
        for (bool found = true;;) {
            IDXI_TRY(idxi_sets_cursor_next(&cursor, &set, &found, error));
            if (!found || set.key != id) break;
            if (idxi_is_set_live(index, i, &set)) IDXI_TRY(visit(context, i, &set, error));
        }
    }
    struct idxi_pending_cursor pending;
    struct idxi_pending_text text;
    idxf_store64(bytes, id);
    idxi_pending_seek_id(&index->pending, bytes, sizeof bytes, &pending);
    while (idxi_pending_next_text(&pending, &text)) {
        set = (struct idxf_set){id, text.count, text.members};
        IDXI_TRY(visit(context, index->open_segments, &set, error));
    }
    return IDX_OK;
}

/* ---- By document numbers ---- */

/* Returns the segment of the text document with value *value, or the number of segments if it is pending. Sets *value
 * to the document's number in that segment, or to the number of its record in the view of pending records. */
static size_t find_segment_of_value(const struct idx_index *index, uint64_t *value) {
    size_t segment = 0;
    for (; segment < index->open_segments && *value >= index->segments[segment]->entry.documents; segment++)
        *value -= index->segments[segment]->entry.documents;
    return segment;
}

uint64_t idxi_find_text_value(const struct idx_index *index, uint64_t value) {
    struct idxi_pending_text text;
    uint64_t number = value;
    if (find_segment_of_value(index, &number) < index->open_segments) return value;
    return idxi_pending_get_text(&index->pending, number, &text) ? value - (number - text.number) : value;
}

enum idx_status idxi_find_numbered_set(const struct idxi_sets *sets, uint64_t number, struct idxf_set *set,
                                       struct idx_error *error) {
    struct idxi_sets_cursor cursor;
    bool found;
    IDXI_TRY(idxi_sets_cursor_seek(&cursor, sets, number, error));
    IDXI_TRY(idxi_sets_cursor_next(&cursor, set, &found, error));
    return found ? IDX_OK : idxi_sets_fail(&cursor, IDXF_FAULT_COUNT, error);
}

enum idx_status idxi_find_set(const struct idx_index *index, uint64_t value, struct idxf_set *set,
                              struct idx_error *error) {
    struct idxi_pending_text text;
    size_t segment = find_segment_of_value(index, &value);
    if (segment < index->open_segments)
        return idxi_find_numbered_set(&index->segments[segment]->sets, value, set, error);
    if (!idxi_pending_get_text(&index->pending, value, &text))
        return idxi_fail(error, IDX_BAD_CONTENT, index->path,
                         "has no text %llu behind those of all segments: rebuild the index, or restore it from a copy",
                         (unsigned long long)value);
    *set = (struct idxf_set){value, text.count, text.members};
    return IDX_OK;
}

/* ---- All texts, in the order of addition ---- */

/* The state of a visit of all texts. */
struct visit_state {
    const struct idx_index *index;
    idx_set_visitor visit;
    void *context;
    bool stopped; /* by the visitor */
    struct idx_documents *documents;
    struct idxi_native_members native;
};

/* Calls the visitor for a text, whose `count` members are little-endian, with a copy of them in this machine's byte
 * order. Sets state->stopped to whether the visitor wants to stop. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status visit_set(struct visit_state *state, const struct idx_document *document, const uint8_t *members,
                                 uint64_t count, struct idx_error *error) {
    IDXI_TRY(idxi_members_to_native(&state->native, members, (size_t)count, error));
    struct idx_set set = {state->native.hashes, (size_t)count};
    state->stopped = !state->visit(state->context, document, &set);
    return IDX_OK;
}

/* Visits the text that has this set in segment number `segment`, unless it was removed. The first text of the segment
 * has the value `offset`, and set->key is the text's number in the segment. Errors: as idxi_documents_get. */
static enum idx_status visit_text_if_live(struct visit_state *state, size_t segment, uint64_t offset,
                                          const struct idxf_set *set, struct idx_error *error) {
    const struct idx_index *index = state->index;
    struct idx_document document;
    IDXI_TRY(idxi_documents_get(state->documents, offset + set->key, &document, error));
    bool is_live = idxi_is_document_live(index, segment, idxf_load64(set->members), document.id, document.id_length);
    return is_live ? visit_set(state, &document, set->members, set->count, error) : IDX_OK;
}

/* Visits the texts of all segments that were not removed, by ascending document number, until the visitor stops. */
static enum idx_status visit_segment_texts(struct visit_state *state, struct idx_error *error) {
    const struct idx_index *index = state->index;
    uint64_t offset = 0;
    for (size_t i = 0; i < index->open_segments; i++) {
        struct idxi_sets_cursor cursor;
        struct idxf_set set;
        bool found = true;
        idxi_sets_cursor_begin(&cursor, &index->segments[i]->sets);
        while (!state->stopped) {
            IDXI_TRY(idxi_sets_cursor_next(&cursor, &set, &found, error));
            if (!found) break;
            IDXI_TRY(visit_text_if_live(state, i, offset, &set, error));
        }
        offset += index->segments[i]->entry.documents;
    }
    return IDX_OK;
}

/* Visits the pending texts that were not removed, in the order of addition, until the visitor stops. */
static enum idx_status visit_pending_texts(struct visit_state *state, struct idx_error *error) {
    const struct idx_index *index = state->index;
    struct idxi_pending_text text;
    for (uint32_t record = 0; !state->stopped && idxi_pending_find_live_text(&index->pending, record, &text);
         record = text.number + 1) {
        struct idx_document document = {UINT64_MAX, text.id, text.id_size};
        IDXI_TRY(visit_set(state, &document, text.members, text.count, error));
    }
    return IDX_OK;
}

/* ---- All texts, by integer IDs ---- */

/* A segment or the pending texts, at the next set that was not removed. */
struct ascending_sets {
    struct idxi_sets_cursor cursor;
    struct idxf_set set;
    bool found;
};

/* The pending texts by ascending ID, of equal ones in the order of addition. */
struct pending_order {
    uint64_t *ids, *numbers, *spare; /* `numbers` are those of records; `spare` is scratch memory to sort both */
    size_t count, id_capacity, number_capacity, next;
};

/* Lists the IDs and record numbers of the pending texts that were not removed, by ascending ID. The caller frees the
 * arrays, even after an error. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status sort_pending_texts(const struct idx_index *index, struct pending_order *order,
                                          struct idx_error *error) {
    struct idxi_pending_text text;
    for (uint32_t record = 0; idxi_pending_find_live_text(&index->pending, record, &text); record = text.number + 1) {
        IDXI_GROW(order->ids, order->id_capacity, order->count + 1, error);
        IDXI_GROW(order->numbers, order->number_capacity, order->count + 1, error);
        order->ids[order->count] = idxf_load64(text.id);
        order->numbers[order->count++] = text.number;
    }
    order->spare = calloc(2 * order->count + 1, sizeof *order->spare);
    if (order->spare == NULL) return idxi_fail_memory(error);
    idxi_sort_pairs(order->ids, order->numbers, order->count, true, order->spare, order->spare + order->count);
    return IDX_OK;
}

/* Sets sets->set to the next set of segment number `segment` that was not removed, or if `segment` is the number of
 * segments, to the set of the next pending text in `order`. Sets sets->found to whether there is one. Errors: as
 * idxi_sets_cursor_next. */
static enum idx_status go_to_next_set(const struct idx_index *index, size_t segment, struct ascending_sets *sets,
                                      struct pending_order *order, struct idx_error *error) {
    struct idxi_pending_text text;
    if (segment < index->open_segments) {
        do {
            IDXI_TRY(idxi_sets_cursor_next(&sets->cursor, &sets->set, &sets->found, error));
        } while (sets->found && !idxi_is_set_live(index, segment, &sets->set));
        return IDX_OK;
    }
    sets->found =
        order->next < order->count && idxi_pending_get_text(&index->pending, order->numbers[order->next], &text);
    if (sets->found) sets->set = (struct idxf_set){order->ids[order->next++], text.count, text.members};
    return IDX_OK;
}

/* Visits the texts of all segments and the pending ones by ascending ID, those of equal IDs in the order of addition,
 * so that they come in the same order before and after a compaction. `inputs` and `order` are zeroed scratch memory;
 * `inputs` has an element for each segment, and one for the pending texts. Errors: as idxi_sets_cursor_next;
 * IDX_OUT_OF_MEMORY. */
static enum idx_status visit_merged_texts(struct visit_state *state, struct ascending_sets *inputs,
                                          struct pending_order *order, struct idx_error *error) {
    const struct idx_index *index = state->index;
    IDXI_TRY(sort_pending_texts(index, order, error));
    for (size_t i = 0; i <= index->open_segments; i++) {
        if (i < index->open_segments) idxi_sets_cursor_begin(&inputs[i].cursor, &index->segments[i]->sets);
        IDXI_TRY(go_to_next_set(index, i, &inputs[i], order, error));
    }
    while (!state->stopped) {
        size_t least = 0;
        for (size_t i = 1; i <= index->open_segments; i++)
            if (inputs[i].found && (!inputs[least].found || inputs[i].set.key < inputs[least].set.key)) least = i;
        if (!inputs[least].found) break;
        const struct idx_document document = {inputs[least].set.key, NULL, 0};
        IDXI_TRY(visit_set(state, &document, inputs[least].set.members, inputs[least].set.count, error));
        IDXI_TRY(go_to_next_set(index, least, &inputs[least], order, error));
    }
    return IDX_OK;
}

/* Visits all texts of an index with integer IDs, as visit_merged_texts does. Allocates and frees the memory for that.
 */
static enum idx_status visit_by_integer_ids(struct visit_state *state, struct idx_error *error) {
    struct ascending_sets *inputs = calloc(state->index->open_segments + 1, sizeof *inputs);
    struct pending_order order = {0};
    enum idx_status status =
        inputs == NULL ? idxi_fail_memory(error) : visit_merged_texts(state, inputs, &order, error);
    free(inputs);
    free(order.ids);
    free(order.numbers);
    free(order.spare);
    return status;
}

enum idx_status idx_visit_sets(const struct idx_index *index, idx_set_visitor visit, void *context,
                               struct idx_error *error) {
    struct visit_state state = {.index = index, .visit = visit, .context = context};
    IDXI_TRY(idxi_check_has_sets(index, error));
    enum idx_status status;
    if (index->manifest->id_type == IDXF_ID_U64) {
        status = visit_by_integer_ids(&state, error);
    } else {
        status = idx_documents_open(&state.documents, index, error);
        if (status == IDX_OK) status = visit_segment_texts(&state, error);
        if (status == IDX_OK) status = visit_pending_texts(&state, error);
        idx_documents_close(state.documents);
    }
    free(state.native.hashes);
    return status;
}
