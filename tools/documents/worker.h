/* worker.h: a worker of reading.c, which makes something of documents in a thread of its own, a batch at a time.
 * Workers share nothing but what is fixed, and the mutex for large documents. */
#ifndef IDX_TOOLS_DOCUMENTS_WORKER_H
#define IDX_TOOLS_DOCUMENTS_WORKER_H

#include "tools/documents/reading.h"

#include <pthread.h>

/* Documents of a batch: enough that workers seldom wait for each other, and few enough that what was made of them is
 * still in the processor's cache when it is printed. */
enum { BATCH_DOCUMENTS = 128 };

/* A SimHash of fewer features is of little use: if one of n equally heavy features is replaced, about
 * 64 acos(1 - 1/n) / pi of 64 bits change, which is more than 10 for these n. */
enum { FEW_FEATURES = 8 };

/* What became of a document. */
struct document_result {
    struct raw_document raw; /* Its bytes are freed once they are fingerprinted. */
    size_t byte_count;       /* How many bytes it had. */
    uint64_t feature_count;  /* UINT64_MAX: they were not counted. */
    bool has_few;            /* It has few features, or no shingles or parts, which is reported. */
    size_t begin, end;       /* Where in the batch's output is what was made of it. */
    struct made made;        /* Its counts and lengths; batch_find_made sets its pointers. */
};

/* Documents that one worker fingerprints. */
struct document_batch {
    size_t count;        /* How many documents there are. */
    size_t memory_bytes; /* The memory of the documents when they were added. */
    struct document_result results[BATCH_DOCUMENTS];
    struct output output; /* What was made of all of them, one behind the other. */
    bool done;            /* A worker is done with it. */
};

struct worker {
    /* These are set by the caller. */
    const struct reading_rules *rules;
    struct idx_text_table *table; /* Read from a file, or made by the one worker; or NULL. */
    pthread_mutex_t *large_mutex; /* Held while a document that may take more than a worker's share is fingerprinted. */

    /* worker_open sets these. */
    struct text_reader reader;
    struct output parts;    /* Those of the text that is divided. */
    struct output unquoted; /* One of them, without marks of quotation. */
};

/* Returns whether the recipe of the rules makes sketches (minhash:M). */
bool makes_sketches(const struct reading_rules *rules);

/* Opens the worker's text reader by the rules; the caller must have set the first three members. Returns false, with
 * *error set but without a complaint, if that fails; then there is nothing to close. */
bool worker_open(struct worker *worker, struct idx_error *error);

/* Makes what the rules ask for of each document of a batch, appends it to batch->output, and frees the documents'
 * bytes. What is wrong with a document is in its raw.bad. Returns false, without a complaint, if memory ran out:
 * nothing is made of that document and of those behind it, and the worker ends. */
bool worker_process_batch(struct worker *worker, struct document_batch *batch);

/* Returns what was made of a document of the batch. Sets its pointers, which could not be set before since the memory
 * of the batch moved as it grew. Valid as long as the batch. */
const struct made *batch_find_made(const struct document_batch *batch, struct document_result *result);

/* Frees the worker's reader and buffers. */
void worker_close(struct worker *worker);

#endif
