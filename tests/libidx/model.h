/* model.h: documents in a plain list, to compare indexes that are added to and removed from with. */
#ifndef IDX_TESTS_LIBIDX_MODEL_H
#define IDX_TESTS_LIBIDX_MODEL_H

#include <idx.h>

/* What an index is made of. */
struct make {
    unsigned bits, k;
    const char *scheme;
    enum idx_id_type id_type;
    bool by_id;
};

struct document {
    uint64_t fingerprint;
    uint64_t id; /* as text: see write_text_id */
};

#define ROOM 4096 /* for documents */

/* In the order in which they were added. */
struct model {
    size_t count;
    struct document documents[ROOM];
};

/* Adds a document; only once, unless its ID is a text. */
void model_add(struct model *model, const struct make *make, const struct document *document);

/* Removes the documents that have this fingerprint and ID; NULL: any. Returns how many these are. */
size_t model_remove(struct model *model, const uint64_t *fingerprint, const uint64_t *id);

/* Nothing for 0; else a number, some with many letters behind it. */
#define LONGEST_ID 400
size_t write_text_id(char text[LONGEST_ID], uint64_t id);

/* A document as a writer takes it, its ID as text in `text`. */
struct idx_item item_of(const struct document *document, char text[LONGEST_ID]);

/* A builder at a path, which replaces an index there, and what it is given. */
struct idx_builder *model_begin_build(const char *path, const struct make *make);
void model_give(const struct model *model, const struct make *make, struct idx_builder *builder);

#endif
