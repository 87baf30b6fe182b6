/* postings.c: lists of sets by hash. A list is a chain of chunks, the newest first, each larger than the one before it.
 * A long list is divided into groups of sets of one size, each a chain of its own with the most members that a set of
 * it has from the shared one on: so that whole groups are passed over whose sets can't be similar. */
#include "libidx/sets/postings.h"

#include <stdlib.h>
#include <string.h>

/* uint32_t from one set to the next possible one. */
#define SET_UNIT 4
/* The first bit of a list's head: the others are the number of its groups. */
#define GROUPED (UINT32_C(1) << 31)
/* Sets in the first chunk of a list, and in its largest one. A list that fills such a one is divided into groups. */
enum { FIRST_ROOM = 2, LARGEST_ROOM = 64 };
/* Bits of the number of slots of the candidates at first. */
enum { CANDIDATE_BITS = 6 };
/* So many candidates are compared as soon as they are found, and then so many times as many. */
enum { FIRST_COMPARED = 8, MORE_COMPARED = 4 };

/* A set in a list: its place in the index, its size, rounded down, and how many members it has from the first one with
 * this tag on in its order, rounded up, so that no similar set is passed over. Both numbers are coded in 16 bits. */
struct posting {
    uint32_t set;
    uint16_t size, rest;
};

/* The head of a chunk; the postings follow. Both have the size of a uint64_t. */
struct chunk {
    uint32_t next; /* 0: none */
    uint16_t used, room;
};

/* The sets of one size in a long list. */
struct group {
    uint16_t size, rest; /* rest: the greatest one */
    uint32_t head;
    uint32_t first; /* the first set that was added */
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

/* Returns the code of a number, or of the greatest number below it that has a code. */
static uint16_t code_down(uint32_t number) {
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

/* Returns the code of a number, or of the smallest number above it that has a code. */
static uint16_t code_up(uint32_t number) {
    uint16_t code = code_down(number);
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
                     postings->signed_count * sizeof *postings->sizes->groups / IDXI_SIGNED_TOGETHER;
    for (unsigned i = 0; i < postings->shard_count; i++) {
        const struct idxi_posting_shard *shard = &postings->shards[i];
        bytes += shard->slots.room * sizeof *shard->slots.list + shard->chunks_used * sizeof *shard->chunks;
    }
    return bytes;
}

static void free_groups(struct idxi_posting_shard *shard) {
    for (size_t i = 0; i < shard->group_count; i++) free(shard->groups[i].groups);
    shard->group_count = 0;
}

void idxi_postings_clear(struct idxi_postings *postings) {
    postings->sets_used = postings->signed_count = 0;
    for (size_t i = 0; i < CODES && postings->sizes != NULL; i++) postings->sizes[i].count = 0;
    for (unsigned i = 0; i < postings->shard_count; i++) {
        struct idxi_posting_shard *shard = &postings->shards[i];
        free_groups(shard);
        idxi_slots_begin(&shard->slots, shard->slots.bits, NULL); /* This has its memory. */
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
    for (size_t i = 0; i < CODES && postings->sizes != NULL; i++) free(postings->sizes[i].groups);
    free(postings->sizes);
    free(postings->shards);
    idxi_map_release(postings->sets, postings->sets_capacity * sizeof *postings->sets);
}

/* ---- Slots ---- */

/* Returns the number of the shard that has a tag. Slots go by the high bits of tags, shards by the low ones. */
static inline unsigned shard_of(const struct idxi_postings *postings, uint32_t tag) {
    return (tag & 0xffff) * postings->shard_count >> 16;
}

/* ---- Lists ---- */

/* Adds a posting to the chain of chunks at *head: to its first chunk or, if that is full, to a new one before it. */
static enum idx_status add_to_chain(struct idxi_posting_shard *shard, uint32_t *head, struct posting posting,
                                    struct idx_error *error) {
    struct chunk chunk = {0};
    if (*head != 0) memcpy(&chunk, &shard->chunks[*head], sizeof chunk);
    if (chunk.used == chunk.room) {
        uint16_t room = (uint16_t)(chunk.room == 0             ? FIRST_ROOM
                                   : chunk.room < LARGEST_ROOM ? 2 * chunk.room
                                                               : LARGEST_ROOM);
        size_t at = shard->chunks_used, end = at + 1 + room;
        if (end > GROUPED) return idxi_fail(error, IDX_LIMIT, NULL, "too many members of sets are shared");
        IDXI_GROW_MAP(shard->chunks, shard->chunks_capacity, end, error);
        chunk = (struct chunk){.next = *head, .used = 0, .room = room};
        *head = (uint32_t)at;
        shard->chunks_used = end;
    }
    memcpy(&shard->chunks[*head + 1 + chunk.used], &posting, sizeof posting);
    chunk.used++;
    memcpy(&shard->chunks[*head], &chunk, sizeof chunk);
    return IDX_OK;
}

/* Returns whether a chain has filled its largest chunk. */
static bool is_long(const struct idxi_posting_shard *shard, uint32_t head) {
    struct chunk chunk;
    memcpy(&chunk, &shard->chunks[head], sizeof chunk);
    return chunk.used == LARGEST_ROOM;
}

/* Adds a posting to the group of its size, which is made if there is none. */
static enum idx_status add_to_group(struct idxi_posting_shard *shard, struct idxi_posting_groups *groups,
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
        struct group *at = &groups->groups[low];
        memmove(at + 1, at, (groups->count - low) * sizeof *at);
        *at = (struct group){.size = posting.size, .first = posting.set};
        groups->count++;
    }
    struct group *group = &groups->groups[low];
    if (group->rest < posting.rest) group->rest = posting.rest;
    if (group->first > posting.set) group->first = posting.set;
    group->count++;
    return add_to_chain(shard, &group->head, posting, error);
}

/* Divides the list at *head into groups. Its old chunks are not used again. */
static enum idx_status divide_into_groups(struct idxi_posting_shard *shard, uint32_t *head, struct idx_error *error) {
    IDXI_GROW(shard->groups, shard->group_capacity, shard->group_count + 1, error);
    struct idxi_posting_groups *groups = &shard->groups[shard->group_count];
    *groups = (struct idxi_posting_groups){0};
    uint32_t at = *head;
    *head = GROUPED | (uint32_t)shard->group_count++;
    while (at != 0) {
        struct chunk chunk;
        memcpy(&chunk, &shard->chunks[at], sizeof chunk);
        for (size_t i = 0; i < chunk.used; i++) {
            struct posting posting;
            memcpy(&posting, &shard->chunks[at + 1 + i], sizeof posting);
            IDXI_TRY(add_to_group(shard, groups, posting, error));
        }
        at = chunk.next;
    }
    return IDX_OK;
}

/* Adds a posting to the list of a tag, and divides the list if it becomes long. */
static enum idx_status add_posting(struct idxi_posting_shard *shard, uint32_t tag, struct posting posting,
                                   struct idx_error *error) {
    struct idxi_slot *slot = idxi_slots_find(&shard->slots, tag);
    uint32_t *head = &slot->number;
    shard->slots.used += *head == 0;
    slot->tag = tag;
    if ((*head & GROUPED) != 0) return add_to_group(shard, &shard->groups[*head & ~GROUPED], posting, error);
    IDXI_TRY(add_to_chain(shard, head, posting, error));
    return is_long(shard, *head) ? divide_into_groups(shard, head, error) : IDX_OK;
}

/* ---- Adding ---- */

/* Returns where in the array of sets the set ends that begins at `begin` and has `shared` members in the array. */
static size_t end_of(uint32_t shared, size_t begin) {
    size_t length = sizeof(struct idxi_indexed_set) / sizeof(uint32_t) + shared;
    return begin + (length + SET_UNIT - 1) / SET_UNIT * SET_UNIT;
}

/* Makes the signatures of the sets that begin at `begin` or after it. */
static enum idx_status sign_sets(struct idxi_postings *postings, size_t begin, struct idx_error *error) {
    for (size_t at = begin; at < postings->sets_used; postings->signed_count++) {
        const uint32_t place = (uint32_t)(at / SET_UNIT);
        const struct idxi_indexed_set *set = idxi_postings_set(postings, place);
        struct idxi_signature signature;
        idxi_sign(&signature, place, set->members, set->shared);
        IDXI_TRY(idxi_signed_sets_add(&postings->sizes[code_down(set->size)], &signature, error));
        at = end_of(set->shared, at);
    }
    return IDX_OK;
}

enum idx_status idxi_postings_sign(struct idxi_postings *postings, struct idx_error *error) {
    if (postings->sizes != NULL) return IDX_OK;
    postings->sizes = calloc(CODES, sizeof *postings->sizes);
    return postings->sizes == NULL ? idxi_fail_memory(error) : sign_sets(postings, 0, error);
}

/* Makes room in the array of sets up to `end`. A set's place there, in units of SET_UNIT, must have 32 bits. */
static enum idx_status make_room_for_sets(struct idxi_postings *postings, size_t end, struct idx_error *error) {
    if (end / SET_UNIT > UINT32_MAX) return idxi_fail(error, IDX_LIMIT, NULL, "too many members of sets are shared");
    IDXI_GROW_MAP(postings->sets, postings->sets_capacity, end, error);
    return IDX_OK;
}

/* Copies the set of a query to the array of sets, at `begin`. */
static void copy_set(const struct idxi_postings *postings, const struct idxi_query *query, size_t begin) {
    const struct idxi_indexed_set set = {query->rank, query->size, query->shared};
    uint32_t *at = postings->sets + begin;
    memcpy(at, &set, sizeof set);
    memcpy(at + sizeof set / sizeof *at, query->members, query->shared * sizeof *query->members);
}

/* Fetches into the cache the lists of those of the first `count` tags that a shard has: their slots, or with `chunks`,
 * once the slots are there, their newest chunks. */
static void fetch_lists(const struct idxi_postings *postings, const struct idxi_query *query, uint32_t count,
                        unsigned number, bool chunks) {
    const struct idxi_posting_shard *shard = &postings->shards[number];
    for (uint32_t i = 0; i < count; i++) {
        if (shard_of(postings, query->tags[i]) != number) continue;
        const struct idxi_slot *slot = &shard->slots.list[idxi_slots_first(&shard->slots, query->tags[i])];
        if (!chunks)
            __builtin_prefetch(slot, 1);
        else if ((slot->number & GROUPED) == 0)
            __builtin_prefetch(&shard->chunks[slot->number], 1);
    }
}

/* Returns the place from which on a set may share members with one that has the tag of listed member i: that of the
 * first member with this tag. Members with one tag follow each other, and `first` is the place of the last one before i
 * in the prefix. */
static uint32_t place_of(const struct idxi_query *query, uint32_t i, uint32_t first) {
    if (i >= query->prefix) /* These are in no order. */
        return query->prefix > 0 && query->tags[i] == query->tags[query->prefix - 1] ? first : query->prefix;
    return i > 0 && query->tags[i] == query->tags[i - 1] ? first : i;
}

/* Adds the postings of a set at `begin` whose tags shard `number` has. */
static enum idx_status add_postings(struct idxi_postings *postings, const struct idxi_query *query, size_t begin,
                                    unsigned number, struct idx_error *error) {
    struct posting posting = {.set = (uint32_t)(begin / SET_UNIT), .size = code_down(query->size), .rest = 0};
    struct idxi_posting_shard *shard = &postings->shards[number];
    for (uint32_t i = 0, first = 0; i < query->listed; i++) {
        const uint32_t place = place_of(query, i, first);
        if (i < query->prefix) first = place;
        if (shard_of(postings, query->tags[i]) != number) continue;
        IDXI_TRY(idxi_slots_reserve(&shard->slots, error));
        posting.rest = code_up(query->shared - place);
        IDXI_TRY(add_posting(shard, query->tags[i], posting, error));
    }
    return IDX_OK;
}

/* Sets that are being added, by one thread for each shard. */
struct adding {
    struct idxi_postings *postings;
    const struct idxi_query *queries;
    size_t count;
    size_t begin; /* where the first of them is */
};

/* So many sets ahead their slots are fetched, and half as many ahead their chunks. */
enum { FETCHED_AHEAD = 8 };

/* An idxi_task: adds the postings of all sets to shard `number`, and copies that shard's part of the sets. */
static enum idx_status add_to_shard(void *context, size_t number, struct idx_error *error) {
    const struct adding *adding = context;
    struct idxi_postings *postings = adding->postings;
    size_t begin = adding->begin;
    for (size_t i = 0; i < adding->count; i++) {
        const struct idxi_query *query = &adding->queries[i];
        size_t ahead = i + FETCHED_AHEAD, nearer = i + FETCHED_AHEAD / 2;
        const struct idxi_query *far = &adding->queries[ahead], *near = &adding->queries[nearer];
        if (ahead < adding->count) fetch_lists(postings, far, far->listed, (unsigned)number, false);
        if (nearer < adding->count) fetch_lists(postings, near, near->listed, (unsigned)number, true);
        if (i * postings->shard_count / adding->count == number) copy_set(postings, query, begin);
        IDXI_TRY(add_postings(postings, query, begin, (unsigned)number, error));
        begin = end_of(query->shared, begin);
    }
    return IDX_OK;
}

enum idx_status idxi_postings_add(struct idxi_postings *postings, const struct idxi_query *queries, size_t count,
                                  struct idx_error *error) {
    struct adding adding = {.postings = postings, .queries = queries, .count = count, .begin = postings->sets_used};
    size_t end = postings->sets_used;
    for (size_t i = 0; i < count; i++) end = end_of(queries[i].shared, end);
    IDXI_TRY(make_room_for_sets(postings, end, error));
    if (postings->shard_count == 1)
        IDXI_TRY(add_to_shard(&adding, 0, error));
    else
        IDXI_TRY(idxi_parallel(postings->shard_count, postings->shard_count, add_to_shard, &adding, NULL, error));
    postings->sets_used = end;
    return postings->sizes == NULL ? IDX_OK : sign_sets(postings, adding.begin, error);
}

void idxi_postings_fetch(const struct idxi_postings *postings, const struct idxi_query *query) {
    for (unsigned i = 0; i < postings->shard_count; i++) fetch_lists(postings, query, query->prefix, i, false);
}

/* ---- Finding ---- */

static inline uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Returns whether a set of this coded size and rest may have enough in common, at `place` in the index or after it. */
static inline bool may_reach(const struct idxi_set_search *search, uint32_t place, uint16_t size, uint16_t rest) {
    return place < search->end &&
           idxi_suffices(&search->least, place, smaller(search->rest, decode(rest)), search->query->size, decode(size));
}

/* Adds candidate *number, counted from 1. If many wait already, these are compared first, since the best of them may
 * exclude others. */
static enum idx_status add_candidate(const struct idxi_set_search *search, uint32_t set, uint32_t *number,
                                     struct idx_error *error) {
    struct idxi_candidates *candidates = search->candidates;
    if (candidates->count == candidates->next) {
        candidates->next *= MORE_COMPARED;
        IDXI_TRY(search->compare(search->context, error));
    }
    IDXI_TRY(idxi_slots_reserve(&candidates->seen, error));
    IDXI_GROW(candidates->list, candidates->capacity, candidates->count + 1, error);
    candidates->list[candidates->count++] = (struct idxi_candidate){.set = set};
    *number = (uint32_t)candidates->count;
    idxi_slots_add(&candidates->seen, set, *number);
    __builtin_prefetch(&search->postings->sets[(size_t)set * SET_UNIT]);
    return IDX_OK;
}

/* Counts a shared member for the set of a posting, which is a candidate from then on. The set shares at most those that
 * were counted before, and this member with all after it in the order of one of the two sets; in that of the set of the
 * posting, from the first member with the same tag on, since candidates may be compared before all of these are met. */
static inline enum idx_status count_posting(const struct idxi_set_search *search, struct posting posting,
                                            struct idx_error *error) {
    struct idxi_candidates *candidates = search->candidates;
    uint32_t number = idxi_slots_find(&candidates->seen, posting.set)->number;
    if (number == 0) IDXI_TRY(add_candidate(search, posting.set, &number, error));
    struct idxi_candidate *candidate = &candidates->list[number - 1];
    candidate->most = candidate->shared++ + smaller(search->rest, decode(posting.rest));
    return IDX_OK;
}

/* ---- Looking through signatures ---- */

/* Looking through so many signatures is taken to cost as much as visiting one posting. */
enum { SIGNATURES_OF_POSTING = 64 };
/* Sets that are found together. */
enum { FOUND_TOGETHER = 64 };

/* Makes candidates of the sets of a coded size that may be similar as far as signatures tell. */
static enum idx_status search_signatures(const struct idxi_set_search *search, uint16_t size, struct idx_error *error) {
    const struct idxi_signed_sets *sets = &search->postings->sizes[size];
    const struct idxi_query *query = search->query;
    struct idxi_candidates *candidates = search->candidates;
    struct idxi_signed_match matches[FOUND_TOGETHER];
    struct idxi_signature signature;
    idxi_sign(&signature, 0, query->members, query->shared);
    for (size_t at = 0; at < sets->count;) {
        uint64_t needed = idxi_fewest_shared(&search->least, 0, query->size, decode(size));
        size_t found = idxi_signed_sets_find(sets, &signature, needed, &at, matches, FOUND_TOGETHER);
        for (size_t i = 0; i < found; i++) {
            uint32_t set = matches[i].set;
            if (set >= search->end) continue;
            uint32_t number = idxi_slots_find(&candidates->seen, set)->number;
            if (number == 0) IDXI_TRY(add_candidate(search, set, &number, error));
            struct idxi_candidate *candidate = &candidates->list[number - 1];
            candidate->shared = candidate->most = matches[i].most;
        }
    }
    return IDX_OK;
}

/* Sets *visit to whether `count` further postings of sets of a coded size are to be visited. Once that takes longer,
 * looks through the signatures of all sets of this size, of which no posting is visited then. */
static enum idx_status note_visits(const struct idxi_set_search *search, uint16_t size, uint64_t count, bool *visit,
                                   struct idx_error *error) {
    struct idxi_candidates *candidates = search->candidates;
    struct idxi_visits *visits = &candidates->visits[size];
    if (visits->search != candidates->search) *visits = (struct idxi_visits){candidates->search, 0};
    *visit = false;
    if (visits->count == UINT64_MAX) return IDX_OK;
    visits->count += count;
    *visit = visits->count * SIGNATURES_OF_POSTING < search->postings->sizes[size].count;
    if (*visit) return IDX_OK;
    visits->count = UINT64_MAX;
    return search_signatures(search, size, error);
}

/* ---- Searching lists ---- */

/* Counts the member at hand for all sets of a chain that may be similar. With `signed_sets`, these are of several
 * sizes, whose visits are noted. */
static enum idx_status search_chain(const struct idxi_set_search *search, const struct idxi_posting_shard *shard,
                                    uint32_t head, bool signed_sets, struct idx_error *error) {
    const uint64_t *chunks = shard->chunks;
    while (head != 0) {
        struct chunk chunk;
        memcpy(&chunk, &chunks[head], sizeof chunk);
        for (size_t i = 0; i < chunk.used; i++) {
            struct posting posting;
            memcpy(&posting, &chunks[head + 1 + i], sizeof posting);
            bool visit = may_reach(search, posting.set, posting.size, posting.rest);
            if (visit && signed_sets) IDXI_TRY(note_visits(search, posting.size, 1, &visit, error));
            if (visit) IDXI_TRY(count_posting(search, posting, error));
        }
        head = chunk.next;
    }
    return IDX_OK;
}

/* Searches the groups of a long list, but for those that have no similar set. */
static enum idx_status search_groups(const struct idxi_set_search *search, const struct idxi_posting_shard *shard,
                                     const struct idxi_posting_groups *groups, struct idx_error *error) {
    for (size_t i = 0; i < groups->count; i++) {
        const struct group *group = &groups->groups[i];
        bool visit = may_reach(search, group->first, group->size, group->rest);
        if (visit && search->postings->sizes != NULL)
            IDXI_TRY(note_visits(search, group->size, group->count, &visit, error));
        if (visit) IDXI_TRY(search_chain(search, shard, group->head, false, error));
    }
    return IDX_OK;
}

/* Begins a search: gives it an empty hash table, and a new number, so that visits of earlier ones don't count. */
static enum idx_status begin_search(const struct idxi_set_search *search, struct idx_error *error) {
    struct idxi_candidates *candidates = search->candidates;
    candidates->search++;
    if (search->postings->sizes != NULL && candidates->visits == NULL) {
        candidates->visits = calloc(CODES, sizeof *candidates->visits);
        if (candidates->visits == NULL) return idxi_fail_memory(error);
    }
    return idxi_slots_begin(&candidates->seen, CANDIDATE_BITS, error);
}

enum idx_status idxi_postings_find(struct idxi_set_search *search, struct idx_error *error) {
    const struct idxi_postings *postings = search->postings;
    const struct idxi_query *query = search->query;
    struct idxi_candidates *candidates = search->candidates;
    candidates->count = candidates->compared = 0;
    candidates->next = FIRST_COMPARED;
    if (postings->sets_used == 0 || query->prefix == 0) return IDX_OK;
    IDXI_TRY(begin_search(search, error));
    for (unsigned i = 0; i < postings->shard_count; i++) fetch_lists(postings, query, query->prefix, i, true);
    search->rest = query->shared;
    for (uint32_t i = 0; i < query->prefix; i++, search->rest--) {
        const struct idxi_posting_shard *shard = &postings->shards[shard_of(postings, query->tags[i])];
        uint32_t head = idxi_slots_find(&shard->slots, query->tags[i])->number;
        if ((head & GROUPED) != 0)
            IDXI_TRY(search_groups(search, shard, &shard->groups[head & ~GROUPED], error));
        else if (head != 0)
            IDXI_TRY(search_chain(search, shard, head, postings->sizes != NULL, error));
    }
    return candidates->count > candidates->compared ? search->compare(search->context, error) : IDX_OK;
}

uint32_t idxi_postings_after(uint32_t place, uint32_t shared) {
    return (uint32_t)(end_of(shared, (size_t)place * SET_UNIT) / SET_UNIT);
}

const struct idxi_indexed_set *idxi_postings_set(const struct idxi_postings *postings, uint32_t set) {
    return (const struct idxi_indexed_set *)(const void *)(postings->sets + (size_t)set * SET_UNIT);
}

void idxi_candidates_free(struct idxi_candidates *candidates) {
    free(candidates->list);
    idxi_slots_free(&candidates->seen);
    free(candidates->visits);
}
