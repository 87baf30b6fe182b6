/* clusters.c: idx_clusters makes clusters from pairs of fingerprints. Fingerprints are numbered by preference: of two
 * fingerprints, the one with the smaller number represents the other. If the memory holds all fingerprints with their
 * numbers, the two numbers of a pair are looked up when it is found, and no pairs are stored; only stars store some,
 * and find all pairs again if there are more than fit (stars.h). Otherwise pairs are sorted by one of their
 * fingerprints and then by the other, and each time the ascending list of fingerprints and numbers is read beside them.
 * A pair becomes two numbers, and the clusters become one number per fingerprint. */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "libidx/base/base.h"
#include "libidx/fingerprints/value_slots.h"
#include "libidx/pairs/cluster_visit.h"
#include "libidx/pairs/document_groups.h"
#include "libidx/pairs/numbering.h"
#include "libidx/pairs/stars.h"

/* The memory is divided evenly among four users: pairs sorted by their first fingerprint, pairs sorted by their second,
 * the list of fingerprints, and the search for pairs. */
#define SHARES 4

/* All fingerprints and their numbers, if the memory holds them. */
struct numbers {
    uint64_t *fingerprints;        /* NULL: the memory does not hold them */
    uint32_t *of;                  /* the number of each fingerprint */
    struct idxi_value_slots slots; /* a hash table that finds the place of a fingerprint in these arrays */
};

struct clustering {
    const struct idx_index *index;
    struct idx_cluster_options options;
    struct idxi_sorter_options sorting;
    struct idxi_progress progress;
    struct idxi_progress silent; /* takes its place while idx_pairs reports progress */
    struct idxi_numbering numbering;
    struct numbers numbers;
    struct idxi_stars stars;          /* used only while the numbers are in memory */
    struct idxi_sorter pairs, others; /* pairs by their first, and by their second fingerprint; in the end the members
                                         of clusters, and their documents */
    uint32_t *roots;  /* by number: a smaller number of its cluster, or itself; in the end the representative */
    uint64_t *listed; /* a bit for each representative: whether its cluster has several fingerprints */
    int folder;       /* descriptor of the folder for temporary files, or -1 */
};

/* ---- Components ---- */

/* Returns the smallest number that this one was united with so far. Halves the path to it, so that later calls are
 * short. */
static uint32_t find_root(uint32_t *roots, uint32_t number) {
    while (roots[number] != number) {
        roots[number] = roots[roots[number]];
        number = roots[number];
    }
    return number;
}

/* A numbered_visitor: unites the clusters of two numbers. */
static enum idx_status unite(struct clustering *clustering, uint64_t a, uint64_t b, struct idx_error *error) {
    uint32_t *roots = clustering->roots, x = find_root(roots, (uint32_t)a), y = find_root(roots, (uint32_t)b);
    (void)error;
    roots[x > y ? x : y] = x > y ? y : x;
    return IDX_OK;
}

/* ---- Pairs ---- */

/* Fails because of a pair of which the document maps lack a fingerprint. */
static enum idx_status fail_unlisted(const struct clustering *clustering, uint64_t fingerprint,
                                     struct idx_error *error) {
    return idxi_fail(error, IDX_BAD_CONTENT, clustering->index->path,
                     "its tables contain fingerprint %016llx, but its docs.mdb does not: rebuild the index, or restore "
                     "it from a copy",
                     (unsigned long long)fingerprint);
}

/* Called for a pair: with one fingerprint's number, and the other fingerprint or, if it is known too, its number. */
typedef enum idx_status (*numbered_visitor)(struct clustering *clustering, uint64_t number, uint64_t other,
                                            struct idx_error *error);

static bool has_numbers(const struct clustering *clustering) { return clustering->numbers.fingerprints != NULL; }

/* A numbered_visitor: keeps both numbers of a pair until stars are made, in memory if all numbers are there, else in
 * the sorter, the smaller first. */
static enum idx_status keep_for_stars(struct clustering *clustering, uint64_t a, uint64_t b, struct idx_error *error) {
    if (has_numbers(clustering)) {
        idxi_stars_put(&clustering->stars, (uint32_t)a, (uint32_t)b);
        return IDX_OK;
    }
    return idxi_sorter_add_or_spill(&clustering->pairs, a < b ? a : b, a < b ? b : a, error);
}

/* Returns what is done with the two numbers of a pair, by the method of clustering. */
static numbered_visitor choose_visitor(const struct clustering *clustering) {
    return clustering->options.method == IDX_CLUSTER_STAR ? keep_for_stars : unite;
}

/* The context of visit_pairs, with the status that it ended with. */
struct pair_visit {
    struct clustering *clustering;
    enum idx_status status;
    struct idx_error *error;
};

/* Looks up the numbers of a pair, and unites them or keeps them for stars. */
static enum idx_status visit_numbers_of_pair(struct clustering *clustering, const struct idx_pair *pair,
                                             struct idx_error *error) {
    const struct numbers *numbers = &clustering->numbers;
    size_t a = idxi_value_slots_find(&numbers->slots, pair->a), b = idxi_value_slots_find(&numbers->slots, pair->b);
    if (a == SIZE_MAX || b == SIZE_MAX) return fail_unlisted(clustering, a == SIZE_MAX ? pair->a : pair->b, error);
    return choose_visitor(clustering)(clustering, numbers->of[a], numbers->of[b], error);
}

/* The place of a number is prefetched so many pairs ahead of its use. */
#define AHEAD 16

/* Does visit_numbers_of_pair for many pairs. */
static enum idx_status number_pairs(struct clustering *clustering, const struct idx_pair *pairs, size_t count,
                                    struct idx_error *error) {
    const struct idxi_value_slots *slots = &clustering->numbers.slots;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) idxi_value_slots_prefetch(slots, pairs[i + AHEAD].a);
        if (i + AHEAD < count) idxi_value_slots_prefetch(slots, pairs[i + AHEAD].b);
        IDXI_TRY(visit_numbers_of_pair(clustering, &pairs[i], error));
    }
    return IDX_OK;
}

/* Adds pairs to the sorter, which writes them to temporary files once its memory is full. */
static enum idx_status add_pairs(struct clustering *clustering, const struct idx_pair *pairs, size_t count,
                                 struct idx_error *error) {
    for (size_t i = 0; i < count; i++)
        IDXI_TRY(idxi_sorter_add_or_spill(&clustering->pairs, pairs[i].a, pairs[i].b, error));
    return IDX_OK;
}

/* An idx_pairs_visitor: numbers pairs at once if the numbers are in memory, else adds them to the sorter. Returns
 * false, which ends the search, after an error. */
static bool visit_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    struct pair_visit *visit = context;
    struct clustering *clustering = visit->clustering;
    visit->status = (has_numbers(clustering) ? number_pairs : add_pairs)(clustering, pairs, count, visit->error);
    return visit->status == IDX_OK;
}

/* Reads the list of fingerprints into the arrays, whose room is known to suffice, and makes the hash table of them. */
static enum idx_status fill_numbers(struct clustering *clustering, struct idx_error *error) {
    struct idxi_stream *list = clustering->numbering.stream;
    struct numbers *numbers = &clustering->numbers;
    struct idxi_reading reading;
    size_t count = 0, at;
    bool found;
    IDXI_TRY(list->rewind(list, error));
    idxi_reading_init(&reading, list, &clustering->progress);
    for (;;) {
        IDXI_TRY(idxi_reading_next(&reading, &at, &found, error));
        if (!found) break;
        numbers->fingerprints[count] = reading.fingerprints[at];
        numbers->of[count++] = (uint32_t)reading.values[at];
    }
    return idxi_value_slots_make(&numbers->slots, numbers->fingerprints, count) ? IDX_OK : idxi_fail_memory(error);
}

/* Reads all fingerprints and their numbers into memory if a share of it holds them. */
static enum idx_status read_numbers(struct clustering *clustering, struct idx_error *error) {
    struct numbers *numbers = &clustering->numbers;
    uint64_t count = clustering->numbering.count;
    uint64_t bytes = count * (sizeof *numbers->fingerprints + sizeof *numbers->of) + idxi_value_slots_bytes(count);
    if (bytes > clustering->sorting.memory) return IDX_OK;
    numbers->fingerprints = malloc((count + 1) * sizeof *numbers->fingerprints);
    numbers->of = malloc((count + 1) * sizeof *numbers->of);
    if (numbers->fingerprints == NULL || numbers->of == NULL) return idxi_fail_memory(error);
    return fill_numbers(clustering, error);
}

static void free_numbers(struct numbers *numbers) {
    idxi_value_slots_free(&numbers->slots);
    free(numbers->fingerprints);
    free(numbers->of);
    *numbers = (struct numbers){0};
}

/* Begins stars, if they are made while pairs are found: that is, if all numbers are in memory. */
static enum idx_status begin_stars(struct clustering *clustering, struct idx_error *error) {
    size_t count = (size_t)clustering->numbering.count;
    if (clustering->options.method != IDX_CLUSTER_STAR || !has_numbers(clustering)) return IDX_OK;
    bool made = idxi_stars_make(&clustering->stars, clustering->roots, count, clustering->sorting.memory);
    return made ? IDX_OK : idxi_fail_memory(error);
}

/* Finds all pairs, more than once if stars need it. If the numbers are in memory, this completes the clusters; else the
 * sorter has the pairs then. */
static enum idx_status find_pairs(struct clustering *clustering, struct idx_error *error) {
    const struct idx_cluster_options *options = &clustering->options;
    struct pair_visit pair_visit = {clustering, IDX_OK, error};
    struct idx_join_options joining = IDX_JOIN_OPTIONS_INIT;
    joining.distance = options->distance;
    joining.threads = options->threads;
    joining.memory_bytes = options->memory_bytes / SHARES;
    if (joining.memory_bytes < IDX_MIN_MEMORY_BYTES) joining.memory_bytes = IDX_MIN_MEMORY_BYTES;
    joining.progress = options->progress;
    joining.context = options->context;
    IDXI_TRY(read_numbers(clustering, error));
    IDXI_TRY(begin_stars(clustering, error));
    IDXI_TRY(idxi_sorter_open(&clustering->pairs, &clustering->sorting, error));
    clustering->pairs.options.progress = &clustering->silent; /* since idx_pairs reports its own meanwhile */
    do {
        IDXI_TRY(idx_pairs(clustering->index, &joining, visit_pairs, &pair_visit, error));
        IDXI_TRY(pair_visit.status);
    } while (clustering->stars.pairs != NULL && !idxi_stars_end(&clustering->stars));
    idxi_stars_free(&clustering->stars);
    clustering->pairs.options.progress = &clustering->progress;
    return idxi_progress_begin(&clustering->progress, IDX_PHASE_CLUSTERING, 0, error);
}

/* Reads on in the list of fingerprints as far as this one, and sets *number to its number. Calls must ascend. */
static enum idx_status find_number(const struct clustering *clustering, struct idxi_reading *numbers,
                                   uint64_t fingerprint, uint64_t *number, struct idx_error *error) {
    bool found;
    size_t at;
    for (;;) {
        IDXI_TRY(idxi_reading_peek(numbers, &at, &found, error));
        if (!found || numbers->fingerprints[at] >= fingerprint) break;
        numbers->next++;
    }
    *number = numbers->values[at];
    if (found && numbers->fingerprints[at] == fingerprint) return IDX_OK;
    return fail_unlisted(clustering, fingerprint, error);
}

/* Ends a sorter of pairs, and visits each with the number of the fingerprint that it is sorted by. */
static enum idx_status visit_numbered(struct clustering *clustering, struct idxi_sorter *sorter, numbered_visitor visit,
                                      struct idx_error *error) {
    struct idxi_stream *list = clustering->numbering.stream, *pairs;
    struct idxi_reading reading, numbers;
    uint64_t number;
    bool found;
    size_t at;
    IDXI_TRY(idxi_sorter_end(sorter, &pairs, error));
    IDXI_TRY(list->rewind(list, error));
    idxi_reading_init(&reading, pairs, &clustering->progress);
    idxi_reading_init(&numbers, list, &clustering->progress);
    for (;;) {
        IDXI_TRY(idxi_reading_next(&reading, &at, &found, error));
        if (!found) return IDX_OK;
        IDXI_TRY(find_number(clustering, &numbers, reading.fingerprints[at], &number, error));
        IDXI_TRY(visit(clustering, number, reading.values[at], error));
    }
}

/* A numbered_visitor: adds the pair to those sorted by their second fingerprint, here `other`. */
static enum idx_status add_by_second(struct clustering *clustering, uint64_t number, uint64_t other,
                                     struct idx_error *error) {
    return idxi_sorter_add_or_spill(&clustering->others, other, number, error);
}

/* Makes stars of the numbers of pairs in the sorter, which has the smaller number of each as its key. */
static enum idx_status make_sorted_stars(struct clustering *clustering, struct idx_error *error) {
    uint32_t *roots = clustering->roots;
    struct idxi_reading reading;
    struct idxi_stream *pairs;
    bool found;
    size_t at;
    IDXI_TRY(idxi_sorter_end(&clustering->pairs, &pairs, error));
    idxi_reading_init(&reading, pairs, &clustering->progress);
    for (;;) {
        IDXI_TRY(idxi_reading_next(&reading, &at, &found, error));
        if (!found) return IDX_OK;
        idxi_star_take(roots, (uint32_t)reading.fingerprints[at], (uint32_t)reading.values[at]);
    }
}

/* Empties a sorter, for other entries. */
static enum idx_status reopen(struct idxi_sorter *sorter, const struct idxi_sorter_options *options,
                              struct idx_error *error) {
    idxi_sorter_close(sorter);
    return idxi_sorter_open(sorter, options, error);
}

/* Replaces both fingerprints of each sorted pair with their numbers, and unites these or sorts them for stars. */
static enum idx_status number_sorted_pairs(struct clustering *clustering, struct idx_error *error) {
    const struct idxi_sorter_options *sorting = &clustering->sorting;
    IDXI_TRY(idxi_sorter_open(&clustering->others, sorting, error));
    IDXI_TRY(visit_numbered(clustering, &clustering->pairs, add_by_second, error));
    IDXI_TRY(reopen(&clustering->pairs, sorting, error));
    IDXI_TRY(visit_numbered(clustering, &clustering->others, choose_visitor(clustering), error));
    idxi_sorter_close(&clustering->others);
    return IDX_OK;
}

/* Frees the numbers in memory. If there were none, makes clusters of the pairs that were sorted instead. */
static enum idx_status complete_clusters(struct clustering *clustering, struct idx_error *error) {
    bool numbered = has_numbers(clustering);
    free_numbers(&clustering->numbers);
    if (numbered) return IDX_OK;
    IDXI_TRY(number_sorted_pairs(clustering, error));
    return clustering->options.method == IDX_CLUSTER_STAR ? make_sorted_stars(clustering, error) : IDX_OK;
}

/* Sets roots[i] to the representative of number i. In ascending order one step is enough: roots[i] is i or smaller, and
 * a smaller number has its representative already. */
static void set_representatives(struct clustering *clustering) {
    uint32_t *roots = clustering->roots;
    for (uint64_t i = 0; i < clustering->numbering.count; i++) roots[i] = roots[roots[i]];
}

/* ---- Which clusters are given ---- */

/* Lists the clusters of several fingerprints. */
static void list_clusters(struct clustering *clustering) {
    for (uint64_t i = 0; i < clustering->numbering.count; i++) {
        uint64_t root = clustering->roots[i];
        if (root != i) clustering->listed[root / 64] |= UINT64_C(1) << root % 64;
    }
}

static bool is_listed(const struct clustering *clustering, uint64_t root) {
    return clustering->listed[root / 64] >> root % 64 & 1;
}

/* Sorts the fingerprints and the documents of clusters of at least two documents, or of all with the option `alone`, by
 * their keys (cluster_visit.h). Sets *left_out to the number of other documents. */
static enum idx_status sort_documents(struct clustering *clustering, struct idxi_reading *documents, uint64_t *left_out,
                                      struct idx_error *error) {
    struct idxi_stream *list = clustering->numbering.stream;
    struct idxi_reading numbers;
    uint64_t number, last = UINT64_MAX;
    bool found, more;
    size_t at, next;
    IDXI_TRY(list->rewind(list, error));
    idxi_reading_init(&numbers, list, &clustering->progress);
    for (*left_out = 0;;) {
        IDXI_TRY(idxi_reading_next(documents, &at, &found, error));
        if (!found) return IDX_OK;
        uint64_t fingerprint = documents->fingerprints[at], value = documents->values[at];
        IDXI_TRY(find_number(clustering, &numbers, fingerprint, &number, error));
        IDXI_TRY(idxi_reading_peek(documents, &next, &more, error));
        uint64_t root = clustering->roots[number], key = root << 32 | number;
        bool begins = number != last, ends = !more || documents->fingerprints[next] != fingerprint;
        last = number;
        if (begins && ends && !clustering->options.alone && !is_listed(clustering, root)) {
            ++*left_out;
            continue;
        }
        if (begins) IDXI_TRY(idxi_sorter_add_or_spill(&clustering->pairs, key, fingerprint, error));
        IDXI_TRY(idxi_sorter_add_or_spill(&clustering->others, key, value, error));
    }
}

/* Sorts what sort_documents adds, in sorters that are opened again for that. */
static enum idx_status sort_members(struct clustering *clustering, uint64_t *left_out, struct idx_error *error) {
    struct idxi_document_groups groups;
    IDXI_TRY(reopen(&clustering->pairs, &clustering->sorting, error));
    IDXI_TRY(reopen(&clustering->others, &clustering->sorting, error));
    enum idx_status status = idxi_document_groups_open(&groups, clustering->index, &clustering->sorting, NULL, error);
    if (status == IDX_OK) status = sort_documents(clustering, &groups.reading, left_out, error);
    idxi_document_groups_close(&groups);
    return status;
}

/* Visits all members of clusters, and fills *summary, in which documents alone count even if they are not visited. */
static enum idx_status visit_all(struct clustering *clustering, idx_cluster_visitor visit, void *visit_context,
                                 struct idx_cluster_summary *summary, struct idx_error *error) {
    struct idxi_stream *members, *documents;
    struct idxi_cluster_visit visiting = {
        .index = clustering->index,
        .distance = clustering->options.distance,
        .is_by_id = clustering->options.representative == IDX_REPRESENTATIVE_SMALLEST_ID &&
                    clustering->index->manifest->id_type == IDXF_ID_TEXT,
        .is_by_count = clustering->options.representative == IDX_REPRESENTATIVE_MOST_DOCUMENTS,
        .sorting = &clustering->sorting,
        .visit = visit,
        .context = visit_context,
        .summary = summary};
    uint64_t left_out;
    list_clusters(clustering);
    IDXI_TRY(sort_members(clustering, &left_out, error));
    idxi_numbering_close(&clustering->numbering);
    IDXI_TRY(idxi_sorter_end(&clustering->pairs, &members, error));
    IDXI_TRY(idxi_sorter_end(&clustering->others, &documents, error));
    *summary = (struct idx_cluster_summary){.documents = left_out, .sizes = {left_out}};
    return idxi_cluster_visit(&visiting, members, documents, &clustering->progress, error);
}

/* ---- The whole ---- */

/* Checks the options, and replaces the default distance and memory by values. */
static enum idx_status settle_options(struct clustering *clustering, struct idx_error *error) {
    struct idx_cluster_options *options = &clustering->options;
    IDXI_TRY(idxi_check_threads(options->threads, error));
    if ((unsigned)options->method > IDX_CLUSTER_STAR ||
        (unsigned)options->representative > IDX_REPRESENTATIVE_SMALLEST_ID)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "there is no such method, or no such choice of representatives");
    if (options->distance == UINT_MAX) options->distance = clustering->index->manifest->k;
    IDXI_TRY(idxi_check_any_distance(options->distance, IDX_BAD_DISTANCE, error));
    return idxi_memory_choose_limit(&options->memory_bytes, error);
}

/* Makes the array of roots, in which each number is its own root, and the bits of `listed`, which are 0. */
static enum idx_status allocate_roots(struct clustering *clustering, struct idx_error *error) {
    size_t count = (size_t)clustering->numbering.count;
    clustering->roots = malloc((count + 1) * sizeof *clustering->roots);
    clustering->listed = calloc(count / 64 + 1, sizeof *clustering->listed);
    if (clustering->roots == NULL || clustering->listed == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < count; i++) clustering->roots[i] = (uint32_t)i;
    return IDX_OK;
}

/* Makes and visits all clusters. What it opens or allocates is released by idx_clusters, even after an error. */
static enum idx_status cluster_index(struct clustering *clustering, idx_cluster_visitor visit, void *visit_context,
                                     struct idx_cluster_summary *summary, struct idx_error *error) {
    const struct idx_cluster_options *options = &clustering->options;
    IDXI_TRY(settle_options(clustering, error));
    const char *folder = options->temporary_folder;
    IDXI_TRY(idxi_open_temporary_folder(&clustering->folder, &folder, clustering->index->folder,
                                        clustering->index->path, error));
    clustering->sorting = (struct idxi_sorter_options){.with_values = true,
                                                       .threads = options->threads,
                                                       .memory = options->memory_bytes / SHARES,
                                                       .folder = clustering->folder,
                                                       .path = folder,
                                                       .progress = &clustering->progress};
    idxi_progress_init(&clustering->progress, options->progress, options->context);
    idxi_progress_init(&clustering->silent, NULL, NULL);
    IDXI_TRY(idxi_progress_begin(&clustering->progress, IDX_PHASE_CLUSTERING, 0, error));
    IDXI_TRY(idxi_numbering_open(&clustering->numbering, clustering->index, options->representative,
                                 &clustering->sorting, options->memory_bytes, error));
    IDXI_TRY(allocate_roots(clustering, error));
    IDXI_TRY(find_pairs(clustering, error));
    IDXI_TRY(complete_clusters(clustering, error));
    set_representatives(clustering);
    return visit_all(clustering, visit, visit_context, summary, error);
}

enum idx_status idx_clusters(const struct idx_index *index, const struct idx_cluster_options *options,
                             idx_cluster_visitor visit, void *visit_context, struct idx_cluster_summary *summary,
                             struct idx_error *error) {
    struct clustering clustering = {.index = index, .options = IDX_CLUSTER_OPTIONS_INIT, .folder = -1};
    struct idx_cluster_summary made;
    IDXI_TRY(idxi_copy_options(&clustering.options, options, error));
    enum idx_status status = cluster_index(&clustering, visit, visit_context, &made, error);
    if (status == IDX_OK && summary != NULL) *summary = made;
    idxi_sorter_close(&clustering.pairs);
    idxi_sorter_close(&clustering.others);
    idxi_numbering_close(&clustering.numbering);
    free_numbers(&clustering.numbers);
    idxi_stars_free(&clustering.stars);
    free(clustering.roots);
    free(clustering.listed);
    if (clustering.folder >= 0) close(clustering.folder);
    return status;
}
