/* query_batch.c: answers a batch of queries by several threads. A batch is cut into chunks. Each thread answers the
 * next chunk into an output of that chunk, and these outputs are printed in order. */
#include "tools/answers/answers.h"

#include <pthread.h>
#include <stdlib.h>

/* A chunk has CHUNK_SIZE queries, or fewer if it is the last. A batch is full with MAX_QUERIES, or once its IDs or
 * shingles have ENOUGH_ bytes. */
enum { CHUNK_SIZE = ANSWER_QUERIES, MAX_CHUNKS = 256, MAX_QUERIES = CHUNK_SIZE * MAX_CHUNKS };
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
    struct batch_query queries[MAX_QUERIES];
    struct output ids;
    struct output shingles; /* Of texts, all hashes of each. */
    struct output outputs[MAX_CHUNKS];

    pthread_mutex_t mutex;  /* It protects the next two members. */
    size_t failed_chunk;    /* The number of the first chunk that failed; MAX_CHUNKS: none did. */
    struct idx_error error; /* Its error. */

    unsigned threads;
    struct answerer answerers[]; /* Each thread has one. */
};

struct query_batch *query_batch_new(const struct question *question, unsigned threads) {
    struct query_batch *batch = calloc(1, sizeof *batch + threads * sizeof batch->answerers[0]);
    if (batch == NULL) return NULL;
    batch->ids = batch->shingles = (struct output)OUTPUT_BUFFER;
    for (size_t i = 0; i < MAX_CHUNKS; i++) batch->outputs[i] = (struct output)OUTPUT_BUFFER;
    pthread_mutex_init(&batch->mutex, NULL);
    batch->threads = threads;
    for (unsigned i = 0; i < threads; i++) answerer_init(&batch->answerers[i], question);
    return batch;
}

bool query_batch_add(struct query_batch *batch, const struct query *query) {
    batch->queries[batch->count] = (struct batch_query){.fingerprint = query->fingerprint,
                                                        .has_id = query->id != NULL,
                                                        .id_begin = batch->ids.length,
                                                        .id_length = query->id_length,
                                                        .shingles_begin = batch->shingles.length,
                                                        .shingles_length = query->shingles.length};
    output_bytes(&batch->ids, query->id, query->id_length);
    output_bytes(&batch->shingles, query->shingles.bytes, query->shingles.length);
    if (batch->ids.error != 0 || batch->shingles.error != 0) return false;
    batch->count++; /* Only now: a query whose bytes are missing must not be answered. */
    return true;
}

bool query_batch_is_full(const struct query_batch *batch) {
    return batch->count == MAX_QUERIES || batch->ids.length >= ENOUGH_ID_BYTES ||
           batch->shingles.length >= ENOUGH_SHINGLE_BYTES;
}

/* Returns how many chunks the queries of the batch make: ceil(count / CHUNK_SIZE). */
static size_t count_chunks(const struct query_batch *batch) { return (batch->count + CHUNK_SIZE - 1) / CHUNK_SIZE; }

/* Sets failed_chunk and the batch's error to those of a chunk that failed, unless a chunk with a lower number has
 * failed as well. Several threads may call this at once. */
static void keep_first_failed_chunk(struct query_batch *batch, size_t chunk, const struct idx_error *error) {
    pthread_mutex_lock(&batch->mutex);
    if (chunk < batch->failed_chunk) {
        batch->failed_chunk = chunk;
        batch->error = *error;
    }
    pthread_mutex_unlock(&batch->mutex);
}

/* Answers the queries of a chunk into its output. If the library fails, keeps the error, sets *error and returns its
 * status. Since idx_run_tasks begins chunks in order, all chunks before one that fails are answered. This is a task of
 * idx_run_tasks. */
static enum idx_status answer_chunk(void *context, size_t chunk, unsigned thread, struct idx_error *error) {
    struct query_batch *batch = context;
    struct answerer *answerer = &batch->answerers[thread];
    size_t begin = chunk * CHUNK_SIZE, end = begin + CHUNK_SIZE < batch->count ? begin + CHUNK_SIZE : batch->count;
    struct query queries[CHUNK_SIZE];
    for (size_t i = begin; i < end; i++) {
        const struct batch_query *stored = &batch->queries[i];
        struct query *query = &queries[i - begin];
        *query = (struct query){.fingerprint = stored->fingerprint, .id_length = stored->id_length};
        /* An empty ID is no NULL, which ids.bytes is if all IDs are empty. */
        if (stored->has_id) query->id = stored->id_length == 0 ? "" : batch->ids.bytes + stored->id_begin;
        if (stored->shingles_length > 0)
            query->shingles = (struct span){batch->shingles.bytes + stored->shingles_begin, stored->shingles_length};
    }
    if (answerer_answer_queries(answerer, queries, end - begin, &batch->outputs[chunk])) return IDX_OK;
    keep_first_failed_chunk(batch, chunk, &answerer->error);
    *error = answerer->error;
    return error->status;
}

/* Prints the answers of all chunks, or of those up to the first that failed, and empties the outputs. Returns whether
 * no chunk failed. */
static bool print_answers_of_chunks(struct query_batch *batch, struct output *output) {
    for (size_t i = 0, count = count_chunks(batch); i < count; i++) {
        struct output *answers = &batch->outputs[i];
        if (i <= batch->failed_chunk) output_bytes(output, answers->bytes, answers->length);
        if (answers->error != 0 && output->error == 0) output->error = answers->error;
        answers->length = 0;
    }
    return batch->failed_chunk == MAX_CHUNKS;
}

bool query_batch_answer(struct query_batch *batch, struct output *output, struct idx_error *error) {
    batch->failed_chunk = MAX_CHUNKS;
    bool ok = idx_run_tasks(count_chunks(batch), batch->threads, answer_chunk, batch, NULL, NULL, error) == IDX_OK;
    /* *error may be that of a later chunk, which failed earlier. */
    if (!print_answers_of_chunks(batch, output)) *error = batch->error;
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
    for (size_t i = 0; i < MAX_CHUNKS; i++) free(batch->outputs[i].bytes);
    free(batch->ids.bytes);
    free(batch->shingles.bytes);
    pthread_mutex_destroy(&batch->mutex);
    free(batch);
}
