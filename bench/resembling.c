/* resembling.c: measures look-ups in an index of texts, in memory and from disk, and what opening one takes. */
#include <idx_text.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"

#define TOGETHER ((size_t)256)
#define OPENINGS ((size_t)25)
#define PAGE 4096

/* The queries: sets of shingles one behind the other in `hashes`, query i from begins[i] on, and the numbers that are
 * the IDs of the texts. */
static struct {
    uint64_t *hashes, *numbers;
    size_t *begins, count, used, room;
} queries;

static struct idx_error failure;

/* ---- Reading ---- */

static void add_query(const char *line, const char *text, size_t length) {
    size_t found;
    if (queries.room - queries.used < length) {
        queries.room = 2 * queries.room + length;
        queries.hashes = realloc(queries.hashes, queries.room * sizeof *queries.hashes);
        if (queries.hashes == NULL) die("out of memory for the texts");
    }
    /* There are no more shingles than bytes. */
    try(idx_text_shingles(text, length, NULL, queries.hashes + queries.used, length, &found, &failure), &failure);
    if (found == 0) return;
    queries.numbers[queries.count] = strtoull(line, NULL, 10);
    queries.begins[queries.count++] = queries.used;
    queries.used += found;
    queries.begins[queries.count] = queries.used;
}

/* Reads up to `most` lines of a number, a tab and a text. Texts without shingles are left out. */
static void read_queries(const char *path, size_t most) {
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    if (file == NULL) die("can't read %s", path);
    queries.numbers = allocate(most, sizeof *queries.numbers);
    queries.begins = allocate(most + 1, sizeof *queries.begins);
    while (queries.count < most && (length = getline(&line, &room, file)) > 0) {
        const char *tab = memchr(line, '\t', (size_t)length);
        if (tab != NULL) add_query(line, tab + 1, (size_t)(line + length - (tab + 1)));
    }
    free(line);
    fclose(file);
    if (queries.count == 0) die("%s has no lines of a number, a tab and a text of five words or more", path);
}

static struct idx_set set_of(size_t query) {
    return (struct idx_set){queries.hashes + queries.begins[query], queries.begins[query + 1] - queries.begins[query]};
}

/* ---- Look-ups ---- */

static struct idx_index *open_index(const char *path, enum idx_residence residence) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    options.residence = residence;
    try(idx_open(&index, path, &options, &failure), &failure);
    return index;
}

static struct idx_resembling_lists look_up(const struct idx_index *index, size_t first, size_t count) {
    struct idx_resembling_options options = IDX_RESEMBLING_OPTIONS_INIT;
    struct idx_resembling_lists lists;
    struct idx_properties properties;
    struct idx_set sets[TOGETHER];
    idx_get_properties(index, &properties);
    options.threshold = properties.threshold;
    for (size_t i = 0; i < count; i++) sets[i] = set_of(first + i);
    try(idx_list_resembling(index, sets, count, &options, &lists, &failure), &failure);
    return lists;
}

/* Ends the program unless a query that is a text of the index finds it. */
static void check_own(const struct idx_resembling_lists *lists, size_t query, size_t at) {
    for (int64_t i = lists->offsets[at]; i < lists->offsets[at + 1]; i++) {
        const struct idx_resembling_document *found = &lists->documents[i];
        if (found->number == queries.numbers[query] && found->shared == found->total) return;
    }
    die("text %" PRIu64 " does not find itself", queries.numbers[query]);
}

/* Looks all queries up, so many in a call, and prints a row. */
static void measure(const struct idx_index *index, const char *name, const char *way, bool own, size_t together) {
    uint64_t matches = 0, read_bytes = -read_proc("/proc/self/io", "read_bytes: %llu");
    double seconds = -now(), processor = -cpu_now();
    for (size_t at = 0; at < queries.count; at += together) {
        const size_t count = queries.count - at < together ? queries.count - at : together;
        struct idx_resembling_lists lists = look_up(index, at, count);
        matches += (uint64_t)lists.offsets[count];
        for (size_t i = 0; i < count && own; i++) check_own(&lists, at + i, i);
        idx_resembling_lists_close(&lists);
    }
    seconds += now();
    processor += cpu_now();
    read_bytes += read_proc("/proc/self/io", "read_bytes: %llu");
    const double count = (double)queries.count;
    printf("%s\t%s\t%zu\t%zu\t%.3f\t%.1f\t%.2f\t%.2f\t%" PRIu64 "\n", name, way, together, queries.count, seconds,
           count / seconds, processor / count * 1e6, (double)read_bytes / PAGE / count, matches);
    fflush(stdout);
}

static void ask(const char *path, const char *name, bool own, bool from_disk) {
    puts("name\tway\tat_a_time\tqueries\tseconds\tqueries_per_second\tcpu_us\tpages_per_query\tmatches");
    for (size_t together = TOGETHER; together >= 1; together /= TOGETHER) {
        if (from_disk) drop_cache(path);
        struct idx_index *index = open_index(path, from_disk ? IDX_RESIDENCE_DISK : IDX_RESIDENCE_DIRECTORY);
        measure(index, name, from_disk ? "disk" : "mapped", own, together);
        idx_close(index);
    }
}

/* ---- Opening ---- */

/* Prints what it takes to open the index as idx lookup does for few texts, and to look one up in it, each time anew,
 * and what the process holds then; and what the index has. */
static void measure_opening(const char *path, const char *name) {
    double opening[OPENINGS], whole[OPENINGS];
    struct idx_properties properties;
    uint64_t resident = 0;
    for (size_t i = 0; i < OPENINGS; i++) {
        const double begin = now();
        struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
        opening[i] = now() - begin;
        struct idx_resembling_lists lists = look_up(index, i % queries.count, 1);
        whole[i] = now() - begin;
        resident = process_bytes();
        idx_resembling_lists_close(&lists);
        idx_get_properties(index, &properties);
        idx_close(index);
    }
    sort_doubles(opening, OPENINGS);
    sort_doubles(whole, OPENINGS);
    puts("name\ttexts\tmembers\tsets_bytes\tother_bytes\topen_ms\topen_and_ask_ms\tresident_bytes");
    printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.3f\t%.3f\t%" PRIu64 "\n", name, properties.texts,
           properties.members, properties.sets_bytes, properties.table_bytes + properties.documents_bytes,
           opening[OPENINGS / 2] * 1e3, whole[OPENINGS / 2] * 1e3, resident);
}

int main(int argc, char **argv) {
    const char *name = "index";
    size_t most = 20000;
    bool from_disk = false, own = false;
    const struct bench_option names[] = {{"disk", OPTION_FLAG, &from_disk, 0, 0},
                                         {"name", OPTION_TEXT, &name, 0, 0},
                                         {"own", OPTION_FLAG, &own, 0, 0},
                                         {"queries", OPTION_SIZE, &most, 1, 1e8},
                                         {NULL, OPTION_FLAG, NULL, 0, 0}};
    if (read_options(argc, argv, help_resembling, names) != 3) die("what to do is unclear: see --help");
    read_queries(argv[3], most);
    if (strcmp(argv[1], "ask") == 0)
        ask(argv[2], name, own, from_disk);
    else if (strcmp(argv[1], "open") == 0)
        measure_opening(argv[2], name);
    else
        die("there is no '%s': see --help", argv[1]);
    free(queries.hashes);
    free(queries.numbers);
    free(queries.begins);
    return 0;
}
