/* probe.c: prepares sets, and compares them with candidates: first by the low halves of hashes, which are in memory and
 * never show too few shared members, then by the sets themselves. */
#include "libidx/sets/probe.h"

#include <stdlib.h>

#include "libidx/streams/sort.h"

/* How many members the sets that are prepared together have at most, unless it is a single set; and how many members
 * ahead of its use a counter is fetched. */
enum { PREPARED_TOGETHER = 1 << 12, FETCHED_AHEAD = 48 };
/* How many members are compared between two checks whether enough can still be shared. */
#define COMPARED_TOGETHER 64
/* How many keys are sorted by insertion, at most. */
#define MAX_INSERTED 32
/* A member's key is (counter << TAG_BITS) | tag. */
#define TAG_BITS 32

/* ---- The order of members ---- */

/* Members are ordered by their keys. Which of several that have one key comes first does not matter: sets are listed by
 * the tags of their first members, and these are the same ones in any case. */

/* Moves the `wanted` smallest of `count` keys to the front, ascending, and leaves the others in any order. Sorts by
 * insertion, which is fast for a few keys. */
static void insertion_sort_smallest(uint64_t *keys, size_t count, size_t wanted) {
    for (size_t i = 1; i < count && wanted > 0; i++) {
        const uint64_t key = keys[i];
        size_t place = i;
        if (place >= wanted) {
            place = wanted - 1;
            if (key >= keys[place]) continue;
            keys[i] = keys[place];
        }
        for (; place > 0 && key < keys[place - 1]; place--) keys[place] = keys[place - 1];
        keys[place] = key;
    }
}

/* Divides three or more keys into two parts at the median of the first, the middle and the last key: no key of the
 * second part is less than any of the first. Returns where the second part begins. Neither part is empty. */
static size_t partition_by_median(uint64_t *keys, size_t count) {
    const uint64_t first = keys[0], middle = keys[count / 2], last = keys[count - 1];
    const uint64_t low = first < last ? first : last, high = first < last ? last : first;
    const uint64_t median = middle < low ? low : middle > high ? high : middle;
    size_t left = 0, right = count - 1;
    while (true) {
        while (keys[left] < median) left++;
        while (keys[right] > median) right--;
        if (left >= right) return left > 0 ? left : 1;
        const uint64_t key = keys[left];
        keys[left++] = keys[right];
        keys[right--] = key;
    }
}

/* Moves the `wanted` smallest of `count` keys to the front, ascending, and leaves the others in any order. `spare` is
 * scratch memory for `wanted` keys. Partitions until the first `wanted` keys are the smallest, then sorts these. Hashes
 * are mixed, so that no order of a caller's hashes makes the partitions uneven. */
static void sort_smallest_keys(uint64_t *keys, size_t count, size_t wanted, uint64_t *spare) {
    size_t part_begin = 0, part_end = count;
    if (wanted <= MAX_INSERTED) {
        insertion_sort_smallest(keys, count, wanted);
        return;
    }
    while (part_end - part_begin > MAX_INSERTED && part_begin < wanted && wanted < part_end) {
        const size_t second_begin = part_begin + partition_by_median(keys + part_begin, part_end - part_begin);
        if (wanted <= second_begin)
            part_end = second_begin;
        else
            part_begin = second_begin;
    }
    if (part_begin < wanted && wanted < part_end)
        insertion_sort_smallest(keys + part_begin, part_end - part_begin, wanted - part_begin);
    idxi_sort_pairs(keys, NULL, wanted, false, spare, NULL);
}

/* ---- Preparing ---- */

/* Returns the stored set of a rank. */
static const struct idxi_stored_set *get_set(const struct idxi_prober *prober, uint32_t rank) {
    return &prober->store->sets[idxi_rank_to_number(prober->order, rank)];
}

/* Returns the tag of a member, given by its key. Hashes with one tag have one counter, and so are next to each other in
 * the order of all hashes. So positions are right even if two of them seem to be the same. */
static inline uint32_t get_tag(uint64_t key) { return (uint32_t)key; }

/* Returns ceil(share * size); for IDXI_NONE UINT64_MAX, which no set reaches. */
static uint64_t ceil_of_share(struct idxi_fraction share, uint64_t size) {
    return share.total == 0 ? UINT64_MAX : (share.shared * size + share.total - 1) / share.total;
}

void idxi_prober_set_min_to_contain(const struct idxi_prober *prober, struct idxi_query *query) {
    query->min_to_contain = UINT64_MAX;
    if (query->size >= prober->contained_size) query->min_to_contain = ceil_of_share(prober->contained, query->size);
}

/* Sets query->min_to_contain, and returns how many members the prefix has; 0 if no other set can be similar. A similar
 * set shares ceil(threshold * size) members or more, so one of them is among the first size - ceil(threshold * size)
 * + 1. The same holds for sets that contain this one, with their share. The smaller of the two limits counts. */
static uint32_t choose_prefix_size(const struct idxi_prober *prober, struct idxi_query *query) {
    uint64_t min_shared = ceil_of_share(prober->threshold, query->size);
    idxi_prober_set_min_to_contain(prober, query);
    if (query->min_to_contain < min_shared) min_shared = query->min_to_contain;
    return min_shared <= query->size ? (uint32_t)(query->size - min_shared + 1) : 0;
}

/* Moves the keys of marked members to right after the prefix, in any order, and sets query->listed to how many members
 * are listed with these. */
static void move_marked_members(const struct idxi_prober *prober, struct idxi_query *query) {
    uint64_t *keys = prober->keys;
    query->listed = query->prefix;
    for (uint32_t i = query->prefix; i < query->shared && prober->marks != NULL; i++) {
        const uint64_t key = keys[i];
        if (!idxi_is_tag_marked(prober->marks, get_tag(key))) continue;
        keys[i] = keys[query->listed];
        keys[query->listed++] = key;
    }
}

enum idx_status idxi_prober_use_arena(struct idxi_prober *prober, struct idxi_query_arena *arena, uint64_t members,
                                      struct idx_error *error) {
    IDXI_GROW(arena->numbers, arena->capacity, 2 * members + 1, error);
    arena->used = 0;
    prober->arena = arena;
    return IDX_OK;
}

/* A set that is being prepared. The counters of some of its members are read first, and most often these suffice. */
struct idxi_preparation {
    struct idxi_query *query;
    const uint64_t *hashes;         /* its members */
    size_t min_unique;              /* if so many members are in no other set, no other set can be similar */
    size_t first_count;             /* members whose counters are read first */
    size_t first_place, rest_place; /* where their counters, and those of the rest, are in prober->counts */
};

/* Makes room to prepare `sets` sets together, which have `members` members in all. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status reserve_group(struct idxi_prober *prober, size_t sets, size_t members, struct idx_error *error) {
    IDXI_GROW(prober->preparations, prober->preparation_capacity, sets, error);
    IDXI_GROW(prober->requests, prober->request_capacity, members, error);
    IDXI_GROW(prober->counts, prober->count_capacity, members, error);
    IDXI_GROW(prober->keys, prober->key_capacity, members, error);
    IDXI_GROW(prober->spare_keys, prober->spare_capacity, members, error);
    return IDX_OK;
}

/* Appends the counters of members to those that read_counters will read. prober->requests has room for them. Returns
 * the place in prober->counts where the first of them will be. */
static size_t request_counters(struct idxi_prober *prober, const uint64_t *hashes, size_t count) {
    const size_t first_request = prober->request_count;
    const unsigned shift = prober->counters->shift;
    uint32_t *requests = prober->requests + first_request;
    for (size_t i = 0; i < count; i++) requests[i] = (uint32_t)(hashes[i] >> shift);
    prober->request_count += count;
    return first_request;
}

/* Reads the requested counters from place `begin` on into the same places of prober->counts. Each is fetched long
 * before it is read, so that many loads from memory overlap, across sets. */
static void read_counters(struct idxi_prober *prober, size_t begin) {
    const struct idxi_counters counters = *prober->counters;
    const uint32_t *requests = prober->requests;
    const size_t end = prober->request_count, far_end = end - begin > FETCHED_AHEAD ? end - FETCHED_AHEAD : begin;
    for (size_t i = begin; i < end && i < begin + FETCHED_AHEAD; i++)
        __builtin_prefetch(idxi_find_counter_byte(&counters, requests[i]));
    for (size_t i = begin; i < far_end; i++) {
        __builtin_prefetch(idxi_find_counter_byte(&counters, requests[i + FETCHED_AHEAD]));
        prober->counts[i] = idxi_read_counter(&counters, requests[i]);
    }
    for (size_t i = far_end; i < end; i++) prober->counts[i] = idxi_read_counter(&counters, requests[i]);
}

/* Chooses the prefix of a set, and requests the counters of its first members: twice as many as rule out a similar set
 * if no other set has them. Requests all counters where marked members may be anywhere. */
static void request_first_counters(struct idxi_prober *prober, struct idxi_preparation *preparation) {
    struct idxi_query *query = preparation->query;
    query->prefix = choose_prefix_size(prober, query);
    preparation->min_unique = prober->marks == NULL ? query->prefix : (size_t)query->size + 1;
    preparation->first_count = 2 * preparation->min_unique < query->size ? 2 * preparation->min_unique : query->size;
    preparation->first_place = request_counters(prober, preparation->hashes, preparation->first_count);
}

/* Returns true if the counters that were read show that no other set can be similar to a set. Else requests the
 * counters of its other members. */
static bool rules_out_similar_sets(struct idxi_prober *prober, struct idxi_preparation *preparation) {
    const size_t first_count = preparation->first_count;
    const uint8_t *counts = prober->counts + preparation->first_place;
    size_t unique_count = 0;
    for (size_t i = 0; i < first_count; i++) unique_count += counts[i] == 1;
    if (unique_count >= preparation->min_unique) return true;
    preparation->rest_place =
        request_counters(prober, preparation->hashes + first_count, preparation->query->size - first_count);
    return false;
}

/* Goes through `count` members with their counters, and appends those that other sets may have to `shared_count`
 * earlier ones: their keys to prober->keys, and the low halves of their hashes to the arena. Returns how many there are
 * then. Each member is written before it is known whether it counts, so there must be room for one more. */
static size_t gather_shared_members(const struct idxi_prober *prober, const uint64_t *hashes, const uint8_t *counts,
                                    size_t count, size_t shared_count) {
    uint64_t *keys = prober->keys;
    uint32_t *lows = prober->arena->numbers + prober->arena->used;
    for (size_t i = 0; i < count; i++) {
        keys[shared_count] = (uint64_t)counts[i] << TAG_BITS | hashes[i] >> (64 - TAG_BITS);
        lows[shared_count] = (uint32_t)hashes[i];
        shared_count += counts[i] > 1;
    }
    return shared_count;
}

/* Makes the query of a set whose counters were all read. Members of this set alone come first in the order, so the
 * prefix of shared members is shorter by their number. If another set may be similar, the low halves of the shared
 * members stay in the arena, followed by the tags of the listed ones. */
static void make_query(struct idxi_prober *prober, const struct idxi_preparation *preparation) {
    struct idxi_query *query = preparation->query;
    const size_t first_count = preparation->first_count;
    size_t shared =
        gather_shared_members(prober, preparation->hashes, prober->counts + preparation->first_place, first_count, 0);
    shared = gather_shared_members(prober, preparation->hashes + first_count, prober->counts + preparation->rest_place,
                                   query->size - first_count, shared);
    const uint32_t unique_count = query->size - (uint32_t)shared;
    query->shared = unique_count < preparation->min_unique ? (uint32_t)shared : 0;
    query->prefix = query->shared > 0 && query->prefix > unique_count ? query->prefix - unique_count : 0;
    sort_smallest_keys(prober->keys, query->shared, query->prefix, prober->spare_keys);
    move_marked_members(prober, query);
    if (query->listed == 0) return;
    uint32_t *lows = prober->arena->numbers + prober->arena->used, *tags = lows + query->shared;
    for (size_t i = 0; i < query->listed; i++) tags[i] = get_tag(prober->keys[i]);
    prober->arena->used += query->shared + query->listed;
    query->members = lows;
    query->tags = tags;
}

/* Sets that are prepared together. */
struct group {
    size_t count;        /* of sets */
    size_t members;      /* of all of them */
    uint64_t begin, end; /* where these are in the store */
};

/* Returns the group of the sets that are prepared together: as many of the queries' sets as fit, from the first on.
 * Their members are in memory, or so near to each other in the file that they are read at once. */
static struct group choose_group(const struct idxi_prober *prober, struct idxi_query *const *queries, size_t count) {
    struct group group = {.begin = UINT64_MAX};
    for (; group.count < count; group.count++) {
        const struct idxi_stored_set *set = get_set(prober, queries[group.count]->rank);
        const uint64_t range_begin = set->offset < group.begin ? set->offset : group.begin;
        const uint64_t range_end = set->offset + set->count > group.end ? set->offset + set->count : group.end;
        const bool is_far = prober->store->file >= 0 && range_end - range_begin > PREPARED_TOGETHER;
        if (set->count == 0) continue;
        if (group.members > 0 && (is_far || group.members + set->count > PREPARED_TOGETHER)) break;
        group.members += set->count;
        group.begin = range_begin;
        group.end = range_end;
    }
    return group;
}

/* Prepares the sets of a group in two rounds. The first round reads the counters of a few members of each set, which
 * mostly show that no other set can be similar. The second round reads the other counters of the sets that are left. */
static enum idx_status prepare_group(struct idxi_prober *prober, struct idxi_query *const *queries,
                                     const struct group *group, struct idx_error *error) {
    const uint64_t *hashes = NULL;
    IDXI_TRY(reserve_group(prober, group->count, group->members + 1, error));
    if (group->members > 0)
        IDXI_TRY(idxi_set_read(&prober->reader, group->begin, (size_t)(group->end - group->begin), &hashes, error));
    struct idxi_preparation *preparations = prober->preparations;
    size_t set_count = 0;
    prober->request_count = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct idxi_stored_set *stored = get_set(prober, queries[i]->rank);
        *queries[i] = (struct idxi_query){.rank = queries[i]->rank, .size = stored->count};
        if (stored->count == 0) continue;
        preparations[set_count].query = queries[i];
        preparations[set_count].hashes = hashes + (stored->offset - group->begin);
        request_first_counters(prober, &preparations[set_count++]);
    }
    read_counters(prober, 0);
    const size_t first_request = prober->request_count;
    size_t undecided_count = 0;
    for (size_t i = 0; i < set_count; i++) {
        if (rules_out_similar_sets(prober, &preparations[i]))
            preparations[i].query->prefix = 0;
        else
            preparations[undecided_count++] = preparations[i];
    }
    read_counters(prober, first_request);
    for (size_t i = 0; i < undecided_count; i++) make_query(prober, &preparations[i]);
    return IDX_OK;
}

enum idx_status idxi_prober_prepare(struct idxi_prober *prober, struct idxi_query *const *queries, size_t count,
                                    struct idx_error *error) {
    for (size_t i = 0; i < count;) {
        const struct group group = choose_group(prober, queries + i, count - i);
        IDXI_TRY(prepare_group(prober, queries + i, &group, error));
        i += group.count;
    }
    return IDX_OK;
}

/* ---- Comparing ---- */

/* Fills prober->members with the members of the set of a rank, to compare candidates with it. */
static enum idx_status load_query_members(struct idxi_prober *prober, uint32_t rank, struct idx_error *error) {
    const struct idxi_stored_set *set = get_set(prober, rank);
    const uint64_t *hashes;
    IDXI_TRY(idxi_set_read(&prober->reader, set->offset, set->count, &hashes, error));
    IDXI_TRY(idxi_members_reset(&prober->members, set->count, error));
    for (size_t i = 0; i < set->count; i++) idxi_members_add(&prober->members, hashes[i]);
    return idxi_members_prepare_lows(&prober->members, hashes, set->count, error);
}

/* Returns whether a candidate seems to share `needed` members with the set in the table. Never returns false if it
 * does. First a quick count, which is never too low; if that suffices, looks up the low halves of hashes. Both end as
 * soon as the remaining members can't make up what is missing. */
static bool seems_to_share(const struct idxi_members *members, const struct idxi_indexed_set *set, uint64_t needed) {
    uint64_t quick_count = 0, shared = 0;
    for (uint32_t i = 0, part_end; i < set->shared && quick_count + (set->shared - i) >= needed; i = part_end) {
        part_end = set->shared - i < COMPARED_TOGETHER ? set->shared : i + COMPARED_TOGETHER;
        quick_count += idxi_members_count_lows(members, set->members + i, part_end - i);
    }
    for (uint32_t i = 0; i < set->shared && quick_count >= needed; i++) {
        bool has = idxi_members_has_low(members, set->members[i]);
        shared += has;
        if (shared + (set->shared - i - 1) < needed) return false;
    }
    return quick_count >= needed;
}

/* Sets *shared to how many members the set of a rank shares with the set in prober->members. Reads them from the store.
 * Errors: IDX_OUT_OF_MEMORY, those of files. */
static enum idx_status count_shared_members(struct idxi_prober *prober, uint32_t rank, uint64_t *shared,
                                            struct idx_error *error) {
    const struct idxi_stored_set *set = get_set(prober, rank);
    const uint64_t *hashes;
    IDXI_TRY(idxi_set_read(&prober->candidate_reader, set->offset, set->count, &hashes, error));
    *shared = 0;
    for (size_t i = 0; i < set->count; i++) *shared += idxi_members_has(&prober->members, hashes[i]);
    return IDX_OK;
}

/* A comparison of one set with all candidates that a search finds. */
struct comparison {
    struct idxi_prober *prober;
    const struct idxi_scope *scope;
    struct idxi_set_search search;
    struct idxi_similar *best;
    uint32_t best_set; /* the place of the best set in the index; 0: it is from another index, and all are after it */
    bool is_loaded;    /* the members of the set are in the prober's table */
    bool is_enough;    /* no other similar set is wanted */
};

/* Sets what a candidate must have in common with the set of the query to be better than the best one so far. Once a
 * similar set was found and any is enough, no candidate can have that. */
static void set_least_shared(struct comparison *comparison) {
    const struct idxi_similar *best = comparison->best;
    struct idxi_least *least = &comparison->search.least;
    least->best = IDXI_ANY;
    least->tie_end = UINT32_MAX;
    if (best->total == 0) return;
    least->best = (struct idxi_fraction){best->shared, best->total};
    least->tie_end = comparison->best_set;
    if (comparison->is_enough) least->best = IDXI_NONE;
}

/* Returns whether a candidate belongs to the scope: if only kept sets do, whether it is kept. */
static bool is_in_scope(const struct comparison *comparison, const struct idxi_indexed_set *set) {
    const struct idx_kept_set *kept = comparison->scope->kept;
    return kept == NULL || kept[idxi_rank_to_number(comparison->prober->order, set->rank)].kept == set->rank;
}

/* Compares a candidate with the set of the query, whose members are in the prober's table. If it shares enough, makes
 * it the best one, or if all similar sets are wanted, appends it to prober->found. */
static enum idx_status compare_candidate(struct comparison *comparison, const struct idxi_candidate *candidate,
                                         struct idx_error *error) {
    struct idxi_prober *prober = comparison->prober;
    const struct idxi_query *query = comparison->search.query;
    const struct idxi_indexed_set *set = idxi_postings_get_set(comparison->search.postings, candidate->place);
    const uint64_t needed = idxi_min_shared(&comparison->search.least, candidate->place, query->size, set->size);
    uint64_t shared;
    if (candidate->max_shared < needed || !is_in_scope(comparison, set)) return IDX_OK;
    prober->compared++;
    if (!seems_to_share(&prober->members, set, needed)) return IDX_OK;
    IDXI_TRY(count_shared_members(prober, set->rank, &shared, error));
    if (shared < needed) return IDX_OK;
    const uint32_t total = (uint32_t)((uint64_t)query->size + set->size - shared);
    const struct idxi_similar similar = {set->rank, (uint32_t)shared, total};
    if (!prober->wants_all) {
        *comparison->best = similar;
        comparison->best_set = candidate->place;
        comparison->is_enough = comparison->scope->any_suffices;
        set_least_shared(comparison);
        return IDX_OK;
    }
    IDXI_GROW(prober->found, prober->found_capacity, prober->found_count + 1, error);
    prober->found[prober->found_count++] = similar;
    return IDX_OK;
}

/* An idxi_candidate_visitor: compares the candidates that were listed since the last call, at least one. Begins with
 * the one that shares most members of the prefix, since it will exclude many of the others. */
static enum idx_status compare_candidates(void *context, struct idx_error *error) {
    struct comparison *comparison = context;
    struct idxi_candidates *candidates = comparison->search.candidates;
    size_t best_number = candidates->compared;
    if (!comparison->is_loaded) IDXI_TRY(load_query_members(comparison->prober, comparison->search.query->rank, error));
    comparison->is_loaded = true;
    for (size_t i = best_number; i < candidates->count; i++)
        if (candidates->list[i].shared > candidates->list[best_number].shared) best_number = i;
    IDXI_TRY(compare_candidate(comparison, &candidates->list[best_number], error));
    for (; candidates->compared < candidates->count; candidates->compared++)
        if (candidates->compared != best_number)
            IDXI_TRY(compare_candidate(comparison, &candidates->list[candidates->compared], error));
    return IDX_OK;
}

enum idx_status idxi_prober_compare(struct idxi_prober *prober, const struct idxi_scope *scope,
                                    const struct idxi_query *query, struct idxi_similar *best,
                                    struct idx_error *error) {
    struct comparison comparison = {.prober = prober, .scope = scope, .best = best};
    comparison.search =
        (struct idxi_set_search){.postings = scope->postings,
                                 .end = scope->end,
                                 .query = query,
                                 .least = {.min_to_contain = query->min_to_contain, .similar = prober->threshold},
                                 .candidates = &prober->candidates,
                                 .compare = compare_candidates,
                                 .context = &comparison};
    set_least_shared(&comparison);
    return idxi_postings_find(&comparison.search, error);
}

void idxi_prober_close(struct idxi_prober *prober) {
    idxi_set_reader_close(&prober->reader);
    idxi_set_reader_close(&prober->candidate_reader);
    idxi_members_free(&prober->members);
    idxi_candidates_free(&prober->candidates);
    free(prober->preparations);
    free(prober->requests);
    free(prober->counts);
    free(prober->keys);
    free(prober->spare_keys);
    free(prober->found);
}
