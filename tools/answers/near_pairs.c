/* near_pairs.c: prints near pairs, as near_pairs.h says. */
#include "tools/answers/near_pairs.h"

void near_init(struct near *near) {
    *near = (struct near){.options = IDX_JOIN_OPTIONS_INIT, .max_documents = UINT64_MAX, .output = OUTPUT_STANDARD};
    near->options.threads = arguments_get_default_threads();
    near->options.progress = progress_visit;
    near->options.context = &near->progress;
}

/* ---- Lines ---- */

bool near_add_documents_to_row(struct near *near, struct idx_documents *documents, uint64_t limit) {
    struct idx_document document;
    bool found = true;
    for (uint64_t i = 0; i < limit && near->output.error == 0; i++) {
        if (idx_documents_next(documents, &document, &found, &near->error) != IDX_OK) return false;
        if (!found) break;
        row_write_document_id(&near->rows, NULL, &document);
    }
    return true;
}

void near_begin_row(struct near *near, uint64_t fingerprint_a, uint64_t fingerprint_b, unsigned distance) {
    const unsigned bits = near->sides[0].properties.bits;
    near->rows = (struct rows){.output = &near->output};
    row_write_fingerprint(&near->rows, NULL, (enum notation)near->notation, bits, fingerprint_a);
    row_write_fingerprint(&near->rows, NULL, (enum notation)near->notation, bits, fingerprint_b);
    row_write_number(&near->rows, NULL, distance);
    near->found = true;
}

/* Writes the column of a fingerprint's first document, which is empty if the index keeps no documents. Sets `error` and
 * returns false if the library fails. */
static bool write_first_document(struct near *near, const struct near_side *side, uint64_t fingerprint) {
    if (side->documents == NULL) {
        row_write_word(&near->rows, NULL, "");
        return true;
    }
    return idx_documents_find(side->documents, fingerprint, NULL, &near->error) == IDX_OK &&
           near_add_documents_to_row(near, side->documents, 1);
}

bool near_print_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    struct near *near = context;
    for (size_t i = 0; i < count && !near->failed; i++) {
        near_begin_row(near, pairs[i].a, pairs[i].b, pairs[i].distance);
        if (near->with_documents)
            near->failed = !write_first_document(near, &near->sides[0], pairs[i].a) ||
                           !write_first_document(near, &near->sides[1], pairs[i].b);
        row_end(&near->rows);
    }
    return !near->failed && near->output.error == 0 && !interrupt_is_noted();
}

/* ---- The whole ---- */

bool near_open_index(struct near *near, size_t side_number, const char *path) {
    struct near_side *side = &near->sides[side_number];
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    options.residence = IDX_RESIDENCE_NONE;
    if (idx_open(&side->index, path, &options, &near->error) != IDX_OK) return false;
    idx_get_properties(side->index, &side->properties);
    return !near->with_documents || side->properties.id_type == IDX_ID_NONE ||
           idx_documents_open(&side->documents, side->index, &near->error) == IDX_OK;
}

/* Closes the indexes and their cursors. `idx pairs` has the same index on both sides, which is closed once. */
static void close_sides(struct near *near) {
    bool are_two = near->sides[1].index != near->sides[0].index;
    for (size_t i = 0; i < (are_two ? 2 : 1); i++) {
        idx_documents_close(near->sides[i].documents);
        idx_close(near->sides[i].index);
    }
}

int near_run_command(struct near *near, bool (*find)(struct near *near)) {
    progress_start(&near->progress, near->progress_forced);
    interrupt_catch();
    bool ok = find(near);
    progress_end(&near->progress);
    bool written = output_close(&near->output);
    close_sides(near);
    if (!ok && near->error.status != IDX_OK && !interrupt_is_noted()) complain("%s", near->error.sentence);
    interrupt_end_process();
    if (!ok || !written) return ENDS_BADLY;
    return near->found ? ENDS_WELL : ENDS_WITHOUT;
}
