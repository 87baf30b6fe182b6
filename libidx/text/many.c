/* many.c: the fingerprints of many documents, on several threads. */
#include <string.h>

#include <idx_text.h>

/* How many documents a task has. */
#define TAKEN ((size_t)64)

struct many {
    struct idx_text *const *texts; /* one for each thread */
    const struct idx_text_document *documents;
    size_t count;
    unsigned bits;
    uint64_t *fingerprints;
    size_t capacity;
    uint64_t *fingerprint_counts; /* may be NULL, and so may the next */
    uint64_t *features;
};

static enum idx_status fingerprint_one(const struct many *many, struct idx_text *text, size_t at,
                                       struct idx_error *error) {
    const struct idx_text_document *document = &many->documents[at];
    uint64_t *fingerprints = many->fingerprints + at * many->capacity;
    struct idx_text_counts counts;
    size_t made;
    memset(fingerprints, 0, many->capacity * sizeof *fingerprints);
    enum idx_status status = idx_text_fingerprints(text, document->fields, document->field_count, many->bits,
                                                   fingerprints, many->capacity, &made, &counts, error);
    if (status != IDX_OK) return status;
    if (many->fingerprint_counts != NULL) many->fingerprint_counts[at] = made;
    if (many->features != NULL) many->features[at] = counts.features;
    return IDX_OK;
}

static enum idx_status fingerprint_some(void *context, size_t number, unsigned thread, struct idx_error *error) {
    const struct many *many = context;
    size_t begin = number * TAKEN, end = many->count - begin < TAKEN ? many->count : begin + TAKEN;
    enum idx_status status = IDX_OK;
    for (size_t i = begin; i < end && status == IDX_OK; i++)
        status = fingerprint_one(many, many->texts[thread], i, error);
    return status;
}

enum idx_status idx_text_fingerprint_many(struct idx_text *const *texts, unsigned threads,
                                          const struct idx_text_document *documents, size_t count, unsigned bits,
                                          uint64_t *fingerprints, size_t capacity, uint64_t *fingerprint_counts,
                                          uint64_t *features, idx_progress_visitor visit, void *visit_context,
                                          struct idx_error *error) {
    struct many many = {texts, documents, count, bits, fingerprints, capacity, fingerprint_counts, features};
    return idx_run_tasks(count / TAKEN + (count % TAKEN > 0), threads, fingerprint_some, &many, visit, visit_context,
                         error);
}
