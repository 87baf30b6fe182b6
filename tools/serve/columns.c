/* columns.c: fingerprints as they are in memory, and their matches in columns. */
#include "tools/serve/columns.h"

#include <stdlib.h>
#include <string.h>

/* Queries that are looked up together, and the matches that there is room for then. */
enum { TOGETHER = 256, MATCHES = 16 };

struct columns {
    struct answers *answers;
    struct output fingerprints, distances;
    uint64_t offset;
    struct idx_match matches[TOGETHER * MATCHES];
};

static uint64_t read_u64(const unsigned char *bytes) {
    uint64_t number = 0;
    for (unsigned i = 0; i < 8; i++) number |= (uint64_t)bytes[i] << (8 * i);
    return number;
}

static void write_u64(unsigned char *bytes, uint64_t number) {
    for (unsigned i = 0; i < 8; i++) bytes[i] = (unsigned char)(number >> (8 * i));
}

static void put_u64(struct output *output, uint64_t number) {
    unsigned char bytes[8];
    write_u64(bytes, number);
    output_bytes(output, bytes, sizeof bytes);
}

static void take(struct columns *columns, const struct idx_match *matches, size_t count) {
    unsigned char *fingerprints = (unsigned char *)output_reserve(&columns->fingerprints, count * 8 + 1);
    unsigned char *distances = (unsigned char *)output_reserve(&columns->distances, count + 1);
    if (fingerprints == NULL || distances == NULL) {
        request_fail(columns->answers->request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory for the answer");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        write_u64(fingerprints + 8 * i, matches[i].fingerprint);
        distances[i] = (unsigned char)matches[i].distance;
    }
    columns->fingerprints.length += count * 8;
    columns->distances.length += count;
    columns->offset += count;
}

/* Of a query that has more matches than there was room for. */
static void take_more(struct columns *columns, uint64_t query, size_t count) {
    struct answers *answers = columns->answers;
    struct request *request = answers->request;
    size_t wanted = count < request->limit ? count : request->limit;
    struct idx_match *matches = malloc(wanted * sizeof *matches);
    struct idx_error error = {.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory"};
    if (matches == NULL ||
        idx_lookup(answers->index, query, answers->distance, matches, wanted, &count, &error) != IDX_OK)
        request_fail_by(request, &error);
    else
        take(columns, matches, wanted);
    free(matches);
}

/* Whether all fits, with what was found so far. */
static bool goes_on(struct columns *columns) {
    struct request *request = columns->answers->request;
    size_t made = columns->fingerprints.length + columns->distances.length;
    if (made > MOST_ANSWER_BYTES)
        request_fail(request, MHD_HTTP_UNPROCESSABLE_CONTENT,
                     "the answer has more than %zu bytes; ask for fewer fingerprints at once, or set limit",
                     MOST_ANSWER_BYTES);
    return request_goes_on(request);
}

static void answer_some(struct columns *columns, const unsigned char *bytes, size_t count) {
    struct answers *answers = columns->answers;
    size_t counts[TOGETHER], limit = answers->request->limit;
    uint64_t queries[TOGETHER];
    struct idx_error error;
    for (size_t i = 0; i < count; i++) queries[i] = read_u64(bytes + 8 * i);
    if (idx_lookup_many(answers->index, queries, count, answers->distance, 1, columns->matches, MATCHES, counts,
                        &error) != IDX_OK) {
        request_fail_by(answers->request, &error);
        return;
    }
    for (size_t i = 0; i < count && goes_on(columns); i++) {
        size_t wanted = counts[i] < limit ? counts[i] : limit;
        if (wanted <= MATCHES)
            take(columns, columns->matches + i * MATCHES, wanted);
        else
            take_more(columns, queries[i], counts[i]);
        put_u64(&answers->request->answer, columns->offset);
        answers->matches += counts[i];
    }
    answers->queries += count;
}

void columns_answer(struct answers *answers) {
    struct columns columns;
    struct request *request = answers->request;
    const unsigned char *bytes = (const unsigned char *)request->body.bytes;
    size_t length = request->body.length;
    columns.answers = answers;
    columns.fingerprints = columns.distances = (struct output)OUTPUT_KEPT;
    columns.offset = 0;
    if (length % 8 != 0)
        request_fail(request, MHD_HTTP_BAD_REQUEST,
                     "the body has %zu bytes, which is no multiple of the 8 of a fingerprint", length);
    else
        put_u64(&request->answer, 0);
    for (size_t done = 0; done < length && request_goes_on(request); done += 8 * TOGETHER)
        answer_some(&columns, bytes + done, (length - done < 8 * TOGETHER ? length - done : 8 * TOGETHER) / 8);
    if (request->status == 0) {
        output_bytes(&request->answer, columns.fingerprints.bytes, columns.fingerprints.length);
        output_bytes(&request->answer, columns.distances.bytes, columns.distances.length);
    }
    free(columns.fingerprints.bytes);
    free(columns.distances.bytes);
}
