/* answers.c: answers the queries that are at hand, by several threads. A batch is cut into chunks; each thread takes
 * the next chunk and answers it into that chunk's own output. */
#include "tools/answers/answers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { CHUNK = ANSWER_QUERIES, MOST_CHUNKS = 256, MOST_QUERIES = CHUNK * MOST_CHUNKS };

struct kept_query {
    uint64_t fingerprint;
    bool has_id;
    size_t id, id_length; /* within `ids` */
};

struct answers {
    size_t count;
    struct kept_query queries[MOST_QUERIES];
    struct output ids;
    struct output answers[MOST_CHUNKS];
    atomic_size_t next_chunk;

    pthread_mutex_t mutex; /* for the two below */
    size_t failed_chunk;   /* the first one; MOST_CHUNKS when none */
    struct idx_error error;

    unsigned threads;
    struct answerer answerers[]; /* one a thread */
};

struct answers *answers_new(const struct question *question, unsigned threads) {
    struct answers *answers = calloc(1, sizeof *answers + threads * sizeof answers->answerers[0]);
    if (answers == NULL) return NULL;
    answers->ids = (struct output)OUTPUT_KEPT;
    for (size_t i = 0; i < MOST_CHUNKS; i++) answers->answers[i] = (struct output)OUTPUT_KEPT;
    pthread_mutex_init(&answers->mutex, NULL);
    answers->threads = threads;
    for (unsigned i = 0; i < threads; i++) answerer_init(&answers->answerers[i], question);
    return answers;
}

bool answers_add(struct answers *answers, const struct query *query) {
    answers->queries[answers->count++] =
        (struct kept_query){query->fingerprint, query->id != NULL, answers->ids.length, query->id_length};
    output_bytes(&answers->ids, query->id, query->id_length);
    return answers->ids.error == 0;
}

bool answers_is_full(const struct answers *answers) {
    return answers->count == MOST_QUERIES || answers->ids.length >= 1 << 20;
}

static size_t chunks(const struct answers *answers) { return (answers->count + CHUNK - 1) / CHUNK; }

static void note_failure(struct answers *answers, size_t chunk, const struct idx_error *error) {
    pthread_mutex_lock(&answers->mutex);
    if (chunk < answers->failed_chunk) {
        answers->failed_chunk = chunk;
        answers->error = *error;
    }
    pthread_mutex_unlock(&answers->mutex);
}

/* Chunks are taken in order: those before one that fails have all been taken, and are answered. */
static void answer_chunk(struct answers *answers, struct answerer *answerer, size_t chunk) {
    size_t begin = chunk * CHUNK, end = begin + CHUNK < answers->count ? begin + CHUNK : answers->count;
    struct query queries[CHUNK];
    for (size_t i = begin; i < end; i++) {
        const struct kept_query *from = &answers->queries[i];
        const char *id = from->has_id ? answers->ids.bytes + from->id : NULL;
        queries[i - begin] = (struct query){from->fingerprint, id, from->id_length};
    }
    if (!answer(answerer, queries, end - begin, &answers->answers[chunk]))
        note_failure(answers, chunk, &answerer->error);
}

struct work {
    struct answers *answers;
    struct answerer *answerer;
    pthread_t thread;
    bool started;
};

static void *answer_chunks(void *context) {
    struct work *work = context;
    struct answers *answers = work->answers;
    size_t chunk, count = chunks(answers);
    while ((chunk = atomic_fetch_add(&answers->next_chunk, 1)) < count) answer_chunk(answers, work->answerer, chunk);
    return NULL;
}

static void answer_all(struct answers *answers, struct work *works) {
    size_t count = chunks(answers) < answers->threads ? chunks(answers) : answers->threads;
    for (size_t i = 0; i < count; i++) works[i] = (struct work){.answers = answers, .answerer = &answers->answerers[i]};
    for (size_t i = 1; i < count; i++)
        works[i].started = pthread_create(&works[i].thread, NULL, answer_chunks, &works[i]) == 0;
    if (count > 0) answer_chunks(&works[0]); /* also the work of threads that could not be started */
    for (size_t i = 1; i < count; i++) {
        if (works[i].started) pthread_join(works[i].thread, NULL);
    }
}

static bool print(struct answers *answers, struct output *output) {
    size_t count = chunks(answers);
    for (size_t i = 0; i < count; i++) {
        struct output *made = &answers->answers[i];
        if (i <= answers->failed_chunk) output_bytes(output, made->bytes, made->length);
        if (made->error != 0 && output->error == 0) output->error = made->error;
        made->length = 0;
    }
    return answers->failed_chunk == MOST_CHUNKS;
}

bool answers_answer(struct answers *answers, struct output *output, struct idx_error *error) {
    struct work works[MOST_CHUNKS];
    atomic_store(&answers->next_chunk, 0);
    answers->failed_chunk = MOST_CHUNKS;
    answer_all(answers, works);
    bool whole = print(answers, output);
    if (!whole) *error = answers->error;
    answers->count = 0;
    answers->ids.length = 0;
    return whole;
}

bool answers_found(const struct answers *answers) {
    for (unsigned i = 0; i < answers->threads; i++) {
        if (answers->answerers[i].found) return true;
    }
    return false;
}

void answers_forget(struct answers *answers) {
    for (unsigned i = 0; i < answers->threads; i++) answerer_forget(&answers->answerers[i]);
}

void answers_free(struct answers *answers) {
    if (answers == NULL) return;
    for (unsigned i = 0; i < answers->threads; i++) answerer_free(&answers->answerers[i]);
    for (size_t i = 0; i < MOST_CHUNKS; i++) free(answers->answers[i].bytes);
    free(answers->ids.bytes);
    pthread_mutex_destroy(&answers->mutex);
    free(answers);
}
