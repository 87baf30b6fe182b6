/* texts.h: looks texts up, and shows the texts of documents. */
#ifndef IDX_TOOLS_SERVE_TEXTS_H
#define IDX_TOOLS_SERVE_TEXTS_H

#include "tools/serve/options.h"
#include "tools/text/extract.h"

#include <pthread.h>

struct request;
struct idx_text_table;
struct pooled_text;

/* Opening a fingerprinter takes a while, so that idle ones are kept. */
struct text_pool {
    pthread_mutex_t mutex;
    struct pooled_text *first;
    unsigned count, most;
    struct idx_text_table *table; /* NULL: the recipe needs none. */
    struct extract_rules rules;
    bool warned_of_icu;
};

/* Opens the pool, before any other thread is started. Returns false after a complaint. */
bool texts_open(struct text_pool *pool, const struct serve_options *options);

/* Answers POST /text. */
void texts_answer(struct request *request);

/* Appends the text of a document's file to the answer, in UTF-8 and without the tags of HTML. `name` is the name of the
 * file. */
void texts_put(struct request *request, struct output *file, const char *name);

void texts_close(struct text_pool *pool);

#endif
