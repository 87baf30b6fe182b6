/* probe.c: prepares sets, and compares them with candidates: first by the low halves of hashes, which are in memory and
 * never show too few shared members, then by the sets themselves. */
#include "libidx/sets/probe.h"

#include <stdlib.h>

#include "libidx/streams/sort.h"

/* Members whose counters are fetched together. */
#define FETCHED_TOGETHER 32
/* Members that are compared between two looks at whether enough can still be shared. */
#define COMPARED_TOGETHER 64
/* So many members, at most, are sorted by insertion. */
#define FEW_MEMBERS 24
/* A member's key is its counter, and then so many bits of its hash. */
#define HASH_BITS 56

/* ---- The order of members ---- */

static inline bool is_before(uint64_t key, uint64_t hash, uint64_t other_key, uint64_t other_hash) {
    return key < other_key || (key == other_key && hash < other_hash);
}

static inline void swap_members(struct idxi_prober *prober, size_t i, size_t j) {
    uint64_t key = prober->keys[i], hash = prober->hashes[i];
    prober->keys[i] = prober->keys[j];
    prober->hashes[i] = prober->hashes[j];
    prober->keys[j] = key;
    prober->hashes[j] = hash;
}

static void sort_few(uint64_t *keys, uint64_t *hashes, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint64_t key = keys[i], hash = hashes[i];
        size_t at = i;
        for (; at > 0 && is_before(key, hash, keys[at - 1], hashes[at - 1]); at--) {
            keys[at] = keys[at - 1];
            hashes[at] = hashes[at - 1];
        }
        keys[at] = key;
        hashes[at] = hash;
    }
}

/* Divides three or more members, from `begin` to before `end`, at the median of the first, the middle and the last one:
 * none of the second part is before one of the first. Neither part is empty. Returns where the second one begins. */
static size_t partition(struct idxi_prober *prober, size_t begin, size_t end) {
    uint64_t *keys = prober->keys, *hashes = prober->hashes;
    size_t i = begin, j = end - 1, middle = begin + (end - begin) / 2;
    if (is_before(keys[middle], hashes[middle], keys[i], hashes[i])) swap_members(prober, middle, i);
    if (is_before(keys[j], hashes[j], keys[middle], hashes[middle])) swap_members(prober, j, middle);
    if (is_before(keys[middle], hashes[middle], keys[i], hashes[i])) swap_members(prober, middle, i);
    const uint64_t key = keys[middle], hash = hashes[middle];
    while (true) {
        while (is_before(keys[i], hashes[i], key, hash)) i++;
        while (is_before(key, hash, keys[j], hashes[j])) j--;
        if (i >= j) return i > begin ? i : begin + 1;
        swap_members(prober, i++, j--);
    }
}

/* Moves the first `wanted` of `count` members to the front, in order, and leaves the others in any order. Hashes are
 * mixed, so that no order in which they are given makes the selection slow. */
static void order_first(struct idxi_prober *prober, size_t count, size_t wanted) {
    size_t begin = 0, end = count;
    while (end - begin > FEW_MEMBERS && wanted > begin && wanted < end) {
        size_t second = partition(prober, begin, end);
        if (wanted <= second)
            end = second;
        else
            begin = second;
    }
    if (wanted > begin && wanted < end) sort_few(prober->keys + begin, prober->hashes + begin, end - begin);
    if (wanted <= FEW_MEMBERS)
        sort_few(prober->keys, prober->hashes, wanted);
    else
        idxi_sort_pairs(prober->keys, prober->hashes, wanted, true, prober->spare_keys, prober->spare_hashes);
}

/* ---- Preparing ---- */

/* Gathers the members of a set that other sets may have, with their keys, and returns how many these are; but 0 as soon
 * as `most` members were seen that no other set has. The arrays have room for one member more than the set has, since
 * each is written before it is known whether it counts. */
static size_t gather_shared(struct idxi_prober *prober, const uint64_t *hashes, size_t count, size_t most) {
    const struct idxi_counters *counters = prober->counters;
    size_t shared = 0;
    for (size_t i = 0, end; i < count; i = end) {
        size_t together = most + shared > i ? most + shared - i : 0;
        if (together == 0) return 0; /* so many of the first i are in no other set */
        if (together > FETCHED_TOGETHER) together = FETCHED_TOGETHER;
        end = count - i < together ? count : i + together;
        for (size_t j = i; j < end; j++) __builtin_prefetch(idxi_counter_of(counters, hashes[j]));
        for (size_t j = i; j < end; j++) {
            uint64_t counter = *idxi_counter_of(counters, hashes[j]);
            prober->keys[shared] = counter << HASH_BITS | hashes[j] >> (64 - HASH_BITS);
            prober->hashes[shared] = hashes[j];
            shared += counter > 1;
        }
    }
    return count - shared < most ? shared : 0;
}

static enum idx_status make_room(struct idxi_prober *prober, size_t count, struct idx_error *error) {
    uint64_t **const arrays[] = {&prober->keys, &prober->hashes, &prober->spare_keys, &prober->spare_hashes};
    size_t room = 0;
    if (count <= prober->room) return IDX_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        room = prober->room;
        IDXI_GROW(*arrays[i], room, count, error);
    }
    prober->room = room;
    return IDX_OK;
}

/* Returns the tag of a member. Since hashes with one tag have one counter, they are next to each other in the order of
 * all hashes, so that positions are right even where two of them seem to be the same. */
static inline uint32_t tag_of(uint64_t hash) { return (uint32_t)(hash >> 32); }

/* Returns how many members are a share of `size` members, rounded up. */
static uint64_t share_of(struct idxi_fraction share, uint64_t size) {
    return share.total == 0 ? UINT64_MAX : (share.shared * size + share.total - 1) / share.total;
}

void idxi_prober_set_contained(const struct idxi_prober *prober, struct idxi_query *query) {
    query->contained = UINT64_MAX;
    if (query->size >= prober->contained_size) query->contained = share_of(prober->contained, query->size);
}

/* Sets what makes a set contained, and returns how many members belong to its prefix. A similar set shares
 * ceil(T · size) members or more, so one of them is among the first size - ceil(T · size) + 1; and so it is with a set
 * that contains this one. */
static uint32_t choose_prefix(const struct idxi_prober *prober, struct idxi_query *query) {
    uint64_t needed = share_of(prober->threshold, query->size);
    idxi_prober_set_contained(prober, query);
    if (query->contained < needed) needed = query->contained;
    return needed <= query->size ? (uint32_t)(query->size - needed + 1) : 0;
}

/* Moves the marked members to right after the prefix, in any order, and sets how many members are listed. */
static void choose_listed(struct idxi_prober *prober, struct idxi_query *query) {
    query->listed = query->prefix;
    for (uint32_t i = query->prefix; i < query->shared && prober->marks != NULL; i++) {
        uint64_t hash = prober->hashes[i];
        if (!idxi_is_marked(prober->marks, hash)) continue;
        prober->hashes[i] = prober->hashes[query->listed];
        prober->hashes[query->listed++] = hash;
    }
}

/* Copies the listed members' tags, in order, and the low halves of all shared members to the arena for the query. */
static void store_query(struct idxi_prober *prober, struct idxi_query *query) {
    struct idxi_query_arena *arena = prober->arena;
    uint32_t *tags = arena->numbers + arena->used, *members = tags + query->listed;
    for (size_t i = 0; i < query->listed; i++) tags[i] = tag_of(prober->hashes[i]);
    for (size_t i = 0; i < query->shared; i++) members[i] = (uint32_t)prober->hashes[i];
    arena->used += query->listed + query->shared;
    query->tags = tags;
    query->members = members;
}

enum idx_status idxi_prober_begin(struct idxi_prober *prober, struct idxi_query_arena *arena, uint64_t members,
                                  struct idx_error *error) {
    IDXI_GROW(arena->numbers, arena->capacity, 2 * members, error);
    arena->used = 0;
    prober->arena = arena;
    return IDX_OK;
}

void idxi_prober_fetch(const struct idxi_prober *prober, uint32_t rank) {
    const struct idxi_stored_set *set = &prober->store->sets[idxi_number_of(prober->order, rank)];
    const uint64_t *hashes = idxi_set_peek(&prober->reader, set->offset, set->count);
    struct idxi_query query = {.size = set->count};
    uint32_t count = set->count == 0 || hashes == NULL ? 0 : choose_prefix(prober, &query);
    if (count > FETCHED_TOGETHER) count = FETCHED_TOGETHER;
    for (uint32_t i = 0; i < count; i++) __builtin_prefetch(idxi_counter_of(prober->counters, hashes[i]));
}

enum idx_status idxi_prober_prepare(struct idxi_prober *prober, uint32_t rank, struct idxi_query *query,
                                    struct idx_error *error) {
    const struct idxi_stored_set *set = &prober->store->sets[idxi_number_of(prober->order, rank)];
    const uint64_t *hashes;
    *query = (struct idxi_query){.rank = rank, .size = set->count};
    if (set->count == 0) return IDX_OK;
    IDXI_TRY(idxi_set_read(&prober->reader, set->offset, set->count, &hashes, error));
    IDXI_TRY(make_room(prober, (size_t)set->count + 1, error));
    const uint32_t prefix = choose_prefix(prober, query);
    const size_t most = prober->marks == NULL ? prefix : (size_t)set->count + 1; /* marked ones may be anywhere */
    query->shared = (uint32_t)gather_shared(prober, hashes, set->count, most);
    const uint32_t unique = query->size - query->shared;
    query->prefix = prefix > unique ? prefix - unique : 0;
    order_first(prober, query->shared, query->prefix);
    choose_listed(prober, query);
    if (query->listed > 0) store_query(prober, query);
    return IDX_OK;
}

/* ---- Comparing ---- */

static enum idx_status load_members(struct idxi_prober *prober, uint32_t rank, struct idx_error *error) {
    const struct idxi_stored_set *set = &prober->store->sets[idxi_number_of(prober->order, rank)];
    const uint64_t *hashes;
    IDXI_TRY(idxi_set_read(&prober->reader, set->offset, set->count, &hashes, error));
    IDXI_TRY(idxi_members_begin(&prober->members, set->count, error));
    for (size_t i = 0; i < set->count; i++) idxi_members_add(&prober->members, hashes[i]);
    return idxi_members_note_lows(&prober->members, hashes, set->count, error);
}

/* Returns whether a candidate seems to share `needed` members with the set in the table: first by a quick count that is
 * never too low, and then by low halves of hashes. */
static bool seems_to_share(const struct idxi_members *members, const struct idxi_indexed_set *set, uint64_t needed) {
    uint64_t seen = 0, shared = 0;
    for (uint32_t i = 0, end; i < set->shared && seen + (set->shared - i) >= needed; i = end) {
        end = set->shared - i < COMPARED_TOGETHER ? set->shared : i + COMPARED_TOGETHER;
        seen += idxi_members_count_lows(members, set->members + i, end - i);
    }
    for (uint32_t i = 0; i < set->shared && seen >= needed; i++) {
        bool has = idxi_members_has_low(members, set->members[i]);
        shared += has;
        if (shared + (set->shared - i - 1) < needed) return false;
    }
    return seen >= needed;
}

static enum idx_status count_shared(struct idxi_prober *prober, uint32_t rank, uint64_t *shared,
                                    struct idx_error *error) {
    const struct idxi_stored_set *set = &prober->store->sets[idxi_number_of(prober->order, rank)];
    const uint64_t *hashes;
    IDXI_TRY(idxi_set_read(&prober->others, set->offset, set->count, &hashes, error));
    *shared = 0;
    for (size_t i = 0; i < set->count; i++) *shared += idxi_members_has(&prober->members, hashes[i]);
    return IDX_OK;
}

struct comparison {
    struct idxi_prober *prober;
    const struct idxi_scope *scope;
    struct idxi_set_search search;
    struct idxi_similar *best;
    uint32_t best_set; /* the place of the best set in the index; 0: it is from another index, and all are after it */
    bool loaded;       /* the members of the set are in the prober's table */
    bool is_enough;    /* no other similar set is wanted */
};

/* Sets what a candidate must have in common with the set of the query to be better than the best one so far; more than
 * any has, once one that is similar is enough. */
static void set_least(struct comparison *comparison) {
    const struct idxi_similar *best = comparison->best;
    struct idxi_least *least = &comparison->search.least;
    least->best = IDXI_ANY;
    least->later = UINT32_MAX;
    if (best->total == 0) return;
    least->best = (struct idxi_fraction){best->shared, best->total};
    least->later = comparison->best_set;
    if (comparison->is_enough) least->best = IDXI_NONE;
}

/* Returns whether a candidate is of those that are compared, as far as it matters that these are kept. */
static bool is_in_scope(const struct comparison *comparison, const struct idxi_indexed_set *set) {
    const struct idx_kept_set *kept = comparison->scope->kept;
    return kept == NULL || kept[idxi_number_of(comparison->prober->order, set->rank)].kept == set->rank;
}

/* Compares the set of the query, whose members are in the prober's table, with a candidate. If this shares enough, it
 * becomes the best one or, where all are wanted, is appended to those that were found. */
static enum idx_status compare_with(struct comparison *comparison, const struct idxi_candidate *candidate,
                                    struct idx_error *error) {
    struct idxi_prober *prober = comparison->prober;
    const struct idxi_query *query = comparison->search.query;
    const struct idxi_indexed_set *set = idxi_postings_set(comparison->search.postings, candidate->set);
    const uint64_t needed = idxi_fewest_shared(&comparison->search.least, candidate->set, query->size, set->size);
    uint64_t shared;
    if (candidate->most < needed || !is_in_scope(comparison, set)) return IDX_OK;
    prober->compared++;
    if (!seems_to_share(&prober->members, set, needed)) return IDX_OK;
    IDXI_TRY(count_shared(prober, set->rank, &shared, error));
    if (shared < needed) return IDX_OK;
    const uint32_t total = (uint32_t)((uint64_t)query->size + set->size - shared);
    const struct idxi_similar similar = {set->rank, (uint32_t)shared, total};
    if (!prober->all) {
        *comparison->best = similar;
        comparison->best_set = candidate->set;
        comparison->is_enough = comparison->scope->any;
        set_least(comparison);
        return IDX_OK;
    }
    IDXI_GROW(prober->found, prober->found_capacity, prober->found_count + 1, error);
    prober->found[prober->found_count++] = similar;
    return IDX_OK;
}

/* Compares the candidates that were listed since the last call: first the one that shares most of the prefix, since it
 * will exclude many of the others. This is an idxi_candidate_visitor. */
static enum idx_status compare_candidates(void *context, struct idx_error *error) {
    struct comparison *comparison = context;
    struct idxi_candidates *candidates = comparison->search.candidates;
    size_t first = candidates->compared;
    if (!comparison->loaded) IDXI_TRY(load_members(comparison->prober, comparison->search.query->rank, error));
    comparison->loaded = true;
    for (size_t i = first; i < candidates->count; i++)
        if (candidates->list[i].shared > candidates->list[first].shared) first = i;
    IDXI_TRY(compare_with(comparison, &candidates->list[first], error));
    for (; candidates->compared < candidates->count; candidates->compared++)
        if (candidates->compared != first)
            IDXI_TRY(compare_with(comparison, &candidates->list[candidates->compared], error));
    return IDX_OK;
}

enum idx_status idxi_prober_compare(struct idxi_prober *prober, const struct idxi_scope *scope,
                                    const struct idxi_query *query, struct idxi_similar *best,
                                    struct idx_error *error) {
    struct comparison comparison = {.prober = prober, .scope = scope, .best = best};
    comparison.search = (struct idxi_set_search){.postings = scope->postings,
                                                 .end = scope->end,
                                                 .query = query,
                                                 .least = {.contained = query->contained, .similar = prober->threshold},
                                                 .candidates = &prober->candidates,
                                                 .compare = compare_candidates,
                                                 .context = &comparison};
    set_least(&comparison);
    return idxi_postings_find(&comparison.search, error);
}

void idxi_prober_close(struct idxi_prober *prober) {
    idxi_set_reader_close(&prober->reader);
    idxi_set_reader_close(&prober->others);
    idxi_members_free(&prober->members);
    idxi_candidates_free(&prober->candidates);
    free(prober->keys);
    free(prober->hashes);
    free(prober->spare_keys);
    free(prober->spare_hashes);
    free(prober->found);
}
