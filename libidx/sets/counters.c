/* counters.c: counts the members of all sets. Each thread reads all members, and counts those of its part of the
 * counters, so that no two threads write to one counter. */
#include "libidx/sets/counters.h"

#include <stdlib.h>
#include <sys/mman.h>

/* A counter for each member in so many, at most. More of them are shared by fewer hashes. */
#define COUNTERS_PER_MEMBER 2
#define LEAST_BITS 12
/* Two hashes with the same high bits have the same counter: no tag of postings.h has hashes of several counters. */
#define MOST_BITS 32
/* From IDXI_COUNTER_EXACT on, so many steps of a counter double what it stands for. */
#define STEPS_OF_OCTAVE 8
/* Members that are read together, and those whose counters are fetched together. */
#define READ_TOGETHER ((size_t)1 << 13)
#define FETCHED_TOGETHER 32

struct counting {
    struct idxi_counters *counters;
    const struct idxi_set_store *store;
    unsigned threads;
    struct idxi_progress *progress;
};

/* Counts a member, by chance if there are many already. */
static inline uint8_t count_one(uint8_t counter, uint64_t *random) {
    if (counter < IDXI_COUNTER_EXACT) return (uint8_t)(counter + 1);
    *random = *random * UINT64_C(6364136223846793005) + 1;
    unsigned octave = (unsigned)(counter - IDXI_COUNTER_EXACT) / STEPS_OF_OCTAVE + 1;
    return (uint8_t)(counter + (counter < UINT8_MAX && *random >> (64 - octave) == 0));
}

/* Counts members that are in this thread's part, of which there are FETCHED_TOGETHER at most. */
static void count_fetched(const struct idxi_counters *counters, const uint64_t *hashes, size_t count,
                          uint64_t *random) {
    for (size_t i = 0; i < count; i++) __builtin_prefetch(&counters->counts[hashes[i] >> counters->shift], 1);
    for (size_t i = 0; i < count; i++) {
        uint8_t *counter = &counters->counts[hashes[i] >> counters->shift];
        *counter = count_one(*counter, random);
    }
}

static void count_members(const struct counting *counting, size_t part, const uint64_t *hashes, size_t count,
                          uint64_t *random) {
    uint64_t own[FETCHED_TOGETHER];
    const unsigned shift = counting->counters->shift;
    size_t gathered = 0;
    for (size_t i = 0; i < count; i++) {
        own[gathered] = hashes[i];
        gathered += (hashes[i] >> shift) * counting->threads >> (64 - shift) == part;
        if (gathered < FETCHED_TOGETHER) continue;
        count_fetched(counting->counters, own, gathered, random);
        gathered = 0;
    }
    count_fetched(counting->counters, own, gathered, random);
}

/* Counts the members of a part of the counters. This is an idxi_task. */
static enum idx_status count_part(void *context, size_t part, struct idx_error *error) {
    const struct counting *counting = context;
    const struct idxi_set_store *store = counting->store;
    struct idxi_set_reader reader = {.store = store};
    enum idx_status status = IDX_OK;
    uint64_t random = 1;
    for (uint64_t at = 0; at < store->stored && status == IDX_OK;) {
        size_t count = store->stored - at < READ_TOGETHER ? (size_t)(store->stored - at) : READ_TOGETHER;
        const uint64_t *hashes;
        status = idxi_set_read(&reader, at, count, &hashes, error);
        if (status == IDX_OK) {
            count_members(counting, part, hashes, count, &random);
            status = idxi_progress_add(counting->progress, count / counting->threads, error);
        }
        at += count;
    }
    idxi_set_reader_close(&reader);
    return status;
}

enum idx_status idxi_counters_make(struct idxi_counters *counters, const struct idxi_set_store *store, uint64_t memory,
                                   unsigned threads, struct idxi_progress *progress, struct idx_error *error) {
    unsigned bits = LEAST_BITS;
    while (bits < MOST_BITS && (UINT64_C(2) << bits) <= memory &&
           UINT64_C(1) << bits < COUNTERS_PER_MEMBER * store->stored)
        bits++;
    *counters = (struct idxi_counters){.shift = 64 - bits, .size = (size_t)1 << bits};
    counters->counts = (uint8_t *)idxi_array_reserve(counters->size / sizeof(uint64_t));
    if (counters->counts == NULL) return idxi_fail_memory(error);
#ifdef MADV_HUGEPAGE
    madvise(counters->counts, counters->size, MADV_HUGEPAGE);
#endif
    struct counting counting = {counters, store, threads, progress};
    IDXI_TRY(idxi_progress_begin(progress, IDX_PHASE_COUNTING, store->stored, error));
    return idxi_parallel(threads, threads, count_part, &counting, progress, error);
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
            if (*counter >= IDXI_COUNTER_EXACT) continue;
            uint32_t room = IDXI_COUNTER_EXACT - *counter, more = copies[i] - 1;
            *counter = (uint8_t)(*counter + (more < room ? more : room));
        }
    }
    idxi_set_reader_close(&reader);
    return status;
}

void idxi_counters_free(struct idxi_counters *counters) {
    idxi_array_release((uint64_t *)counters->counts, counters->size / sizeof(uint64_t));
    *counters = (struct idxi_counters){0};
}
