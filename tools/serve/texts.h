/* texts.h: documents that are looked up by what is in them. */
#ifndef IDX_TOOLS_SERVE_TEXTS_H
#define IDX_TOOLS_SERVE_TEXTS_H

#include "tools/serve/options.h"
#include "tools/text/extract.h"

#include <pthread.h>

struct request;
struct idx_text_table;
struct pooled_text;

/* Fingerprinters at rest, which take a while to open. */
struct text_pool {
    pthread_mutex_t mutex;
    struct pooled_text *first;
    unsigned count, most;
    struct idx_text_table *table; /* or NULL */
    struct extract_rules rules;
    bool warned_of_icu;
};

/* False after a complaint. Before any other thread. */
bool texts_open(struct text_pool *pool, const struct serve_options *options);

/* POST /text. */
void texts_answer(struct request *request);

/* Puts the text of a document's file in the answer: in UTF-8, and without the tags of HTML. `name` is the file's. */
void texts_put(struct request *request, struct output *file, const char *name);

void texts_close(struct text_pool *pool);

#endif
