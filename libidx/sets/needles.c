/* needles.c: needles, which are sets in memory that never change, and which of them another set contains. Hashes of
 * needles are numbered by rarity, and this number is their rank. A set that contains a needle has one of its rarest
 * members: of A members, of which N are needed, one of the first A - N + 1. The needle is listed by these alone, so
 * that sets that have what many needles begin with are not compared with all of them. */
#include "libidx/sets/needles.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/streams/sort.h"

/* Bits of the filter for each hash, at least. One in so many of other hashes passes it at most. */
enum { FILTER_BITS = 16 };
/* Hashes that go through the filter together. */
enum { TOGETHER = 1024 };

struct needle {
    uint64_t begin; /* where its members begin */
    uint32_t size;  /* how many it has; 0: it is in no set */
    uint32_t needed;
};

struct idx_needles {
    struct needle *needles;
    size_t count;
    uint32_t *members; /* the ranks of all needles' members, ascending for each needle */
    size_t member_count;

    uint64_t *hashes; /* of all needles, mixed (idxi_mix), ascending, each once */
    uint32_t *ranks;  /* of these hashes */
    size_t hash_count;
    uint32_t *directory; /* where hashes begin that have the leading bits `i`, or larger ones */
    unsigned shift;      /* moves these bits to the end */
    uint64_t *filter;    /* bits by the low bits of hashes: 1 if a needle has such a hash */
    size_t filter_mask;  /* words of it minus 1 */

    uint32_t *postings; /* needles, by the ranks of their rarest members */
    uint32_t *ends;     /* where the postings of each rank end; those of rank 0 begin at 0 */
    size_t posting_count;
};

/* ---- Making ---- */

/* What is needed only while needles are made: the members of all needles, which are sorted by their hashes. */
struct making {
    uint64_t *keys, *numbers, *spare_keys, *spare_numbers; /* hashes, and numbers of their needles */
    uint32_t *runs;                                        /* by rank: where the members with one hash begin */
    uint32_t *tally; /* by how many needles have a hash: the next rank; later, by needle: how many members have ranks */
};

/* Whether a needle can be in any set: empty ones, and those smaller than the caller wants, are in none. */
static bool is_sought(const struct idxi_stored_set *set, const struct idx_needles_options *options) {
    return set->count > 0 && set->count >= options->contained_size;
}

/* Counts members, and finds how many each needle needs. Sets *left_out to how many needles are in no set. */
static enum idx_status measure_needles(struct idx_needles *needles, const struct idxi_set_store *store,
                                       const struct idx_needles_options *options, uint64_t *left_out,
                                       struct idx_error *error) {
    const uint64_t one = (uint64_t)IDX_THRESHOLD_ONE, share = (uint64_t)options->contained;
    needles->needles = calloc(store->count + 1, sizeof *needles->needles);
    if (needles->needles == NULL) return idxi_fail_memory(error);
    needles->count = store->count;
    *left_out = 0;
    for (size_t i = 0; i < store->count; i++) {
        const uint32_t size = is_sought(&store->sets[i], options) ? store->sets[i].count : 0;
        const uint32_t needed = (uint32_t)((share * size + one - 1) / one);
        needles->needles[i] = (struct needle){needles->member_count, size, needed};
        needles->member_count += size;
        needles->posting_count += size > 0 ? size - needed + 1 : 0;
        *left_out += size == 0;
    }
    if (needles->member_count < UINT32_MAX) return IDX_OK;
    return idxi_fail(error, IDX_LIMIT, NULL, "needles have up to %u members in all, not %zu", UINT32_MAX - 1,
                     needles->member_count);
}

/* Frees what only making needs, even if it was allocated in part. */
static void free_making(struct making *making) {
    free(making->keys);
    free(making->numbers);
    free(making->spare_keys);
    free(making->spare_numbers);
    free(making->runs);
    free(making->tally);
}

/* Allocates the arrays whose sizes measure_needles has found. */
static enum idx_status allocate(struct idx_needles *needles, struct making *making, struct idx_error *error) {
    const size_t members = needles->member_count + 1;
    uint64_t **const large[] = {&making->keys, &making->numbers, &making->spare_keys, &making->spare_numbers};
    bool made = true;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        made = (*large[i] = malloc(members * sizeof **large[i])) != NULL && made;
    making->tally = calloc(needles->count + 2, sizeof *making->tally);
    needles->members = malloc(members * sizeof *needles->members);
    needles->postings = malloc((needles->posting_count + 1) * sizeof *needles->postings);
    return made && making->tally != NULL && needles->members != NULL && needles->postings != NULL
               ? IDX_OK
               : idxi_fail_memory(error);
}

/* Reads the members of all needles, and sorts them by their hashes. */
static enum idx_status read_members(const struct idx_needles *needles, const struct idxi_set_store *store,
                                    struct making *making, struct idx_error *error) {
    struct idxi_set_reader reader = {.store = store};
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < needles->count && status == IDX_OK; i++) {
        const struct needle *needle = &needles->needles[i];
        const uint64_t *hashes;
        if (needle->size == 0) continue;
        status = idxi_set_read(&reader, store->sets[i].offset, needle->size, &hashes, error);
        if (status != IDX_OK) break;
        memcpy(making->keys + needle->begin, hashes, needle->size * sizeof *hashes);
        for (uint32_t j = 0; j < needle->size; j++) making->numbers[needle->begin + j] = i;
    }
    idxi_set_reader_close(&reader);
    if (status == IDX_OK)
        idxi_sort_pairs(making->keys, making->numbers, needles->member_count, false, making->spare_keys,
                        making->spare_numbers);
    return status;
}

/* Returns where the members end that have the same hash as the one at `begin`. */
static size_t end_of_run(const struct idx_needles *needles, const struct making *making, size_t begin) {
    size_t end = begin + 1;
    while (end < needles->member_count && making->keys[end] == making->keys[begin]) end++;
    return end;
}

/* Lists the hashes, and ranks them: those that fewer needles have come first. */
static enum idx_status rank_hashes(struct idx_needles *needles, struct making *making, struct idx_error *error) {
    uint32_t rank = 0;
    for (size_t begin = 0, end; begin < needles->member_count; begin = end, needles->hash_count++) {
        end = end_of_run(needles, making, begin);
        making->tally[end - begin]++;
    }
    for (size_t i = 0; i < needles->count + 2; i++) {
        const uint32_t count = making->tally[i];
        making->tally[i] = rank;
        rank += count;
    }
    const size_t room = needles->hash_count + 1;
    needles->hashes = malloc(room * sizeof *needles->hashes);
    needles->ranks = malloc(room * sizeof *needles->ranks);
    needles->ends = malloc(room * sizeof *needles->ends);
    making->runs = malloc(room * sizeof *making->runs);
    if (needles->hashes == NULL || needles->ranks == NULL || needles->ends == NULL || making->runs == NULL)
        return idxi_fail_memory(error);
    size_t number = 0;
    for (size_t begin = 0, end; begin < needles->member_count; begin = end, number++) {
        end = end_of_run(needles, making, begin);
        needles->hashes[number] = making->keys[begin];
        needles->ranks[number] = making->tally[end - begin]++;
        making->runs[needles->ranks[number]] = (uint32_t)begin;
    }
    return IDX_OK;
}

/* Lists each needle's members in the order of their ranks, and the needles by the first of these. */
static void list_needles(struct idx_needles *needles, const struct making *making) {
    uint32_t used = 0, *filled = making->tally;
    memset(filled, 0, needles->count * sizeof *filled);
    for (uint32_t rank = 0; rank < needles->hash_count; rank++) {
        const size_t begin = making->runs[rank], end = end_of_run(needles, making, begin);
        for (size_t i = begin; i < end; i++) {
            const uint32_t number = (uint32_t)making->numbers[i], place = filled[number]++;
            const struct needle *needle = &needles->needles[number];
            needles->members[needle->begin + place] = rank;
            if (place <= needle->size - needle->needed) needles->postings[used++] = number;
        }
        needles->ends[rank] = used;
    }
}

/* Makes the directory and the filter, which find hashes. */
static enum idx_status make_directory(struct idx_needles *needles, struct idx_error *error) {
    unsigned bits = 1;
    size_t words = 1;
    while (bits < 31 && (size_t)1 << bits < needles->hash_count) bits++;
    while (64 * words < FILTER_BITS * needles->hash_count) words *= 2;
    needles->shift = 64 - bits;
    needles->filter_mask = words - 1;
    needles->directory = malloc((((size_t)1 << bits) + 1) * sizeof *needles->directory);
    needles->filter = calloc(words, sizeof *needles->filter);
    if (needles->directory == NULL || needles->filter == NULL) return idxi_fail_memory(error);
    size_t at = 0;
    for (size_t i = 0; i <= (size_t)1 << bits; i++) {
        while (at < needles->hash_count && needles->hashes[at] >> needles->shift < i) at++;
        needles->directory[i] = (uint32_t)at;
    }
    for (size_t i = 0; i < needles->hash_count; i++)
        needles->filter[needles->hashes[i] >> 6 & needles->filter_mask] |= UINT64_C(1) << (needles->hashes[i] & 63);
    return IDX_OK;
}

/* Makes the needles of all sets. What was made before an error, idx_needles_close frees. */
static enum idx_status make_needles(struct idx_needles *needles, const struct idxi_set_store *store,
                                    const struct idx_needles_options *options, uint64_t *left_out,
                                    struct idx_error *error) {
    struct making making = {0};
    enum idx_status status = measure_needles(needles, store, options, left_out, error);
    if (status == IDX_OK) status = allocate(needles, &making, error);
    if (status == IDX_OK) status = read_members(needles, store, &making, error);
    if (status == IDX_OK) status = rank_hashes(needles, &making, error);
    if (status == IDX_OK) list_needles(needles, &making);
    free_making(&making);
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
                         "a share of a needle is from 1 to %lld units of 1/%lld, not "
                         "%lld",
                         (long long)IDX_THRESHOLD_ONE, (long long)IDX_THRESHOLD_ONE, (long long)own.contained);
    IDXI_TRY(idxi_sets_end(sets, &store, error));
    struct idx_needles *made = calloc(1, sizeof *made);
    if (made == NULL) return idxi_fail_memory(error);
    enum idx_status status = make_needles(made, store, &own, left_out != NULL ? left_out : &ignored, error);
    if (status != IDX_OK) {
        idx_needles_close(made);
        return status;
    }
    *needles = made;
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
    uint64_t *is_hit; /* a bit for each rank: it is among these */
    uint64_t *seen;   /* a bit for each needle: it was compared with the set */
    struct idx_needle_match *matches;
    size_t match_count, match_capacity;
};

enum idx_status idx_needle_finder_open(struct idx_needle_finder **finder, const struct idx_needles *needles,
                                       struct idx_error *error) {
    if (finder == NULL || needles == NULL)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "idx_needle_finder_open needs needles, and a pointer for its result");
    struct idx_needle_finder *opened = calloc(1, sizeof *opened);
    if (opened == NULL) return idxi_fail_memory(error);
    opened->needles = needles;
    opened->is_hit = calloc(needles->hash_count / 64 + 1, sizeof *opened->is_hit);
    opened->seen = calloc(needles->count / 64 + 1, sizeof *opened->seen);
    if (opened->is_hit == NULL || opened->seen == NULL) {
        idx_needle_finder_close(opened);
        return idxi_fail_memory(error);
    }
    *finder = opened;
    return IDX_OK;
}

void idx_needle_finder_close(struct idx_needle_finder *finder) {
    if (finder == NULL) return;
    free(finder->hits);
    free(finder->is_hit);
    free(finder->seen);
    free(finder->matches);
    free(finder);
}

static bool has_bit(const uint64_t *bits, uint32_t at) { return (bits[at / 64] >> at % 64 & 1) != 0; }

/* Returns which of the hashes that needles have this one is, or hash_count if none. */
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

/* Notes a mixed hash of the set if needles have it, and it was not noted before. */
static enum idx_status note_hit(struct idx_needle_finder *finder, uint64_t hash, struct idx_error *error) {
    const struct idx_needles *needles = finder->needles;
    const size_t at = find_hash(needles, hash);
    if (at == needles->hash_count || has_bit(finder->is_hit, needles->ranks[at])) return IDX_OK;
    IDXI_GROW(finder->hits, finder->hit_capacity, finder->hit_count + 1, error);
    const uint32_t rank = finder->hits[finder->hit_count++] = needles->ranks[at];
    finder->is_hit[rank / 64] |= UINT64_C(1) << rank % 64;
    return IDX_OK;
}

/* Notes which members of the set needles have. The filter tells this of nearly all that they have not. */
static enum idx_status find_hits(struct idx_needle_finder *finder, const uint64_t *hashes, size_t count,
                                 struct idx_error *error) {
    const struct idx_needles *needles = finder->needles;
    uint64_t passed[TOGETHER];
    for (size_t begin = 0; begin < count; begin += TOGETHER) {
        const size_t end = count - begin < TOGETHER ? count : begin + TOGETHER;
        size_t used = 0;
        for (size_t i = begin; i < end; i++) {
            const uint64_t mixed = passed[used] = idxi_mix(hashes[i]);
            used += needles->filter[mixed >> 6 & needles->filter_mask] >> (mixed & 63) & 1;
        }
        for (size_t i = 0; i < used; i++) IDXI_TRY(note_hit(finder, passed[i], error));
    }
    return IDX_OK;
}

/* Counts the members of a needle that the set has, and notes the needle if these are enough. */
static enum idx_status compare_needle(struct idx_needle_finder *finder, uint32_t number, struct idx_error *error) {
    const struct needle *needle = &finder->needles->needles[number];
    const uint32_t *members = finder->needles->members + needle->begin;
    uint32_t shared = 0;
    if (finder->hit_count < needle->needed) return IDX_OK;
    for (uint32_t i = 0; i < needle->size; i++) shared += has_bit(finder->is_hit, members[i]);
    if (shared < needle->needed) return IDX_OK;
    IDXI_GROW(finder->matches, finder->match_capacity, finder->match_count + 1, error);
    finder->matches[finder->match_count++] = (struct idx_needle_match){number, shared, needle->size};
    return IDX_OK;
}

/* Returns the needles that have the hash of a rank among their rarest members, and sets *count to their number. */
static const uint32_t *postings_of(const struct idx_needles *needles, uint32_t rank, size_t *count) {
    const uint32_t begin = rank == 0 ? 0 : needles->ends[rank - 1];
    *count = needles->ends[rank] - begin;
    return needles->postings + begin;
}

/* Compares each needle that has one of the hits among its rarest members with the set, once. */
static enum idx_status compare_needles(struct idx_needle_finder *finder, struct idx_error *error) {
    for (size_t i = 0; i < finder->hit_count; i++) {
        size_t count;
        const uint32_t *numbers = postings_of(finder->needles, finder->hits[i], &count);
        for (size_t j = 0; j < count; j++) {
            if (has_bit(finder->seen, numbers[j])) continue;
            finder->seen[numbers[j] / 64] |= UINT64_C(1) << numbers[j] % 64;
            IDXI_TRY(compare_needle(finder, numbers[j], error));
        }
    }
    return IDX_OK;
}

/* Clears the bits that the last set left. */
static void forget_set(struct idx_needle_finder *finder) {
    for (size_t i = 0; i < finder->hit_count; i++) {
        size_t count;
        const uint32_t *numbers = postings_of(finder->needles, finder->hits[i], &count);
        for (size_t j = 0; j < count; j++) finder->seen[numbers[j] / 64] = 0;
        finder->is_hit[finder->hits[i] / 64] = 0;
    }
    finder->hit_count = 0;
}

/* Orders matches: the needles of which the set has the greatest shares come first, of equal shares by number. */
static int compare_matches(const void *first, const void *second) {
    const struct idx_needle_match *a = first, *b = second;
    const uint64_t of_a = (uint64_t)a->shared * b->size, of_b = (uint64_t)b->shared * a->size;
    if (of_a != of_b) return of_a > of_b ? -1 : 1;
    return (a->needle > b->needle) - (a->needle < b->needle);
}

enum idx_status idx_needles_find(struct idx_needle_finder *finder, const uint64_t *hashes, size_t count,
                                 const struct idx_needle_match **matches, size_t *match_count,
                                 struct idx_error *error) {
    if (finder == NULL || matches == NULL || match_count == NULL || (hashes == NULL && count > 0))
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "idx_needles_find needs a finder, an array of hashes, and pointers for its results");
    finder->match_count = 0;
    enum idx_status status = find_hits(finder, hashes, count, error);
    if (status == IDX_OK) status = compare_needles(finder, error);
    forget_set(finder);
    if (status != IDX_OK) return status;
    if (finder->match_count > 1) qsort(finder->matches, finder->match_count, sizeof *finder->matches, compare_matches);
    *matches = finder->matches;
    *match_count = finder->match_count;
    return IDX_OK;
}
