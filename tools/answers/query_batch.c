/* query_batch.c: answers a batch of queries by several threads. A batch is cut into chunks; each thread
 * takes the next chunk and answers it into that chunk's own output. */
#include "tools/answers/answers.h"

#include <pthread.h>
#include <stdlib.h>

enum { CHUNK = ANSWER_QUERIES, MOST_CHUNKS = 256, MOST_QUERIES = CHUNK * MOST_CHUNKS };

struct kept_query {
    uint64_t fingerprint;
    bool has_id;
    size_t id, id_length; /* Where the ID begins in `ids`, and its length. */
    size_t shingles, shingles_length;
};

struct query_batch {
    size_t count;
    struct kept_query queries[MOST_QUERIES];
    struct output ids;
    struct output shingles; /* Of texts, all hashes of each. */
    struct output outputs[MOST_CHUNKS];

    pthread_mutex_t mutex; /* It protects the next two members. */
    size_t failed_chunk;   /* The first that failed; MOST_CHUNKS: none did. */
    struct idx_error error;

    unsigned threads;
    struct answerer answerers[]; /* Each thread has one. */
};

struct query_batch *query_batch_new(const struct question *question, unsigned threads) {
    struct query_batch *batch = calloc(1, sizeof *batch + threads * sizeof batch->answerers[0]);
    if (batch == NULL) return NULL;
    batch->ids = batch->shingles = (struct output)OUTPUT_KEPT;
    for (size_t i = 0; i < MOST_CHUNKS; i++) batch->outputs[i] = (struct output)OUTPUT_KEPT;
    pthread_mutex_init(&batch->mutex, NULL);
    batch->threads = threads;
    for (unsigned i = 0; i < threads; i++) answerer_init(&batch->answerers[i], question);
    return batch;
}

bool query_batch_add(struct query_batch *batch, const struct query *query) {
    batch->queries[batch->count++] =
        (struct kept_query){query->fingerprint, query->id != NULL,      batch->ids.length,
                            query->id_length,   batch->shingles.length, query->shingles.length};
    output_bytes(&batch->ids, query->id, query->id_length);
    output_bytes(&batch->shingles, query->shingles.bytes, query->shingles.length);
    return batch->ids.error == 0 && batch->shingles.error == 0;
}

bool query_batch_is_full(const struct query_batch *batch) {
    return batch->count == MOST_QUERIES || batch->ids.length >= 1 << 20 || batch->shingles.length >= 1 << 24;
}

static size_t count_chunks(const struct query_batch *batch) { return (batch->count + CHUNK - 1) / CHUNK; }

static void note_failure(struct query_batch *batch, size_t chunk, const struct idx_error *error) {
    pthread_mutex_lock(&batch->mutex);
    if (chunk < batch->failed_chunk) {
        batch->failed_chunk = chunk;
        batch->error = *error;
    }
    pthread_mutex_unlock(&batch->mutex);
}

/* Answers the queries of a chunk. Since threads take chunks in order, all chunks before one that fails are answered. */
static enum idx_status answer_chunk(void *context, size_t chunk, unsigned thread, struct idx_error *error) {
    struct query_batch *batch = context;
    struct answerer *answerer = &batch->answerers[thread];
    size_t begin = chunk * CHUNK, end = begin + CHUNK < batch->count ? begin + CHUNK : batch->count;
    struct query queries[CHUNK];
    for (size_t i = begin; i < end; i++) {
        const struct kept_query *from = &batch->queries[i];
        const char *id = !from->has_id ? NULL : from->id_length == 0 ? "" : batch->ids.bytes + from->id;
        struct span shingles = {NULL, from->shingles_length};
        if (shingles.length > 0) shingles.bytes = batch->shingles.bytes + from->shingles;
        queries[i - begin] = (struct query){from->fingerprint, id, from->id_length, shingles};
    }
    if (answerer_answer(answerer, queries, end - begin, &batch->outputs[chunk])) return IDX_OK;
    note_failure(batch, chunk, &answerer->error);
    *error = answerer->error;
    return error->status;
}

/* Prints the answers up to the first chunk that failed. Returns false if one did. */
static bool print_answers(struct query_batch *batch, struct output *output) {
    size_t count = count_chunks(batch);
    for (size_t i = 0; i < count; i++) {
        struct output *made = &batch->outputs[i];
        if (i <= batch->failed_chunk) output_bytes(output, made->bytes, made->length);
        if (made->error != 0 && output->error == 0) output->error = made->error;
        made->length = 0;
    }
    return batch->failed_chunk == MOST_CHUNKS;
}

bool query_batch_answer(struct query_batch *batch, struct output *output, struct idx_error *error) {
    batch->failed_chunk = MOST_CHUNKS;
    bool ok = idx_run_tasks(count_chunks(batch), batch->threads, answer_chunk, batch, NULL, NULL, error) == IDX_OK;
    if (!print_answers(batch, output)) *error = batch->error;
    batch->count = 0;
    batch->ids.length = batch->shingles.length = 0;
    return ok;
}

bool query_batch_found(const struct query_batch *batch) {
    for (unsigned i = 0; i < batch->threads; i++) {
        if (batch->answerers[i].found) return true;
    }
    return false;
}

void query_batch_forget(struct query_batch *batch) {
    for (unsigned i = 0; i < batch->threads; i++) answerer_forget(&batch->answerers[i]);
}

void query_batch_free(struct query_batch *batch) {
    if (batch == NULL) return;
    for (unsigned i = 0; i < batch->threads; i++) answerer_free(&batch->answerers[i]);
    for (size_t i = 0; i < MOST_CHUNKS; i++) free(batch->outputs[i].bytes);
    free(batch->ids.bytes);
    free(batch->shingles.bytes);
    pthread_mutex_destroy(&batch->mutex);
    free(batch);
}
