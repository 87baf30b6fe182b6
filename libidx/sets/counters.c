/* counters.c: counts the members of all sets. Each thread reads all members, and counts those whose counters are in its
 * part, so that no two threads write to one counter. */
#include "libidx/sets/counters.h"

/* There are so many counters for each member, rounded up to a power of two, if the memory holds them. The more there
 * are, the fewer hashes share one. */
#define COUNTERS_PER_MEMBER 2
/* How many of the highest bits of a hash are the number of its counter: no more than a tag of postings.h has, so that
 * hashes with one tag have one counter. */
#define LEAST_BITS 12
#define MOST_BITS 32
/* The first value of a small counter that is a logarithm. */
enum { SMALL_EXACT = 4 };
/* Members that are read together, and how many of them ahead their counters are fetched. */
enum { READ_TOGETHER = 1 << 12, FETCHED_AHEAD = 48 };
/* The factor of Knuth's random generator MMIX. The highest bits of its numbers are the most random ones. */
#define RANDOM_FACTOR UINT64_C(6364136223846793005)

struct counting {
    struct idxi_counters *counters;
    const struct idxi_set_store *store;
    unsigned threads; /* each counts one of as many parts of the counters */
    struct idxi_progress *progress;
};

/* Returns by how much one more member raises a counter. A logarithm rises by chance, half as often with each step, and
 * without a branch, which no processor could predict. */
static inline unsigned rise_of(enum idxi_counter_kind kind, unsigned value, uint64_t random) {
    if (kind == IDXI_COUNTERS_EXACT) return value < IDXI_COUNTER_EXACT_MOST;
    const bool by_chance = random >> ((SMALL_EXACT - 1 - value) & 63) == 0; /* the highest bits, one for each step */
    return (value < SMALL_EXACT) | ((value < IDXI_COUNTER_SMALL_MOST) & by_chance);
}

/* Counts those of up to READ_TOGETHER members whose counters are in a part. Their counters' numbers are listed first:
 * each is written, and only counts if it is of the part, without a branch, which no processor could predict. */
static void count_own(const struct counting *counting, size_t part, const uint64_t *hashes, size_t count,
                      uint64_t *random) {
    uint32_t own[READ_TOGETHER + FETCHED_AHEAD];
    const struct idxi_counters counters = *counting->counters;
    const unsigned bits = 64 - counters.shift - counters.kind; /* of the number of a byte */
    size_t own_count = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t number = hashes[i] >> counters.shift;
        own[own_count] = (uint32_t)number;
        own_count += (number >> counters.kind) * counting->threads >> bits == part;
    }
    for (size_t i = 0; i < FETCHED_AHEAD; i++) own[own_count + i] = 0; /* These are fetched in vain. */
    for (size_t i = 0; i < own_count; i++) {
        __builtin_prefetch(idxi_counter_byte(&counters, own[i + FETCHED_AHEAD]), 1);
        *random = *random * RANDOM_FACTOR + 1;
        const unsigned rise = rise_of(counters.kind, idxi_counter_at(&counters, own[i]), *random);
        uint8_t *byte = idxi_counter_byte(&counters, own[i]);
        *byte = (uint8_t)(*byte + (rise << idxi_counter_bit(&counters, own[i])));
    }
}

/* Reads the members of all sets, and counts those whose counters are in a part. This is an idxi_task. */
static enum idx_status fill_part(void *context, size_t part, struct idx_error *error) {
    const struct counting *counting = context;
    const struct idxi_set_store *store = counting->store;
    struct idxi_set_reader reader = {.store = store};
    enum idx_status status = IDX_OK;
    uint64_t random = 1; /* always the same seed, so that each run makes the same counters */
    for (uint64_t at = 0; at < store->stored && status == IDX_OK;) {
        size_t count = store->stored - at < READ_TOGETHER ? (size_t)(store->stored - at) : READ_TOGETHER;
        const uint64_t *hashes;
        status = idxi_set_read(&reader, at, count, &hashes, error);
        if (status == IDX_OK) {
            count_own(counting, part, hashes, count, &random);
            /* every thread reads all members, so each adds its share of them alone */
            status = idxi_progress_add(counting->progress, count / counting->threads, error);
        }
        at += count;
    }
    idxi_set_reader_close(&reader);
    return status;
}

enum idx_status idxi_counters_make(struct idxi_counters *counters, enum idxi_counter_kind kind,
                                   const struct idxi_set_store *store, uint64_t memory, unsigned threads,
                                   struct idxi_progress *progress, struct idx_error *error) {
    unsigned bits = LEAST_BITS;
    while (bits < MOST_BITS && (UINT64_C(2) << bits) >> kind <= memory &&
           UINT64_C(1) << bits < COUNTERS_PER_MEMBER * store->stored)
        bits++;
    *counters = (struct idxi_counters){.kind = kind, .shift = 64 - bits, .size = (size_t)1 << bits};
    counters->counts = idxi_map_resize(NULL, 0, idxi_counters_bytes(counters));
    if (counters->counts == NULL) return idxi_fail_memory(error);
    struct counting counting = {.counters = counters, .store = store, .threads = threads, .progress = progress};
    IDXI_TRY(idxi_progress_begin(progress, IDX_PHASE_COUNTING, store->stored, error));
    return idxi_parallel(threads, threads, fill_part, &counting, progress, error);
}

enum idx_status idxi_counters_add_copies(struct idxi_counters *counters, const struct idxi_set_store *store,
                                         const uint32_t *copies, struct idx_error *error) {
    struct idxi_set_reader reader = {.store = store};
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < store->count && status == IDX_OK; i++) {
        const struct idxi_stored_set *set = &store->sets[i];
        const uint64_t *hashes;
        if (copies[i] < 2 || set->count == 0) continue;
        status = idxi_set_read(&reader, set->offset, set->count, &hashes, error);
        for (size_t j = 0; j < set->count && status == IDX_OK; j++) {
            uint8_t *counter = &counters->counts[hashes[j] >> counters->shift];
            uint32_t room = IDXI_COUNTER_EXACT_MOST - *counter, more = copies[i] - 1;
            *counter = (uint8_t)(*counter + (more < room ? more : room));
        }
    }
    idxi_set_reader_close(&reader);
    return status;
}

void idxi_counters_free(struct idxi_counters *counters) {
    idxi_map_release(counters->counts, idxi_counters_bytes(counters));
    *counters = (struct idxi_counters){0};
}
