/* batches.h: what the threads of a pipeline share: a ring of batches of documents. */
#ifndef IDX_TOOLS_BATCHES_H
#define IDX_TOOLS_BATCHES_H

#include "tools/shared/progress.h"
#include "tools/text/pipeline.h"
#include "tools/text/text.h"

#include <pthread.h>

enum { BATCH_DOCUMENTS = 64, RING_BATCHES = 128 };

/* SimHash of fewer features tells little: where one of n equal ones is another, about 64 acos(1 - 1/n) / pi of 64 bits
 * change, which is more than 10 here. */
enum { FEW_FEATURES = 8 };

/* What became of a document. */
struct document_result {
    struct raw_document raw; /* its bytes are freed once they are fingerprinted */
    size_t bytes;            /* that it had */
    uint64_t features;
    bool few;
    size_t lines_end; /* where the batch's lines end with its own */
};

struct document_batch {
    size_t count, bytes;
    struct document_result results[BATCH_DOCUMENTS];
    struct output lines;
    bool done;
};

struct pipeline {
    const struct pipeline_rules *rules;
    struct idx_text_table *table;   /* that is read, or that the one worker makes; or NULL */
    struct document_batch *filling; /* by the main thread alone */

    pthread_mutex_t large; /* held while a document is fingerprinted that may take more than a worker's share */
    pthread_mutex_t mutex; /* for what follows, up to the printer's */
    pthread_cond_t changed;
    struct document_batch *ring[RING_BATCHES];
    size_t printed, taken, submitted; /* how many batches were */
    size_t bytes;                     /* of the batches in the ring */
    bool ended, stopped;

    /* The printer's alone. */
    struct output output;
    struct progress progress;
    struct bad_counts bad;
    uint64_t documents, document_bytes, empty, few;
    uint64_t lines; /* printed */
};

/* NULL is accepted. */
void batch_free(struct document_batch *batch);

/* The thread that prints, whose context is the pipeline; it frees the batches. */
void *printer_run(void *context);

/* Says what was left out, once all threads have ended. */
void printer_say_totals(const struct pipeline *pipeline, const struct documents *documents);

/* Prints the line #total (tools/input/totals.h). */
void printer_print_total(struct pipeline *pipeline, bool failed);

#endif
