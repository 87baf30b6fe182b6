/* needles.c: needles, which are sets in memory that never change, and which of them another set contains. Hashes of
 * needles are numbered by rarity, and this number is their rank. A set that contains a needle has one of its rarest
 * members: of A members, of which N are needed, one of the first A - N + 1. The needle is listed by these alone, so
 * that sets that have what many needles begin with are not compared with all of them. */
#include "libidx/sets/needles.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/streams/sort.h"

/* How many bits the filter has for each hash of needles, at least. So it lets at most one in so many other hashes pass.
 */
enum { FILTER_BITS_PER_HASH = 16 };
/* How many hashes go through the filter together. */
enum { FILTERED_TOGETHER = 1024 };

struct needle {
    uint64_t begin;  /* where its members begin */
    uint32_t size;   /* how many it has; 0: it is never found */
    uint32_t needed; /* how many of them a set must have to contain it */
};

struct idx_needles {
    struct needle *needles;
    size_t count;
    uint32_t *members; /* the ranks of all needles' members, ascending for each needle */
    size_t member_count;

    uint64_t *hashes; /* of all needles, mixed (idxi_mix), ascending, each once */
    uint32_t *ranks;  /* of these hashes */
    size_t hash_count;
    uint32_t *directory; /* directory[i]: where the hashes begin whose leading bits are i or more */
    unsigned shift;      /* hash >> shift leaves the leading bits */
    uint64_t *filter;    /* bits by the low bits of hashes: 1 if a needle has such a hash */
    size_t filter_mask;  /* words of it minus 1 */

    uint32_t *postings; /* needles, by the ranks of their rarest members */
    uint32_t *ends;     /* where the postings of each rank end; those of rank 0 begin at 0 */
    size_t posting_count;
};

/* ---- Making ---- */

/* What is needed only while needles are made: the members of all needles, which are sorted by their hashes. */
struct build {
    uint64_t *keys, *numbers, *spare_keys, *spare_numbers; /* hashes, and numbers of their needles */
    uint32_t *runs;                                        /* by rank: where the members with one hash begin */
    uint32_t *tally; /* by how many needles have a hash: the next rank; later, by needle: how many members have ranks */
};

/* Returns whether a needle can be found in any set: an empty one, and one with fewer members than the caller wants,
 * never is. */
static bool can_be_found(const struct idxi_stored_set *set, const struct idx_needles_options *options) {
    return set->count > 0 && set->count >= options->contained_size;
}

/* Allocates the needles, and sets for each where its members begin, its size, and ceil(share * size), which a set needs
 * to contain it. Counts all members and postings. Sets *left_out to how many needles are never found. Errors:
 * IDX_OUT_OF_MEMORY, IDX_LIMIT (too many members). */
static enum idx_status measure_needles(struct idx_needles *needles, const struct idxi_set_store *store,
                                       const struct idx_needles_options *options, uint64_t *left_out,
                                       struct idx_error *error) {
    const uint64_t threshold_one = (uint64_t)IDX_THRESHOLD_ONE, share = (uint64_t)options->contained;
    needles->needles = calloc(store->count + 1, sizeof *needles->needles);
    if (needles->needles == NULL) return idxi_fail_memory(error);
    needles->count = store->count;
    *left_out = 0;
    for (size_t i = 0; i < store->count; i++) {
        const uint32_t size = can_be_found(&store->sets[i], options) ? store->sets[i].count : 0;
        const uint32_t needed = (uint32_t)((share * size + threshold_one - 1) / threshold_one);
        needles->needles[i] = (struct needle){needles->member_count, size, needed};
        needles->member_count += size;
        needles->posting_count += size > 0 ? size - needed + 1 : 0;
        *left_out += size == 0;
    }
    if (needles->member_count < UINT32_MAX) return IDX_OK;
    return idxi_fail(error, IDX_LIMIT, NULL, "needles have up to %u members in all, not %zu", UINT32_MAX - 1,
                     needles->member_count);
}

/* Allocates the arrays whose sizes measure_needles has found. make_needles and idx_needles_close free them, also after
 * an error. */
static enum idx_status allocate_arrays(struct idx_needles *needles, struct build *build, struct idx_error *error) {
    const size_t member_capacity = needles->member_count + 1;
    uint64_t **const arrays[] = {&build->keys, &build->numbers, &build->spare_keys, &build->spare_numbers};
    bool allocated = true;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = malloc(member_capacity * sizeof **arrays[i]);
        allocated = allocated && *arrays[i] != NULL;
    }
    build->tally = calloc(needles->count + 2, sizeof *build->tally);
    needles->members = malloc(member_capacity * sizeof *needles->members);
    needles->postings = malloc((needles->posting_count + 1) * sizeof *needles->postings);
    return allocated && build->tally != NULL && needles->members != NULL && needles->postings != NULL
               ? IDX_OK
               : idxi_fail_memory(error);
}

/* Reads the members of all needles into build->keys, and the numbers of their needles into build->numbers, and sorts
 * both by hash. Members with the same hash are a run. Errors: IDX_OUT_OF_MEMORY, those of files. */
static enum idx_status read_and_sort_members(const struct idx_needles *needles, const struct idxi_set_store *store,
                                             struct build *build, struct idx_error *error) {
    struct idxi_set_reader reader = {.store = store};
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < needles->count && status == IDX_OK; i++) {
        const struct needle *needle = &needles->needles[i];
        const uint64_t *hashes;
        if (needle->size == 0) continue;
        status = idxi_set_read(&reader, store->sets[i].offset, needle->size, &hashes, error);
        if (status != IDX_OK) break;
        memcpy(build->keys + needle->begin, hashes, needle->size * sizeof *hashes);
        for (uint32_t j = 0; j < needle->size; j++) build->numbers[needle->begin + j] = i;
    }
    idxi_set_reader_close(&reader);
    if (status == IDX_OK)
        idxi_sort_pairs(build->keys, build->numbers, needles->member_count, false, build->spare_keys,
                        build->spare_numbers);
    return status;
}

/* Returns the end of the run of members with the same hash that begins at `run_begin` in build->keys. */
static size_t find_run_end(const struct idx_needles *needles, const struct build *build, size_t run_begin) {
    size_t run_end = run_begin + 1;
    while (run_end < needles->member_count && build->keys[run_end] == build->keys[run_begin]) run_end++;
    return run_end;
}

/* Lists the different hashes, ascending, and gives each its rank: hashes that fewer needles have come first. Sets
 * build->runs[rank] to the beginning of the members with the hash of a rank. It is a counting sort: build->tally first
 * counts the hashes by how many needles have them, and then has the next rank for each such number. Errors:
 * IDX_OUT_OF_MEMORY. */
static enum idx_status rank_hashes(struct idx_needles *needles, struct build *build, struct idx_error *error) {
    uint32_t rank = 0;
    for (size_t run_begin = 0, run_end; run_begin < needles->member_count; run_begin = run_end, needles->hash_count++) {
        run_end = find_run_end(needles, build, run_begin);
        build->tally[run_end - run_begin]++;
    }
    for (size_t i = 0; i < needles->count + 2; i++) {
        const uint32_t hash_count = build->tally[i];
        build->tally[i] = rank;
        rank += hash_count;
    }
    const size_t capacity = needles->hash_count + 1;
    needles->hashes = malloc(capacity * sizeof *needles->hashes);
    needles->ranks = malloc(capacity * sizeof *needles->ranks);
    needles->ends = malloc(capacity * sizeof *needles->ends);
    build->runs = malloc(capacity * sizeof *build->runs);
    if (needles->hashes == NULL || needles->ranks == NULL || needles->ends == NULL || build->runs == NULL)
        return idxi_fail_memory(error);
    size_t hash_number = 0;
    for (size_t run_begin = 0, run_end; run_begin < needles->member_count; run_begin = run_end, hash_number++) {
        run_end = find_run_end(needles, build, run_begin);
        needles->hashes[hash_number] = build->keys[run_begin];
        needles->ranks[hash_number] = build->tally[run_end - run_begin]++;
        build->runs[needles->ranks[hash_number]] = (uint32_t)run_begin;
    }
    return IDX_OK;
}

/* Lists each needle's members in the order of their ranks. Adds the needle to the postings of its size - needed + 1
 * first members, since each set that contains it has one of these. */
static void list_needles_by_ranks(struct idx_needles *needles, const struct build *build) {
    uint32_t posting_count = 0, *filled_counts = build->tally;
    memset(filled_counts, 0, needles->count * sizeof *filled_counts);
    for (uint32_t rank = 0; rank < needles->hash_count; rank++) {
        const size_t run_begin = build->runs[rank], run_end = find_run_end(needles, build, run_begin);
        for (size_t i = run_begin; i < run_end; i++) {
            const uint32_t needle_number = (uint32_t)build->numbers[i], place = filled_counts[needle_number]++;
            const struct needle *needle = &needles->needles[needle_number];
            needles->members[needle->begin + place] = rank;
            if (place <= needle->size - needle->needed) needles->postings[posting_count++] = needle_number;
        }
        needles->ends[rank] = posting_count;
    }
}

/* Makes the directory and the filter, by which the hashes of a set are found among those of the needles. Errors:
 * IDX_OUT_OF_MEMORY. */
static enum idx_status make_directory(struct idx_needles *needles, struct idx_error *error) {
    unsigned leading_bits = 1;
    size_t filter_words = 1;
    while (leading_bits < 31 && (size_t)1 << leading_bits < needles->hash_count) leading_bits++;
    while (64 * filter_words < FILTER_BITS_PER_HASH * needles->hash_count) filter_words *= 2;
    needles->shift = 64 - leading_bits;
    needles->filter_mask = filter_words - 1;
    needles->directory = malloc((((size_t)1 << leading_bits) + 1) * sizeof *needles->directory);
    needles->filter = calloc(filter_words, sizeof *needles->filter);
    if (needles->directory == NULL || needles->filter == NULL) return idxi_fail_memory(error);
    size_t hash_number = 0;
    for (size_t i = 0; i <= (size_t)1 << leading_bits; i++) {
        while (hash_number < needles->hash_count && needles->hashes[hash_number] >> needles->shift < i) hash_number++;
        needles->directory[i] = (uint32_t)hash_number;
    }
    for (size_t i = 0; i < needles->hash_count; i++)
        needles->filter[needles->hashes[i] >> 6 & needles->filter_mask] |= UINT64_C(1) << (needles->hashes[i] & 63);
    return IDX_OK;
}

/* Makes the needles of all sets. Sets *left_out to how many are never found. After an error idx_needles_close frees
 * what was made. */
static enum idx_status make_needles(struct idx_needles *needles, const struct idxi_set_store *store,
                                    const struct idx_needles_options *options, uint64_t *left_out,
                                    struct idx_error *error) {
    struct build build = {0};
    enum idx_status status = measure_needles(needles, store, options, left_out, error);
    if (status == IDX_OK) status = allocate_arrays(needles, &build, error);
    if (status == IDX_OK) status = read_and_sort_members(needles, store, &build, error);
    if (status == IDX_OK) status = rank_hashes(needles, &build, error);
    if (status == IDX_OK) list_needles_by_ranks(needles, &build);
    free(build.keys);
    free(build.numbers);
    free(build.spare_keys);
    free(build.spare_numbers);
    free(build.runs);
    free(build.tally);
    return status == IDX_OK ? make_directory(needles, error) : status;
}

enum idx_status idx_needles_open(struct idx_needles **needles, struct idx_sets *sets,
                                 const struct idx_needles_options *options, uint64_t *left_out,
                                 struct idx_error *error) {
    struct idx_needles_options own = IDX_NEEDLES_OPTIONS_INIT;
    const struct idxi_set_store *store;
    uint64_t ignored;
    IDXI_TRY(idxi_copy_options(&own, options, error));
    if (needles == NULL || sets == NULL)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "idx_needles_open needs sets, and a pointer for its result");
    if (own.contained < 1 || own.contained > IDX_THRESHOLD_ONE)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "a share of a needle is from 1 to %lld units of 1/%lld, not %lld",
                         (long long)IDX_THRESHOLD_ONE, (long long)IDX_THRESHOLD_ONE, (long long)own.contained);
    IDXI_TRY(idxi_sets_flush(sets, &store, error));
    struct idx_needles *new_needles = calloc(1, sizeof *new_needles);
    if (new_needles == NULL) return idxi_fail_memory(error);
    enum idx_status status = make_needles(new_needles, store, &own, left_out != NULL ? left_out : &ignored, error);
    if (status != IDX_OK) {
        idx_needles_close(new_needles);
        return status;
    }
    *needles = new_needles;
    return IDX_OK;
}

void idx_needles_close(struct idx_needles *needles) {
    if (needles == NULL) return;
    free(needles->needles);
    free(needles->members);
    free(needles->hashes);
    free(needles->ranks);
    free(needles->directory);
    free(needles->filter);
    free(needles->postings);
    free(needles->ends);
    free(needles);
}

/* ---- Finding ---- */

struct idx_needle_finder {
    const struct idx_needles *needles;
    uint32_t *hits; /* the ranks of the set's members that needles have, each once */
    size_t hit_count, hit_capacity;
    uint64_t *hit_bits;  /* a bit for each rank: it is among these */
    uint64_t *seen_bits; /* a bit for each needle: it was compared with the set */
    struct idx_needle_match *matches;
    size_t match_count, match_capacity;
};

enum idx_status idx_needle_finder_open(struct idx_needle_finder **finder, const struct idx_needles *needles,
                                       struct idx_error *error) {
    if (finder == NULL || needles == NULL)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "idx_needle_finder_open needs needles, and a pointer for its result");
    struct idx_needle_finder *new_finder = calloc(1, sizeof *new_finder);
    if (new_finder == NULL) return idxi_fail_memory(error);
    new_finder->needles = needles;
    new_finder->hit_bits = calloc(needles->hash_count / 64 + 1, sizeof *new_finder->hit_bits);
    new_finder->seen_bits = calloc(needles->count / 64 + 1, sizeof *new_finder->seen_bits);
    if (new_finder->hit_bits == NULL || new_finder->seen_bits == NULL) {
        idx_needle_finder_close(new_finder);
        return idxi_fail_memory(error);
    }
    *finder = new_finder;
    return IDX_OK;
}

void idx_needle_finder_close(struct idx_needle_finder *finder) {
    if (finder == NULL) return;
    free(finder->hits);
    free(finder->hit_bits);
    free(finder->seen_bits);
    free(finder->matches);
    free(finder);
}

/* Returns bit `number` of an array of bits. */
static bool is_bit_set(const uint64_t *bits, uint32_t number) { return (bits[number / 64] >> number % 64 & 1) != 0; }

/* Returns the index of a mixed hash in needles->hashes, or needles->hash_count if no needle has it. */
static size_t find_hash(const struct idx_needles *needles, uint64_t hash) {
    const uint64_t bucket = hash >> needles->shift;
    size_t begin = needles->directory[bucket], end = needles->directory[bucket + 1];
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (needles->hashes[middle] == hash) return middle;
        if (needles->hashes[middle] < hash)
            begin = middle + 1;
        else
            end = middle;
    }
    return needles->hash_count;
}

/* Adds the rank of a mixed hash of the set to the hits, if needles have this hash and it is not a hit yet. */
static enum idx_status add_hit(struct idx_needle_finder *finder, uint64_t hash, struct idx_error *error) {
    const struct idx_needles *needles = finder->needles;
    const size_t hash_number = find_hash(needles, hash);
    if (hash_number == needles->hash_count || is_bit_set(finder->hit_bits, needles->ranks[hash_number])) return IDX_OK;
    IDXI_GROW(finder->hits, finder->hit_capacity, finder->hit_count + 1, error);
    const uint32_t rank = needles->ranks[hash_number];
    finder->hits[finder->hit_count++] = rank;
    finder->hit_bits[rank / 64] |= UINT64_C(1) << rank % 64;
    return IDX_OK;
}

/* Adds to the hits the ranks of those members of the set that needles have. The filter excludes nearly all others; it
 * is read without a branch for many hashes in a row. */
static enum idx_status add_hits(struct idx_needle_finder *finder, const uint64_t *hashes, size_t count,
                                struct idx_error *error) {
    const struct idx_needles *needles = finder->needles;
    uint64_t passed[FILTERED_TOGETHER];
    for (size_t part_begin = 0; part_begin < count; part_begin += FILTERED_TOGETHER) {
        const size_t part_end = count - part_begin < FILTERED_TOGETHER ? count : part_begin + FILTERED_TOGETHER;
        size_t passed_count = 0;
        for (size_t i = part_begin; i < part_end; i++) {
            const uint64_t mixed = idxi_mix(hashes[i]);
            passed[passed_count] = mixed; /* overwritten by the next one unless it passes the filter */
            passed_count += needles->filter[mixed >> 6 & needles->filter_mask] >> (mixed & 63) & 1;
        }
        for (size_t i = 0; i < passed_count; i++) IDXI_TRY(add_hit(finder, passed[i], error));
    }
    return IDX_OK;
}

/* Counts the members of needle `number` that the set has, and adds the needle to the matches if these are enough. */
static enum idx_status add_if_contained(struct idx_needle_finder *finder, uint32_t number, struct idx_error *error) {
    const struct needle *needle = &finder->needles->needles[number];
    const uint32_t *members = finder->needles->members + needle->begin;
    uint32_t shared = 0;
    if (finder->hit_count < needle->needed) return IDX_OK;
    for (uint32_t i = 0; i < needle->size; i++) shared += is_bit_set(finder->hit_bits, members[i]);
    if (shared < needle->needed) return IDX_OK;
    IDXI_GROW(finder->matches, finder->match_capacity, finder->match_count + 1, error);
    finder->matches[finder->match_count++] = (struct idx_needle_match){number, shared, needle->size};
    return IDX_OK;
}

/* Returns the numbers of the needles that have the hash of a rank among their rarest members, and sets *count to how
 * many there are. */
static const uint32_t *get_postings(const struct idx_needles *needles, uint32_t rank, size_t *count) {
    const uint32_t posting_begin = rank == 0 ? 0 : needles->ends[rank - 1];
    *count = needles->ends[rank] - posting_begin;
    return needles->postings + posting_begin;
}

/* Compares each needle that has a hit among its rarest members with the set, once, and adds those that it contains to
 * the matches. */
static enum idx_status find_matches(struct idx_needle_finder *finder, struct idx_error *error) {
    for (size_t i = 0; i < finder->hit_count; i++) {
        size_t posting_count;
        const uint32_t *needle_numbers = get_postings(finder->needles, finder->hits[i], &posting_count);
        for (size_t j = 0; j < posting_count; j++) {
            if (is_bit_set(finder->seen_bits, needle_numbers[j])) continue;
            finder->seen_bits[needle_numbers[j] / 64] |= UINT64_C(1) << needle_numbers[j] % 64;
            IDXI_TRY(add_if_contained(finder, needle_numbers[j], error));
        }
    }
    return IDX_OK;
}

/* Clears the bits of finder->seen_bits and finder->hit_bits that a search has set, and forgets its hits. Clears whole
 * words, since only bits of this set can be set in them. */
static void clear_bits_of_set(struct idx_needle_finder *finder) {
    for (size_t i = 0; i < finder->hit_count; i++) {
        size_t posting_count;
        const uint32_t *needle_numbers = get_postings(finder->needles, finder->hits[i], &posting_count);
        for (size_t j = 0; j < posting_count; j++) finder->seen_bits[needle_numbers[j] / 64] = 0;
        finder->hit_bits[finder->hits[i] / 64] = 0;
    }
    finder->hit_count = 0;
}

/* Orders matches, for qsort: needles of which the set has a greater share come first, and of equal shares those of
 * lower numbers. Shares are compared as fractions, by multiplying crosswise. */
static int compare_matches(const void *first, const void *second) {
    const struct idx_needle_match *a = first, *b = second;
    const uint64_t cross_a = (uint64_t)a->shared * b->size, cross_b = (uint64_t)b->shared * a->size;
    if (cross_a != cross_b) return cross_a > cross_b ? -1 : 1;
    return (a->needle > b->needle) - (a->needle < b->needle);
}

enum idx_status idx_needles_find(struct idx_needle_finder *finder, const uint64_t *hashes, size_t count,
                                 const struct idx_needle_match **matches, size_t *match_count,
                                 struct idx_error *error) {
    if (finder == NULL || matches == NULL || match_count == NULL || (hashes == NULL && count > 0))
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "idx_needles_find needs a finder, an array of hashes, and pointers for its results");
    finder->match_count = 0;
    enum idx_status status = add_hits(finder, hashes, count, error);
    if (status == IDX_OK) status = find_matches(finder, error);
    clear_bits_of_set(finder);
    if (status != IDX_OK) return status;
    if (finder->match_count > 1) qsort(finder->matches, finder->match_count, sizeof *finder->matches, compare_matches);
    *matches = finder->matches;
    *match_count = finder->match_count;
    return IDX_OK;
}
