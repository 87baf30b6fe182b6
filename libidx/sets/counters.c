/* counters.c: counts the members of all sets. Each thread reads all members, and counts those whose counters are in its
 * part, so that no two threads write to one counter. */
#include "libidx/sets/counters.h"

/* How many counters there are for each member, if the memory holds them; their number is rounded up to a power of two.
 * The more there are, the fewer hashes share one. */
#define COUNTERS_PER_MEMBER 2
/* How many of the highest bits of a hash are the number of its counter: no more than a tag of postings.h has, so that
 * hashes with one tag have one counter. */
#define MIN_NUMBER_BITS 12
#define MAX_NUMBER_BITS 32
/* The first value of a small counter that is a logarithm. */
enum { SMALL_EXACT = 4 };
/* How many members are read together, and how many members ahead of its use a counter is fetched. */
enum { READ_TOGETHER = 1 << 12, FETCHED_AHEAD = 48 };
/* The factor of Knuth's random generator MMIX. The highest bits of its numbers are the most random ones. */
#define RANDOM_FACTOR UINT64_C(6364136223846793005)

/* What the threads that count share. */
struct count_job {
    struct idxi_counters *counters;
    const struct idxi_set_store *store;
    unsigned threads; /* each counts one of as many parts of the counters */
    struct idxi_progress *progress;
};

/* Returns by how much one more member raises a counter that has the value `counter`: 1, or 0. From SMALL_EXACT on, a
 * small counter rises by chance, with each step half as often. There is no branch, which no processor could predict. */
static inline unsigned choose_rise(enum idxi_counter_kind kind, unsigned counter, uint64_t random) {
    if (kind == IDXI_COUNTERS_EXACT) return counter < IDXI_MAX_EXACT_COUNTER;
    const bool by_chance = random >> ((SMALL_EXACT - 1 - counter) & 63) == 0; /* the highest bits, one for each step */
    return (counter < SMALL_EXACT) | ((counter < IDXI_MAX_SMALL_COUNTER) & by_chance);
}

/* Counts those of up to READ_TOGETHER members whose counters are in part number `part`. Lists the numbers of these
 * counters first. It writes the number of every member to the list, and overwrites it by the next one if the counter is
 * in another part: so there is no branch, which no processor could predict. *random is the state of the generator. */
static void count_members_of_part(const struct count_job *job, size_t part, const uint64_t *hashes, size_t count,
                                  uint64_t *random) {
    uint32_t counter_numbers[READ_TOGETHER + FETCHED_AHEAD];
    const struct idxi_counters counters = *job->counters;
    const unsigned byte_number_bits = 64 - counters.shift - counters.kind;
    size_t listed_count = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t number = hashes[i] >> counters.shift;
        counter_numbers[listed_count] = (uint32_t)number;
        listed_count += (number >> counters.kind) * job->threads >> byte_number_bits == part;
    }
    for (size_t i = 0; i < FETCHED_AHEAD; i++) counter_numbers[listed_count + i] = 0; /* These are fetched in vain. */
    for (size_t i = 0; i < listed_count; i++) {
        __builtin_prefetch(idxi_find_counter_byte(&counters, counter_numbers[i + FETCHED_AHEAD]), 1);
        *random = *random * RANDOM_FACTOR + 1;
        const unsigned rise = choose_rise(counters.kind, idxi_read_counter(&counters, counter_numbers[i]), *random);
        uint8_t *byte = idxi_find_counter_byte(&counters, counter_numbers[i]);
        *byte = (uint8_t)(*byte + (rise << idxi_find_counter_bit(&counters, counter_numbers[i])));
    }
}

/* An idxi_plain_task: reads the members of all sets, and counts those whose counters are in part number `part`. */
static enum idx_status fill_counters_of_part(void *context, size_t part, struct idx_error *error) {
    const struct count_job *job = context;
    const struct idxi_set_store *store = job->store;
    struct idxi_set_reader reader = {.store = store};
    enum idx_status status = IDX_OK;
    uint64_t random = 1; /* always the same seed, so that each run makes the same counters */
    for (uint64_t offset = 0; offset < store->member_count && status == IDX_OK;) {
        size_t count = (size_t)idxi_min(store->member_count - offset, READ_TOGETHER);
        const uint64_t *hashes;
        status = idxi_set_read(&reader, offset, count, &hashes, error);
        if (status == IDX_OK) {
            count_members_of_part(job, part, hashes, count, &random);
            /* every thread reads all members, so each adds its share of them alone */
            status = idxi_progress_add(job->progress, count / job->threads, error);
        }
        offset += count;
    }
    idxi_set_reader_close(&reader);
    return status;
}

enum idx_status idxi_counters_make(struct idxi_counters *counters, enum idxi_counter_kind kind,
                                   const struct idxi_set_store *store, uint64_t memory, unsigned threads,
                                   struct idxi_progress *progress, struct idx_error *error) {
    unsigned number_bits = MIN_NUMBER_BITS;
    while (number_bits < MAX_NUMBER_BITS && (UINT64_C(2) << number_bits) >> kind <= memory &&
           UINT64_C(1) << number_bits < COUNTERS_PER_MEMBER * store->member_count)
        number_bits++;
    *counters = (struct idxi_counters){.kind = kind, .shift = 64 - number_bits, .size = (size_t)1 << number_bits};
    counters->counts = idxi_map_resize(NULL, 0, idxi_counters_bytes(counters));
    if (counters->counts == NULL) return idxi_fail_memory(error);
    struct count_job job = {.counters = counters, .store = store, .threads = threads, .progress = progress};
    IDXI_TRY(idxi_progress_begin(progress, IDX_PHASE_COUNTING, store->member_count, error));
    return idxi_run_parallel(threads, threads, fill_counters_of_part, &job, progress, error);
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
            uint32_t rise_left = IDXI_MAX_EXACT_COUNTER - *counter, further_copies = copies[i] - 1;
            *counter = (uint8_t)(*counter + (further_copies < rise_left ? further_copies : rise_left));
        }
    }
    idxi_set_reader_close(&reader);
    return status;
}

void idxi_counters_free(struct idxi_counters *counters) {
    idxi_map_release(counters->counts, idxi_counters_bytes(counters));
    *counters = (struct idxi_counters){0};
}
