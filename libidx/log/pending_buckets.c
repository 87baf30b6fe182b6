/* pending_buckets.c: the buckets of fingerprints: sorted runs, and the arrays of those that came after them. A link to
 * a record is its number plus 1. */
#include <stdlib.h>
#include <string.h>

#include "libidx/log/pending_buckets.h"
#include "libidx/log/pending_records.h"
#include "libidx/log/pending_table.h"

#define MAX_BUCKET_BITS 16 /* a part has at most 2^16 buckets */

/* The number of buckets is doubled while they have more fingerprints on average. So many fill a cache line with their
 * links. */
#define MAX_MEAN_IN_BUCKET 8

/* ---- Making ---- */

/* Returns which bits of a part choose the bucket of a fingerprint, if there are `fingerprint_count` of them. The part
 * has `width` bits, and `lowest_bit` is the number of its least significant bit. Uses the most significant bits of the
 * part, or none if all fingerprints fit into one bucket. */
static struct idxi_pending_bits choose_bucket_bits(unsigned width, unsigned lowest_bit, uint64_t fingerprint_count) {
    unsigned used = 0;
    while (used < width && used < MAX_BUCKET_BITS && fingerprint_count >> used > MAX_MEAN_IN_BUCKET) used++;
    unsigned shift = used == 0 ? 0 : lowest_bit + width - used; /* A shift by 64 is undefined. */
    return (struct idxi_pending_bits){
        .mask = idxf_low_bits(used) << shift, .shift = shift, .last_bucket = (uint32_t)idxf_low_bits(used)};
}

/* Returns whether a record stands for its fingerprint in the buckets: whether it is the first one of the fingerprint,
 * and some record adds the fingerprint. */
static bool belongs_in_buckets(const struct idxi_pending *pending, uint32_t number) {
    const struct idxi_pending_links *links = idxi_pending_get_links(pending, number);
    return links == NULL || (links->first == number && links->in_buckets);
}

/* Returns the bytes of a run's memory. It has three arrays of uint32_t: the begins of the buckets and the end of the
 * last one, the folded fingerprints, and the links; the latter two have capacity for run_count records. */
static size_t count_run_bytes(const struct idxi_pending *pending, const struct idxi_pending_run *run) {
    return ((size_t)run->bits.last_bucket + 2 + 2 * (size_t)pending->run_count) * sizeof(uint32_t);
}

/* Allocates the arrays of a run, whose bits are set, and sorts the first run_count records into its buckets, by a
 * counting sort. Returns false when memory runs out. */
static bool make_run(struct idxi_pending *pending, struct idxi_pending_run *run) {
    size_t bucket_count = (size_t)run->bits.last_bucket + 1, count = (size_t)pending->run_count;
    size_t bytes = count_run_bytes(pending, run);
    run->begins = idxi_pending_allocate_zeroed(bytes);
    if (run->begins == NULL) return false;
    atomic_fetch_add_explicit(&pending->bytes, bytes, memory_order_relaxed);
    run->folded = run->begins + bucket_count + 1;
    run->links = run->folded + count;
    for (uint32_t i = 0; i < count; i++)
        if (belongs_in_buckets(pending, i))
            run->begins[idxi_pending_choose_bucket(&run->bits, idxi_pending_get_fingerprint(pending, i)) + 1]++;
    for (size_t i = 0; i < bucket_count; i++) run->begins[i + 1] += run->begins[i];
    for (uint32_t i = 0; i < count; i++) {
        if (!belongs_in_buckets(pending, i)) continue;
        uint64_t fingerprint = idxi_pending_get_fingerprint(pending, i);
        uint32_t place = run->begins[idxi_pending_choose_bucket(&run->bits, fingerprint)]++;
        run->folded[place] = idxi_fold(fingerprint);
        run->links[place] = i + 1;
    }
    /* By now, the beginning of each bucket is its end, which is the beginning of the next one. */
    memmove(run->begins + 1, run->begins, (bucket_count - 1) * sizeof *run->begins);
    run->begins[0] = 0;
    return true;
}

/* Also makes the empty buckets of the next part for the records to come. Fingerprints are cut into k + 1 parts, from
 * the most significant bit on: the first `wider_parts` have narrow_width + 1 bits each, the others `narrow_width`.
 * `lowest_bit` is the number of the part's least significant bit, below which only later parts have bits. With k = 0
 * the hash table of fingerprints answers queries, and there are no parts. */
enum idx_status idxi_pending_make_next_run(struct idxi_pending *pending, bool *is_complete, struct idx_error *error) {
    /* The next part is the last one if its number, from 0, is k. */
    *is_complete = !pending->lacks_runs || pending->part_count == pending->k;
    if (!pending->lacks_runs) return IDX_OK;
    unsigned bits = pending->rules.bits, parts = pending->k + 1, part = pending->part_count;
    unsigned narrow_width = bits / parts,
             wider_parts = bits % parts; /* the least width, and how many are a bit wider */
    unsigned width = part < wider_parts ? narrow_width + 1 : narrow_width;
    unsigned lowest_bit = bits - (part + 1) * narrow_width - (part < wider_parts ? part + 1 : wider_parts);
    struct idxi_pending_run *run = &pending->runs[part];
    struct idxi_pending_rest *rest = &pending->rests[part];
    pending->run_count = atomic_load_explicit(&pending->count, memory_order_relaxed);
    pending->lacks_runs = !*is_complete;
    if (pending->k == 0) return IDX_OK;
    pending->part_count++;
    run->bits = choose_bucket_bits(width, lowest_bit, pending->run_count);
    rest->bits = choose_bucket_bits(width, lowest_bit, pending->capacity - pending->run_count);
    rest->buckets = calloc((size_t)rest->bits.last_bucket + 1, sizeof *rest->buckets);
    pending->bytes += ((size_t)rest->bits.last_bucket + 1) * sizeof *rest->buckets;
    if (rest->buckets != NULL && make_run(pending, run)) return IDX_OK;
    idxi_pending_free_buckets(pending); /* A later call begins again, as all parts need runs of the same records. */
    pending->lacks_runs = true;
    return idxi_fail_memory(error);
}

void idxi_pending_free_buckets(struct idxi_pending *pending) {
    for (unsigned i = 0; i < pending->part_count; i++) {
        free(pending->rests[i].buckets);
        idxi_pending_free_memory(pending->runs[i].begins, count_run_bytes(pending, &pending->runs[i]));
        pending->rests[i].buckets = NULL;
        pending->runs[i].begins = NULL; /* so that a later call that finds no memory does not free it again */
    }
    pending->part_count = 0;
    idxi_arena_free(&pending->arrays);
}

/* ---- Adding ---- */

/* Returns the bucket of a fingerprint in the rest of a part, whose buckets can grow. */
static struct idxi_pending_bucket *find_rest_bucket(const struct idxi_pending_rest *rest, uint64_t fingerprint) {
    return &rest->buckets[idxi_pending_choose_bucket(&rest->bits, fingerprint)];
}

void idxi_pending_prefetch_buckets(const struct idxi_pending *pending, uint64_t fingerprint) {
    struct idxi_pending_bucket *buckets[IDXI_PENDING_MAX_PARTS];
    for (unsigned i = 0; i < pending->part_count; i++) {
        buckets[i] = find_rest_bucket(&pending->rests[i], fingerprint);
        __builtin_prefetch(buckets[i]);
    }
    for (unsigned i = 0; i < pending->part_count; i++) {
        const struct idxi_pending_array *array = atomic_load_explicit(&buckets[i]->array, memory_order_relaxed);
        if (array != NULL) __builtin_prefetch(array, 1);
    }
}

/* How many entries, pairs of a fold and a link, fill a cache line. The head of an array is as large as one entry. */
enum { ENTRIES_IN_LINE = 8 };

/* Makes sure that the array of a bucket has capacity for one more fingerprint. Copies a full array to one of twice as
 * many cache lines, and keeps the old one for its readers. Returns false when memory runs out. */
static bool reserve_bucket_entry(struct idxi_pending *pending, struct idxi_pending_bucket *bucket) {
    struct idxi_pending_array *old = atomic_load_explicit(&bucket->array, memory_order_relaxed);
    uint32_t count = old == NULL ? 0 : atomic_load_explicit(&old->count, memory_order_relaxed);
    if (old != NULL && count < old->capacity) return true;
    size_t lines = old == NULL ? 1 : 2 * ((old->capacity + 1) / ENTRIES_IN_LINE);
    struct idxi_pending_array *array = idxi_arena_allocate(&pending->arrays, lines * IDXI_CACHE_LINE, IDXI_CACHE_LINE);
    if (array == NULL) return false;
    atomic_fetch_add_explicit(&pending->bytes, lines * IDXI_CACHE_LINE, memory_order_relaxed);
    atomic_init(&array->count, count);
    array->capacity = (uint32_t)((lines * IDXI_CACHE_LINE - sizeof *array) / IDXI_PENDING_ENTRY_BYTES);
    if (count > 0) {
        memcpy(array->folded, old->folded, count * sizeof *old->folded);
        memcpy(array->folded + array->capacity, idxi_pending_get_array_links(old), count * sizeof *old->folded);
    }
    atomic_store_explicit(&bucket->array, array, memory_order_release);
    return true;
}

bool idxi_pending_reserve_bucket_entries(struct idxi_pending *pending, uint64_t fingerprint) {
    for (unsigned i = 0; i < pending->part_count; i++)
        if (!reserve_bucket_entry(pending, find_rest_bucket(&pending->rests[i], fingerprint))) return false;
    return true;
}

void idxi_pending_add_to_buckets(struct idxi_pending *pending, uint64_t fingerprint, uint32_t first_record) {
    for (unsigned i = 0; i < pending->part_count; i++) {
        struct idxi_pending_bucket *bucket = find_rest_bucket(&pending->rests[i], fingerprint);
        struct idxi_pending_array *array = atomic_load_explicit(&bucket->array, memory_order_relaxed);
        uint32_t count = atomic_load_explicit(&array->count, memory_order_relaxed);
        array->folded[count] = idxi_fold(fingerprint);
        array->folded[array->capacity + count] = first_record + 1; /* its link, behind all folds */
        atomic_store_explicit(&array->count, count + 1, memory_order_release);
    }
}
