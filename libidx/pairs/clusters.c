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
#define MEMORY_SHARES 4

/* All fingerprints and their numbers, if the memory holds them. */
struct numbers {
    uint64_t *fingerprints;        /* NULL: the memory does not hold them */
    uint32_t *of;                  /* of[i] is the number of fingerprints[i] */
    struct idxi_value_slots slots; /* a hash table that finds the place of a fingerprint in these arrays */
};

struct clustering {
    const struct idx_index *index;
    struct idx_cluster_options options;
    struct idxi_sorter_options sorting;
    struct idxi_progress progress;
    struct idxi_progress silent_progress; /* the sorter of pairs has it while idx_pairs reports progress itself */
    struct idxi_numbering numbering;
    struct numbers numbers;
    struct idxi_stars stars; /* used only while the numbers are in memory */
    /* Pairs by their first, and by their second fingerprint; later the members of clusters, and their documents. */
    struct idxi_sorter pairs, pairs_by_second;
    uint32_t *roots;        /* by number: a smaller number of its cluster, or itself; in the end the representative */
    uint64_t *several_bits; /* bits by number: 1 if this is a representative whose cluster has several fingerprints */
    int folder;             /* descriptor of the folder for temporary files, or -1 */
};

/* ---- Components ---- */

/* Returns the smallest number of the cluster that a number belongs to so far. Halves the path to it, so that later
 * calls are short. */
static uint32_t find_root(uint32_t *roots, uint32_t number) {
    while (roots[number] != number) {
        roots[number] = roots[roots[number]];
        number = roots[number];
    }
    return number;
}

/* A numbered_visitor: unites the clusters of two numbers. The smaller one of their roots becomes that of both. */
static enum idx_status unite_clusters(struct clustering *clustering, uint64_t a, uint64_t b, struct idx_error *error) {
    uint32_t *roots = clustering->roots, a_root = find_root(roots, (uint32_t)a), b_root = find_root(roots, (uint32_t)b);
    (void)error;
    roots[a_root > b_root ? a_root : b_root] = a_root > b_root ? b_root : a_root;
    return IDX_OK;
}

/* ---- Pairs ---- */

/* Returns IDX_BAD_CONTENT: a fingerprint is in the tables, but the document maps lack it. */
static enum idx_status fail_unmapped_fingerprint(const struct clustering *clustering, uint64_t fingerprint,
                                                 struct idx_error *error) {
    return idxi_fail(error, IDX_BAD_CONTENT, clustering->index->path,
                     "its tables contain fingerprint %016llx, but its docs.mdb does not: rebuild the index, or restore "
                     "it from a copy",
                     (unsigned long long)fingerprint);
}

/* Called for a pair: with the number of one fingerprint, and with the other one in `other`. That is its number if both
 * numbers are found, else the fingerprint itself. */
typedef enum idx_status (*numbered_visitor)(struct clustering *clustering, uint64_t number, uint64_t other,
                                            struct idx_error *error);

/* Returns whether the numbers of all fingerprints are in memory. */
static bool has_numbers(const struct clustering *clustering) { return clustering->numbers.fingerprints != NULL; }

/* A numbered_visitor: stores both numbers of a pair until stars are made: in clustering->stars if all numbers are in
 * memory, or else in the sorter, the smaller number first. */
static enum idx_status store_for_stars(struct clustering *clustering, uint64_t a, uint64_t b, struct idx_error *error) {
    if (has_numbers(clustering)) {
        idxi_stars_store_pair(&clustering->stars, (uint32_t)a, (uint32_t)b);
        return IDX_OK;
    }
    return idxi_sorter_add_or_spill(&clustering->pairs, a < b ? a : b, a < b ? b : a, error);
}

/* Returns the visitor for pairs of two numbers that the method of clustering needs. */
static numbered_visitor choose_pair_visitor(const struct clustering *clustering) {
    return clustering->options.method == IDX_CLUSTER_STAR ? store_for_stars : unite_clusters;
}

/* The context of visit_found_pairs, and the status of its last call. */
struct pair_visit {
    struct clustering *clustering;
    enum idx_status status;
    struct idx_error *error;
};

/* Looks up the numbers of a pair in memory, and unites their clusters or stores them for stars. */
static enum idx_status cluster_pair(struct clustering *clustering, const struct idx_pair *pair,
                                    struct idx_error *error) {
    const struct numbers *numbers = &clustering->numbers;
    size_t a = idxi_value_slots_find(&numbers->slots, pair->a), b = idxi_value_slots_find(&numbers->slots, pair->b);
    if (a == SIZE_MAX || b == SIZE_MAX)
        return fail_unmapped_fingerprint(clustering, a == SIZE_MAX ? pair->a : pair->b, error);
    return choose_pair_visitor(clustering)(clustering, numbers->of[a], numbers->of[b], error);
}

/* The place of a number is prefetched so many pairs ahead of its use. */
#define AHEAD 16

/* Calls cluster_pair for pairs, and prefetches what it looks up for later ones. */
static enum idx_status cluster_pairs(struct clustering *clustering, const struct idx_pair *pairs, size_t count,
                                     struct idx_error *error) {
    const struct idxi_value_slots *slots = &clustering->numbers.slots;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) idxi_value_slots_prefetch(slots, pairs[i + AHEAD].a);
        if (i + AHEAD < count) idxi_value_slots_prefetch(slots, pairs[i + AHEAD].b);
        IDXI_TRY(cluster_pair(clustering, &pairs[i], error));
    }
    return IDX_OK;
}

/* Adds pairs to the sorter, which writes them to temporary files once its memory is full. */
static enum idx_status add_pairs_to_sorter(struct clustering *clustering, const struct idx_pair *pairs, size_t count,
                                           struct idx_error *error) {
    for (size_t i = 0; i < count; i++)
        IDXI_TRY(idxi_sorter_add_or_spill(&clustering->pairs, pairs[i].a, pairs[i].b, error));
    return IDX_OK;
}

/* An idx_pairs_visitor: clusters pairs at once if the numbers are in memory, else adds them to the sorter. After an
 * error, which visit->status has then, returns false to end the search. */
static bool visit_found_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    struct pair_visit *visit = context;
    struct clustering *clustering = visit->clustering;
    visit->status = has_numbers(clustering) ? cluster_pairs(clustering, pairs, count, visit->error)
                                            : add_pairs_to_sorter(clustering, pairs, count, visit->error);
    return visit->status == IDX_OK;
}

/* Reads all fingerprints and their numbers into the arrays of clustering->numbers, which have room for them, and makes
 * the hash table. */
static enum idx_status fill_number_arrays(struct clustering *clustering, struct idx_error *error) {
    struct idxi_stream *list = clustering->numbering.stream;
    struct numbers *numbers = &clustering->numbers;
    struct idxi_reading reading;
    size_t count = 0, place;
    bool found;
    IDXI_TRY(list->rewind(list, error));
    idxi_reading_init(&reading, list, &clustering->progress);
    for (;;) {
        IDXI_TRY(idxi_reading_next(&reading, &place, &found, error));
        if (!found) break;
        numbers->fingerprints[count] = reading.fingerprints[place];
        numbers->of[count++] = (uint32_t)reading.values[place];
    }
    return idxi_value_slots_make(&numbers->slots, numbers->fingerprints, count) ? IDX_OK : idxi_fail_memory(error);
}

/* Reads all fingerprints and their numbers into memory if clustering->sorting.memory bytes hold them; else does
 * nothing. idx_clusters frees them, even after an error. */
static enum idx_status read_numbers_if_they_fit(struct clustering *clustering, struct idx_error *error) {
    struct numbers *numbers = &clustering->numbers;
    uint64_t count = clustering->numbering.count;
    uint64_t bytes = count * (sizeof *numbers->fingerprints + sizeof *numbers->of) + idxi_value_slots_bytes(count);
    if (bytes > clustering->sorting.memory) return IDX_OK;
    numbers->fingerprints = malloc((count + 1) * sizeof *numbers->fingerprints);
    numbers->of = malloc((count + 1) * sizeof *numbers->of);
    if (numbers->fingerprints == NULL || numbers->of == NULL) return idxi_fail_memory(error);
    return fill_number_arrays(clustering, error);
}

/* Frees the numbers in memory; there are none afterwards. */
static void free_numbers(struct numbers *numbers) {
    idxi_value_slots_free(&numbers->slots);
    free(numbers->fingerprints);
    free(numbers->of);
    *numbers = (struct numbers){0};
}

/* Begins stars, if they are made while pairs are found: that is, if all numbers are in memory. */
static enum idx_status begin_stars_if_needed(struct clustering *clustering, struct idx_error *error) {
    size_t count = (size_t)clustering->numbering.count;
    if (clustering->options.method != IDX_CLUSTER_STAR || !has_numbers(clustering)) return IDX_OK;
    bool has_memory = idxi_stars_begin(&clustering->stars, clustering->roots, count, clustering->sorting.memory);
    return has_memory ? IDX_OK : idxi_fail_memory(error);
}

/* Finds all pairs, more than once if stars need it. If the numbers are in memory, the clusters are complete afterwards;
 * else clustering->pairs has the pairs. */
static enum idx_status find_all_pairs(struct clustering *clustering, struct idx_error *error) {
    const struct idx_cluster_options *options = &clustering->options;
    struct pair_visit pair_visit = {.clustering = clustering, .status = IDX_OK, .error = error};
    struct idx_join_options join_options = IDX_JOIN_OPTIONS_INIT;
    join_options.distance = options->distance;
    join_options.threads = options->threads;
    join_options.memory_bytes = options->memory_bytes / MEMORY_SHARES;
    if (join_options.memory_bytes < IDX_MIN_MEMORY_BYTES) join_options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    join_options.progress = options->progress;
    join_options.context = options->context;
    IDXI_TRY(read_numbers_if_they_fit(clustering, error));
    IDXI_TRY(begin_stars_if_needed(clustering, error));
    IDXI_TRY(idxi_sorter_open(&clustering->pairs, &clustering->sorting, error));
    clustering->pairs.options.progress = &clustering->silent_progress; /* since idx_pairs reports its own meanwhile */
    do { /* once, unless stars were made only of some of the pairs */
        IDXI_TRY(idx_pairs(clustering->index, &join_options, visit_found_pairs, &pair_visit, error));
        IDXI_TRY(pair_visit.status);
    } while (clustering->stars.pairs != NULL && !idxi_stars_make_stored(&clustering->stars));
    idxi_stars_free(&clustering->stars);
    clustering->pairs.options.progress = &clustering->progress;
    return idxi_progress_begin(&clustering->progress, IDX_PHASE_CLUSTERING, 0, error);
}

/* Reads the ascending list `numbers` up to a fingerprint, which stays the next entry, and sets *number to its number.
 * So the fingerprints of successive calls must ascend. Fails with IDX_BAD_CONTENT if it is not in the list. */
static enum idx_status find_number(const struct clustering *clustering, struct idxi_reading *numbers,
                                   uint64_t fingerprint, uint64_t *number, struct idx_error *error) {
    bool found;
    size_t place;
    for (;;) {
        IDXI_TRY(idxi_reading_peek(numbers, &place, &found, error));
        if (!found || numbers->fingerprints[place] >= fingerprint) break;
        numbers->next++;
    }
    *number = numbers->values[place];
    if (found && numbers->fingerprints[place] == fingerprint) return IDX_OK;
    return fail_unmapped_fingerprint(clustering, fingerprint, error);
}

/* Sorts the pairs of a sorter by their keys, which are fingerprints, and calls `visit` with the number of each key, and
 * with its value as `other`. Fails with IDX_BAD_CONTENT if a key has no number. */
static enum idx_status visit_sorted_pairs(struct clustering *clustering, struct idxi_sorter *sorter,
                                          numbered_visitor visit, struct idx_error *error) {
    struct idxi_stream *list = clustering->numbering.stream, *pairs;
    struct idxi_reading reading, numbers;
    uint64_t number;
    bool found;
    size_t place;
    IDXI_TRY(idxi_sorter_open_stream(sorter, &pairs, error));
    IDXI_TRY(list->rewind(list, error));
    idxi_reading_init(&reading, pairs, &clustering->progress);
    idxi_reading_init(&numbers, list, &clustering->progress);
    for (;;) {
        IDXI_TRY(idxi_reading_next(&reading, &place, &found, error));
        if (!found) return IDX_OK;
        IDXI_TRY(find_number(clustering, &numbers, reading.fingerprints[place], &number, error));
        IDXI_TRY(visit(clustering, number, reading.values[place], error));
    }
}

/* A numbered_visitor: adds a pair to clustering->pairs_by_second, the sorter of pairs by their second fingerprint, here
 * `other`. */
static enum idx_status add_pair_by_second(struct clustering *clustering, uint64_t number, uint64_t other,
                                          struct idx_error *error) {
    return idxi_sorter_add_or_spill(&clustering->pairs_by_second, other, number, error);
}

/* Makes stars of the pairs of numbers in clustering->pairs, in ascending order. The key of each is its smaller number.
 */
static enum idx_status make_stars_of_sorted_pairs(struct clustering *clustering, struct idx_error *error) {
    struct idxi_reading reading;
    struct idxi_stream *pairs;
    bool found;
    size_t place;
    IDXI_TRY(idxi_sorter_open_stream(&clustering->pairs, &pairs, error));
    idxi_reading_init(&reading, pairs, &clustering->progress);
    for (;;) {
        IDXI_TRY(idxi_reading_next(&reading, &place, &found, error));
        if (!found) return IDX_OK;
        idxi_star_add_pair(clustering->roots, (uint32_t)reading.fingerprints[place], (uint32_t)reading.values[place]);
    }
}

/* Closes a sorter and opens it again, empty, for entries of another kind. */
static enum idx_status reopen_sorter(struct idxi_sorter *sorter, const struct idxi_sorter_options *options,
                                     struct idx_error *error) {
    idxi_sorter_close(sorter);
    return idxi_sorter_open(sorter, options, error);
}

/* Replaces the fingerprints of each pair in clustering->pairs by their numbers: first one of them, then the other one.
 * Unites the clusters of both numbers, or for stars adds them to clustering->pairs, which was emptied. */
static enum idx_status number_sorted_pairs(struct clustering *clustering, struct idx_error *error) {
    IDXI_TRY(idxi_sorter_open(&clustering->pairs_by_second, &clustering->sorting, error));
    IDXI_TRY(visit_sorted_pairs(clustering, &clustering->pairs, add_pair_by_second, error));
    IDXI_TRY(reopen_sorter(&clustering->pairs, &clustering->sorting, error));
    IDXI_TRY(visit_sorted_pairs(clustering, &clustering->pairs_by_second, choose_pair_visitor(clustering), error));
    idxi_sorter_close(&clustering->pairs_by_second);
    return IDX_OK;
}

/* Frees the numbers in memory. If there were none, the pairs were only sorted: makes the clusters of them now. */
static enum idx_status complete_clusters(struct clustering *clustering, struct idx_error *error) {
    bool had_numbers = has_numbers(clustering);
    free_numbers(&clustering->numbers);
    if (had_numbers) return IDX_OK;
    IDXI_TRY(number_sorted_pairs(clustering, error));
    return clustering->options.method == IDX_CLUSTER_STAR ? make_stars_of_sorted_pairs(clustering, error) : IDX_OK;
}

/* Sets roots[i] to the representative of number i. In ascending order one step is enough: roots[i] is at most i, and
 * smaller numbers have their representatives already. */
static void set_representatives(struct clustering *clustering) {
    uint32_t *roots = clustering->roots;
    for (uint64_t i = 0; i < clustering->numbering.count; i++) roots[i] = roots[roots[i]];
}

/* ---- Which documents are visited ---- */

/* Sets the bit in clustering->several_bits of each representative that has other members in its cluster. */
static void mark_clusters_of_several(struct clustering *clustering) {
    for (uint64_t i = 0; i < clustering->numbering.count; i++) {
        uint64_t root = clustering->roots[i];
        if (root != i) clustering->several_bits[root / 64] |= UINT64_C(1) << root % 64;
    }
}

/* Returns whether the cluster of this representative has several fingerprints. */
static bool has_several_fingerprints(const struct clustering *clustering, uint64_t root) {
    return clustering->several_bits[root / 64] >> root % 64 & 1;
}

/* Adds the fingerprints of clusters to the sorter `pairs`, and their documents to `pairs_by_second`, by their keys
 * (cluster_visit.h). Leaves out clusters of a single document, unless the option `alone` asks for them, and sets
 * *left_out_count to how many these are. */
static enum idx_status add_members(struct clustering *clustering, struct idxi_reading *documents,
                                   uint64_t *left_out_count, struct idx_error *error) {
    struct idxi_stream *list = clustering->numbering.stream;
    struct idxi_reading numbers;
    uint64_t number, last_number = UINT64_MAX;
    bool found, has_more;
    size_t place, next_place;
    IDXI_TRY(list->rewind(list, error));
    idxi_reading_init(&numbers, list, &clustering->progress);
    *left_out_count = 0;
    for (;;) {
        IDXI_TRY(idxi_reading_next(documents, &place, &found, error));
        if (!found) return IDX_OK;
        uint64_t fingerprint = documents->fingerprints[place], value = documents->values[place];
        IDXI_TRY(find_number(clustering, &numbers, fingerprint, &number, error));
        IDXI_TRY(idxi_reading_peek(documents, &next_place, &has_more, error));
        uint64_t root = clustering->roots[number], key = root << 32 | number;
        bool is_first = number != last_number,
             is_last = !has_more || documents->fingerprints[next_place] != fingerprint;
        last_number = number;
        if (is_first && is_last && !clustering->options.alone && !has_several_fingerprints(clustering, root)) {
            ++*left_out_count;
            continue;
        }
        if (is_first) IDXI_TRY(idxi_sorter_add_or_spill(&clustering->pairs, key, fingerprint, error));
        IDXI_TRY(idxi_sorter_add_or_spill(&clustering->pairs_by_second, key, value, error));
    }
}

/* Empties both sorters, and fills them with the documents of the index, as add_members says. */
static enum idx_status sort_members(struct clustering *clustering, uint64_t *left_out_count, struct idx_error *error) {
    struct idxi_document_groups groups;
    IDXI_TRY(reopen_sorter(&clustering->pairs, &clustering->sorting, error));
    IDXI_TRY(reopen_sorter(&clustering->pairs_by_second, &clustering->sorting, error));
    enum idx_status status = idxi_document_groups_open(&groups, clustering->index, &clustering->sorting, NULL, error);
    if (status == IDX_OK) status = add_members(clustering, &groups.reading, left_out_count, error);
    idxi_document_groups_close(&groups);
    return status;
}

/* Visits all members of clusters, and fills *summary. It counts documents that are alone in their clusters even if they
 * are not visited. */
static enum idx_status visit_members(struct clustering *clustering, idx_cluster_visitor visit, void *visit_context,
                                     struct idx_cluster_summary *summary, struct idx_error *error) {
    struct idxi_stream *members, *documents;
    struct idxi_cluster_visit visiting = {
        .index = clustering->index,
        .distance = clustering->options.distance,
        .by_smallest_id = clustering->options.representative == IDX_REPRESENTATIVE_SMALLEST_ID &&
                          clustering->index->manifest->id_type == IDXF_ID_TEXT,
        .by_most_documents = clustering->options.representative == IDX_REPRESENTATIVE_MOST_DOCUMENTS,
        .sorting = &clustering->sorting,
        .visit = visit,
        .context = visit_context,
        .summary = summary};
    uint64_t left_out_count;
    mark_clusters_of_several(clustering);
    IDXI_TRY(sort_members(clustering, &left_out_count, error));
    idxi_numbering_close(&clustering->numbering);
    IDXI_TRY(idxi_sorter_open_stream(&clustering->pairs, &members, error));
    IDXI_TRY(idxi_sorter_open_stream(&clustering->pairs_by_second, &documents, error));
    *summary = (struct idx_cluster_summary){.documents = left_out_count, .sizes = {left_out_count}};
    return idxi_visit_clusters(&visiting, members, documents, &clustering->progress, error);
}

/* ---- The whole ---- */

/* Checks the options, and replaces the default distance and memory by the values that they mean. Errors:
 * IDX_INVALID_ARGUMENT, IDX_BAD_DISTANCE. */
static enum idx_status complete_options(struct clustering *clustering, struct idx_error *error) {
    struct idx_cluster_options *options = &clustering->options;
    IDXI_TRY(idxi_check_threads(options->threads, error));
    if ((unsigned)options->method > IDX_CLUSTER_STAR ||
        (unsigned)options->representative > IDX_REPRESENTATIVE_SMALLEST_ID)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "there is no such method, or no such choice of representatives");
    if (options->distance == UINT_MAX) options->distance = clustering->index->manifest->k;
    IDXI_TRY(idxi_check_distance_limit(options->distance, IDX_BAD_DISTANCE, error));
    return idxi_memory_choose_limit(&options->memory_bytes, error);
}

/* Makes the array of roots, in which each number is its own root, and the bits of `several_bits`, all 0. */
static enum idx_status allocate_roots(struct clustering *clustering, struct idx_error *error) {
    size_t count = (size_t)clustering->numbering.count;
    clustering->roots = malloc((count + 1) * sizeof *clustering->roots);
    clustering->several_bits = calloc(count / 64 + 1, sizeof *clustering->several_bits);
    if (clustering->roots == NULL || clustering->several_bits == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < count; i++) clustering->roots[i] = (uint32_t)i;
    return IDX_OK;
}

/* Makes and visits all clusters. What it opens or allocates is released by idx_clusters, even after an error. */
static enum idx_status cluster_index(struct clustering *clustering, idx_cluster_visitor visit, void *visit_context,
                                     struct idx_cluster_summary *summary, struct idx_error *error) {
    const struct idx_cluster_options *options = &clustering->options;
    IDXI_TRY(complete_options(clustering, error));
    const char *folder = options->temporary_folder;
    IDXI_TRY(idxi_open_temporary_folder(&clustering->folder, &folder, clustering->index->folder,
                                        clustering->index->path, error));
    clustering->sorting = (struct idxi_sorter_options){.with_values = true,
                                                       .threads = options->threads,
                                                       .memory = options->memory_bytes / MEMORY_SHARES,
                                                       .folder = clustering->folder,
                                                       .path = folder,
                                                       .progress = &clustering->progress};
    idxi_progress_init(&clustering->progress, options->progress, options->context);
    idxi_progress_init(&clustering->silent_progress, NULL, NULL);
    IDXI_TRY(idxi_progress_begin(&clustering->progress, IDX_PHASE_CLUSTERING, 0, error));
    IDXI_TRY(idxi_numbering_open(&clustering->numbering, clustering->index, options->representative,
                                 &clustering->sorting, options->memory_bytes, error));
    IDXI_TRY(allocate_roots(clustering, error));
    IDXI_TRY(find_all_pairs(clustering, error));
    IDXI_TRY(complete_clusters(clustering, error));
    set_representatives(clustering);
    return visit_members(clustering, visit, visit_context, summary, error);
}

enum idx_status idx_clusters(const struct idx_index *index, const struct idx_cluster_options *options,
                             idx_cluster_visitor visit, void *visit_context, struct idx_cluster_summary *summary,
                             struct idx_error *error) {
    struct clustering clustering = {.index = index, .options = IDX_CLUSTER_OPTIONS_INIT, .folder = -1};
    struct idx_cluster_summary new_summary;
    IDXI_TRY(idxi_copy_options(&clustering.options, options, error));
    enum idx_status status = cluster_index(&clustering, visit, visit_context, &new_summary, error);
    if (status == IDX_OK && summary != NULL) *summary = new_summary;
    idxi_sorter_close(&clustering.pairs);
    idxi_sorter_close(&clustering.pairs_by_second);
    idxi_numbering_close(&clustering.numbering);
    free_numbers(&clustering.numbers);
    idxi_stars_free(&clustering.stars);
    free(clustering.roots);
    free(clustering.several_bits);
    if (clustering.folder >= 0) close(clustering.folder);
    return status;
}
