/* model.c: see model.h. */
#include "tests/libidx/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

void model_add(struct model *model, const struct make *make, const struct document *document) {
    for (size_t i = 0; i < model->count && make->id_type != IDX_ID_TEXT; i++) {
        if (memcmp(&model->documents[i], document, sizeof *document) == 0) return;
    }
    assert_true(model->count < ROOM);
    model->documents[model->count++] = *document;
}

size_t model_remove(struct model *model, const uint64_t *fingerprint, const uint64_t *id) {
    size_t kept = 0, removed = 0;
    for (size_t i = 0; i < model->count; i++) {
        struct document document = model->documents[i];
        bool goes = (fingerprint == NULL || document.fingerprint == *fingerprint) && (id == NULL || document.id == *id);
        removed += goes;
        if (!goes) model->documents[kept++] = document;
    }
    model->count = kept;
    return removed;
}

size_t write_text_id(char text[LONGEST_ID], uint64_t id) {
    if (id == 0) return 0;
    size_t length = (size_t)snprintf(text, LONGEST_ID, "%" PRIu64, id);
    size_t letters = id % 13 == 0 ? 300 : 0;
    memset(text + length, 'x', letters);
    return length + letters;
}

struct idx_item item_of(const struct document *document, char text[LONGEST_ID]) {
    return (struct idx_item){document->fingerprint, document->id, text, write_text_id(text, document->id)};
}

struct idx_builder *model_begin_build(const char *path, const struct make *make) {
    struct idx_build_options options = options_for(make->bits, make->k, make->scheme);
    struct idx_builder *builder;
    options.id_type = make->id_type;
    options.by_id = make->by_id;
    options.replace = true;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    return builder;
}

void model_give(const struct model *model, const struct make *make, struct idx_builder *builder) {
    for (size_t i = 0; i < model->count; i++) {
        char text[LONGEST_ID];
        struct idx_item item = item_of(&model->documents[i], text);
        if (make->id_type == IDX_ID_TEXT)
            assert_ok(idx_builder_add(
                builder,
                &(struct idx_item){.fingerprint = item.fingerprint, .id = item.id, .id_length = item.id_length},
                &failure));
        else
            assert_ok(idx_builder_add(
                builder, &(struct idx_item){.fingerprint = item.fingerprint, .number = item.number}, &failure));
    }
}
