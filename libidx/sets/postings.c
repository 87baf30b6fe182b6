/* postings.c: lists of sets by hash. A list is a chain of chunks, the newest first, each larger than the one before it.
 * A long list is divided into groups of sets of one size, each a chain of its own with the most members that a set of
 * it has from the shared one on: so that whole groups are passed over whose sets can't be similar. */
#include "libidx/sets/postings.h"

#include <stdlib.h>
#include <string.h>

/* Sets begin at multiples of so many uint32_t. */
#define SET_UNIT 4
/* This bit of a list's head says that the other bits are the number of its groups. */
#define GROUPED (UINT32_C(1) << 31)
/* How many sets the first chunk of a list holds, and the largest one. A list that fills a largest one is divided into
 * groups. */
enum { FIRST_CAPACITY = 2, MAX_CAPACITY = 64 };
/* The candidates have 2^CANDIDATE_BITS slots at first. */
enum { CANDIDATE_BITS = 6 };
/* Candidates are compared for the first time once there are so many, and again each time that there are so many times
 * as many. */
enum { COMPARE_AT_FIRST = 8, COMPARE_FACTOR = 4 };

/* A set in a list. `place` is where it is in the index. `size` is the code of its size, rounded down. `rest` is the
 * code of how many members it has from the first one with the list's tag on in its order, rounded up. The rounding
 * makes sure that no similar set is passed over. */
struct posting {
    uint32_t place;
    uint16_t size, rest;
};

/* The head of a chunk; the postings follow. Both have the size of a uint64_t. */
struct chunk {
    uint32_t next; /* 0: none */
    uint16_t used, capacity;
};

/* The sets of one size in a long list. */
struct group {
    uint16_t size, rest; /* rest: the greatest one */
    uint32_t head;
    uint32_t first_place; /* the least place of a set of the group */
    uint32_t count;
};

struct idxi_posting_groups {
    struct group *groups; /* by size, ascending */
    size_t count, capacity;
};

_Static_assert(sizeof(struct posting) == sizeof(uint64_t) && sizeof(struct chunk) == sizeof(uint64_t),
               "chunks are arrays of uint64_t");

/* ---- Numbers in 16 bits ---- */

/* Numbers are exact below 2^EXACT_BITS; greater ones keep their EXACT_BITS highest bits. */
enum { EXACT_BITS = 11, EXACT = 1 << EXACT_BITS, PER_OCTAVE = EXACT / 2 };
/* How many codes there are for numbers below 2^32. */
enum { CODES = EXACT + (32 - EXACT_BITS) * PER_OCTAVE };

/* Returns the code of the greatest number that has a code and is at most `number`. */
static uint16_t encode_down(uint32_t number) {
    if (number < EXACT) return (uint16_t)number;
    unsigned shift = 32 - EXACT_BITS - (unsigned)__builtin_clz(number);
    return (uint16_t)(EXACT + (shift - 1) * PER_OCTAVE + ((number >> shift) - PER_OCTAVE));
}

/* Returns the number that a code stands for. */
static uint32_t decode(uint16_t code) {
    if (code < EXACT) return code;
    unsigned shift = (unsigned)(code - EXACT) / PER_OCTAVE + 1;
    return (PER_OCTAVE + (uint32_t)(code - EXACT) % PER_OCTAVE) << shift;
}

/* Returns the code of the smallest number that has a code and is at least `number`. */
static uint16_t encode_up(uint32_t number) {
    uint16_t code = encode_down(number);
    return (uint16_t)(code + (decode(code) < number));
}

/* ---- Memory ---- */

enum idx_status idxi_postings_init(struct idxi_postings *postings, unsigned threads, struct idx_error *error) {
    *postings = (struct idxi_postings){.shards = calloc(threads, sizeof *postings->shards)};
    if (postings->shards == NULL) return idxi_fail_memory(error);
    for (; postings->shard_count < threads; postings->shard_count++) {
        struct idxi_posting_shard *shard = &postings->shards[postings->shard_count];
        shard->chunks_used = 1;
        IDXI_TRY(idxi_slots_reserve(&shard->slots, error));
    }
    return IDX_OK;
}

uint64_t idxi_postings_bytes(const struct idxi_postings *postings) {
    uint64_t bytes = postings->sets_used * sizeof *postings->sets +
                     postings->signed_count * sizeof *postings->signed_sets->groups / IDXI_SIGNED_TOGETHER;
    for (unsigned i = 0; i < postings->shard_count; i++) {
        const struct idxi_posting_shard *shard = &postings->shards[i];
        bytes += shard->slots.capacity * sizeof *shard->slots.list + shard->chunks_used * sizeof *shard->chunks;
    }
    return bytes;
}

/* Frees the groups of all long lists of a shard. */
static void free_groups(struct idxi_posting_shard *shard) {
    for (size_t i = 0; i < shard->group_count; i++) free(shard->groups[i].groups);
    shard->group_count = 0;
}

void idxi_postings_clear(struct idxi_postings *postings) {
    postings->sets_used = postings->signed_count = 0;
    for (size_t i = 0; i < CODES && postings->signed_sets != NULL; i++) postings->signed_sets[i].count = 0;
    for (unsigned i = 0; i < postings->shard_count; i++) {
        struct idxi_posting_shard *shard = &postings->shards[i];
        free_groups(shard);
        idxi_slots_reset(&shard->slots, shard->slots.bits, NULL); /* can't fail: it has the memory */
        shard->chunks_used = 1;
    }
}

void idxi_postings_close(struct idxi_postings *postings) {
    for (unsigned i = 0; i < postings->shard_count; i++) {
        struct idxi_posting_shard *shard = &postings->shards[i];
        free_groups(shard);
        idxi_slots_free(&shard->slots);
        idxi_map_release(shard->chunks, shard->chunks_capacity * sizeof *shard->chunks);
        free(shard->groups);
    }
    for (size_t i = 0; i < CODES && postings->signed_sets != NULL; i++) free(postings->signed_sets[i].groups);
    free(postings->signed_sets);
    free(postings->shards);
    idxi_map_release(postings->sets, postings->sets_capacity * sizeof *postings->sets);
}

/* ---- Slots ---- */

/* Returns the number of the shard that has a tag. It depends on the low 16 bits of the tag. */
static inline unsigned find_shard_number(const struct idxi_postings *postings, uint32_t tag) {
    return (tag & 0xffff) * postings->shard_count >> 16;
}

/* ---- Lists ---- */

/* Adds a posting to the chain of chunks at *head: to its first chunk, or if that is full, to a new and larger one in
 * front of it. Errors: IDX_OUT_OF_MEMORY, IDX_LIMIT. */
static enum idx_status add_posting_to_chain(struct idxi_posting_shard *shard, uint32_t *head, struct posting posting,
                                            struct idx_error *error) {
    struct chunk chunk = {0};
    if (*head != 0) memcpy(&chunk, &shard->chunks[*head], sizeof chunk);
    if (chunk.used == chunk.capacity) {
        unsigned capacity = chunk.capacity == 0 ? FIRST_CAPACITY : 2u * chunk.capacity;
        if (capacity > MAX_CAPACITY) capacity = MAX_CAPACITY;
        size_t chunk_begin = shard->chunks_used, chunk_end = chunk_begin + 1 + capacity;
        if (chunk_end > GROUPED) return idxi_fail(error, IDX_LIMIT, NULL, "too many members of sets are shared");
        IDXI_GROW_MAP(shard->chunks, shard->chunks_capacity, chunk_end, error);
        chunk = (struct chunk){.next = *head, .used = 0, .capacity = (uint16_t)capacity};
        *head = (uint32_t)chunk_begin;
        shard->chunks_used = chunk_end;
    }
    memcpy(&shard->chunks[*head + 1 + chunk.used], &posting, sizeof posting);
    chunk.used++;
    memcpy(&shard->chunks[*head], &chunk, sizeof chunk);
    return IDX_OK;
}

/* Returns whether the first chunk of a chain is one of the largest, and full. */
static bool is_chain_long(const struct idxi_posting_shard *shard, uint32_t head) {
    struct chunk chunk;
    memcpy(&chunk, &shard->chunks[head], sizeof chunk);
    return chunk.used == MAX_CAPACITY;
}

/* Adds a posting to the group of its size, which is made if there is none. */
static enum idx_status add_posting_to_group(struct idxi_posting_shard *shard, struct idxi_posting_groups *groups,
                                            struct posting posting, struct idx_error *error) {
    size_t low = 0, high = groups->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (groups->groups[middle].size < posting.size)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == groups->count || groups->groups[low].size != posting.size) {
        IDXI_GROW(groups->groups, groups->capacity, groups->count + 1, error);
        struct group *new_group = &groups->groups[low];
        memmove(new_group + 1, new_group, (groups->count - low) * sizeof *new_group);
        *new_group = (struct group){.size = posting.size, .first_place = posting.place};
        groups->count++;
    }
    struct group *group = &groups->groups[low];
    if (group->rest < posting.rest) group->rest = posting.rest;
    if (group->first_place > posting.place) group->first_place = posting.place;
    group->count++;
    return add_posting_to_chain(shard, &group->head, posting, error);
}

/* Divides the list at *head into groups, and sets *head to their number. Its old chunks are not used again. */
static enum idx_status divide_into_groups(struct idxi_posting_shard *shard, uint32_t *head, struct idx_error *error) {
    IDXI_GROW(shard->groups, shard->group_capacity, shard->group_count + 1, error);
    struct idxi_posting_groups *groups = &shard->groups[shard->group_count];
    *groups = (struct idxi_posting_groups){0};
    uint32_t old_head = *head;
    *head = GROUPED | (uint32_t)shard->group_count++;
    while (old_head != 0) {
        struct chunk chunk;
        memcpy(&chunk, &shard->chunks[old_head], sizeof chunk);
        for (size_t i = 0; i < chunk.used; i++) {
            struct posting posting;
            memcpy(&posting, &shard->chunks[old_head + 1 + i], sizeof posting);
            IDXI_TRY(add_posting_to_group(shard, groups, posting, error));
        }
        old_head = chunk.next;
    }
    return IDX_OK;
}

/* Adds a posting to the list of a tag, and divides the list into groups if it becomes long. The slots must have room.
 * Errors: IDX_OUT_OF_MEMORY, IDX_LIMIT. */
static enum idx_status add_posting(struct idxi_posting_shard *shard, uint32_t tag, struct posting posting,
                                   struct idx_error *error) {
    struct idxi_slot *slot = idxi_slots_find(&shard->slots, tag);
    uint32_t *head = &slot->number;
    shard->slots.used += *head == 0;
    slot->tag = tag;
    if ((*head & GROUPED) != 0) return add_posting_to_group(shard, &shard->groups[*head & ~GROUPED], posting, error);
    IDXI_TRY(add_posting_to_chain(shard, head, posting, error));
    return is_chain_long(shard, *head) ? divide_into_groups(shard, head, error) : IDX_OK;
}

/* ---- Adding ---- */

/* Returns where in the array of sets the set ends that begins at `set_begin` and has `shared` members there.
 * `set_begin` and the result are multiples of SET_UNIT. */
static size_t find_set_end(uint32_t shared, size_t set_begin) {
    size_t words = sizeof(struct idxi_indexed_set) / sizeof(uint32_t) + shared;
    return set_begin + (words + SET_UNIT - 1) / SET_UNIT * SET_UNIT;
}

/* Makes the signatures of all sets from the one that begins at `first_begin` in the array of sets on. */
static enum idx_status make_signatures(struct idxi_postings *postings, size_t first_begin, struct idx_error *error) {
    for (size_t set_begin = first_begin; set_begin < postings->sets_used; postings->signed_count++) {
        const uint32_t place = (uint32_t)(set_begin / SET_UNIT);
        const struct idxi_indexed_set *set = idxi_postings_get_set(postings, place);
        struct idxi_signature signature;
        idxi_sign_set(&signature, place, set->members, set->shared);
        IDXI_TRY(idxi_signed_sets_add(&postings->signed_sets[encode_down(set->size)], &signature, error));
        set_begin = find_set_end(set->shared, set_begin);
    }
    return IDX_OK;
}

enum idx_status idxi_postings_make_signatures(struct idxi_postings *postings, struct idx_error *error) {
    if (postings->signed_sets != NULL) return IDX_OK;
    postings->signed_sets = calloc(CODES, sizeof *postings->signed_sets);
    return postings->signed_sets == NULL ? idxi_fail_memory(error) : make_signatures(postings, 0, error);
}

/* Copies the set of a query to the array of sets, at `set_begin`. */
static void copy_set_to_array(const struct idxi_postings *postings, const struct idxi_query *query, size_t set_begin) {
    const struct idxi_indexed_set set = {query->rank, query->size, query->shared};
    uint32_t *copy = postings->sets + set_begin;
    memcpy(copy, &set, sizeof set);
    memcpy(copy + sizeof set / sizeof *copy, query->members, query->shared * sizeof *query->members);
}

/* Begins to load the lists that shard number `shard_number` has of the first `count` tags of a query into the cache:
 * their slots, or with `fetch_chunks`, once the slots are there, their newest chunks. */
static void fetch_lists(const struct idxi_postings *postings, const struct idxi_query *query, uint32_t count,
                        unsigned shard_number, bool fetch_chunks) {
    const struct idxi_posting_shard *shard = &postings->shards[shard_number];
    for (uint32_t i = 0; i < count; i++) {
        if (find_shard_number(postings, query->tags[i]) != shard_number) continue;
        const struct idxi_slot *slot = &shard->slots.list[idxi_slots_find_start(&shard->slots, query->tags[i])];
        if (!fetch_chunks)
            __builtin_prefetch(slot, 1);
        else if ((slot->number & GROUPED) == 0)
            __builtin_prefetch(&shard->chunks[slot->number], 1);
    }
}

/* Returns the place, in the order of the members of a query, of the first member with the tag of listed member i.
 * Members of the prefix with the same tag follow each other. `previous_place` is what this function has returned for
 * the last member of the prefix before i. Of a listed member behind the prefix, only its least possible place is known.
 */
static uint32_t find_first_place(const struct idxi_query *query, uint32_t i, uint32_t previous_place) {
    if (i >= query->prefix) /* These are in no order. */
        return query->prefix > 0 && query->tags[i] == query->tags[query->prefix - 1] ? previous_place : query->prefix;
    return i > 0 && query->tags[i] == query->tags[i - 1] ? previous_place : i;
}

/* Adds to a shard the postings of the set of a query, which begins at `set_begin` in the array of sets: one for each
 * listed member whose tag the shard has. Of members with the same tag, all count as standing at the place of the first,
 * and a posting's rest is how many shared members stand there or later. Fails if memory runs out, and then some
 * postings may have been added. */
static enum idx_status add_postings(struct idxi_postings *postings, const struct idxi_query *query, size_t set_begin,
                                    unsigned shard_number, struct idx_error *error) {
    struct posting posting = {.place = (uint32_t)(set_begin / SET_UNIT), .size = encode_down(query->size), .rest = 0};
    struct idxi_posting_shard *shard = &postings->shards[shard_number];
    for (uint32_t i = 0, previous_place = 0; i < query->listed; i++) {
        const uint32_t first_place = find_first_place(query, i, previous_place);
        if (i < query->prefix) previous_place = first_place;
        if (find_shard_number(postings, query->tags[i]) != shard_number) continue;
        IDXI_TRY(idxi_slots_reserve(&shard->slots, error));
        posting.rest = encode_up(query->shared - first_place);
        IDXI_TRY(add_posting(shard, query->tags[i], posting, error));
    }
    return IDX_OK;
}

/* Sets that are being added, by one task for each shard. */
struct add_job {
    struct idxi_postings *postings;
    const struct idxi_query *queries;
    size_t count;
    size_t begin; /* where the first of them begins in the array of sets */
};

/* The slots of a set are fetched so many sets ahead of its use, and its chunks half as many. */
enum { FETCHED_AHEAD = 8 };

/* An idxi_plain_task: adds the postings of all sets to a shard, and copies an equal share of the sets, that of this
 * shard, to the array of sets. */
static enum idx_status add_sets_to_shard(void *context, size_t shard_number, struct idx_error *error) {
    const struct add_job *job = context;
    struct idxi_postings *postings = job->postings;
    size_t set_begin = job->begin;
    for (size_t i = 0; i < job->count; i++) {
        const struct idxi_query *query = &job->queries[i];
        size_t ahead = i + FETCHED_AHEAD, nearer = i + FETCHED_AHEAD / 2;
        const struct idxi_query *far = &job->queries[ahead], *near = &job->queries[nearer];
        if (ahead < job->count) fetch_lists(postings, far, far->listed, (unsigned)shard_number, false);
        if (nearer < job->count) fetch_lists(postings, near, near->listed, (unsigned)shard_number, true);
        if (i * postings->shard_count / job->count == shard_number) copy_set_to_array(postings, query, set_begin);
        IDXI_TRY(add_postings(postings, query, set_begin, (unsigned)shard_number, error));
        set_begin = find_set_end(query->shared, set_begin);
    }
    return IDX_OK;
}

enum idx_status idxi_postings_add(struct idxi_postings *postings, const struct idxi_query *queries, size_t count,
                                  struct idx_error *error) {
    struct add_job job = {.postings = postings, .queries = queries, .count = count, .begin = postings->sets_used};
    size_t sets_end = postings->sets_used;
    for (size_t i = 0; i < count; i++) sets_end = find_set_end(queries[i].shared, sets_end);
    if (sets_end / SET_UNIT > UINT32_MAX) /* places in units of SET_UNIT have 32 bits */
        return idxi_fail(error, IDX_LIMIT, NULL, "too many members of sets are shared");
    IDXI_GROW_MAP(postings->sets, postings->sets_capacity, sets_end, error);
    if (postings->shard_count == 1)
        IDXI_TRY(add_sets_to_shard(&job, 0, error));
    else
        IDXI_TRY(idxi_run_parallel(postings->shard_count, postings->shard_count, add_sets_to_shard, &job, NULL, error));
    postings->sets_used = sets_end;
    return postings->signed_sets == NULL ? IDX_OK : make_signatures(postings, job.begin, error);
}

void idxi_postings_prefetch(const struct idxi_postings *postings, const struct idxi_query *query) {
    for (unsigned i = 0; i < postings->shard_count; i++) fetch_lists(postings, query, query->prefix, i, false);
}

/* ---- Finding ---- */

/* Returns the lesser of two numbers of members. */
static inline uint32_t min_members(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Returns whether a set at `place` of the index, or after it, may share enough members with that of the query. `size`
 * is the code of its size. `rest` is the code of how many members it has at most from the current one on. Returns false
 * from search->end on. */
static inline bool may_be_similar(const struct idxi_set_search *search, uint32_t place, uint16_t size, uint16_t rest) {
    return place < search->end && idxi_shares_enough(&search->least, place, min_members(search->rest, decode(rest)),
                                                     search->query->size, decode(size));
}

/* Adds a set, given by its place in the index, as a candidate, and sets *candidate_number to its number, counted
 * from 1. If many candidates wait already, has them compared first, since the best of them may exclude others. */
static enum idx_status add_candidate(const struct idxi_set_search *search, uint32_t place, uint32_t *candidate_number,
                                     struct idx_error *error) {
    struct idxi_candidates *candidates = search->candidates;
    if (candidates->count == candidates->compare_at) {
        candidates->compare_at *= COMPARE_FACTOR;
        IDXI_TRY(search->compare(search->context, error));
    }
    IDXI_TRY(idxi_slots_reserve(&candidates->seen, error));
    IDXI_GROW(candidates->list, candidates->capacity, candidates->count + 1, error);
    candidates->list[candidates->count++] = (struct idxi_candidate){.place = place};
    *candidate_number = (uint32_t)candidates->count;
    idxi_slots_add(&candidates->seen, place, *candidate_number);
    __builtin_prefetch(&search->postings->sets[(size_t)place * SET_UNIT]);
    return IDX_OK;
}

/* Counts a shared member for the set of a posting, which is a candidate from then on. Sets max_shared: the set shares
 * at most the members that were counted before, and besides, this one and all after it in the order of one of the two
 * sets. In the order of the posting's set, these begin with the first member of the same tag, since candidates may be
 * compared before all members of this tag were counted. */
static inline enum idx_status count_posting(const struct idxi_set_search *search, struct posting posting,
                                            struct idx_error *error) {
    struct idxi_candidates *candidates = search->candidates;
    uint32_t candidate_number = idxi_slots_find(&candidates->seen, posting.place)->number;
    if (candidate_number == 0) IDXI_TRY(add_candidate(search, posting.place, &candidate_number, error));
    struct idxi_candidate *candidate = &candidates->list[candidate_number - 1];
    candidate->max_shared = candidate->shared++ + min_members(search->rest, decode(posting.rest));
    return IDX_OK;
}

/* ---- Looking through signatures ---- */

/* Looking through so many signatures costs about as much as visiting one posting. */
enum { SIGNATURES_OF_POSTING = 64 };
/* How many sets are found by signatures at a time. */
enum { FOUND_TOGETHER = 64 };

/* Makes candidates of all sets with the coded size `size` that may share enough members, as far as their signatures
 * tell. */
static enum idx_status find_by_signature(const struct idxi_set_search *search, uint16_t size, struct idx_error *error) {
    const struct idxi_signed_sets *sets = &search->postings->signed_sets[size];
    const struct idxi_query *query = search->query;
    struct idxi_candidates *candidates = search->candidates;
    struct idxi_signed_match matches[FOUND_TOGETHER];
    struct idxi_signature signature;
    idxi_sign_set(&signature, 0, query->members, query->shared);
    for (size_t next_set = 0; next_set < sets->count;) {
        uint64_t needed = idxi_min_shared(&search->least, 0, query->size, decode(size));
        size_t match_count = idxi_signed_sets_find(sets, &signature, needed, &next_set, matches, FOUND_TOGETHER);
        for (size_t i = 0; i < match_count; i++) {
            uint32_t place = matches[i].set;
            if (place >= search->end) continue;
            uint32_t candidate_number = idxi_slots_find(&candidates->seen, place)->number;
            if (candidate_number == 0) IDXI_TRY(add_candidate(search, place, &candidate_number, error));
            struct idxi_candidate *candidate = &candidates->list[candidate_number - 1];
            candidate->shared = candidate->max_shared = matches[i].max_shared;
        }
    }
    return IDX_OK;
}

/* Sets *must_visit to whether to visit `count` further postings of sets of the coded size `size`, and counts them. Once
 * all these visits would take longer than looking through the signatures of all sets of this size, looks through these
 * at once. From then on, *must_visit is false for this size in this search. */
static enum idx_status limit_visits(const struct idxi_set_search *search, uint16_t size, uint64_t count,
                                    bool *must_visit, struct idx_error *error) {
    struct idxi_candidates *candidates = search->candidates;
    struct idxi_visits *visits = &candidates->visits[size];
    if (visits->search_id != candidates->search_id) *visits = (struct idxi_visits){candidates->search_id, 0};
    *must_visit = false;
    if (visits->count == UINT64_MAX) return IDX_OK;
    visits->count += count;
    *must_visit = visits->count * SIGNATURES_OF_POSTING < search->postings->signed_sets[size].count;
    if (*must_visit) return IDX_OK;
    visits->count = UINT64_MAX;
    return find_by_signature(search, size, error);
}

/* ---- Searching lists ---- */

/* Counts the current member of the query for all sets of a chain that may be similar. `limits_visits`: the sets have
 * signatures, and those of the chain several sizes, so that the visits to each size are counted. */
static enum idx_status count_in_chain(const struct idxi_set_search *search, const struct idxi_posting_shard *shard,
                                      uint32_t head, bool limits_visits, struct idx_error *error) {
    const uint64_t *chunks = shard->chunks;
    while (head != 0) {
        struct chunk chunk;
        memcpy(&chunk, &chunks[head], sizeof chunk);
        for (size_t i = 0; i < chunk.used; i++) {
            struct posting posting;
            memcpy(&posting, &chunks[head + 1 + i], sizeof posting);
            bool must_visit = may_be_similar(search, posting.place, posting.size, posting.rest);
            if (must_visit && limits_visits) IDXI_TRY(limit_visits(search, posting.size, 1, &must_visit, error));
            if (must_visit) IDXI_TRY(count_posting(search, posting, error));
        }
        head = chunk.next;
    }
    return IDX_OK;
}

/* Counts the current member of the query for the sets of those groups of a long list that may have a similar set. */
static enum idx_status count_in_groups(const struct idxi_set_search *search, const struct idxi_posting_shard *shard,
                                       const struct idxi_posting_groups *groups, struct idx_error *error) {
    for (size_t i = 0; i < groups->count; i++) {
        const struct group *group = &groups->groups[i];
        bool must_visit = may_be_similar(search, group->first_place, group->size, group->rest);
        if (must_visit && search->postings->signed_sets != NULL)
            IDXI_TRY(limit_visits(search, group->size, group->count, &must_visit, error));
        if (must_visit) IDXI_TRY(count_in_chain(search, shard, group->head, false, error));
    }
    return IDX_OK;
}

/* Begins a search: empties the table of candidates, and gives the search a new number, so that the visits of earlier
 * ones don't count. */
static enum idx_status begin_search(const struct idxi_set_search *search, struct idx_error *error) {
    struct idxi_candidates *candidates = search->candidates;
    candidates->search_id++;
    if (search->postings->signed_sets != NULL && candidates->visits == NULL) {
        candidates->visits = calloc(CODES, sizeof *candidates->visits);
        if (candidates->visits == NULL) return idxi_fail_memory(error);
    }
    return idxi_slots_reset(&candidates->seen, CANDIDATE_BITS, error);
}

enum idx_status idxi_postings_find(struct idxi_set_search *search, struct idx_error *error) {
    const struct idxi_postings *postings = search->postings;
    const struct idxi_query *query = search->query;
    struct idxi_candidates *candidates = search->candidates;
    candidates->count = candidates->compared = 0;
    candidates->compare_at = COMPARE_AT_FIRST;
    if (postings->sets_used == 0 || query->prefix == 0) return IDX_OK;
    IDXI_TRY(begin_search(search, error));
    for (unsigned i = 0; i < postings->shard_count; i++) fetch_lists(postings, query, query->prefix, i, true);
    search->rest = query->shared;
    for (uint32_t i = 0; i < query->prefix; i++, search->rest--) {
        const struct idxi_posting_shard *shard = &postings->shards[find_shard_number(postings, query->tags[i])];
        uint32_t head = idxi_slots_find(&shard->slots, query->tags[i])->number;
        if ((head & GROUPED) != 0)
            IDXI_TRY(count_in_groups(search, shard, &shard->groups[head & ~GROUPED], error));
        else if (head != 0)
            IDXI_TRY(count_in_chain(search, shard, head, postings->signed_sets != NULL, error));
    }
    return candidates->count > candidates->compared ? search->compare(search->context, error) : IDX_OK;
}

uint32_t idxi_postings_place_after(uint32_t place, uint32_t shared) {
    return (uint32_t)(find_set_end(shared, (size_t)place * SET_UNIT) / SET_UNIT);
}

const struct idxi_indexed_set *idxi_postings_get_set(const struct idxi_postings *postings, uint32_t place) {
    return (const struct idxi_indexed_set *)(const void *)(postings->sets + (size_t)place * SET_UNIT);
}

void idxi_candidates_free(struct idxi_candidates *candidates) {
    free(candidates->list);
    idxi_slots_free(&candidates->seen);
    free(candidates->visits);
}
