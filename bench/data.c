/* data.c: the data that all systems are built from, deterministic, made or from a file; and the sort for that. */
#include "bench/data.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_DIGIT_BITS 11

static uint64_t random_state = 88172645463325252u;

static uint64_t draw(void) { return next_xorshift(&random_state); }

unsigned near_percent = 50;

/* Whether a query is near to a fingerprint: as many of 100 in a row as there should be, evenly spread. */
static bool is_near(size_t query) { return query * near_percent / 100 != (query + 1) * near_percent / 100; }

static uint64_t flip_bits(uint64_t fingerprint, unsigned count) {
    uint64_t flipped = 0;
    for (unsigned i = 0; i < count;) {
        uint64_t bit = UINT64_C(1) << (draw() >> 58);
        if ((flipped & bit) != 0) continue;
        flipped |= bit;
        i++;
    }
    return fingerprint ^ flipped;
}

/* Sorts by one digit of a radix sort, the `bits` bits from `shift` on. */
static void sort_by_digit(const uint64_t *values, uint64_t *sorted, size_t count, unsigned shift, unsigned bits) {
    size_t begins[1 << MAX_DIGIT_BITS] = {0};
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    for (size_t i = 0; i < count; i++) begins[values[i] >> shift & mask]++;
    size_t begin = 0;
    for (size_t digit = 0; digit <= mask; digit++) {
        size_t here = begins[digit];
        begins[digit] = begin;
        begin += here;
    }
    for (size_t i = 0; i < count; i++) sorted[begins[values[i] >> shift & mask]++] = values[i];
}

uint64_t *sort_by_bits(uint64_t *values, uint64_t *spare, size_t count, unsigned low_bit, unsigned bits) {
    unsigned digits = (bits + MAX_DIGIT_BITS - 1) / MAX_DIGIT_BITS;
    for (; digits > 0; digits--) {
        unsigned digit_bits = (bits + digits - 1) / digits;
        sort_by_digit(values, spare, count, low_bit, digit_bits);
        uint64_t *sorted = spare;
        spare = values;
        values = sorted;
        low_bit += digit_bits;
        bits -= digit_bits;
    }
    return values;
}

static size_t keep_distinct(uint64_t *sorted, size_t count) {
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || sorted[i] != sorted[left - 1]) sorted[left++] = sorted[i];
    }
    return left;
}

void set_fingerprints(struct data *data, uint64_t *fingerprints, size_t count, size_t room) {
    uint64_t *spare = huge_new(room * sizeof *spare), *sorted = sort_by_bits(fingerprints, spare, count, 0, 64);
    huge_free(sorted == spare ? fingerprints : spare, room * sizeof *spare);
    *data = (struct data){.fingerprints = sorted, .count = keep_distinct(sorted, count), .room = room};
}

void make_data(struct data *data, size_t count, size_t query_count, unsigned k) {
    uint64_t *fingerprints = huge_new(count * sizeof(uint64_t));
    uint64_t *queries = huge_new(query_count * sizeof(uint64_t));
    for (size_t i = 0; i < count; i++)
        fingerprints[i] = i % 10 == 9 ? flip_bits(fingerprints[draw() % i], 1 + draw() % (k + 3)) : draw();
    for (size_t i = 0; i < query_count; i++)
        queries[i] = is_near(i) ? flip_bits(fingerprints[draw() % count], draw() % (k + 3)) : draw();
    set_fingerprints(data, fingerprints, count, count);
    data->queries = queries;
    data->query_count = query_count;
    data->k = k;
}

static uint64_t *load_file(const char *path, size_t *count) {
    FILE *file = fopen(path, "re");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) die("can't open %s", path);
    long bytes = ftell(file);
    if (bytes <= 0 || bytes % (long)sizeof(uint64_t) != 0) die("%s doesn't hold fingerprints of 8 bytes each", path);
    *count = (size_t)bytes / sizeof(uint64_t);
    uint64_t *fingerprints = huge_new((size_t)bytes);
    rewind(file);
    if (fread(fingerprints, sizeof(uint64_t), *count, file) != *count) die("can't read %s", path);
    fclose(file);
    for (size_t i = 0; i < *count; i++) fingerprints[i] = le64toh(fingerprints[i]);
    return fingerprints;
}

void read_data(struct data *data, const char *path, size_t query_count, unsigned k) {
    size_t count;
    uint64_t *fingerprints = load_file(path, &count);
    set_fingerprints(data, fingerprints, count, count);
    uint64_t *queries = huge_new(query_count * sizeof(uint64_t));
    for (size_t i = 0; i < query_count; i++) {
        unsigned flips = is_near(i) ? draw() % (k + 1) : 8 + draw() % 13;
        queries[i] = flip_bits(data->fingerprints[draw() % data->count], flips);
    }
    data->queries = queries;
    data->query_count = query_count;
    data->k = k;
}

void get_data(struct data *data, const char *path, size_t count, size_t query_count, unsigned k) {
    if ((count == 0) == (path == NULL)) die("either --count N or --fingerprints FILE is needed; see --help");
    if (path != NULL)
        read_data(data, path, query_count, k);
    else
        make_data(data, count, query_count, k);
}

void free_data(struct data *data) {
    huge_free((void *)(uintptr_t)data->fingerprints, data->room * sizeof(uint64_t));
    huge_free((void *)(uintptr_t)data->queries, data->query_count * sizeof(uint64_t));
}
