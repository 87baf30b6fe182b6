/* resembling.c: all pairs of texts that resemble each other, by idx_sets_visit_pairs and by a plain program, which
 * counts the shingles that each two texts share by lists of all texts that have each, and leaves nothing out. */
#include <idx_text.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"

/* The sets of shingles of the texts, one behind the other. Each member is the place of its hash in `distinct`. */
static struct {
    uint64_t *hashes, *distinct;
    size_t *begins; /* where each set begins, and the last one ends */
    size_t count, used, capacity, distinct_count;
} texts;

static struct idx_sets *sets;
static struct idx_error failure;

/* ---- Reading ---- */

/* Adds a text's shingles, of which there are no more than bytes, and gives its set to the library. */
static void add_text(const char *text, size_t length) {
    size_t count;
    if (texts.capacity - texts.used < length) {
        texts.capacity = 2 * texts.capacity + length;
        texts.hashes = realloc(texts.hashes, texts.capacity * sizeof *texts.hashes);
        if (texts.hashes == NULL) die("out of memory");
    }
    try(idx_text_shingles(text, length, NULL, texts.hashes + texts.used, texts.capacity - texts.used, &count, &failure),
        &failure);
    try(idx_sets_add(sets, texts.hashes + texts.used, count, &failure), &failure);
    texts.used += count;
    texts.begins[++texts.count] = texts.used;
}

static void read_texts(const char *path, size_t most) {
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    if (file == NULL) die("can't read %s", path);
    texts.begins = allocate(most + 1, sizeof *texts.begins);
    while (texts.count < most && (length = getline(&line, &room, file)) > 0) {
        const char *tab = memchr(line, '\t', (size_t)length);
        if (tab != NULL) add_text(tab + 1, (size_t)(line + length - (tab + 1)));
    }
    free(line);
    fclose(file);
}

/* Makes places of all hashes. */
static void number_hashes(void) {
    texts.distinct = allocate(texts.used, sizeof *texts.distinct);
    memcpy(texts.distinct, texts.hashes, texts.used * sizeof *texts.distinct);
    sort_numbers(texts.distinct, texts.used);
    for (size_t i = 0; i < texts.used; i++)
        if (i == 0 || texts.distinct[i] != texts.distinct[i - 1])
            texts.distinct[texts.distinct_count++] = texts.distinct[i];
    for (size_t i = 0; i < texts.used; i++) {
        size_t low = 0, high = texts.distinct_count;
        while (low + 1 < high) {
            size_t middle = low + (high - low) / 2;
            if (texts.distinct[middle] <= texts.hashes[i])
                low = middle;
            else
                high = middle;
        }
        texts.hashes[i] = low;
    }
}

/* ---- A plain program ---- */

static struct {
    struct idx_set_pair *list;
    size_t count, capacity, at;
} pairs;

static size_t size_of(size_t text) { return texts.begins[text + 1] - texts.begins[text]; }

static int compare_numbers(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Adds a pair, if it resembles by `threshold` units of 1/10000 or more. */
static void add_pair(size_t first, size_t second, uint32_t shared, uint64_t threshold) {
    uint32_t total = (uint32_t)(size_of(first) + size_of(second) - shared);
    if ((uint64_t)shared * (uint64_t)IDX_DECIMAL_WEIGHT_ONE < threshold * total) return;
    if (pairs.count == pairs.capacity) {
        pairs.capacity = 2 * pairs.capacity + 1024;
        pairs.list = realloc(pairs.list, pairs.capacity * sizeof *pairs.list);
        if (pairs.list == NULL) die("out of memory");
    }
    pairs.list[pairs.count++] =
        (struct idx_set_pair){.first = first, .second = second, .shared = shared, .total = total};
}

/* Leaves out the pairs of copies, but for that of each with the first text that equals it. */
static void leave_out_copies(void) {
    bool *is_copy = allocate(texts.count, sizeof *is_copy);
    size_t left = 0;
    for (size_t i = 0; i < pairs.count; i++)
        if (pairs.list[i].shared == pairs.list[i].total) is_copy[pairs.list[i].second] = true;
    for (size_t i = 0; i < pairs.count; i++) {
        const struct idx_set_pair pair = pairs.list[i];
        if (is_copy[pair.first] || (is_copy[pair.second] && pair.shared != pair.total)) continue;
        pairs.list[left++] = pair;
    }
    pairs.count = left;
    free(is_copy);
}

static void find_plainly(uint64_t threshold) {
    uint32_t **lists = allocate(texts.distinct_count, sizeof *lists);
    uint32_t *lengths = allocate(texts.distinct_count, sizeof *lengths), *all = allocate(texts.used, sizeof *all);
    uint32_t *shared = allocate(texts.count, sizeof *shared), *others = allocate(texts.count, sizeof *others);
    for (size_t i = 0; i < texts.used; i++) lengths[texts.hashes[i]]++;
    for (size_t i = 0, begin = 0; i < texts.distinct_count; begin += lengths[i], lengths[i++] = 0)
        lists[i] = all + begin;
    for (uint32_t i = 0; i < texts.count; i++)
        for (size_t j = texts.begins[i]; j < texts.begins[i + 1]; j++)
            lists[texts.hashes[j]][lengths[texts.hashes[j]]++] = i;
    for (uint32_t i = 0; i < texts.count; i++) {
        size_t found = 0;
        for (size_t j = texts.begins[i]; j < texts.begins[i + 1]; j++) {
            const uint32_t *list = lists[texts.hashes[j]];
            for (uint32_t at = lengths[texts.hashes[j]]; at > 0 && list[at - 1] > i; at--)
                if (shared[list[at - 1]]++ == 0) others[found++] = list[at - 1];
        }
        qsort(others, found, sizeof *others, compare_numbers);
        for (size_t j = 0; j < found; j++) {
            add_pair(i, others[j], shared[others[j]], threshold);
            shared[others[j]] = 0;
        }
    }
    leave_out_copies();
    free(lists);
    free(lengths);
    free(all);
    free(shared);
    free(others);
}

/* ---- Comparing both ---- */

/* This is an idx_set_pair_visitor. */
static bool check_pair(void *context, const struct idx_set_pair *pair) {
    (void)context;
    const struct idx_set_pair *plain = &pairs.list[pairs.at];
    if (pairs.at == pairs.count || plain->first != pair->first || plain->second != pair->second ||
        plain->shared != pair->shared || plain->total != pair->total)
        die("texts %llu and %llu, which share %u of %u, are not pair %zu of the plain program",
            (unsigned long long)pair->first, (unsigned long long)pair->second, pair->shared, pair->total, pairs.at);
    pairs.at++;
    return true;
}

static void compare_at(double threshold) {
    const int64_t units = (int64_t)(threshold * (double)IDX_DECIMAL_WEIGHT_ONE + 0.5);
    struct idx_set_pair_options options = IDX_SET_PAIR_OPTIONS_INIT;
    struct idx_sets_summary summary;
    options.threshold = units;
    double begin = cpu_now();
    pairs.count = pairs.at = 0;
    find_plainly((uint64_t)units);
    double middle = cpu_now();
    try(idx_sets_visit_pairs(sets, &options, check_pair, NULL, &summary, &failure), &failure);
    if (pairs.at != pairs.count) die("%zu pairs of %zu were visited", pairs.at, pairs.count);
    printf("%zu\t%g\t%zu\t%llu\t%.2f\t%.2f\n", texts.count, threshold, pairs.count,
           (unsigned long long)summary.candidates, middle - begin, cpu_now() - middle);
}

int main(int argc, char **argv) {
    static const struct bench_option options[] = {{.name = NULL}};
    if (read_options(argc, argv, help_resembling, options) < 3)
        die("resembling needs a file, a number and a resemblance: see resembling --help");
    struct idx_sets_options given = IDX_SETS_OPTIONS_INIT;
    given.threads = 1;
    try(idx_sets_open(&sets, &given, &failure), &failure);
    read_texts(argv[1], (size_t)read_number(argv[2], 1, 1e7));
    if (texts.count == 0) die("%s has no texts", argv[1]);
    number_hashes();
    printf("texts\tresemblance\tpairs\tcompared\tplain_cpu_seconds\tcpu_seconds\n");
    for (int i = 3; i < argc && argv[i] != NULL; i++) compare_at(read_number(argv[i], 0.0001, 1));
    idx_sets_close(sets);
    return fflush(stdout) == 0 ? 0 : 2;
}
