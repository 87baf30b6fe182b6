/* query_batch.c: answers a batch of queries by several threads. A batch is cut into chunks; each thread
 * takes the next chunk and answers it into that chunk's own output. */
#include "tools/answers/answers.h"

#include <pthread.h>
#include <stdlib.h>

/* A chunk has so many queries, but for the last one. A batch is full with so many, or with so many bytes. */
enum { CHUNK = ANSWER_QUERIES, MOST_CHUNKS = 256, MOST_QUERIES = CHUNK * MOST_CHUNKS };
enum { ENOUGH_ID_BYTES = 1 << 20, ENOUGH_SHINGLE_BYTES = 1 << 24 };

/* A query of the batch, whose bytes are in `ids` and `shingles`, since these move as they grow. */
struct batch_query {
    uint64_t fingerprint;
    bool has_id;
    size_t id_begin, id_length;             /* Where the ID is in `ids`. */
    size_t shingles_begin, shingles_length; /* Where the hashes are in `shingles`, in bytes. */
};

struct query_batch {
    size_t count;
    struct batch_query queries[MOST_QUERIES];
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
    batch->ids = batch->shingles = (struct output)OUTPUT_BUFFER;
    for (size_t i = 0; i < MOST_CHUNKS; i++) batch->outputs[i] = (struct output)OUTPUT_BUFFER;
    pthread_mutex_init(&batch->mutex, NULL);
    batch->threads = threads;
    for (unsigned i = 0; i < threads; i++) answerer_init(&batch->answerers[i], question);
    return batch;
}

bool query_batch_add(struct query_batch *batch, const struct query *query) {
    batch->queries[batch->count] =
        (struct batch_query){query->fingerprint, query->id != NULL,      batch->ids.length,
                             query->id_length,   batch->shingles.length, query->shingles.length};
    output_bytes(&batch->ids, query->id, query->id_length);
    output_bytes(&batch->shingles, query->shingles.bytes, query->shingles.length);
    if (batch->ids.error != 0 || batch->shingles.error != 0) return false;
    batch->count++; /* Only now: a query whose bytes are missing must not be answered. */
    return true;
}

bool query_batch_is_full(const struct query_batch *batch) {
    return batch->count == MOST_QUERIES || batch->ids.length >= ENOUGH_ID_BYTES ||
           batch->shingles.length >= ENOUGH_SHINGLE_BYTES;
}

/* Returns how many chunks the queries of the batch make. */
static size_t count_chunks(const struct query_batch *batch) { return (batch->count + CHUNK - 1) / CHUNK; }

/* Keeps the error of the first chunk, by number, that failed, in whatever order chunks fail. Several threads may call
 * this. */
static void note_failed_chunk(struct query_batch *batch, size_t chunk, const struct idx_error *error) {
    pthread_mutex_lock(&batch->mutex);
    if (chunk < batch->failed_chunk) {
        batch->failed_chunk = chunk;
        batch->error = *error;
    }
    pthread_mutex_unlock(&batch->mutex);
}

/* Answers the queries of a chunk. Since threads take chunks in order, all chunks before one that fails are answered.
 * This is a task of idx_run_tasks. */
static enum idx_status answer_chunk(void *context, size_t chunk, unsigned thread, struct idx_error *error) {
    struct query_batch *batch = context;
    struct answerer *answerer = &batch->answerers[thread];
    size_t begin = chunk * CHUNK, end = begin + CHUNK < batch->count ? begin + CHUNK : batch->count;
    struct query queries[CHUNK];
    for (size_t i = begin; i < end; i++) {
        const struct batch_query *stored = &batch->queries[i];
        struct query *query = &queries[i - begin];
        *query = (struct query){stored->fingerprint, NULL, stored->id_length, {NULL, stored->shingles_length}};
        if (stored->has_id) query->id = stored->id_length == 0 ? "" : batch->ids.bytes + stored->id_begin;
        if (stored->shingles_length > 0) query->shingles.bytes = batch->shingles.bytes + stored->shingles_begin;
    }
    if (answerer_answer_queries(answerer, queries, end - begin, &batch->outputs[chunk])) return IDX_OK;
    note_failed_chunk(batch, chunk, &answerer->error);
    *error = answerer->error;
    return error->status;
}

/* Prints the answers up to those of the first chunk that failed, and empties all outputs. Returns false if one did. */
static bool print_answers(struct query_batch *batch, struct output *output) {
    size_t count = count_chunks(batch);
    for (size_t i = 0; i < count; i++) {
        struct output *answers = &batch->outputs[i];
        if (i <= batch->failed_chunk) output_bytes(output, answers->bytes, answers->length);
        if (answers->error != 0 && output->error == 0) output->error = answers->error;
        answers->length = 0;
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

bool query_batch_has_match(const struct query_batch *batch) {
    for (unsigned i = 0; i < batch->threads; i++) {
        if (batch->answerers[i].found) return true;
    }
    return false;
}

void query_batch_close_documents(struct query_batch *batch) {
    for (unsigned i = 0; i < batch->threads; i++) answerer_close_documents(&batch->answerers[i]);
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
