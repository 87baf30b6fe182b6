/* many.c: the fingerprints of many documents, on several threads. */
#include <string.h>

#include <idx_text.h>

#define DOCUMENTS_PER_TASK ((size_t)64)

struct job {
    struct idx_text *const *texts; /* one for each thread */
    const struct idx_text_document *documents;
    size_t count;
    unsigned bits;
    uint64_t *fingerprints;
    size_t capacity;              /* how many fingerprints each document has room for */
    uint64_t *fingerprint_counts; /* or NULL */
    uint64_t *feature_counts;     /* or NULL */
};

/* Makes the fingerprints of document `number`, and stores them and their counts in the arrays of the job. If there are
 * fewer than job->capacity, the other places are 0. Errors: those of idx_text_fingerprints. */
static enum idx_status fingerprint_document(const struct job *job, struct idx_text *text, size_t number,
                                            struct idx_error *error) {
    const struct idx_text_document *document = &job->documents[number];
    uint64_t *fingerprints = job->fingerprints + number * job->capacity;
    struct idx_text_counts counts;
    size_t fingerprint_count;
    memset(fingerprints, 0, job->capacity * sizeof *fingerprints);
    enum idx_status status = idx_text_fingerprints(text, document->fields, document->field_count, job->bits,
                                                   fingerprints, job->capacity, &fingerprint_count, &counts, error);
    if (status != IDX_OK) return status;
    if (job->fingerprint_counts != NULL) job->fingerprint_counts[number] = fingerprint_count;
    if (job->feature_counts != NULL) job->feature_counts[number] = counts.features;
    return IDX_OK;
}

/* This is an idx_task; `context` is a struct job. Fingerprints the documents from number task * DOCUMENTS_PER_TASK on:
 * DOCUMENTS_PER_TASK of them, or fewer in the last task. Stops at the first error. */
static enum idx_status fingerprint_batch(void *context, size_t task, unsigned thread, struct idx_error *error) {
    const struct job *job = context;
    size_t begin = task * DOCUMENTS_PER_TASK, left_count = job->count - begin;
    size_t end = left_count < DOCUMENTS_PER_TASK ? job->count : begin + DOCUMENTS_PER_TASK;
    enum idx_status status = IDX_OK;
    for (size_t i = begin; i < end && status == IDX_OK; i++)
        status = fingerprint_document(job, job->texts[thread], i, error);
    return status;
}

enum idx_status idx_text_fingerprint_many(struct idx_text *const *texts, unsigned threads,
                                          const struct idx_text_document *documents, size_t count, unsigned bits,
                                          uint64_t *fingerprints, size_t capacity, uint64_t *fingerprint_counts,
                                          uint64_t *features, idx_progress_visitor visit, void *visit_context,
                                          struct idx_error *error) {
    struct job job = {.texts = texts, .documents = documents, .count = count, .bits = bits, .capacity = capacity};
    job.fingerprints = fingerprints;
    job.fingerprint_counts = fingerprint_counts;
    job.feature_counts = features;
    return idx_run_tasks(count / DOCUMENTS_PER_TASK + (count % DOCUMENTS_PER_TASK > 0), threads, fingerprint_batch,
                         &job, visit, visit_context, error);
}
