/* texts.h: looks texts up, and shows the texts of documents. */
#ifndef IDX_TOOLS_SERVE_TEXTS_H
#define IDX_TOOLS_SERVE_TEXTS_H

#include "tools/serve/options.h"
#include "tools/serve/request.h"
#include "tools/shared/command.h"
#include "tools/text/extract.h"

#include <pthread.h>

struct texts_service {
    pthread_key_t key; /* Each answering thread keeps its fingerprinter under it, because opening one takes a while. */
    bool has_key;
    struct idx_text_table *table; /* NULL: the recipe needs none. */
    struct extract_rules rules;
    pthread_mutex_t mutex; /* It protects the next member. */
    bool warned_of_icu;
    struct sets_file *sets; /* The file of sets of --documents, or NULL. */
};

/* Opens this part of the service, for an index, before any other thread is started. */
bool texts_open(struct texts_service *texts, const struct serve_options *options, const struct idx_index *index);

/* Answers POST /text. */
void texts_answer(struct request *request);

/* Appends the text of a document's file to the answer, in UTF-8 and without the tags of HTML. `name` is the name of the
 * file. */
void texts_put(struct request *request, struct output *file, const char *name);

void texts_close(struct texts_service *texts);

/* Makes the shingles of a document's file, as texts_put reads it. Returns false if it can't be read as a text. The
 * caller frees the hashes in either case. */
bool texts_list_shingles(const struct texts_service *texts, struct output *file, const char *name,
                         const struct sketch *sketch, struct output *hashes);

#endif
