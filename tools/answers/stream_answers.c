/* stream_answers.c: prints what `idx batch --stream` finds, in the order of LC_ALL=C sort, each line once. */
#include "tools/answers/answers.h"
#include "tools/shared/array.h"

#include <stdlib.h>
#include <string.h>

/* ---- Queries ---- */

/* Compares queries by their printed IDs, so that their lines are in order: the tab behind an ID is less than any byte
 * of a printed ID, so of two IDs that begin alike, the shorter one comes first. */
static int compare_query_names(const struct query *a, const struct query *b) {
    size_t length = a->id_length < b->id_length ? a->id_length : b->id_length;
    int order = memcmp(a->id, b->id, length);
    return order != 0 ? order : (a->id_length > b->id_length) - (a->id_length < b->id_length);
}

/* Compares queries by their printed IDs, then by their fingerprints. For qsort. */
static int compare_by_name_and_fingerprint(const void *first, const void *second) {
    const struct query *a = first, *b = second;
    int order = compare_query_names(a, b);
    return order != 0 ? order : compare_u64(&a->fingerprint, &b->fingerprint);
}

/* Returns whether the queries with the numbers a and b have the same printed ID. Without IDs, two queries never do,
 * since their fingerprints differ. */
static bool have_equal_names(const struct stream_answers *answers, size_t a, size_t b) {
    return answers->queries == NULL ? a == b : compare_query_names(&answers->queries[a], &answers->queries[b]) == 0;
}

/* Allocates answers->queries, and sets each query's ID to what is printed for it: its own ID, or else its fingerprint
 * in hex, which is put into answers->names. Other parameters are as for stream_answers_begin. Returns false, without a
 * complaint, if memory ran out; stream_answers_free frees both arrays in any case. */
static bool name_queries(struct stream_answers *answers, const uint64_t *fingerprints, size_t count,
                         const struct output *ids, const size_t *id_ends) {
    size_t hex_digits = (answers->bits + 3) / 4, unnamed_count = 0;
    for (size_t i = 0; i < count; i++)
        if (id_ends[i] == (i == 0 ? 0 : id_ends[i - 1])) unnamed_count++;
    /* One query more, since malloc of 0 bytes may return NULL; NOTATION_MAX_LENGTH, since notation_format_fingerprint
     * needs that. */
    answers->queries = malloc((count + 1) * sizeof *answers->queries);
    answers->names = malloc(unnamed_count * hex_digits + NOTATION_MAX_LENGTH);
    if (answers->queries == NULL || answers->names == NULL) return false;
    char *name = answers->names;
    for (size_t i = 0; i < count; i++) {
        struct query *query = &answers->queries[i];
        size_t id_begin = i == 0 ? 0 : id_ends[i - 1];
        *query = (struct query){
            .fingerprint = fingerprints[i], .id = ids->bytes + id_begin, .id_length = id_ends[i] - id_begin};
        if (query->id_length > 0) continue;
        query->id = name;
        query->id_length = notation_format_fingerprint(NOTATION_HEX, answers->bits, fingerprints[i], name);
        name += query->id_length;
    }
    return true;
}

/* Sorts the queries, and removes those that equal another one in printed ID and fingerprint. Sets fingerprints[i] to
 * that of query i. Returns how many queries are left. */
static size_t sort_distinct_named_queries(struct query *queries, uint64_t *fingerprints, size_t count) {
    size_t kept_count = 0;
    qsort(queries, count, sizeof *queries, compare_by_name_and_fingerprint);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && compare_by_name_and_fingerprint(&queries[i], &queries[kept_count - 1]) == 0) continue;
        fingerprints[kept_count] = queries[i].fingerprint;
        queries[kept_count++] = queries[i];
    }
    return kept_count;
}

/* Sorts fingerprints, those of queries without IDs, and removes repeated ones. Returns how many are left. */
static size_t sort_distinct_fingerprints(uint64_t *fingerprints, size_t count) {
    size_t kept_count = 0;
    if (count > 0) qsort(fingerprints, count, sizeof *fingerprints, compare_u64);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || fingerprints[i] != fingerprints[kept_count - 1]) fingerprints[kept_count++] = fingerprints[i];
    }
    return kept_count;
}

bool stream_answers_begin(struct stream_answers *answers, uint64_t *fingerprints, size_t *count,
                          const struct output *ids, const size_t *id_ends) {
    if (ids->length == 0) {
        *count = sort_distinct_fingerprints(fingerprints, *count);
    } else {
        if (!name_queries(answers, fingerprints, *count, ids, id_ends)) return false;
        *count = sort_distinct_named_queries(answers->queries, fingerprints, *count);
    }
    answers->fingerprints = fingerprints;
    answers->count = *count;
    return true;
}

/* ---- Lines ---- */

/* Prints the line of a match of query `number`: its ID, or else its fingerprint, the fingerprint of the match, and the
 * distance. If queries have IDs, the ID is written first, and the buffer `line` holds what follows. */
static void print_match_line(const struct stream_answers *answers, size_t number, const struct idx_match *match) {
    char line[3 * NOTATION_MAX_LENGTH];
    size_t length = 0;
    if (answers->queries != NULL)
        output_bytes(answers->output, answers->queries[number].id, answers->queries[number].id_length);
    else
        length = notation_format_fingerprint(NOTATION_HEX, answers->bits, answers->fingerprints[number], line);
    line[length++] = '\t';
    length += notation_format_fingerprint(NOTATION_HEX, answers->bits, match->fingerprint, line + length);
    line[length++] = '\t';
    length += notation_format_decimal(match->distance, line + length);
    line[length++] = '\n';
    output_bytes(answers->output, line, length);
}

/* Returns a rank by which distances below 100 are in the order of their decimal digits, such as 1, 10, 16, 2. Each
 * first digit d has eleven ranks: 11 * d is that of d alone, and 11 * d + 1 + e that of d followed by e. */
static unsigned rank_by_digits(unsigned distance) {
    return distance < 10 ? distance * 11 : distance / 10 * 11 + 1 + distance % 10;
}

/* Compares the matches of queries with one ID as their lines are sorted: by fingerprint, and then by the digits of the
 * distance. For qsort. */
static int compare_matches_as_lines(const void *first, const void *second) {
    const struct idx_match *a = first, *b = second;
    unsigned rank_a = rank_by_digits(a->distance), rank_b = rank_by_digits(b->distance);
    int order = compare_u64(&a->fingerprint, &b->fingerprint);
    return order != 0 ? order : (rank_a > rank_b) - (rank_a < rank_b);
}

void stream_answers_print_stored(struct stream_answers *answers) {
    struct idx_match *matches = answers->matches;
    if (answers->stored_count > 0) qsort(matches, answers->stored_count, sizeof *matches, compare_matches_as_lines);
    for (size_t i = 0; i < answers->stored_count; i++) {
        if (i == 0 || compare_matches_as_lines(&matches[i], &matches[i - 1]) != 0)
            print_match_line(answers, answers->stored_query, &matches[i]);
    }
    answers->stored_count = 0;
}

/* Stores the matches of query `number`, which shares its ID with others, to be sorted. If those of another ID are
 * stored, prints these before. Sets `failed` and returns false, without a complaint, if memory ran out. */
static bool store_matches(struct stream_answers *answers, size_t number, const struct idx_match *matches,
                          size_t count) {
    if (answers->stored_count > 0 && !have_equal_names(answers, number, answers->stored_query))
        stream_answers_print_stored(answers);
    answers->stored_query = number;
    if (count > answers->capacity - answers->stored_count) {
        size_t new_capacity = (answers->stored_count + count) * 2;
        struct idx_match *grown = realloc(answers->matches, new_capacity * sizeof *grown);
        answers->failed = grown == NULL;
        if (grown == NULL) return false;
        answers->matches = grown;
        answers->capacity = new_capacity;
    }
    memcpy(answers->matches + answers->stored_count, matches, count * sizeof *matches);
    answers->stored_count += count;
    return true;
}

bool stream_answers_print_or_store(void *context, size_t number, const struct idx_match *matches, size_t count) {
    struct stream_answers *answers = context;
    bool shares_name = (number > 0 && have_equal_names(answers, number, number - 1)) ||
                       (number + 1 < answers->count && have_equal_names(answers, number, number + 1));
    if (count > 0) answers->found = true;
    if (shares_name) {
        if (!store_matches(answers, number, matches, count)) return false;
    } else {
        stream_answers_print_stored(answers);
        for (size_t i = 0; i < count; i++) print_match_line(answers, number, &matches[i]);
    }
    return answers->output->error == 0 && !interrupt_is_noted();
}

void stream_answers_free(struct stream_answers *answers) {
    free(answers->queries);
    free(answers->names);
    free(answers->matches);
}
