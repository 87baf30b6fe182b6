/* texts.h: looks texts up, and shows the texts of documents. */
#ifndef IDX_TOOLS_SERVE_TEXTS_H
#define IDX_TOOLS_SERVE_TEXTS_H

#include "tools/connections/options.h"
#include "tools/documents/text_reader.h"
#include "tools/serve/request.h"
#include "tools/shared/command.h"

#include <pthread.h>

struct texts_service {
    pthread_key_t key; /* Each answering thread keeps its fingerprinter under it, because opening one takes a while. */
    bool has_key;      /* The key was made. */
    struct idx_text_table *table; /* NULL: the recipe needs none. */
    struct extract_rules rules;
    pthread_mutex_t mutex; /* It protects the next member: */
    bool warned_of_icu;
};

/* Opens this part of the service, for texts that are looked up in `index`. It must come before any other thread is
 * started. Returns false after a complaint; the caller calls texts_close even then. */
bool texts_open(struct texts_service *texts, const struct serve_options *options, const struct idx_index *index);

/* Answers POST /text: with the stored texts that resemble the text in the body, or with the matches of its
 * fingerprints; or fails the request. */
void texts_answer(struct request *request);

/* Appends the text of a document's file to the answer, in UTF-8 and without the tags of HTML, or fails the request.
 * `file` has the bytes of the file; the call may replace them, and the caller frees those that it then has. `name` is
 * the name of the file. */
void texts_write_document(struct request *request, struct output *file, const char *name);

/* Frees the table and the key. The fingerprinters of threads are freed as these end, which they must do before. */
void texts_close(struct texts_service *texts);

/* Appends the hashes of a text's shingles to `hashes`, in ascending order. Sets *problem and returns false if the text
 * can't be read, or memory ran out. */
bool texts_append_shingle_hashes(const struct span *text, const struct idx_text_shingle_options *shingling,
                                 struct output *hashes, struct problem *problem);

#endif
